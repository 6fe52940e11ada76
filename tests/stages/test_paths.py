"""Paths themselves: real, shortest, exact; and geodesics that come near the true ones."""

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from tests.oracles import neighbors as oracle
from tests.stages.drawn import LAW, random_graph, rngs, sparse
from unbend.datasets import swiss_roll
from unbend.graphs import floyd_warshall, geodesics, shortest_paths, undirected
from unbend.neighbors import PointSpace


def assert_a_shortest_path(path, lengths, source, target, expected):
    """Check that the edges exist, and that their sum is the length to the last bit."""
    if np.isinf(expected):
        assert len(path.vertices) == 0
        assert np.isinf(path.length)
        return
    assert path.vertices[0] == source
    assert path.vertices[-1] == target
    assert len(set(path.vertices.tolist())) == len(path.vertices)
    total = 0.0
    for u, v in zip(path.vertices[:-1], path.vertices[1:], strict=True):
        total += lengths[u, v]
    assert total == path.length == expected


@LAW
@given(rngs, st.integers(1, 25), st.integers(0, 4), st.floats(0, 1), st.integers(0, 300))
def test_every_pair_has_its_shortest_path_though_edges_be_zero_or_lost_in_rounding(
    rng, n, edges, zeros, span
):
    lengths = random_graph(rng, n, edges * n, zeros) * 10.0 ** -rng.integers(0, span + 1, (n, n))
    pairs = np.array([(i, j) for i in range(n) for j in range(n)])
    expected = dijkstra(sparse(lengths))
    for pair, path in zip(pairs, shortest_paths(sparse(lengths), pairs), strict=True):
        assert_a_shortest_path(path, lengths, *pair, expected[tuple(pair)])


@LAW
@given(rngs, st.integers(2, 25), st.integers(0, 40))
def test_pairs_may_come_in_any_order_and_number(rng, n, count):
    graph = sparse(random_graph(rng, n, 3 * n))
    pairs = rng.integers(0, n, (count, 2))
    found = shortest_paths(graph, pairs, threads=2)
    for pair, path in zip(pairs, found, strict=True):
        alone = shortest_paths(graph, pair[None])[0]
        assert alone.vertices.tolist() == path.vertices.tolist()
        assert alone.length == path.length


@LAW
@given(rngs, st.integers(2, 20))
def test_lengths_are_those_of_networkx(rng, n):
    lengths = random_graph(rng, n, 3 * n, zeros=0.0)
    graph = networkx.from_scipy_sparse_array(sparse(lengths), create_using=networkx.DiGraph)
    found = shortest_paths(sparse(lengths), [(0, j) for j in range(n)])
    expected = networkx.single_source_dijkstra_path_length(graph, 0)
    for target, path in enumerate(found):
        np.testing.assert_allclose(path.length, expected.get(target, np.inf), 1e-13)


@LAW
@given(rngs, st.integers(1, 25), st.integers(0, 4))
def test_floyd_and_warshall_agree_with_dijkstra(rng, n, edges):
    lengths = random_graph(rng, n, edges * n, zeros=0.3)
    found = floyd_warshall(sparse(lengths))
    np.testing.assert_allclose(found, geodesics(sparse(lengths)), 1e-13)
    np.testing.assert_allclose(found, oracle.shortest_paths(lengths), 1e-13)


def test_pairs_that_are_none_are_refused():
    graph = csr_array(np.ones((2, 2)))
    for pairs in ([(0, 2)], [(-1, 0)], [0, 1], [(0.5, 1.0)]):
        with pytest.raises(ValueError, match="pairs must"):
            shortest_paths(graph, pairs)


def roll_error(n, seed):
    """Mean relative error of geodesics over pairs that are not near, against the flat chart."""
    roll = swiss_roll(n, random_state=seed)
    graph = undirected(PointSpace(roll.points).nearest(10)).lengths
    sources = np.arange(20)
    found = geodesics(graph, sources)
    true = np.linalg.norm(roll.chart[sources, None] - roll.chart[None], axis=2)
    far = true > 10.0
    return float(np.mean(np.abs(found[far] / true[far] - 1)))


def test_geodesics_of_the_roll_come_nearer_to_the_true_ones_as_points_are_added():
    errors = [np.median([roll_error(n, seed) for seed in range(5)]) for n in (2000, 8000, 32_000)]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.05
