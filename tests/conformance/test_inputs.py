"""Bad data get one clear sentence; odd data get a right answer or one clear sentence."""

import copy
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

from tests.conformance.cases import (
    EVERY,
    STRICT,
    answered,
    assert_alike,
    assert_same,
    curve,
    fit_curve,
    isometric,
    over,
    refused,
    with_parameter,
)
from tests.loops import each
from tests.oracles.embeddings import subspace_angle

pytestmark = STRICT


def spoiled(value: Any) -> np.ndarray:
    rows = curve(50)
    rows[7, 1] = value
    return rows


BAD = {
    "nan": (spoiled(np.nan), ["NaN"]),
    "infinity": (spoiled(np.inf), ["infinity"]),
    "minus infinity": (spoiled(-np.inf), ["infinity"]),
    "nan in float32": (spoiled(np.nan).astype(np.float32), ["NaN"]),
    "no rows": (np.empty((0, 3)), ["0 sample"]),
    "no columns": (np.empty((50, 0)), ["0 feature"]),
    "one row": (curve(1), ["1 sample"]),
    "strings": (np.array([["a", "b"]] * 50), ["could not convert", "string"]),
    "mixed objects": (np.array([[1.0, "red", None]] * 50, dtype=object), []),
    "a frame with a text column": (pd.DataFrame({"x": range(50), "y": ["red"] * 50}), []),
    "complex": (curve(50) + 1j, ["omplex"]),
    "one dimension": (np.arange(50.0), ["2D"]),
    "three dimensions": (np.zeros((50, 3, 3)), ["2D", "(50, 3, 3)"]),
    "a number": (3.0, ["2D"]),
    "rows of unequal length": ([[1.0, 2.0], [3.0]] * 25, []),
    "a dictionary": ({"x": [1.0, 2.0]}, []),
    "nothing": (None, []),
}


@each("what", BAD)
@EVERY
def test_input_that_is_no_table_of_finite_numbers_raises_a_clear_error(
    method: type, what: str
) -> None:
    data, words = BAD[what]
    refused(lambda: method().fit(data), *words)


NEW = {
    "nan": (spoiled(np.nan), ["NaN"]),
    "infinity": (spoiled(np.inf), ["infinity"]),
    "too many columns": (np.ones((5, 4)), ["4 features", "3 features"]),
    "too few columns": (np.ones((5, 2)), ["2 features", "3 features"]),
    "no rows": (np.empty((0, 3)), ["0 sample"]),
    "one dimension": (np.ones(3), ["2D"]),
    "strings": (np.array([["a", "b", "c"]]), []),
    "sparse rows": (csr_array(np.eye(3)), ["sparse"]),
}


@each("what", NEW)
@EVERY
def test_bad_new_samples_raise_a_clear_error(method: type, what: str) -> None:
    fitted = fit_curve(method)
    data, words = NEW[what]
    if what == "sparse rows" and fitted.__sklearn_tags__().input_tags.sparse:
        assert_same(fitted.transform(np.eye(3)), fitted.transform(data))
    else:
        refused(lambda: fitted.transform(data), *words)


@each("coordinates", [np.ones((4, 5)), np.full((4, 2), np.nan), np.ones(2), [["a", "b"]]])
@EVERY
def test_bad_coordinates_in_inverse_transform_raise_a_clear_error(
    method: type, coordinates: Any
) -> None:
    fitted = fit_curve(method)
    refused(lambda: fitted.inverse_transform(coordinates))


@EVERY
def test_sparse_rows_are_accepted_or_raise_a_clear_error(method: type) -> None:
    rows = np.where(np.random.default_rng(0).random((60, 8)) < 0.3, 1.0, 0.0)
    rows += np.diag(np.arange(1.0, 9.0)).repeat(8, axis=0)[:60]
    if method().__sklearn_tags__().input_tags.sparse:
        expected = method().fit_transform(rows)
        assert_alike(method, expected, method().fit_transform(csr_array(rows)), 1e-6)
    else:
        refused(lambda: method().fit(csr_array(rows)), "sparse rows", "toarray()")


@EVERY
def test_an_estimator_that_is_not_fitted_raises(method: type) -> None:
    refused(lambda: method().transform(curve()), "not fitted", error=NotFittedError)
    refused(lambda: method().inverse_transform(np.ones((3, 2))), "not fitted", error=NotFittedError)
    refused(lambda: method().get_feature_names_out(), "not fitted", error=NotFittedError)


@EVERY
def test_after_a_fit_that_failed_an_estimator_is_still_not_fitted(method: type) -> None:
    failed = method(n_components=50)
    refused(lambda: failed.fit(curve(20)))
    refused(lambda: failed.transform(curve()), "not fitted", error=NotFittedError)


@EVERY
def test_a_fit_that_failed_leaves_the_earlier_one_usable(method: type) -> None:
    fitted = copy.deepcopy(fit_curve(method))
    before = fitted.transform(curve(seed=1))
    refused(lambda: fitted.set_params(n_components=50).fit(np.ones((20, 5))))
    assert np.array_equal(fitted.transform(curve(seed=1)), before)


@each("n", range(2, 12))
@each("d", [1, 2, 3])
@EVERY
def test_few_rows_are_embedded_or_refused(method: type, n: int, d: int) -> None:
    rows = np.random.default_rng(n).normal(size=(n, 4))
    fitted = answered(lambda: method(n_components=d).fit(rows))
    if fitted is not None:
        assert fitted.embedding_.shape == (n, d)
        assert np.all(np.isfinite(fitted.transform(rows + 0.01)))
        assert np.all(np.isfinite(fitted.inverse_transform(fitted.embedding_)))


@each("d", [1, 2])
@EVERY
def test_identical_rows_are_embedded_or_refused(method: type, d: int) -> None:
    fitted = answered(lambda: method(n_components=d).fit(np.full((30, 3), 7.0)))
    if fitted is not None:
        assert np.ptp(fitted.embedding_, axis=0).max() < 1e-6


@each(
    "solver", ["auto", "full", "covariance_eigh", "arpack", "randomized", "dual", "em", "sensible"]
)
@over(with_parameter("svd_solver"))
def test_every_solver_handles_identical_rows(method: type, solver: str) -> None:
    fitted = answered(lambda: method(svd_solver=solver).fit(np.full((30, 4), 7.0)))
    if fitted is not None:
        assert np.abs(fitted.embedding_).max() < 1e-6


@each("d", [4, 6])
@EVERY
def test_more_components_than_columns_are_given_or_refused(method: type, d: int) -> None:
    fitted = answered(lambda: method(n_components=d).fit(curve()))
    if fitted is not None:
        assert fitted.embedding_.shape == (200, d)
        size = np.abs(fitted.embedding_).max()
        assert np.abs(fitted.transform(curve() + 0.01)).max() < 10.0 * size


@each("extra", [0.0, 1.0, -1e3, 1e8])
@EVERY
def test_constant_columns_add_nothing(method: type, extra: float) -> None:
    rows = np.hstack([curve(), np.full((200, 2), extra)])
    assert subspace_angle(fit_curve(method).embedding_, method().fit_transform(rows)) < 1e-5


GRID = np.indices((6, 6)).reshape(2, -1).T


@each("data", [np.eye(12), np.arange(30.0)[:, None], GRID])
@EVERY
def test_handles_tied_distances(method: type, data: np.ndarray) -> None:
    d = min(2, data.shape[1])
    fitted = answered(lambda: method(n_components=d).fit(data))
    assert fitted is not None
    for name in ("residual_variance_", "negative_share_", "redundancy_"):
        assert np.all(np.isfinite(getattr(fitted, name, 0.0)))


@each(
    ("n", "factor"),
    [(200, 1e200), (200, 1e-200), (200, 1e149), (200, 1e-149), (700, 1e100), (700, 1e-100)],
)
@EVERY
def test_a_huge_or_tiny_scale_gives_the_right_answer_or_a_clear_error(
    method: type, n: int, factor: float
) -> None:
    fitted = answered(lambda: method().fit(factor * curve(n)))
    if fitted is not None:
        unit = fit_curve(method, n).embedding_
        found = fitted.embedding_ / (factor if isometric(method) else 1.0)
        assert_alike(method, unit, found, 1e-6)
        assert np.all(np.isfinite(fitted.report_.stage("spectrum").facts.get("residuals", [0.0])))


@each("factor", [1e25, 1e-25])
@EVERY
def test_float32_has_the_range_of_its_numbers_not_of_their_squares(
    method: type, factor: float
) -> None:
    rows = (factor * curve()).astype(np.float32)
    fitted = answered(lambda: method().fit(rows))
    if fitted is not None:
        unit = method().fit_transform(rows.astype(np.float64) / factor)
        assert subspace_angle(unit, fitted.embedding_.astype(np.float64) / factor) < 1e-5
