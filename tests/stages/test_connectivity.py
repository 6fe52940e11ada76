"""Strong and k-fold connection, the factor of the Laplacian, and the connecting radius."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from tests.loops import sampled
from unbend.datasets import swiss_roll
from unbend.graphs import (
    components,
    connecting_radius,
    connectivity,
    incidence,
    laplacian,
    strong_components,
)
from unbend.neighbors import DistanceSpace, GraphSpace, PointSpace


def random_graph(rng, n, share, directed=False):
    edges = (rng.random((n, n)) < share) * rng.uniform(0.1, 2.0, (n, n))
    np.fill_diagonal(edges, 0.0)
    return csr_array(edges if directed else np.triu(edges) + np.triu(edges).T)


@sampled("seed", range(20))
def test_strong_components_are_those_of_networkx(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 15, 0.08 + 0.02 * (seed % 5), directed=True)
    found = strong_components(graph)
    expected = {frozenset(c) for c in nx.strongly_connected_components(nx.DiGraph(graph))}
    assert {frozenset(np.flatnonzero(found == c).tolist()) for c in set(found)} == expected
    sizes = np.bincount(found)
    assert np.all(np.diff(sizes) <= 0)


@sampled("seed", range(25))
def test_connectivity_is_that_of_networkx(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, int(rng.integers(2, 13)), 0.2 + 0.03 * (seed % 20))
    peer = nx.Graph(graph)
    found = connectivity(graph)
    assert found.edges == nx.edge_connectivity(peer)
    assert found.vertices == nx.node_connectivity(peer)


def test_connectivity_of_known_graphs():
    complete = csr_array(1.0 - np.eye(6))
    assert (connectivity(complete).vertices, connectivity(complete).edges) == (5, 5)
    ring = csr_array(nx.adjacency_matrix(nx.cycle_graph(9)).astype(float))
    assert (connectivity(ring).vertices, connectivity(ring).edges) == (2, 2)
    apart = csr_array(np.diag([1.0, 1.0], 1))
    apart.data[0] = 0.0
    apart.eliminate_zeros()
    assert connectivity(apart) == type(connectivity(apart))(0, 0)


@sampled("seed", range(5))
def test_the_factor_of_theorem_3_1_gives_the_laplacian(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 12, 0.4)
    graph.setdiag(rng.uniform(size=12))
    factor = incidence(graph)
    assert factor.shape[0] == np.count_nonzero(np.triu(graph.toarray(), 1))
    product = (factor.T @ factor).toarray()
    np.testing.assert_allclose(product, laplacian(graph, "symmetric").toarray(), atol=1e-12)


def test_the_connecting_radius_is_the_least_that_connects():
    for seed in range(3):
        points = swiss_roll(300, random_state=seed).points
        distances = cdist(points, points)
        for given in (points, PointSpace(points), DistanceSpace(distances)):
            radius = connecting_radius(given)
            near = csr_array(np.where(distances <= radius * (1 + 1e-12), distances, 0.0))
            below = csr_array(np.where(distances < radius * (1 - 1e-12), distances, 0.0))
            assert components(near).max() == 0
            assert components(below).max() > 0
    with pytest.raises(TypeError, match="edges alone"):
        connecting_radius(GraphSpace(csr_array(distances)))
