"""Kernel PCA against arithmetic of 60 digits, at and far from the origin."""

import warnings
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from functools import cache

import numpy as np
import pytest

from tests.conformance.cases import assert_clear
from tests.loops import each
from unbend import ClassicalMDS, KernelPCA, Nystrom

KERNELS = ["linear", "poly", "rbf", "sigmoid", "laplacian", "cosine"]
OFFSETS = [0.0, 1e2, 1e4, 1e6, 1e8]
# Of the largest coordinate. Measured: 4e-14 at the most.
TOLERANCE = 1e-11
ROWS, NEW = 12, 4
over_offsets = each("offset", OFFSETS)


def data(offset):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(ROWS + NEW, 3)) * [3.0, 2.0, 1.0] + offset
    return rows[:ROWS], rows[ROWS:]


def value(kernel, x, y, gamma, degree=3, coef0=1):
    """Value of a kernel for two rows of `Decimal`."""
    product = sum(a * b for a, b in zip(x, y, strict=True))
    if kernel == "linear":
        return product
    if kernel == "cosine":
        return product / (sum(a * a for a in x) * sum(b * b for b in y)).sqrt()
    if kernel == "poly":
        return (gamma * product + coef0) ** degree
    if kernel == "sigmoid":
        # tanh less one: a constant changes nothing, and digits next to one would be lost.
        return -2 / (1 + (2 * (gamma * product + coef0)).exp())
    power = 1 if kernel == "laplacian" else 2
    return (-gamma * sum(abs(a - b) ** power for a, b in zip(x, y, strict=True))).exp()


@cache
def truth(kernel, offset, gamma, **params):
    """Two coordinates of the fitted and new rows, and the largest entry of the centred kernel."""
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = 60, MIN_EMIN, MAX_EMAX
        fitted, new = ([[Decimal(float(v)) for v in row] for row in part] for part in data(offset))
        width = Decimal(float(gamma))
        given = {name: Decimal(v) for name, v in params.items()}
        square = np.array([[value(kernel, x, y, width, **given) for y in fitted] for x in fitted])
        beside = np.array([[value(kernel, x, y, width, **given) for y in fitted] for x in new])
        means, mean = square.sum(axis=0) / ROWS, square.sum() / ROWS**2
        beside = beside - means - beside.sum(axis=1)[:, None] / ROWS + mean
        square = square - means - means[:, None] + mean
        size = max(abs(entry) for entry in square.ravel())
        # Scaled before they are rounded: squares may lie below the range of double precision.
        centred, placed = ((part / size).astype(float) for part in (square, beside))
        root = float(size.sqrt())
    values, vectors = np.linalg.eigh(centred)
    values, vectors = values[:-3:-1], vectors[:, :-3:-1]
    return root * vectors * np.sqrt(values), root * placed @ (vectors / np.sqrt(values)), root**2


def compared(found, expected):
    """Largest error, relative, up to the sign of each coordinate."""
    signs = np.sign(np.sum(found[0] * expected[0], axis=0))
    sizes = [np.abs(part).max() for part in expected]
    return max(
        np.abs(a * signs - b).max() / size
        for a, b, size in zip(found, expected, sizes, strict=True)
    )


def mean_width(rows):
    return 1.0 / (2.0 * rows.var(axis=0).sum())


# Columns of an indefinite kernel do not give it back.
SOLVED = [(kernel, "auto") for kernel in KERNELS]
SOLVED += [(kernel, Nystrom(ROWS)) for kernel in KERNELS if kernel != "sigmoid"]


@over_offsets
@each(("kernel", "solver"), SOLVED)
def test_coordinates_are_those_of_exact_arithmetic_or_refused(kernel, solver, offset):
    rows, new = data(offset)
    gamma = mean_width(rows - rows.mean(axis=0))
    *expected, size = truth(kernel, offset, gamma)
    model = KernelPCA(kernel=kernel, gamma=gamma, eigen_solver=solver)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            model.fit(rows)
        except ValueError as error:
            assert_clear(error, "has the same value for all rows, 1", "standardise X")
            assert kernel == "sigmoid"
            assert size < 1e-140
            return
        fitted = model.transform(rows)
    assert compared((fitted,), (model.embedding_,)) < TOLERANCE
    assert compared((model.embedding_, model.transform(new)), expected) < TOLERANCE


@over_offsets
@each(
    ("kernel", "params"),
    [
        ("poly", {"degree": 2, "coef0": 0}),
        ("poly", {"degree": 5, "coef0": -1}),
        ("poly", {"degree": 2.5, "coef0": 3}),
        ("poly", {"degree": 1}),
        ("sigmoid", {"coef0": -2}),
        ("rbf", {}),
        ("laplacian", {}),
    ],
)
def test_small_widths_lose_no_digits(kernel, params, offset):
    # γ|x|² is about 1/100, so that no kernel saturates: distances shrink to 1e-18 in their squares.
    rows, new = data(offset)
    gamma = float(f"{0.01 / np.square(rows).sum(axis=1).max():.3g}")
    model = KernelPCA(kernel=kernel, gamma=gamma, **params)
    try:
        model.fit(rows)
    except ValueError as error:
        assert_clear(error, "not finite")
        assert params["coef0"] < 0 or params["degree"] == 2.5
        return
    *expected, _ = truth(kernel, offset, gamma, **params)
    assert compared((model.transform(rows), model.transform(new)), expected) < TOLERANCE


@pytest.mark.parametrize("offset", [1e4, 1e8])
def test_new_samples_far_from_the_fitted_ones_are_embedded_too(offset):
    rows, _ = data(offset)
    model = KernelPCA(kernel="poly", degree=2).fit(rows)
    with localcontext() as context:
        context.prec = 60
        new = np.array([[0.0, 0.0, 0.0], [3 * offset, -offset, 1.0], [-offset, offset, 7.0]])
        exact = np.array([[Decimal(float(v)) for v in row] for row in (*rows, *new)])
        values = (Decimal(model.gamma_) * (exact @ exact.T) + 1) ** 2
        fitted, beside = values[:ROWS, :ROWS], values[ROWS:, :ROWS]
        means, mean = fitted.sum(axis=0) / ROWS, fitted.sum() / ROWS**2
        beside = (beside - means - beside.sum(axis=1)[:, None] / ROWS + mean).astype(float)
    expected = beside @ (model.embedding_ / model.eigenvalues_)
    np.testing.assert_allclose(model.transform(new), expected, rtol=1e-6)


def cubic(x, y, gamma):
    return (gamma * (x @ y) + 1.0) ** 3


@over_offsets
@each("given", ["callable", "precomputed", "similarities"])
def test_values_that_we_do_not_compute_ourselves_are_judged_by_their_digits(given, offset):
    rows, _ = data(offset)
    gamma = mean_width(rows - rows.mean(axis=0))
    *expected, _ = truth("poly", offset, gamma)
    values = (gamma * rows @ rows.T + 1.0) ** 3
    model, X = {
        "callable": (KernelPCA(kernel=cubic, kernel_params={"gamma": gamma}), rows),
        "precomputed": (KernelPCA(kernel="precomputed"), values),
        "similarities": (ClassicalMDS(metric="kernel"), values),
    }[given]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(X)
        except ValueError as error:
            assert offset == 1e8
            assert_clear(error, "16 of 16 digits are lost", "standardise X")
            return
    if offset <= 1e4:
        assert not caught
        assert compared((model.transform(X),), expected[:1]) < 1e-8
    else:
        # K is about |x|⁶ and squares |x|⁴.
        digits = round(np.log10(values.max() / (4 * np.abs(model.embedding_).max() ** 2)))
        (message,) = [str(warning.message) for warning in caught]
        assert message.startswith(tuple(f"{digits + k} of 16 digits are lost" for k in (-1, 0, 1)))
        assert "standardise X" in message


def test_identical_rows_lose_no_digits():
    with pytest.warns(UserWarning, match="only 0 positive eigenvalues"):
        model = KernelPCA(kernel="poly", gamma=1.0).fit(np.full((6, 3), 1e8))
    assert not model.embedding_.any()


def test_directions_of_tiny_rows_count_as_those_of_large_ones():
    rows, new = data(0.0)
    model = KernelPCA(kernel="cosine").fit(rows)
    np.testing.assert_allclose(model.transform(1e-200 * new), model.transform(new), atol=1e-14)
