"""Graphs: symmetrisation, components, bridges, weights and Laplacians."""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

from tests.loops import each
from tests.oracles import neighbors as oracle
from tests.stages.drawn import EPS, LAW, blobs, lattice, random_graph, rngs, sparse
from unbend.graphs import (
    adjacency,
    bridge,
    components,
    degrees,
    heat_kernel,
    laplacian,
    symmetrize,
    undirected,
    weigh,
)
from unbend.neighbors import DistanceSpace, Neighbors, PointSpace

HOW = pytest.mark.parametrize("how", ["max", "min", "mean"])


def dense(graph):
    entries = coo_array(graph)
    lengths = np.full(graph.shape, np.inf)
    lengths[entries.row, entries.col] = entries.data
    assert np.isfinite(lengths).sum() == graph.nnz
    return lengths


def as_neighbors(lengths):
    rows, columns = np.nonzero(np.isfinite(lengths))
    return Neighbors.from_edges(len(lengths), rows, columns, lengths[rows, columns])


def by_size(labels):
    """Renumber components by size, ties by first vertex."""
    order = sorted(set(labels), key=lambda c: (-list(labels).count(c), list(labels).index(c)))
    return [order.index(c) for c in labels]


@HOW
@LAW
@given(rngs, st.integers(1, 12))
def test_undirected_lengths_follow_their_definition_and_lose_no_zero(how, rng, n):
    forth = random_graph(rng, n, 3 * n, zeros=0.4)
    back = forth.T
    mean = np.where(np.isinf(forth), back, np.where(np.isinf(back), forth, (forth + back) / 2))
    expected = {"max": np.minimum(forth, back), "min": np.maximum(forth, back), "mean": mean}[how]
    graph = undirected(as_neighbors(forth), how)
    assert (dense(graph.lengths) == expected).all()
    assert graph.n == n
    assert graph.components.tolist() == by_size(oracle.components(np.isfinite(expected)))


@HOW
@LAW
@given(rngs, st.integers(1, 12))
def test_symmetrised_weights_are_the_entrywise_max_min_or_mean(how, rng, n):
    weights = np.where(rng.random((n, n)) < 0.3, rng.random((n, n)), 0.0)
    merged = symmetrize(csr_array(weights), how)
    entrywise = {"max": np.maximum, "min": np.minimum, "mean": lambda a, b: (a + b) / 2}[how]
    assert (merged.toarray() == entrywise(weights, weights.T)).all()
    assert (merged.data != 0).all()
    assert (symmetrize(merged, how).toarray() == merged.toarray()).all()


@LAW
@given(rngs, st.integers(1, 15), st.integers(0, 15))
def test_components_join_edges_of_either_direction_and_any_length(rng, n, edges):
    lengths = random_graph(rng, n, edges, zeros=0.5)
    expected = by_size(oracle.components(np.isfinite(lengths)))
    assert components(sparse(lengths)).tolist() == expected


def partition(rng, n, count):
    """Draw labels 0..count - 1, all used, without regard to where the points are."""
    labels = np.concatenate((np.arange(count), rng.integers(0, count, n - count)))
    return rng.permutation(labels)


def spaces(points):
    return PointSpace(points), DistanceSpace(oracle.pairwise(points))


class Patient:
    """A space that may be asked so often and no more: joining must end."""

    def __init__(self, space, questions):
        self.space, self.questions = space, questions

    def __getattr__(self, name):
        self.questions -= 1
        assert self.questions >= 0, "joining does not end"
        return getattr(self.space, name)


def assert_shortest_bridges(space, points, labels):
    count = labels.max() + 1
    # Every round joins some components, and asks a few questions for each.
    bridges = bridge(Patient(space, 10 * (count + 1) ** 2), labels)
    assert len(bridges.first) == len(bridges.second) == len(bridges.lengths) == count - 1
    distances = oracle.pairwise(points)
    slack = 4 * points.shape[1] * EPS * (1 + np.abs(points).max())
    expected = distances[bridges.first, bridges.second]
    np.testing.assert_allclose(bridges.lengths, expected, 0, slack)
    total = oracle.shortest_bridges(points, labels)
    np.testing.assert_allclose(bridges.lengths.sum(), total, count * EPS, count * slack)
    ends = (labels[bridges.first], labels[bridges.second])
    joined = coo_array((np.ones(count - 1), ends), shape=(count, count))
    assert (oracle.components(joined.toarray()) == 0).all()


@pytest.mark.parametrize("small", [1, 64])
@pytest.mark.parametrize("columns", [1, 2, 30])
@LAW
@given(rngs, st.integers(2, 30), st.booleans(), st.data())
def test_bridges_are_the_shortest_whatever_the_components(small, columns, rng, n, ties, data):
    points = lattice(rng, n, columns) if ties else rng.normal(size=(n, columns))
    labels = partition(rng, n, data.draw(st.integers(2, n)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("unbend.graphs.connect"), "SMALL", small)
        for space in spaces(points):
            assert_shortest_bridges(space, points, labels)


SIZES = {
    "two big blobs": [90, 80],
    "many tiny components": [3, 2, 1, 4] * 12,
    "single points": [1] * 60,
    "one big blob and single points": [100] + [1] * 20,
    "big, middle and small": [90, 70, 65, 64, 10, 1],
}


@each("sizes", SIZES.values())
@each("seed", range(2), keep=1)
def test_bridges_are_the_shortest_between_blobs_of_any_size(sizes, seed):
    points, labels = blobs(np.random.default_rng(seed), sizes)
    for space in spaces(points):
        assert_shortest_bridges(space, points, labels)


def test_bridges_between_points_of_a_lattice_end_all_ties():
    points = np.stack(np.meshgrid(np.arange(9.0), np.arange(9.0)), axis=-1).reshape(-1, 2)
    for labels in (np.arange(81), np.arange(81) % 9, np.arange(81) // 9, np.arange(81) % 2):
        for space in spaces(points):
            assert_shortest_bridges(space, points, labels)


def test_a_connected_graph_needs_no_bridge_and_stays_as_it_is():
    space = PointSpace(np.arange(5.0)[:, None])
    neighbors = space.nearest(1)
    none = bridge(space, np.zeros(5, dtype=int))
    assert len(none.lengths) == 0
    for joined in (none.as_edges(neighbors), none.as_neighborhoods(neighbors, space)):
        assert (dense(joined.graph()) == dense(neighbors.graph())).all()


@LAW
@given(rngs, st.integers(1, 3))
def test_bridges_connect_as_edges_and_as_whole_neighbourhoods(rng, k):
    points, labels = blobs(rng, [6, 5, 4])
    for space in spaces(points):
        neighbors = as_neighbors(
            np.where(labels[:, None] == labels, dense(space.nearest(k).graph()), np.inf)
        )
        labels = components(neighbors.graph())
        bridges = bridge(space, labels)
        before, distances = dense(neighbors.graph()), oracle.pairwise(points)
        edge, block = before.copy(), before.copy()
        for one, other in zip(bridges.first, bridges.second, strict=True):
            for end, far in ((one, other), (other, one)):
                edge[end, far] = distances[end, far]
                around = np.append(np.flatnonzero(np.isfinite(before[far])), far)
                block[end, around] = distances[end, around]
        for joined, expected in (
            (bridges.as_edges(neighbors), edge),
            (bridges.as_neighborhoods(neighbors, space), block),
        ):
            np.testing.assert_allclose(dense(joined.graph()), expected, 64 * EPS)
            assert (components(joined.graph()) == 0).all()


@LAW
@given(rngs, st.integers(2, 10))
def test_weights_are_put_on_every_edge_and_fall_with_its_length(rng, n):
    lengths = random_graph(rng, n, 4 * n, zeros=0.3)
    lengths[0, 1] = 2.0
    graph = sparse(lengths)
    assert (weigh(graph, adjacency).toarray() == np.isfinite(lengths)).all()
    mean = np.mean(graph.data**2)
    for t, kernel in ((2 * mean, heat_kernel(graph.data)), (0.7, heat_kernel(graph.data, 0.7))):
        weights = weigh(graph, kernel).toarray()
        np.testing.assert_allclose(weights, np.exp(-(lengths**2) / t), rtol=16 * (1 + 4 / t) * EPS)


def symmetric_weights(rng, n, unit):
    upper = np.triu(rng.random((n, n)) < 0.3, 1) * (1.0 if unit else rng.uniform(0.1, 3, (n, n)))
    return upper + upper.T


@LAW
@given(rngs, st.integers(2, 12), st.booleans())
def test_the_three_laplacians_are_one_form_in_three_scales(rng, n, unit):
    weights = symmetric_weights(rng, n, unit)
    weights[0] = weights[:, 0] = 1.0  # no vertex alone
    weights[0, 0] = 0.0
    plain, symmetric, walk = (
        laplacian(csr_array(weights), kind).toarray()
        for kind in ("plain", "symmetric", "random_walk")
    )
    degree, slack = degrees(csr_array(weights)), 4 * n * EPS
    np.testing.assert_allclose(degree, weights.sum(axis=1), n * EPS)
    assert (np.abs(plain.sum(axis=1)) <= slack * degree).all()
    assert (np.abs(walk.sum(axis=1)) <= slack).all()
    assert (np.abs(symmetric @ np.sqrt(degree)) <= slack * np.sqrt(degree.max())).all()
    np.testing.assert_allclose(symmetric, plain / np.sqrt(np.outer(degree, degree)), 0, slack)
    np.testing.assert_allclose(walk, plain / degree[:, None], 0, slack)
    f = rng.normal(size=n)
    energy = 0.5 * np.sum(weights * (f[:, None] - f) ** 2)
    np.testing.assert_allclose(f @ plain @ f, energy, 0, slack * degree.sum() * np.square(f).max())


@LAW
@given(rngs, st.integers(3, 12))
def test_loops_count_in_degrees_and_isolated_vertices_have_rows_of_zeros(rng, n):
    """Book 3.3.1: 1 − w_ii/d_i on the diagonal, −w_ij/√(d_i d_j) beside it, 0 where d_i = 0."""
    weights = symmetric_weights(rng, n, unit=False)
    weights[np.diag_indices(n)] = rng.uniform(0.1, 3, n)
    weights[1] = weights[:, 1] = 0.0
    degree = weights.sum(axis=1)
    expected = {kind: np.zeros((n, n)) for kind in ("plain", "symmetric", "random_walk")}
    for i in range(n):
        for j in range(n):
            entry = degree[i] * (i == j) - weights[i, j]
            expected["plain"][i, j] = entry
            if degree[i] > 0 and degree[j] > 0:
                expected["symmetric"][i, j] = entry / np.sqrt(degree[i] * degree[j])
                expected["random_walk"][i, j] = entry / degree[i]
    for kind, matrix in expected.items():
        found = laplacian(csr_array(weights), kind).toarray()
        np.testing.assert_allclose(found, matrix, 0, 4 * n * EPS * degree.max())
        assert not found[1].any()
        assert not found[:, 1].any()


@pytest.mark.parametrize("kind", ["plain", "symmetric", "random_walk"])
@LAW
@given(rngs, st.integers(2, 12))
def test_zero_eigenvalues_of_a_laplacian_count_the_components(kind, rng, n):
    weights = symmetric_weights(rng, n, unit=True)
    values = np.linalg.eigvals(laplacian(csr_array(weights), kind).toarray()).real
    # Of a connected part λ₂ ≥ 1/(diameter · volume) > 1/n³, in all three scales.
    assert np.sum(np.abs(values) < 0.5 / n**3) == oracle.components(weights).max() + 1
    assert values.min() > -0.5 / n**3
    assert kind == "plain" or values.max() < 2 + 0.5 / n**3
