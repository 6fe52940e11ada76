"""Diagnostics that a fit leaves until they are asked for: the numbers of an eager computation."""

import copy
import pickle

import numpy as np
import pytest
from scipy.spatial.distance import pdist

import unbend
from unbend.arrays import row_products
from unbend.report import Stage


@pytest.fixture
def points():
    return np.random.default_rng(3).normal(size=(150, 8)) * np.linspace(3, 1, 8)


def test_distortion_is_that_of_the_fitted_rows_whatever_happens_to_them_later(points):
    model = unbend.RandomProjection(3).fit(points)
    ratios = pdist(model.embedding_, "sqeuclidean") / pdist(points, "sqeuclidean")
    points[:] = 0.0
    assert model.distortion_["largest"] == pytest.approx(ratios.max(), rel=1e-9)
    assert model.distortion_["mean"] == pytest.approx(ratios.mean(), rel=1e-9)
    facts = model.report_.stage("distortion").facts
    assert {name: facts[name] for name in model.distortion_} == model.distortion_


def test_outlyingness_is_that_of_the_fitted_rows_whatever_happens_to_them_later(points):
    new = points[:20] + 0.3
    model = unbend.PCA(2).fit(points)
    at_once = unbend.PCA(2).fit(points).outlyingness(new)
    axes, mean = model.components_, points.mean(axis=0)
    off = points - mean - (points - mean) @ axes.T @ axes
    points[:] = 0.0
    np.testing.assert_allclose(model.outlyingness(new), at_once, rtol=1e-12)
    np.testing.assert_allclose(model._reference[:, 2], np.linalg.norm(off, axis=1), rtol=1e-12)
    np.testing.assert_allclose(model._reference[:, :2], model.embedding_, rtol=1e-12)


@pytest.mark.parametrize("method", [unbend.PCA, unbend.RandomProjection])
@pytest.mark.parametrize("how", ["file", "pickle", "copy"])
def test_a_stored_model_holds_what_was_deferred(points, method, how, tmp_path):
    model = method(2).fit(points)
    if how == "file":
        model.save(tmp_path / "model.unbend")
        again = unbend.load(tmp_path / "model.unbend")
    else:
        again = pickle.loads(pickle.dumps(model)) if how == "pickle" else copy.deepcopy(model)
    new = points[:9] + 0.1
    np.testing.assert_array_equal(again.outlyingness(new), model.outlyingness(new))
    assert again.report_.to_dict() == model.report_.to_dict()
    if method is unbend.RandomProjection:
        assert again.distortion_ == model.distortion_


def test_a_new_fit_leaves_nothing_of_what_the_last_one_deferred(points):
    model = unbend.RandomProjection(2).fit(points)
    model.fit(points[:50])
    ratios = pdist(model.embedding_, "sqeuclidean") / pdist(points[:50], "sqeuclidean")
    assert model.distortion_["least"] == pytest.approx(ratios.min(), rel=1e-9)
    batched = unbend.PCA(2).fit(points).fit_batches([points])
    with pytest.raises(ValueError, match="holds none"):
        batched.outlyingness(points)


def test_facts_are_computed_once_and_only_when_read():
    calls = []
    stage = Stage("distortion", facts={"bound": 3})
    stage.defer(lambda: calls.append(1) or {"mean": 1.5})
    assert not calls
    assert stage.facts == {"bound": 3, "mean": 1.5} == stage.facts
    assert len(calls) == 1
    with pytest.raises(AttributeError, match="no attribute 'fact'"):
        _ = stage.fact


def test_products_with_a_center_do_not_depend_on_other_rows():
    rng = np.random.default_rng(0)
    rows, matrix, center = (
        rng.normal(size=(1500, 70)),
        rng.normal(size=(70, 11)),
        rng.normal(size=70),
    )
    whole = row_products(rows, matrix, center)
    np.testing.assert_array_equal(whole, row_products(rows - center, matrix))
    np.testing.assert_array_equal(whole[701:704], row_products(rows[701:704], matrix, center))
    np.testing.assert_allclose(whole, (rows - center) @ matrix, atol=1e-12)


@pytest.mark.parametrize("shape", [(300, 24), (300, 40)])
def test_singular_values_from_the_covariance_keep_their_digits(shape):
    rng = np.random.default_rng(1)
    n, d = shape[0], 8
    basis = [np.linalg.qr(rng.normal(size=(side, shape[1])))[0] for side in shape]
    left = basis[0] - basis[0].mean(axis=0)
    left = np.linalg.qr(left)[0]
    values = np.geomspace(1.0, 1e-3, shape[1])
    rows = (left * values) @ basis[1].T
    model = unbend.PCA(d).fit(rows)
    assert model.report_.stage("spectrum").facts["solver"] == "covariance"
    np.testing.assert_allclose(model.singular_values_, values[:d], rtol=1e-13 * n)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(d), atol=1e-14 * n)
