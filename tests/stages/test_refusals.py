"""What compiled loops would take on trust is refused in a sentence, and never read from memory."""

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_array, csr_array

from tests.loops import each
from unbend.graphs import (
    boundary_volume,
    bridge,
    components,
    contract,
    degree_counts,
    diameter,
    eigenvalue_bounds,
    enlarge,
    floyd_warshall,
    geodesics,
    graph_eigenvalue,
    label_graph,
    laplacian,
    rayleigh_quotient,
    shortest_paths,
    spectrum,
    symmetrize,
    undirected,
    volume,
    volumes,
)
from unbend.neighbors import DistanceSpace, GraphSpace, Metric, Neighbors, NNDescent, PointSpace

DRAWN = np.random.default_rng(0).normal(size=(30, 20))
ARROWS = csr_array(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]]))
TWO_TRIANGLES = csr_array(np.kron(np.eye(2), 1 - np.eye(3)))
SPACES = [
    lambda: PointSpace(DRAWN[:, :3]),
    lambda: PointSpace(DRAWN),
    lambda: PointSpace(DRAWN, Metric("manhattan")),
    lambda: DistanceSpace(Metric().between(DRAWN, DRAWN)),
]
OF_WEIGHTS = [
    volumes,
    volume,
    lambda g: boundary_volume(g, [0]),
    laplacian,
    lambda g: laplacian(g, "symmetric", symmetrization="mean"),
    symmetrize,
    spectrum,
    graph_eigenvalue,
    lambda g: rayleigh_quotient(g, [1.0, 0.0, 0.0]),
    eigenvalue_bounds,
    lambda g: contract(g, [0, 0, 1]),
]
OF_LENGTHS = [diameter, geodesics, floyd_warshall, lambda g: shortest_paths(g, [(0, 2)])]
OF_GRAPHS = [components, degree_counts, label_graph]


@each("opened", SPACES)
@each("k", [0, -1, 2.5, "3", True, None])
def test_a_number_of_neighbours_must_be_one(opened, k):
    with pytest.raises((TypeError, ValueError), match=r"k=.* integer of at least 1"):
        opened().nearest(k)


@pytest.mark.parametrize("opened", SPACES)
def test_there_are_no_more_neighbours_than_rows(opened):
    space = opened()
    assert space.nearest(29).counts.tolist() == [29] * 30
    with pytest.raises(ValueError, match="at most 29"):
        space.nearest(30)
    with pytest.raises(ValueError, match="at most 30"):
        space.nearest_of(space.rows(np.arange(2)), 31)


@each("name", ["euclidean", "manhattan", "mahalanobis", "angular", "fourier_phase"])
@each("value", [np.nan, np.inf])
@each("columns", [3, 20])
def test_rows_that_are_not_finite_are_refused(name, value, columns):
    good = DRAWN[:, :columns]
    bad = good.copy()
    bad[3, 1] = value
    space = PointSpace(good, Metric(name).fit(good))
    for search in (
        lambda: PointSpace(bad, Metric(name).fit(bad)).nearest(2),
        lambda: space.nearest_of(bad, 2),
        lambda: space.distances_of(bad),
    ):
        with pytest.raises(ValueError, match=r"X contains (NaN|infinity)"):
            search()


@pytest.mark.parametrize(
    "points", [[[0.0], [1.0]], np.array(["a"]), DRAWN + 1j, DRAWN[0], DRAWN[None], csr_array(DRAWN)]
)
def test_points_are_rows_of_real_numbers(points):
    with pytest.raises(TypeError, match="real numbers"):
        PointSpace(points)


def test_values_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="not known"):
        Metric("euclid")
    with pytest.raises(ValueError, match="must have 20 columns"):
        PointSpace(DRAWN).nearest_of(DRAWN[:, :2], 1)
    with pytest.raises(ValueError, match="at least 0"):
        PointSpace(DRAWN).within(np.nan)
    with pytest.raises(ValueError, match="threads"):
        PointSpace(DRAWN, workers=-1)
    with pytest.raises(ValueError, match="non-negative weights"):
        Metric("minkowski", {"w": [np.inf] * 20}).fit(DRAWN)
    for distances in (-np.ones((2, 2)), np.full((2, 2), np.nan), np.ones((2, 3))):
        with pytest.raises(ValueError, match="square"):
            DistanceSpace(distances)
    with pytest.raises(ValueError, match="from 0 to 0"):
        Neighbors(np.array([0, 1]), np.array([7]), np.array([1.0]))
    for wrong in ({"trees": 0}, {"recall": 2.0}, {"sample": 0}, {"spare": -1}, {"leaf": 2.5}):
        with pytest.raises((TypeError, ValueError), match=next(iter(wrong))):
            NNDescent(**wrong)


@each("quantity", OF_WEIGHTS + OF_LENGTHS + OF_GRAPHS)
def test_a_graph_is_a_square_sparse_matrix_of_real_numbers(quantity):
    for graph in (ARROWS.toarray(), [[0, 1], [1, 0]], "graph", symmetrize(ARROWS) * 1j):
        with pytest.raises(TypeError):
            quantity(graph)
    with pytest.raises(ValueError, match="square"):
        quantity(csr_array(np.ones((2, 3))))


@each("quantity", OF_WEIGHTS)
@each("number", [-1.0, np.nan, np.inf])
def test_weights_that_are_none_are_refused(quantity, number):
    graph = symmetrize(ARROWS)
    graph.data[:] = number
    with pytest.raises(ValueError, match=r"contains|non-negative"):
        quantity(graph)


@pytest.mark.parametrize("form", [csc_array, coo_array])
def test_a_graph_means_the_same_in_every_format(form):
    graph = form(ARROWS)
    np.testing.assert_array_equal(geodesics(graph), geodesics(ARROWS))
    np.testing.assert_array_equal(floyd_warshall(graph), geodesics(ARROWS))
    assert shortest_paths(graph, [(0, 2)])[0].vertices.tolist() == [0, 1, 2]
    assert degree_counts(graph).tolist() == [1, 1, 0]
    assert degree_counts(graph, "in").tolist() == [0, 1, 1]
    assert volumes(graph).tolist() == [1.0, 2.0, 0.0]


def test_edges_stored_twice_add_up_as_weights_and_compete_as_lengths():
    ends = np.array([0, 2, 4]), np.array([1, 1, 0, 0])
    twice = csr_array((np.array([1.0, 3.0, 2.0, 2.0]), ends[1], ends[0]), shape=(2, 2))
    assert symmetrize(twice).toarray()[0, 1] == 4.0
    assert graph_eigenvalue(twice) == pytest.approx(2.0)
    assert label_graph(twice).edges.toarray().tolist() == [[0.0, 1.0], [2.0, 0.0]]
    assert label_graph(twice, meaning="similarity").edges.toarray()[0, 1] == 4.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: laplacian(TWO_TRIANGLES, "normal"),
        lambda: laplacian(TWO_TRIANGLES, symmetrization="sum"),
        lambda: symmetrize(ARROWS, "sum"),
        lambda: undirected(PointSpace(DRAWN).nearest(2), "sum"),
        lambda: volumes(ARROWS, "through"),
        lambda: degree_counts(ARROWS, "through"),
        lambda: boundary_volume(ARROWS, [0], "through"),
    ],
)
def test_words_that_mean_nothing_are_refused(call):
    with pytest.raises(ValueError, match="must be one of"):
        call()


def test_a_directed_graph_has_no_laplacian_until_a_symmetrisation_is_named():
    with pytest.raises(ValueError, match="directed"):
        laplacian(ARROWS)
    assert laplacian(ARROWS, symmetrization="max").toarray()[1, 1] == 3.0


def test_components_without_known_distances_are_not_joined_for_ever():
    space = GraphSpace(TWO_TRIANGLES)
    with pytest.raises(ValueError, match="no distance"):
        bridge(space, components(TWO_TRIANGLES))
    with pytest.raises(ValueError, match="no distance"):
        enlarge(space, space.all_neighbors())


@pytest.mark.parametrize("sources", [[0.5], [True, False, True], [[0, 1]], 0, ["a"]])
def test_sources_are_vertices(sources):
    with pytest.raises(ValueError, match="vertices"):
        geodesics(TWO_TRIANGLES, sources)


@pytest.mark.parametrize("threads", [0, -1, 1.5])
def test_threads_can_be_started(threads):
    with pytest.raises((TypeError, ValueError), match="threads"):
        geodesics(TWO_TRIANGLES, threads=threads)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_a_rayleigh_quotient_does_not_depend_on_the_size_of_its_function(size):
    values = np.array([1.0, 2.0, -3.0, 0.5, 0.0, 1.0])
    expected = rayleigh_quotient(TWO_TRIANGLES, values)
    assert rayleigh_quotient(TWO_TRIANGLES, values * size) == pytest.approx(expected)
