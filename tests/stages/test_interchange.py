"""Graphs to networkx and igraph and back: nothing is lost, and they mean the same there."""

import sys

import igraph
import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.stages.drawn import LAW, random_graph, rngs, sparse
from unbend.datasets import swiss_roll
from unbend.graphs import (
    components,
    from_igraph,
    from_networkx,
    geodesics,
    label_graph,
    laplacian,
    to_igraph,
    to_networkx,
    undirected,
)
from unbend.neighbors import PointSpace

LIBRARIES = {"networkx": (to_networkx, from_networkx), "igraph": (to_igraph, from_igraph)}
LIBRARY = pytest.mark.parametrize("library", LIBRARIES)


def assert_same_graph(first, second):
    first, second = first.copy(), second.copy()
    first.sort_indices()
    second.sort_indices()
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


@LIBRARY
@pytest.mark.parametrize("meaning", ["length", "similarity"])
@LAW
@given(rngs, st.integers(1, 12), st.integers(0, 4), st.booleans())
def test_there_and_back_gives_the_same_graph_labels_and_meaning(
    library, meaning, rng, n, edges, both_ways
):
    lengths = random_graph(rng, n, edges * n, zeros=0.3)
    lengths = np.minimum(lengths, lengths.T) if both_ways else lengths
    names = [f"town {number}" for number in rng.permutation(n)]
    there, back = LIBRARIES[library]
    returned = back(there(sparse(lengths), names, meaning))
    assert returned.labels == tuple(names)
    assert returned.meaning == meaning
    assert_same_graph(returned.edges, sparse(lengths))
    # Numbers are labels too, and what came back can go again.
    assert back(there(sparse(lengths))).labels == tuple(range(n))
    assert_same_graph(back(there(returned)).edges, sparse(lengths))


def test_a_neighbourhood_graph_means_in_both_libraries_what_it_does_here():
    space = PointSpace(swiss_roll(150, random_state=0).points)
    neighbors = space.nearest(4)
    graph = undirected(neighbors)
    own = geodesics(graph.lengths)
    nx, ig = to_networkx(graph), to_igraph(graph)
    assert not nx.is_directed()
    assert not ig.is_directed()
    assert to_networkx(neighbors).is_directed()
    assert to_igraph(neighbors).is_directed()
    there = dict(networkx.all_pairs_dijkstra_path_length(nx))
    expected = np.array([[there[i].get(j, np.inf) for j in range(150)] for i in range(150)])
    np.testing.assert_allclose(own, expected, 1e-13)
    np.testing.assert_allclose(own, np.array(ig.distances(weights="weight")), 1e-13)
    parts = components(graph.lengths).max() + 1
    assert networkx.number_connected_components(nx) == len(ig.connected_components()) == parts
    similar = to_networkx(graph.lengths, meaning="similarity")
    expected = networkx.laplacian_matrix(similar).toarray()
    np.testing.assert_allclose(laplacian(graph.lengths).toarray(), expected, 0, 1e-12)


def test_parallel_edges_become_the_shortest_or_the_sum_of_similarities():
    nx = networkx.MultiGraph()
    nx.add_weighted_edges_from([("a", "b", 2.0), ("a", "b", 3.0)])
    ig = igraph.Graph(2, [(0, 1), (1, 0)])
    ig.es["weight"] = [2.0, 3.0]
    for read, graph in ((from_networkx, nx), (from_igraph, ig)):
        assert read(graph).edges[0, 1] == read(graph).edges[1, 0] == 2.0
        assert read(graph, "similarity").edges[0, 1] == 5.0


def test_other_attributes_and_names_are_read():
    nx = networkx.Graph()
    nx.add_edge("x", "y", miles=7.0)
    assert from_networkx(nx, weight="miles").edges[0, 1] == 7.0
    assert from_networkx(nx).edges[0, 1] == 1.0
    nx.add_edge("y", "z")
    with pytest.raises(ValueError, match="1 of 2 edges have no 'miles'"):
        from_networkx(nx, weight="miles")
    ig = igraph.Graph(2, [(0, 1)])
    ig.vs["name"] = ["x", "y"]
    assert from_igraph(ig).labels == ("x", "y")


def test_input_that_is_no_graph_raises_a_clear_error():
    edges = csr_array(np.ones((2, 2)))
    with pytest.raises(TypeError, match="sparse matrix"):
        label_graph(np.ones((2, 2)))
    with pytest.raises(ValueError, match="square"):
        label_graph(csr_array(np.ones((2, 3))))
    with pytest.raises(ValueError, match="2 different ones"):
        label_graph(edges, ["a", "a"])
    with pytest.raises(ValueError, match="meaning must be"):
        label_graph(edges, meaning="weight")


@LIBRARY
def test_a_library_that_is_missing_is_named(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=f"need {library}: pip install {library}"):
        LIBRARIES[library][0](csr_array(np.ones((2, 2))))
