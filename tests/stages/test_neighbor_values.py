"""Neighbourhoods as a value, spaces given as a graph, and metrics with parameters."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from tests.stages.drawn import EPS, LAW, lattice, random_graph, rngs, sparse
from unbend.neighbors import DistanceSpace, GraphSpace, Metric, Neighbors, PointSpace
from unbend.neighbors.precomputed import MissingDistances


def edges_of(neighbors):
    """Every entry as {(row, column): distance}; no pair may occur twice."""
    pairs = list(zip(neighbors.rows.tolist(), neighbors.indices.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    return dict(zip(pairs, neighbors.distances.tolist(), strict=True))


drawn_edges = st.integers(1, 8).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(
            st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.integers(0, 3)), max_size=30
        ),
    )
)


@LAW
@given(drawn_edges)
def test_edges_lose_loops_and_keep_the_shortest_of_repeated_ones(drawn):
    n, edges = drawn
    rows, columns, lengths = np.array(edges, dtype=int).reshape(-1, 3).T
    neighbors = Neighbors.from_edges(n, rows, columns, lengths.astype(float))
    expected = {}
    for i, j, length in edges:
        if i != j:
            expected[i, j] = min(length, expected.get((i, j), np.inf))
    assert edges_of(neighbors) == expected
    assert neighbors.n == n
    for i in range(n):
        mine = neighbors.distances[neighbors.offsets[i] : neighbors.offsets[i + 1]]
        assert (np.diff(mine) >= 0).all()


@LAW
@given(rngs, st.integers(2, 20))
def test_a_count_for_each_point_keeps_its_nearest(rng, n):
    points, counts = rng.normal(size=(n, 2)), rng.integers(0, n + 2, n)
    neighbors = PointSpace(points).nearest(n - 1)
    kept = neighbors.nearest(counts)
    assert (kept.counts == np.minimum(counts, n - 1)).all()
    for i in range(n):
        expected = np.sort(np.delete(cdist(points[[i]], points)[0], i))[: counts[i]]
        mine = slice(kept.offsets[i], kept.offsets[i + 1])
        np.testing.assert_allclose(kept.distances[mine], expected, rtol=8 * EPS)
        whole = slice(neighbors.offsets[i], neighbors.offsets[i] + len(expected))
        assert (kept.indices[mine] == neighbors.indices[whole]).all()


@LAW
@given(rngs, st.integers(1, 25), st.integers(1, 30))
def test_blocks_visit_every_row_once_with_its_own_neighbours(rng, n, at_once):
    neighbors = PointSpace(lattice(rng, n, 2)).within(rng.choice([0.5, 1.0, 1.2]))
    visited = []
    for points, indices in neighbors.blocks(at_once):
        assert 0 < len(points) <= at_once
        assert indices.shape == (len(points), neighbors.counts[points[0]])
        for i, row in zip(points, indices, strict=True):
            mine = slice(neighbors.offsets[i], neighbors.offsets[i + 1])
            assert (row == neighbors.indices[mine]).all()
        visited.extend(points.tolist())
    assert sorted(visited) == list(range(n))


@LAW
@given(rngs, st.integers(1, 8), st.integers(1, 8))
def test_taking_closed_rows_renumbers_their_neighbours(rng, inside, outside):
    n = inside + outside
    rows = rng.permutation(n)[:inside]
    member = np.isin(np.arange(n), rows)
    lengths = random_graph(rng, n, 5 * n)
    lengths[member[:, None] != member] = np.inf
    directed = sparse(lengths).tocoo()
    neighbors = Neighbors.from_edges(n, directed.row, directed.col, directed.data)
    taken = edges_of(neighbors.take(rows))
    expected = lengths[np.ix_(rows, rows)]
    assert taken == {(i, j): expected[i, j] for i, j in np.argwhere(np.isfinite(expected)).tolist()}


def test_parts_that_do_not_belong_together_are_refused():
    with pytest.raises(ValueError, match="inconsistent"):
        Neighbors(np.array([0, 2]), np.array([1]), np.array([1.0]))


@LAW
@given(rngs, st.integers(2, 12))
def test_stored_zeros_of_a_given_graph_are_edges(rng, n):
    lengths = random_graph(rng, n, 4 * n, zeros=0.5)
    space = GraphSpace(sparse(lengths))
    found = np.isfinite(lengths)
    expected = {(i, j): lengths[i, j] for i, j in np.argwhere(found).tolist()}
    assert edges_of(space.all_neighbors()) == expected
    assert edges_of(space.nearest(n)) == expected
    near = {pair: length for pair, length in expected.items() if length <= 0.4}
    assert edges_of(space.within(0.4)) == near
    assert (space.nearest(2).counts == np.minimum(found.sum(axis=1), 2)).all()
    # One direction is enough to know a distance; where both are given each keeps its own.
    either = np.where(found, lengths, lengths.T)
    rows, columns = np.nonzero(np.isfinite(either))
    assert (space.lengths(rows, columns) == either[rows, columns]).all()
    everyone = np.arange(n)
    assert not found.any() or (space.lengths(everyone, everyone) == 0).all()
    assert (space.rows(everyone) == lengths).all()
    rows = rng.permutation(n)[: n // 2 + 1]
    assert (space.take(rows).rows(np.arange(len(rows))) == lengths[np.ix_(rows, rows)]).all()


def test_missing_pairs_raise_a_clear_error():
    lengths = np.full((3, 3), np.inf)
    lengths[0, 1] = lengths[1, 2] = 1.0
    space = GraphSpace(sparse(lengths))
    with pytest.raises(MissingDistances, match=r"1 distances .* not in the sparse matrix.*pass a"):
        space.lengths(np.array([0, 1]), np.array([2, 0]))
    with pytest.raises(MissingDistances, match="2 distances"):
        space.coordinates(np.array([[0, 1, 2]]))


@LAW
@given(rngs, st.integers(2, 6))
def test_a_complete_graph_gives_the_local_coordinates_of_its_distances(rng, s):
    points, new = rng.normal(size=(8, 3)), rng.normal(size=(2, 3))
    distances = cdist(points, points)
    # The upper triangle is enough.
    upper = np.where(np.triu(np.ones((8, 8)), 1) > 0, distances, np.inf)
    graph, dense = GraphSpace(sparse(upper)), DistanceSpace(distances)
    blocks = np.stack([rng.permutation(8)[:s] for _ in range(2)])
    rows = cdist(new, points)
    for found, expected in (
        (graph.coordinates(blocks), dense.coordinates(blocks)),
        (graph.coordinates_of(rows, blocks), dense.coordinates_of(rows, blocks)),
    ):
        gram, truth = (y @ y.transpose(0, 2, 1) for y in (found, expected))
        np.testing.assert_allclose(gram, truth, 0, 32 * s * EPS * np.abs(truth).max())


@LAW
@example(4, 342)  # rows 1 and 2 are equal, and both at distance zero from row 0, which is not
@given(st.integers(1, 6), st.integers(0, 3**15 - 1))
def test_rows_of_distances_are_equal_only_if_all_distances_agree(n, code):
    distances = np.zeros((n, n))
    for i, j in zip(*np.triu_indices(n, 1), strict=True):
        distances[i, j] = distances[j, i] = code % 3
        code //= 3
    first, copy = DistanceSpace(distances).distinct()
    expected = []
    for i in range(n):
        same = (distances[:i] == distances[i]).all(axis=1) & (distances[:i, i] == 0)
        expected.append(expected[int(np.argmax(same))] if same.any() else i)
    assert first[copy].tolist() == expected
    assert first.tolist() == sorted(set(expected))


WEIGHTED = [("euclidean", {}), ("manhattan", {}), ("chebyshev", {}), ("minkowski", {"p": 3.0})]


@pytest.mark.parametrize(("name", "params"), WEIGHTED, ids=[name for name, _ in WEIGHTED])
@pytest.mark.parametrize("columns", [3, 40])
def test_weights_of_a_metric_are_never_ignored(name, params, columns):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(30, columns))
    metric = Metric(name, {**params, "w": rng.uniform(0.01, 1.0, columns) ** 3})
    space, truth = PointSpace(points, metric), metric.between(points, points)
    expected = np.sort(truth)[:, 1:4].ravel()
    np.testing.assert_allclose(space.nearest(3).distances, expected, rtol=4 * columns * EPS)
    np.testing.assert_allclose(
        space.lengths(np.arange(29), np.arange(1, 30)), truth.diagonal(1), rtol=4 * columns * EPS
    )
