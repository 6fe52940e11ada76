"""Which sensors are determined: against the theorem for the plane, and for parts that turn."""

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_array

import unbend
from tests.localization.networks import network, places, rigid_error
from unbend.graphs import components
from unbend.localization.rigidity import rigid_sensors
from unbend.mvu import Edges, graph_edges


def nobody(n):
    return np.zeros(n, dtype=bool)


def rank(pairs, positions):
    rows = np.zeros((len(pairs), *positions.shape))
    for row, (i, j) in zip(rows, pairs, strict=True):
        row[i], row[j] = positions[i] - positions[j], positions[j] - positions[i]
    return np.linalg.matrix_rank(rows.reshape(len(pairs), -1)) if pairs else 0


def connected_without(pairs, n, removed):
    kept = [i for i in range(n) if i not in removed]
    adjacent = np.zeros((n, n))
    for i, j in pairs:
        adjacent[i, j] = adjacent[j, i] = 1.0
    return components(csr_array(adjacent[np.ix_(kept, kept)])).max() == 0


def globally_rigid(pairs, n, rng):
    """Jackson and Jordán (2005): three-connected, and rigid without any one edge."""
    positions = rng.random((n, 2))
    redundant = all(
        rank([other for other in pairs if other != pair], positions) == 2 * n - 3 for pair in pairs
    )
    return redundant and all(connected_without(pairs, n, cut) for cut in combinations(range(n), 2))


@pytest.mark.parametrize("n", [5, 6, 7])
def test_all_are_held_exactly_where_the_theorem_of_the_plane_says_so(n):
    rng = np.random.default_rng(n)
    every, seen = list(combinations(range(n), 2)), set()
    for _ in range(60):
        count = int(rng.integers(2 * n - 3, len(every) + 1))
        pairs = [every[i] for i in sorted(rng.choice(len(every), count, replace=False))]
        first, second = np.array(pairs).T
        positions = rng.random((n, 2))
        squares = np.square(positions[first] - positions[second]).sum(axis=1)
        found = rigid_sensors(Edges(n, first, second, squares), positions, nobody(n), rng).all()
        assert found == globally_rigid(pairs, n, rng), pairs
        seen.add(bool(found))
    assert seen == {True, False}


def joined(first, second, shared):
    """Two networks with all distances each, and some sensors in both."""
    n = len(first) + len(second) - shared
    distances = np.full((n, n), np.nan)
    both = np.concatenate((np.arange(shared), np.arange(len(first), n)))
    for rows, points in ((np.arange(len(first)), first), (both, second)):
        distances[np.ix_(rows, rows)] = np.linalg.norm(points[:, None] - points, axis=2)
    return distances


@pytest.mark.parametrize(("shared", "held_too"), [(1, 0), (2, 0), (3, 22)])
def test_a_part_that_turns_or_mirrors_is_not_determined_and_has_no_expected_error(shared, held_too):
    first, second = places(40, 0), places(25, 1) + np.array([0.5, 0.0])
    second[:shared] = first[:shared]
    distances = joined(first, second, shared)
    if held_too:
        found = unbend.localize(distances)
    else:
        with pytest.warns(UserWarning, match=f"{25 - shared} sensors are not determined"):
            found = unbend.localize(distances)
    assert found.determined[:40].all()
    assert found.determined[40:].sum() == held_too
    assert np.array_equal(np.isnan(found.errors), ~found.determined)
    assert rigid_error(first, found.positions[:40]) < 1e-6


def test_anchors_choose_the_part_that_they_fix():
    first, second = places(40, 0), places(25, 1) + np.array([0.5, 0.0])
    second[0] = first[0]
    anchors = {40 + i: second[1 + i] for i in range(4)}
    with pytest.warns(UserWarning, match="39 sensors are not determined"):
        found = unbend.localize(joined(first, second, 1), anchors)
    assert np.array_equal(np.flatnonzero(found.determined), [0, *range(40, 64)])
    assert np.abs(found.positions[40:] - second[1:]).max() < 1e-6


@pytest.mark.parametrize(("radius", "everyone"), [(1.01, False), (1.5, True)])
def test_a_grid_is_no_special_case(radius, everyone):
    grid = np.stack(np.meshgrid(np.arange(8.0), np.arange(8.0)), axis=-1).reshape(-1, 2)
    distances = np.linalg.norm(grid[:, None] - grid, axis=2)
    edges, _ = graph_edges(csr_array(np.where(distances < radius, distances, 0.0)))
    found = rigid_sensors(edges, grid, nobody(64), np.random.default_rng(0))
    assert found.all() if everyone else not found.any()


def test_tails_neither_are_determined_nor_change_the_noise_of_the_others():
    graph = network(places(80, 0), 14, 0.05)
    plain = unbend.localize(graph)
    tailed = graph.tolil()
    tailed.resize((283, 283))
    for tail in range(80, 280):
        tailed[tail % 80, tail] = tailed[tail, tail % 80] = 0.1
    for i, j in ((280, 281), (281, 282), (280, 282), (280, 0), (281, 80)):
        tailed[i, j] = tailed[j, i] = 0.1
    with pytest.warns(UserWarning, match="203 sensors are not determined"):
        found = unbend.localize(csr_array(tailed))
    assert np.array_equal(found.determined, np.arange(283) < 80)
    assert found.noise == pytest.approx(plain.noise, rel=1e-2)
    assert found.expected_error == pytest.approx(plain.expected_error, rel=0.1)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("tree", ["path", "binary"])
def test_of_a_tree_nothing_is_determined_and_lengths_are_kept(tree):
    n = 20
    ends = (np.arange(n - 1) if tree == "path" else (np.arange(1, n) - 1) // 2, np.arange(1, n))
    found = unbend.localize(csr_array((np.ones(n - 1), ends), shape=(n, n)))
    apart = np.linalg.norm(found.positions[ends[0]] - found.positions[ends[1]], axis=1)
    assert np.abs(apart - 1.0).max() < 1e-9
    assert not found.determined.any()
    assert np.isnan([found.noise, found.expected_error]).all()
