"""Pairs of many objects: single precision where stress cannot show it, double elsewhere."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

import unbend
from tests.loops import sampled
from unbend.mds import Pairs
from unbend.mds.initialization import classical_stress
from unbend.neighbors import PointSpace
from unbend.sklearn import Isomap as ScikitIsomap

UNIT = float(np.finfo(np.float32).eps) / 2


def table(ratio, n=1050, columns=4):
    rng = np.random.default_rng(0)
    return np.c_[rng.normal(0, ratio, n), rng.normal(size=(n, columns - 1))]


def precision_of(model):
    return model.report_.stage("dissimilarities").facts["precision"]


@pytest.mark.parametrize("ratio", [1, 1e2, 1e4, 1e6])
@pytest.mark.parametrize("precomputed", [False, True])
def test_pairs_of_unscaled_tables_are_double_precision(ratio, precomputed):
    points = table(ratio)
    given = np.linalg.norm(points[:, None] - points, axis=2) if precomputed else points
    metric = "precomputed" if precomputed else "euclidean"
    model = unbend.MetricMDS(metric=metric, max_iter=3, tol=1.0).fit(given)
    assert precision_of(model) == ("float32" if ratio == 1 else "float64")
    bytes_of_pairs = model._dissimilarities.dissimilarities.nbytes
    assert model.report_.stage("dissimilarities").bytes >= bytes_of_pairs


def test_points_of_a_plane_have_no_stress_but_rounding():
    model = unbend.MetricMDS().fit(table(100, columns=2))
    distances = pdist(table(100, columns=2))
    assert model.stress_ <= (8 * np.finfo(np.float64).eps) ** 2 * np.sum(distances**2)


def test_more_than_a_thousand_rows_of_unequal_units_reach_the_stress_of_fewer():
    """The stress of 1000 rows, always in double precision, tells that of a few more."""
    points = table(100, 1010)
    fewer, more = (unbend.MetricMDS().fit(points[:n]) for n in (1000, 1010))
    assert more.stress_ / fewer.stress_ == pytest.approx((1010 / 1000) ** 2, rel=0.05)


@sampled("seed", range(3))
def test_rounding_moves_stress_by_no_more_than_its_unit(seed):
    rng = np.random.default_rng(seed)
    points, places = rng.normal(size=(200, 5)), rng.normal(size=(200, 2))
    exact, distances = pdist(points), pdist(places)
    rounded = exact.astype(np.float32).astype(np.float64)
    size = np.linalg.norm(exact)
    moved = np.linalg.norm(distances - rounded) - np.linalg.norm(distances - exact)
    assert abs(moved) <= UNIT * size


@pytest.mark.parametrize("apart", [0.0, 1e2, 1e5])
@pytest.mark.parametrize("columns", [3, 200])
def test_single_precision_pairs_are_right_to_their_last_digit_however_close(columns, apart):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, columns))
    points[150:] += apart
    points[1] = points[0] + 1e-9
    points[2] = points[0]
    found = Pairs.from_points(PointSpace(points), np.float32).dissimilarities
    np.testing.assert_allclose(found, pdist(points), rtol=2e-7)


@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_classical_stress_is_that_of_the_principal_axes(scale):
    points = np.random.default_rng(0).normal(size=(80, 4)) * [4, 3, 2, 1]
    centred = points - points.mean(axis=0)
    flat = centred @ np.linalg.svd(centred)[2][:2].T
    expected = np.linalg.norm(pdist(flat) - pdist(points)) / np.linalg.norm(pdist(points))
    square = np.linalg.norm(points[:, None] - points, axis=2) * scale
    assert classical_stress(square, 2) == pytest.approx(expected, rel=1e-9)


def test_isomap_of_unbend_sklearn_computes_in_double_precision_whatever_the_rows():
    rng = np.random.default_rng(0)
    rows = np.c_[rng.normal(0, 1e4, 300), rng.normal(size=(300, 3))].astype(np.float32)
    single = ScikitIsomap(n_neighbors=30).fit(rows)
    double = ScikitIsomap(n_neighbors=30).fit(rows.astype(np.float64))
    assert single.embedding_.dtype == single.dist_matrix_.dtype == np.float32
    size = np.abs(double.embedding_).max(axis=0)
    assert np.all(np.abs(single.embedding_ - double.embedding_).max(axis=0) <= 1e-6 * size)
