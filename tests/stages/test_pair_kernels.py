"""Kernels over all pairs of rows: the compiled ones against their plain twins, for any threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.stages.drawn import LAW, rngs
from unbend._kernels import reference

THREADS = (1, 2, 5)
precisions = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@pytest.fixture(scope="module")
def native():
    return pytest.importorskip("unbend._kernels._native", reason="no compiler at installation")


def distances(kernels, rows, dtype, threads=1):
    found = np.full(len(rows) * (len(rows) - 1) // 2, np.nan, dtype)
    kernels.pair_distances(rows, threads, found)
    return found


@precisions
@LAW
@given(rngs, st.integers(1, 300), st.integers(1, 20))
def test_distances_of_pairs_equal_the_twin(native, dtype, rng, n, d):
    rows = rng.normal(size=(n, d))
    rows[n // 2] = rows[0]
    expected = distances(reference, rows, dtype)
    found = [distances(native, rows, dtype, threads) for threads in THREADS]
    np.testing.assert_allclose(found[0], expected, 4 * np.finfo(dtype).eps)
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


@LAW
@given(rngs, st.integers(3, 200), st.integers(1, 9))
def test_equal_rows_have_equal_distances_to_every_other(native, rng, n, d):
    rows = rng.normal(size=(n, d))
    rows[n // 2] = rows[0]
    whole = np.zeros((n, n))
    whole[np.triu_indices(n, 1)] = distances(native, rows, np.float64)
    whole += whole.T
    np.testing.assert_array_equal(whole[0], whole[n // 2])


@pytest.mark.parametrize("exponent", [-200, -160, 160, 300])
def test_squares_of_distances_may_be_out_of_range(native, exponent):
    rows = np.random.default_rng(0).normal(size=(40, 3))
    rows[1] = rows[0]
    scaled = np.ldexp(rows, int(exponent * np.log2(10)))
    expected = np.ldexp(distances(native, rows, np.float64), int(exponent * np.log2(10)))
    np.testing.assert_allclose(distances(native, scaled, np.float64), expected, 1e-15)


def test_near_twins_among_far_rows_keep_their_distance(native):
    rows = np.array([[0.0, 0.0], [3e-170, 4e-170], [1.0, 0.0]])
    np.testing.assert_allclose(distances(native, rows, np.float64)[0], 5e-170, 1e-15)


@precisions
@LAW
@given(rngs, st.sampled_from([0, 1, 5, 300, 20_000, 40_000]), st.booleans())
def test_order_is_ascending_and_that_of_indices_where_numbers_are_equal(
    native, dtype, rng, n, coarse
):
    numbers = rng.normal(size=n) * 10.0 ** rng.integers(-20, 20, n)
    numbers = (np.round(rng.normal(size=n), 1) if coarse else numbers).astype(dtype)
    numbers[rng.random(n) < 0.05] = np.inf
    expected = np.argsort(numbers, kind="stable")
    for threads in THREADS:
        order = np.full(n, -1)
        native.sorted_order(numbers, threads, order)
        np.testing.assert_array_equal(order, expected)


def lines(kernels, values, weights, x, threads=1):
    k = len(values)
    sums, residuals = np.full((k, 3), np.nan), np.full(k, np.nan)
    targets = np.full(len(values[0]), np.nan, values[0].dtype)
    centers, fitted = np.linspace(0, 1, k), np.column_stack((np.linspace(-1, 1, k), np.ones(k)))
    kernels.line_sums(values, weights, centers, x, threads, sums)
    kernels.line_residuals(values, weights, fitted, x, threads, targets, residuals)
    return sums, targets, residuals


@precisions
@LAW
@given(rngs, st.integers(2, 300), st.integers(1, 4), st.integers(1, 3))
def test_sums_and_residuals_of_lines_equal_the_twin(native, dtype, rng, n, d, k):
    m = n * (n - 1) // 2
    values = [rng.uniform(0, 3, m).astype(dtype) for _ in range(k)]
    weights = [rng.integers(0, 3, m).astype(dtype) for _ in range(k)]
    weights[0] = weights[0][:0]
    x = rng.normal(size=(n, d))
    for some in (weights, [weights[0]] * k, [weights[-1]] * k):
        expected = lines(reference, values, some, x)
        found = [lines(native, values, some, x, threads) for threads in THREADS]
        for one, other in zip(found[0], expected, strict=True):
            np.testing.assert_allclose(one, other, 1e-6 if one.dtype == np.float32 else 1e-10, 1e-9)
        for other in found[1:]:
            for one, same in zip(found[0], other, strict=True):
                np.testing.assert_array_equal(one, same)
