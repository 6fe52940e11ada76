"""Single precision: where Isomap uses it, how much it costs, and where it does not."""

import time

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.sparse.csgraph import shortest_path
from sklearn.neighbors import kneighbors_graph

import unbend
from tests.loops import each
from unbend import Isomap
from unbend.datasets import swiss_roll
from unbend.gram.precision import TOLERANCE, kernel_geodesics
from unbend.graphs import geodesics, undirected
from unbend.neighbors import PointSpace

ROLL = swiss_roll(1100, random_state=0).points
SMALLEST = float(np.finfo(np.float64).eps)


def relative(found, expected):
    return np.abs(found - expected).max() / np.abs(expected).max()


def anisotropic(ratio, n, seed=0):
    """Rows one of whose columns is `ratio` times as wide as the five others."""
    rng = np.random.default_rng(seed)
    return np.c_[rng.normal(0, ratio, n), rng.normal(size=(n, 5))]


def reference(points, k):
    """Eigenpairs of −½HD²H by SciPy's shortest paths and NumPy's LAPACK, largest first."""
    edges = kneighbors_graph(points, k, mode="distance")
    squares = shortest_path(edges, directed=False) ** 2
    squares -= squares.mean(axis=0)
    squares -= squares.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(-0.25 * (squares + squares.T))
    return values[::-1], vectors[:, ::-1]


@each("solver", ["auto", "lanczos", "dense"], keep=1)
@each("ratio", [1, 1e2, 1e3, 1e4, 1e6])
@pytest.mark.filterwarnings("error", "ignore::unbend.ScaleWarning")
def test_coordinates_of_unscaled_tables_are_those_of_double_precision(ratio, solver):
    points = anisotropic(ratio, 1100)
    # Neighbours enough to connect the tails of the wide column.
    model = Isomap(n_neighbors=30, eigen_solver=solver).fit(points)
    values, vectors = reference(points, 30)
    found = model.embedding_ / np.sqrt(model.eigenvalues_)
    single = model.geodesics_.dtype == np.float32
    for j in (0, 1):
        # Weyl, and Davis and Kahan, with the rounding of n sums or that of single precision.
        rounding = 64 * SMALLEST * values[0] + (TOLERANCE * values[1] if single else 0.0)
        gap = np.min(np.abs(np.delete(values, j) - values[j]))
        assert abs(model.eigenvalues_[j] - values[j]) <= rounding
        sine = np.linalg.norm(found[:, j] - vectors[:, j] * (vectors[:, j] @ found[:, j]))
        assert sine <= 2 * rounding / gap
        assert model.embedding_[:, j].std() == pytest.approx(np.sqrt(values[j] / 1100), rel=1e-5)


@each("d", [2, 1, 5], keep=1)
@each("ratio", [1, 10, 30, 1e2, 1e3])
def test_single_precision_is_used_only_where_its_rounding_is_below_the_wanted_eigenvalues(ratio, d):
    points = anisotropic(ratio, 1001, seed=1)
    lengths = undirected(PointSpace(points).nearest(30)).lengths
    found = kernel_geodesics(lengths, d, instead="")
    exact, single = (geodesics(lengths, dtype=dtype) for dtype in (np.float64, np.float32))
    assert np.array_equal(found, exact if found.dtype == np.float64 else single)
    kernel, error = np.square(exact), np.square(single, dtype=np.float64) - np.square(exact)
    for matrix in (kernel, error):
        matrix -= matrix.mean(axis=0)
        matrix -= matrix.mean(axis=1, keepdims=True)
    wanted = np.linalg.eigvalsh(-0.5 * kernel)[-d]
    share = np.linalg.norm(error / 2, 2) / wanted
    # Both numbers are estimates from samples: within a factor of two and a half.
    if found.dtype == np.float32:
        assert share <= 2.5 * TOLERANCE
    else:
        assert share >= TOLERANCE / 2.5


def test_the_second_coordinate_of_a_wide_table_takes_no_longer_than_in_double_precision():
    points = anisotropic(1e6, 1500)
    seconds = {"auto": [], "double": []}
    for _ in range(3):
        for precision, times in seconds.items():
            start = time.process_time()
            Isomap(n_neighbors=30, precision=precision).fit(points)
            times.append(time.process_time() - start)
    assert min(seconds["auto"]) < 2 * min(seconds["double"])


@pytest.mark.parametrize("ratio", [1, 20, 50, 1e6])
def test_the_report_counts_the_memory_that_is_held(ratio):
    n = 1100
    model = Isomap(n_neighbors=30).fit(anisotropic(ratio, n))
    kernel = next(stage for stage in model.report_.stages if stage.name == "kernel")
    assert kernel.facts["precision"] == str(model.geodesics_.dtype)
    # Beside the array itself, some rows that measure the rounding.
    assert model.geodesics_.nbytes <= kernel.bytes <= model.geodesics_.nbytes + 8 * 12 * n


def test_double_precision_that_does_not_fit_is_refused():
    points = anisotropic(1e6, 1100)
    with unbend.memory_limit(6 * 1100**2), pytest.raises(MemoryError, match="LandmarkIsomap"):
        Isomap(n_neighbors=30).fit(points)
    with unbend.memory_limit(6 * 1100**2):
        assert Isomap().fit(ROLL).geodesics_.dtype == np.float32


def test_single_precision_moves_coordinates_by_a_millionth():
    single, double = (Isomap(precision=p).fit(ROLL) for p in ("single", "double"))
    assert single.geodesics_.dtype == np.float32
    assert double.geodesics_.dtype == np.float64
    assert np.sin(subspace_angles(single.embedding_, double.embedding_)).max() < 1e-5
    assert relative(single.embedding_, double.embedding_) < 1e-5
    new = swiss_roll(50, random_state=1).points
    assert relative(single.transform(new), double.transform(new)) < 1e-5


def test_auto_takes_it_beyond_a_thousand_rows_only():
    assert Isomap().fit(ROLL).geodesics_.dtype == np.float32
    assert Isomap().fit(ROLL[:1000]).geodesics_.dtype == np.float64


@pytest.mark.parametrize("scale", [1e-60, 1e-44, 1e-33, 1e-20, 1e20, 1e30, 1e37])
def test_no_scale_leaves_its_range(scale):
    usual = Isomap(precision="double").fit_transform(ROLL)
    assert relative(Isomap().fit_transform(ROLL * scale) / scale, usual) < 1e-5


def test_warns_where_single_precision_was_asked_for_and_cannot_hold_the_distances():
    with pytest.warns(UserWarning, match="range of single precision"):
        model = Isomap(precision="single").fit(ROLL * 1e-40)
    assert model.geodesics_.dtype == np.float64


def test_coordinates_within_two_far_clusters_are_found():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(1200, 20))
    points[:, 1:] *= 0.2
    points[600:] += 1e4
    model = Isomap().fit(points)
    graph = model.geodesics_
    squares = graph**2 - (graph**2).mean(axis=0)
    squares -= squares.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(-0.25 * (squares + squares.T))
    assert model.eigenvalues_[1] == pytest.approx(values[-2], rel=1e-5)
    second = model.embedding_[:, 1] / np.linalg.norm(model.embedding_[:, 1])
    assert abs(second @ vectors[:, -2]) > 1 - 1e-6


def test_warns_of_coordinates_that_are_only_rounding_in_double_precision_too():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(1200, 20))
    points[:, 1:] *= 0.2
    points[600:] += 1e6
    with pytest.warns(UserWarning, match="only 1 positive"):
        model = Isomap().fit(points)
    assert not model.embedding_[:, 1].any()


@pytest.mark.parametrize("ratio", [1.0, 1e3])
def test_warns_where_the_rounding_of_single_precision_by_name_changes_a_coordinate(ratio):
    model = Isomap(n_neighbors=30, precision="single", eigen_solver="dense")
    warned = "may change its coordinate by more than 1 %"
    model.fit(anisotropic(ratio, 700))
    assert any(warned in message for message in model.report_.warnings) == (ratio > 1)
