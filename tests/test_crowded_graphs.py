"""Searches for short circuits where some rows have very many neighbours, and in dense graphs."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import unbend
from unbend.datasets import swiss_roll
from unbend.graphs import detours, find_short_circuits
from unbend.graphs.edge_pairs import EdgePairs
from unbend.graphs.tangent_planes import EdgesOfPlanes, compare_with_planes
from unbend.graphs.tangent_tilts import plane_dimension
from unbend.memory import NotEnoughMemory
from unbend.neighbors import DistanceSpace, Neighbors, PointSpace
from unbend.progress import Cancelled, Progress
from unbend.report import stage


def peak_of(work: Callable[[], Any]) -> tuple[int, Any]:
    """Most bytes of arrays during some work, and what it returns."""
    tracemalloc.start()
    try:
        result = work()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


def pairs_of(first: np.ndarray, second: np.ndarray) -> EdgePairs:
    unknown = np.full(len(first), np.nan)
    return EdgePairs(first, second, unknown, unknown)


def wheel(n: int) -> tuple[csr_array, EdgePairs]:
    """Join a path of n - 1 rows to a hub by edges of length one; return the spokes, too."""
    rim = np.arange(1, n)
    hub = np.zeros(n - 1, dtype=np.intp)
    rows = np.concatenate((hub, rim, rim[:-1], rim[1:]))
    columns = np.concatenate((rim, hub, rim[1:], rim[:-1]))
    return csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n)), pairs_of(hub, rim)


@pytest.mark.parametrize("seed", range(5))
def test_paths_of_two_edges_are_the_shortest(seed):
    rng, n = np.random.default_rng(seed), 40
    lengths = np.triu(rng.uniform(0.1, 1, (n, n)) * (rng.random((n, n)) < 0.15), 1)
    lengths[3, 4:] = rng.uniform(0.1, 1, n - 4)
    lengths += lengths.T
    edges = np.where(lengths > 0, lengths, np.inf)
    shortest = (edges[:, :, None] + edges[None]).min(axis=1)
    first, second = np.triu_indices(n, 1)
    found = detours._two_steps(csr_array(lengths), pairs_of(first, second))
    assert np.array_equal(found, shortest[first, second])


def test_paths_around_the_edges_of_a_hub_take_little_memory():
    graph, spokes = wheel(4000)
    peak, found = peak_of(lambda: detours._two_steps(graph, spokes))
    assert (found == 2).all()
    assert peak < 100 * graph.nnz * 8


def test_paths_around_edges_can_be_cancelled():
    graph, spokes = wheel(50)
    seen = []

    def refuse(progress: Progress) -> bool:
        seen.append(progress.done)
        return len(seen) == 1

    with unbend.monitoring(refuse), pytest.raises(Cancelled), stage("detours"):
        detours._paths_along(graph, spokes, np.full(49, 9.0))
    # The stage asks when it begins, the paths before they are followed, and the stage at its end.
    assert seen == [0, 0]


def test_edges_at_a_hub_are_compared_with_its_plane_in_small_blocks(monkeypatch):
    points = swiss_roll(400, random_state=0).points
    rng = np.random.default_rng(0)
    start, end = rng.permutation(400)[:300], rng.permutation(400)[:300]
    apart = start != end
    edges = EdgesOfPlanes(np.where(apart, 7, 8)[apart], start[apart], end[apart])
    neighbors = PointSpace(points).nearest(8)
    used = np.ones(len(neighbors.indices), dtype=bool)
    sizes, differences = [], DistanceSpace.differences

    def record(space, blocks):
        sizes.append(blocks.shape[1])
        return differences(space, blocks)

    monkeypatch.setattr(DistanceSpace, "differences", record)
    by_points, by_distances = (
        compare_with_planes(space, neighbors, used, 2, edges=edges)
        for space in (PointSpace(points), DistanceSpace(cdist(points, points)))
    )
    assert max(sizes) < 60
    for part in ("shares", "inner", "outer"):
        assert getattr(by_distances, part) == pytest.approx(getattr(by_points, part), abs=1e-5)


def test_the_dimension_of_planes_of_dense_graphs_takes_little_memory():
    points = np.random.default_rng(0).normal(size=(220, 3))
    space = DistanceSpace(cdist(points, points))
    neighbors = space.nearest(200)
    peak, d = peak_of(lambda: plane_dimension(space, neighbors, None))
    assert d == 3
    assert peak < 1 << 28


def star(n: int, columns: int) -> tuple[PointSpace, Neighbors]:
    """Rows of which the first has all others as neighbours, and these have five."""
    points = np.random.default_rng(0).uniform(size=(n, columns))
    space = PointSpace(points)
    near = space.nearest(5)
    others = np.arange(1, n)
    away = space.lengths(np.zeros(n - 1, dtype=np.intp), others)
    return space, near.add_edges(np.zeros(n - 1, dtype=np.intp), others, away)


def test_planes_of_a_hub_in_few_columns_take_little_memory():
    space, neighbors = star(50_000, 2)
    used = np.ones(len(neighbors.indices), dtype=bool)
    # Products of all its neighbours would take 20 GB.
    with unbend.memory_limit(1 << 26):
        found = compare_with_planes(space, neighbors, used, 2)
    assert found.shares[:, 1] == pytest.approx(1)
    assert found.inner == pytest.approx(0, abs=1e-9)


def test_planes_of_a_hub_in_many_columns_are_refused_before_memory_is_taken():
    space, neighbors = star(3000, 500)
    used = np.ones(len(neighbors.indices), dtype=bool)
    with unbend.memory_limit(1 << 23), pytest.raises(NotEnoughMemory, match="'keep'"):
        compare_with_planes(space, neighbors, used, 2)


@pytest.mark.parametrize("k", [10, 60, 65, 399])
def test_neighbourhoods_of_a_large_part_of_the_rows_are_not_judged(k):
    points = np.random.default_rng(0).normal(size=(400, 40))
    points[:, 2:] *= 1e-3
    found = find_short_circuits(points, 2, k)
    assert ("large part" in found.undetermined) == (k > 64)
    fact = unbend.Isomap(n_neighbors=k).fit(points).report_.stage("graph").facts["short_circuits"]
    assert fact == ("not determined" if k > 64 else 0)


@pytest.mark.filterwarnings("error:.*empty slice", "error:invalid value")
def test_a_graph_of_rows_without_neighbours_is_not_judged():
    points = np.random.default_rng(0).uniform(size=(400, 3))
    model = unbend.Isomap(n_neighbors=None, radius=1e-3).fit(points)
    assert model.report_.stage("graph").facts["short_circuits"] == "not determined"
