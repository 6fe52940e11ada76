"""Graphs of networkx and igraph, and labelled ones, are taken wherever their matrices are."""

import contextlib
import functools
import subprocess
import sys

import igraph
import networkx
import numpy as np
import pytest
from scipy.sparse import csr_array

import unbend
from tests.loops import each
from unbend import graphs
from unbend.registry import METHODS

# In an order of their own, so that numbers as labels are not mistaken for places.
POINTS = np.random.default_rng(5).random((40, 2))
NODES = [int(node) for node in np.random.default_rng(6).permutation(40) + 100]


def made(directed=False, weight="weight"):
    """Give a connected graph of networkx, whose nodes are named in no order."""
    graph = networkx.DiGraph() if directed else networkx.Graph()
    graph.add_nodes_from(NODES)
    apart = np.linalg.norm(POINTS[:, None] - POINTS, axis=2)
    for i in range(40):
        for j in np.argsort(apart[i])[1:9]:
            graph.add_edge(NODES[i], NODES[j], **{weight: float(apart[i, j])})
    return graph


GRAPH = made()
# By networkx itself, in the order of the nodes.
MATRIX = csr_array(networkx.to_scipy_sparse_array(GRAPH, nodelist=NODES, weight="weight"))


def as_igraph(graph):
    return igraph.Graph.from_networkx(graph)


FORMS = {
    "networkx": lambda graph: graph,
    "igraph": as_igraph,
    "labelled": graphs.from_networkx,
    "subclass": lambda graph: Own(graph),
    "multigraph": networkx.MultiGraph,
    "both ways": lambda graph: graph.to_directed(),
}
FORM = each("form", FORMS)


class Own(networkx.Graph):
    """A class of the user's, in another module."""


@functools.cache
def embeddings_of_the_matrix():
    """Embed the matrix by every method that takes a graph without points."""
    found = {}
    for entry in METHODS:
        with contextlib.suppress(ValueError, TypeError):
            found[entry.load()] = entry.load()(metric="precomputed").fit(MATRIX).embedding_
    return found


def test_some_methods_take_bare_graphs():
    assert {"Isomap", "LaplacianEigenmaps", "DiffusionMaps", "MetricMDS"} <= {
        kind.__name__ for kind in embeddings_of_the_matrix()
    }


@FORM
def test_an_embedding_of_a_graph_is_that_of_its_matrix(form):
    for kind, expected in embeddings_of_the_matrix().items():
        found = kind(metric="precomputed").fit(FORMS[form](GRAPH))
        assert found.embedding_.tobytes() == expected.tobytes(), kind
        assert found.n_features_in_ == 40


@FORM
def test_clusters_of_a_graph_are_those_of_its_matrix(form):
    options = {"metric": "precomputed", "random_state": 0}
    expected = unbend.SpectralClustering(3, **options).fit(MATRIX)
    found = unbend.SpectralClustering(3, **options).fit(FORMS[form](GRAPH))
    assert found.embedding_.tobytes() == expected.embedding_.tobytes()
    assert found.labels_.tolist() == expected.labels_.tolist()


@FORM
@each("kind", [unbend.Isomap, unbend.LLE, unbend.LaplacianEigenmaps])
def test_a_given_graph_of_points_may_be_a_graph(kind, form):
    expected = kind().fit(POINTS, graph=MATRIX).embedding_
    assert kind().fit(POINTS, graph=FORMS[form](GRAPH)).embedding_.tobytes() == expected.tobytes()


def test_the_graph_of_points_may_be_directed_and_without_weights():
    directed = made(directed=True, weight="other")
    matrix = networkx.to_scipy_sparse_array(directed, nodelist=NODES, weight=None)
    expected = unbend.Isomap().fit(POINTS, graph=csr_array(matrix)).embedding_
    assert unbend.Isomap().fit(POINTS, graph=directed).embedding_.tobytes() == expected.tobytes()
    with pytest.raises(ValueError, match="graph must be a graph of 39 vertices"):
        unbend.Isomap().fit(POINTS[:39], graph=directed)


@FORM
def test_functions_of_graphs_take_them(form):
    graph = FORMS[form](GRAPH)
    assert graphs.geodesics(graph).tobytes() == graphs.geodesics(MATRIX).tobytes()
    assert graphs.diameter(graph) == graphs.diameter(MATRIX)
    assert graphs.components(graph).tolist() == graphs.components(MATRIX).tolist()
    assert graphs.degree_counts(graph).tolist() == graphs.degree_counts(MATRIX).tolist()
    assert graphs.floyd_warshall(graph).tobytes() == graphs.floyd_warshall(MATRIX).tobytes()
    pair = graphs.shortest_paths(graph, [(0, 7)])[0]
    assert pair.length == graphs.shortest_paths(MATRIX, [(0, 7)])[0].length
    both = graphs.combine([graph, graph])
    assert (both != graphs.combine([MATRIX, MATRIX])).nnz == 0
    weights = graphs.weigh(graph, graphs.heat_kernel(MATRIX.data))
    assert (weights != graphs.weigh(MATRIX, graphs.heat_kernel(MATRIX.data))).nnz == 0
    assert graphs.consistency(graph, 2).connected


def test_geodesics_are_those_of_networkx():
    lengths = dict(networkx.all_pairs_dijkstra_path_length(GRAPH))
    expected = [[lengths[u][v] for v in NODES] for u in NODES]
    np.testing.assert_allclose(graphs.geodesics(GRAPH), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "function",
    [graphs.volumes, graphs.spectrum, graphs.graph_eigenvalue, graphs.degrees, graphs.volume],
)
def test_weights_of_other_libraries_are_similarities_where_these_are_needed(function):
    np.testing.assert_array_equal(function(GRAPH), function(MATRIX))
    np.testing.assert_array_equal(function(as_igraph(GRAPH)), function(MATRIX))
    lengths = graphs.to_networkx(graphs.from_networkx(GRAPH))
    for output in (graphs.from_networkx(GRAPH), lengths, graphs.to_igraph(lengths_of(lengths))):
        with pytest.raises(ValueError, match="the edges of the graph are lengths and similarity"):
            function(output)
    function(graphs.from_networkx(GRAPH, meaning="similarity"))


def lengths_of(graph):
    return graphs.from_networkx(graph)


def test_the_laplacian_is_that_of_networkx():
    expected = networkx.laplacian_matrix(GRAPH, nodelist=NODES, weight="weight").toarray()
    np.testing.assert_allclose(graphs.laplacian(GRAPH).toarray(), expected, atol=1e-12)


def test_edges_without_weights_are_one_and_both():
    ring = networkx.cycle_graph(12)
    matrix = csr_array(networkx.to_scipy_sparse_array(ring))
    expected = unbend.Isomap(metric="precomputed").fit(matrix).embedding_
    assert unbend.Isomap(metric="precomputed").fit(ring).embedding_.tobytes() == expected.tobytes()
    labelled = graphs.from_networkx(ring)
    assert (graphs.laplacian(labelled) != graphs.laplacian(matrix)).nnz == 0


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (
            lambda graph: graph.edges[NODES[0], next(graph.neighbors(NODES[0]))].clear(),
            "1 of .* edges have no 'weight'",
        ),
        (
            lambda graph: graph.add_edge(NODES[0], NODES[1], weight="far"),
            "'weight' of an edge is not a number",
        ),
        (
            lambda graph: graph.add_edge(NODES[0], NODES[1], weight=-1.0),
            "Distances must be non-negative",
        ),
        (
            lambda graph: graph.add_edge(NODES[0], NODES[1], weight=np.nan),
            "number of an edge is NaN",
        ),
        (lambda graph: graph.add_node("alone"), "has 2 components .* use connect='components'"),
        (
            lambda graph: graph.graph.update(weight="similarity"),
            "are similarities and length is needed",
        ),
    ],
)
def test_invalid_distances_raise_a_clear_error(spoil, words):
    graph = made()
    spoil(graph)
    with pytest.raises(ValueError, match=words) as refusal:
        unbend.Isomap(metric="precomputed").fit(graph)
    assert "\n" not in str(refusal.value)


def test_isolated_vertices_are_components():
    graph = made()
    graph.add_node("alone")
    with pytest.warns(UserWarning, match="2 components"):
        found = unbend.Isomap(metric="precomputed", connect="components").fit(graph)
    assert found.component_.tolist() == [0] * 40 + [1]


@pytest.mark.parametrize("form", ["networkx", "igraph", "labelled"])
def test_directed_graphs_are_refused_as_distances(form):
    directed = FORMS[form](made(directed=True))
    for fit in (
        unbend.Isomap(metric="precomputed").fit,
        unbend.MetricMDS(metric="precomputed").fit,
        unbend.SpectralClustering(2, metric="precomputed").fit,
        unbend.localize,
    ):
        with pytest.raises(ValueError, match=r"the graph is directed .* make it undirected"):
            fit(directed)


def test_methods_without_distances_say_what_to_do():
    with pytest.raises(TypeError, match="X is a graph: pass metric='precomputed' to Isomap"):
        unbend.Isomap().fit(GRAPH)
    with pytest.raises(TypeError, match="X is a graph and PCA takes rows of numbers"):
        unbend.PCA().fit(GRAPH)
    model = unbend.Isomap(metric="precomputed").fit(GRAPH)
    with pytest.raises(ValueError, match="score needs all distances"):
        model.score(GRAPH)


@pytest.mark.parametrize(
    "function",
    [
        unbend.dimension.correlation,
        lambda X: unbend.dimension.mle(X, metric="precomputed"),
        lambda X: unbend.quality.trustworthiness(X, POINTS, metric="precomputed"),
        unbend.choose_dimension,
        unbend.suggest,
        unbend.choose_neighbors,
    ],
)
def test_where_all_distances_are_needed_geodesics_are_advised(function):
    with pytest.raises(TypeError, match=r"X is a graph, .* unbend.graphs.geodesics of the graph"):
        function(GRAPH)


@pytest.mark.parametrize("form", ["networkx", "igraph", "labelled"])
def test_sensors_are_the_nodes_and_anchors_are_named_by_them(form):
    expected = unbend.localize(MATRIX, {place: POINTS[place] for place in range(5)})
    anchors = {node: POINTS[place] for place, node in enumerate(NODES[:5])}
    given = GRAPH
    if form == "igraph":
        given = as_igraph(GRAPH)
        given.vs["name"] = NODES
        del given.vs["_nx_name"]
    elif form == "labelled":
        given = graphs.from_networkx(GRAPH)
    found = unbend.localize(given, anchors)
    assert found.positions.tobytes() == expected.positions.tobytes()
    with pytest.raises(ValueError, match=f"anchor 3 is no sensor: name one, as {NODES[0]}"):
        unbend.localize(given, {3: POINTS[0]})


def test_several_graphs_are_several_matrices():
    other = made()
    for _, _, data in other.edges(data=True):
        data["weight"] *= 1.5
    matrices = [MATRIX, csr_array(networkx.to_scipy_sparse_array(other, nodelist=NODES))]
    expected = unbend.ReplicatedMDS().fit(matrices).embedding_
    assert unbend.ReplicatedMDS().fit([GRAPH, other]).embedding_.tobytes() == expected.tobytes()


def test_neither_library_is_imported_for_other_input():
    code = (
        "import sys, numpy as np, unbend; X = np.random.default_rng(0).random((30, 3));"
        "unbend.Isomap().fit(X); unbend.graphs.geodesics(unbend.Isomap().fit(X).graph_);"
        "unbend.dimension.correlation(X);"
        "print(sorted({'networkx', 'igraph'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"
