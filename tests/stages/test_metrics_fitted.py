"""Every named distance inside estimators: new rows, rows back, and what is refused."""

import pickle
import sys
import warnings

import numpy as np
import pytest

import unbend
from tests.conformance.cases import refused
from tests.loops import each
from unbend.neighbors import METRICS, Metric, PointSpace

SHAPE = (4, 6)
PICTURES = {"shape": SHAPE}
FITTED = {
    **{name: (name, None) for name in METRICS},
    "chord": ("angular", {"measure": "chord"}),
    "minkowski 3": ("minkowski", {"p": 3}),
    "weighted M": ("weighted", {"M": np.diag(np.arange(1.0, 25.0))}),
    "weighted B": ("weighted", {"B": 2 * np.eye(24), "weights": np.arange(24.0)}),
    "mahalanobis V": ("mahalanobis", {"V": np.diag(np.arange(1.0, 25.0))}),
    "derivative pictures": ("derivative", PICTURES),
    "fourier pictures": ("fourier", {**PICTURES, "keep": 2}),
    "phase pictures": ("fourier_phase", PICTURES),
    "phase difference pictures": ("fourier_phase_difference", PICTURES),
    "wavelet pictures": ("wavelet", {**PICTURES, "level": 2, "keep": 2, "wavelet": "haar"}),
}
every_metric = each(("metric", "params"), FITTED.values())


def bumps(n=80, seed=0):
    """Draw signals with a bump somewhere, of some height, on a little noise."""
    rng = np.random.default_rng(seed)
    place, height = rng.uniform(6, 18, n), rng.uniform(1, 2, n)
    signals = height[:, None] * np.exp(-((np.arange(24) - place[:, None]) ** 2) / 8)
    return signals + 0.1 + 0.02 * rng.normal(size=(n, 24))


def fitted(method, metric, params, rows, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return method(metric=metric, metric_params=params, **options).fit(rows)


@every_metric
@each("method", [unbend.Isomap, unbend.LTSA, unbend.ClassicalMDS])
def test_fitted_rows_are_placed_where_they_are(method, metric, params):
    rows = bumps()
    model = fitted(method, metric, params, rows)
    slack = 1e-9 * np.abs(model.embedding_).max()
    if method is unbend.ClassicalMDS:
        # Negative eigenvalues are dropped, which new rows feel as fitted ones do.
        slack = 1e-6 * np.abs(model.embedding_).max()
    np.testing.assert_allclose(model.transform(rows), model.embedding_, rtol=0, atol=slack)
    one_by_one = np.concatenate([model.transform(row[None]) for row in rows[:5]])
    np.testing.assert_allclose(one_by_one, model.embedding_[:5], rtol=0, atol=slack)


@every_metric
def test_new_samples_are_embedded_as_by_their_distances(metric, params):
    rows, new = bumps(), bumps(9, seed=1)
    model = fitted(unbend.Isomap, metric, params, rows)
    measured = Metric(metric, params or {}).fit(rows)
    given = fitted(unbend.Isomap, "precomputed", None, measured.between(rows, rows))
    size = np.abs(model.embedding_).max()
    np.testing.assert_allclose(model.embedding_, given.embedding_, rtol=0, atol=1e-7 * size)
    placed = given.transform(measured.between(new, rows))
    np.testing.assert_allclose(model.transform(new), placed, rtol=0, atol=1e-7 * size)


@every_metric
def test_inverse_transform_returns_rows_of_the_data(metric, params):
    rows = bumps()
    for method in (unbend.Isomap, unbend.LTSA):
        model = fitted(method, metric, params, rows)
        np.testing.assert_allclose(model.inverse_transform(model.embedding_), rows, atol=1e-12)


@every_metric
def test_a_pickled_space_keeps_what_the_metric_took_from_the_data(metric, params):
    rows, new = bumps(), bumps(9, seed=1)
    space = PointSpace(rows, Metric(metric, params or {}).fit(rows))
    again = pickle.loads(pickle.dumps(space))
    np.testing.assert_array_equal(again.distances_of(new), space.distances_of(new))


@pytest.mark.parametrize(
    "method", [unbend.LLE, unbend.HessianLLE, unbend.LTSA, unbend.RigidAlignment]
)
def test_local_methods_see_the_features(method):
    rows = bumps(200)
    params = {"keep": 4}
    features = Metric("fourier", params).features(rows)
    by_metric = fitted(method, "fourier", params, rows, n_components=1)
    by_features = fitted(method, "euclidean", None, features, n_components=1)
    np.testing.assert_allclose(by_metric.embedding_, by_features.embedding_, rtol=0, atol=1e-6)


def test_rows_that_the_distance_does_not_tell_apart_get_the_same_coordinates():
    rows = np.round(8 * bumps())
    louder = np.concatenate((rows, 2 * rows, 4 * rows))
    model = fitted(unbend.LTSA, "angular", None, louder)
    np.testing.assert_array_equal(model.embedding_[:80], model.embedding_[80:160])
    np.testing.assert_array_equal(model.embedding_[:80], model.embedding_[160:])
    offset = np.concatenate((rows, rows + 3))
    for params in (None, PICTURES):
        model = fitted(unbend.LTSA, "derivative", params, offset)
        np.testing.assert_array_equal(model.embedding_[:80], model.embedding_[80:])


D = np.diag
MISTAKES = {
    "shape of another size": ("fourier", {"shape": (5, 5)}, ["25", "24"]),
    "shape that is none": ("derivative", {"shape": 24}, ["shape"]),
    "negative size": ("wavelet", {"shape": (-4, -6)}, ["shape"]),
    "no frequency": ("fourier", {"keep": 0}, ["keep"]),
    "too many frequencies": ("fourier_phase", {"keep": 14}, ["13"]),
    "a share of them": ("fourier", {"keep": 0.5}, ["keep"]),
    "one for each of two axes": ("fourier", {"keep": (2, 2)}, ["keep"]),
    "one frequency has no neighbour": ("fourier_phase_difference", {"keep": 1}, ["keep"]),
    "unknown parameter": ("angular", {"keep": 3}, ["angular", "keep"]),
    "unknown parameter of a signal": ("derivative", {"order": 2}, ["order"]),
    "unknown measure": ("angular", {"measure": "sine"}, ["arc", "chord"]),
    "p below one": ("minkowski", {"p": 0.5}, ["p"]),
    "negative w": ("minkowski", {"w": -np.ones(24)}, ["negative"]),
    "negative weights": ("weighted", {"weights": -np.ones(24)}, ["negative"]),
    "all weights zero": ("weighted", {"weights": np.zeros(24)}, ["zero"]),
    "too few weights": ("weighted", {"weights": [1.0]}, ["24"]),
    "B without weights": ("weighted", {"B": np.eye(24)}, ["weights"]),
    "singular B": ("weighted", {"B": np.ones((24, 24)), "weights": np.ones(24)}, ["independent"]),
    "M and weights": ("weighted", {"M": np.eye(24), "weights": np.ones(24)}, ["one of"]),
    "singular M": ("weighted", {"M": D(np.arange(24.0))}, ["positive definite", "23"]),
    "indefinite M": ("weighted", {"M": D(np.arange(24.0) - 5)}, ["positive definite"]),
    "asymmetric M": ("weighted", {"M": np.triu(np.ones((24, 24)))}, ["symmetric"]),
    "M of another size": ("weighted", {"M": np.eye(23)}, ["24 x 24"]),
    "M with a nan": ("weighted", {"M": np.full((24, 24), np.nan)}, ["finite"]),
    "singular VI": ("mahalanobis", {"VI": np.ones((24, 24))}, ["VI", "positive definite"]),
    "V and VI": ("mahalanobis", {"V": np.eye(24), "VI": np.eye(24)}, ["one of"]),
    "no wavelet": ("wavelet", {"wavelet": "ripple"}, ["ripple"]),
    "no orthogonal wavelet": ("wavelet", {"wavelet": "bior2.2"}, ["orthogonal"]),
    "nearly orthogonal": ("wavelet", {"wavelet": "dmey"}, ["orthogonal"]),
    "too many levels": ("wavelet", {"level": 5}, ["level", "4"]),
    "too many bands": ("wavelet", {"keep": 3}, ["keep", "2"]),
}


@each("what", MISTAKES)
@each("method", [unbend.Isomap, unbend.ClassicalMDS])
def test_bad_arguments_raise_a_clear_error(method, what):
    metric, params, words = MISTAKES[what]
    refused(lambda: method(metric=metric, metric_params=params).fit(bumps()), *words)


def test_the_covariance_of_too_few_rows_is_singular_and_refused():
    for rows in (bumps(20), np.column_stack((bumps()[:, :3], np.full(80, 0.1)))):
        refused(lambda rows=rows: unbend.Isomap(metric="mahalanobis").fit(rows), "PCA")


@pytest.mark.parametrize(
    "metric", ["angular", "cosine", "correlation", "fourier_phase", "fourier_phase_difference"]
)
def test_a_zero_row_has_neither_direction_nor_phase(metric):
    rows = np.concatenate((bumps(), np.zeros((1, 24))))
    refused(lambda: unbend.Isomap(metric=metric).fit(rows), metric)
    model = fitted(unbend.Isomap, metric, None, bumps())
    refused(lambda: model.transform(np.zeros((1, 24))), metric)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e10])
def test_a_constant_row_has_no_correlation_whatever_its_rounding(value):
    rows = np.concatenate((bumps(), np.full((1, 24), value)))
    refused(lambda: unbend.Isomap(metric="correlation").fit(rows), "correlation", "constant")


def test_a_single_number_has_no_derivative_and_no_neighbouring_frequency():
    for metric in ("derivative", "fourier_phase_difference", "wavelet"):
        refused(lambda metric=metric: unbend.Isomap(metric=metric).fit(bumps()[:, 6:7]))


def test_without_pywavelets_the_error_names_the_package_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pywt", None)
    with pytest.raises(ImportError, match=r"PyWavelets.*unbend\[signal\]"):
        unbend.Isomap(metric="wavelet").fit(bumps())


def test_a_metric_that_depends_on_data_must_be_fitted_first():
    with pytest.raises(ValueError, match="call fit"):
        Metric("mahalanobis").between(bumps(), bumps())


def test_every_distance_and_its_parameters_are_declared():
    from unbend.validation.parameters import parameters

    for method in (unbend.Isomap, unbend.ClassicalMDS):
        declared = {parameter.name: parameter for parameter in parameters(method)}
        assert all(repr(name) in declared["metric"].allowed for name in METRICS)
        assert "'fourier'" in declared["metric_params"].help
