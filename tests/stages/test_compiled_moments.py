"""Copies of rows and their second moments: each compiled kernel against its plain twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.stages.drawn import EPS, LAW, rngs
from unbend._kernels import reference
from unbend.dimension._spectra import FAR


@pytest.fixture(scope="module")
def native():
    return pytest.importorskip("unbend._kernels._native", reason="no compiler at installation")


def surveyed(kernels, points, vanishing=1e-150):
    copies = np.full(len(points), -1, dtype=np.int64)
    *found, distinct = kernels.distinct_rows(points, vanishing, copies)
    # They are filled only if there are any.
    return (*found, distinct), copies if distinct < len(points) else np.arange(len(points))


def moments(kernels, points, far=FAR):
    products = np.full((points.shape[1],) * 2, np.nan)
    return kernels.near_products(points, far, products)[0], products


@LAW
@given(rngs, st.integers(1, 300), st.integers(1, 12))
def test_fourth_powers_of_lengths_are_those_about_the_mean(native, rng, rows, columns):
    """Of rows that lie alike on both sides, so that no third moment is left out."""
    half = rng.standard_t(5, size=(rows, columns))
    points = rng.permutation(np.concatenate((half, -half))) + rng.normal(size=columns)
    found = [k.near_products(points, 1e9, np.empty((columns,) * 2))[1] for k in (native, reference)]
    assert found[0] == pytest.approx(found[1], rel=1e-9)


@pytest.mark.parametrize("skewed", [0, 1, 10, 50])
def test_fourth_powers_of_lopsided_rows_are_no_less_than_second_powers_allow(native, skewed):
    points = np.random.default_rng(0).normal(size=(640, 3))
    # Those that the centre is guessed from.
    points[: 10 * skewed : 10] += 3.0
    fourth = native.near_products(points, 1e9, np.empty((3, 3)))[1]
    exact = reference.near_products(points, 1e9, np.empty((3, 3)))[1]
    squares = np.square(points - points.mean(axis=0)).sum(axis=1)
    assert fourth >= squares.mean() ** 2 * (1 - 1e-9)
    assert fourth == pytest.approx(exact, rel=0.25)


@LAW
@given(rngs, st.integers(1, 700), st.integers(1, 21), st.integers(1, 4))
def test_duplicate_rows_are_those_of_the_reference_kernel(native, rng, rows, columns, values):
    points = rng.integers(-values, values + 1, (rows, columns)).astype(float)
    points[rng.random(points.shape) < 0.2] = -0.0
    found, copies = surveyed(native, points)
    expected, all_copies = surveyed(reference, points)
    assert found == expected
    assert (copies == all_copies).all()


@LAW
@given(rngs, st.integers(1, 300), st.integers(1, 9), st.sampled_from([np.nan, np.inf, -np.inf]))
def test_what_is_not_finite_is_seen_wherever_it_is(native, rng, rows, columns, strange):
    points = rng.normal(size=(rows, columns))
    assert surveyed(native, points)[0][0] is True
    points[rng.integers(rows), rng.integers(columns)] = strange
    assert surveyed(native, points)[0][0] is False


@LAW
@given(rngs, st.integers(1, 300), st.integers(1, 9), st.sampled_from([1e-151, -1e-160, 5e-324]))
def test_what_vanishes_is_seen_and_zero_does_not_vanish(native, rng, rows, columns, tiny):
    points = rng.integers(-1, 2, (rows, columns)) * rng.uniform(1, 2, (rows, columns))
    assert surveyed(native, points)[0][2] is False
    points[rng.integers(rows), rng.integers(columns)] = tiny
    assert surveyed(native, points)[0][2] is True


@pytest.mark.parametrize("columns", [1, 3, 40, 800])
def test_rows_that_differ_in_one_entry_are_not_duplicates(native, columns):
    """Also if they are as alike as can be: one number is one, or the last bit of it is set."""
    ones = np.zeros((columns, columns))
    np.fill_diagonal(ones, 1.0)
    bits = ones.copy()
    np.fill_diagonal(bits, np.nextafter(1.0, 2.0))
    (*_, distinct), copies = surveyed(native, np.concatenate((ones, bits, ones)))
    assert distinct == 2 * columns
    assert (copies[2 * columns :] == np.arange(columns)).all()


@LAW
@given(rngs, st.integers(2, 400), st.integers(1, 75), st.floats(-1e6, 1e6), st.integers(-50, 50))
def test_moments_equal_those_of_the_twin(native, rng, rows, columns, offset, power):
    points = (rng.normal(size=(rows, columns)) + offset) * 10.0**power
    kept, products = moments(native, points)
    all_kept, expected = moments(reference, points)
    assert kept == all_kept
    slack = 8 * EPS * (rows * EPS * np.abs(points).max() ** 2 + np.trace(expected))
    slack += 8 * EPS * np.sqrt(rows * np.trace(expected)) * np.abs(points).max()
    np.testing.assert_allclose(products, expected, 0, slack)
    assert (products == products.T).all()


@LAW
@given(rngs, st.integers(20, 400), st.integers(1, 30), st.integers(1, 8), st.floats(10, 1e9))
def test_far_rows_are_left_out_as_by_the_twin(native, rng, rows, columns, strays, away):
    points = rng.uniform(-1, 1, (rows, columns))
    points[rng.choice(rows, strays, replace=False)] *= away * 4.0 ** np.arange(strays)[:, None]
    kept, products = moments(native, points)
    all_kept, expected = moments(reference, points)
    assert kept == all_kept
    np.testing.assert_allclose(products, expected, 0, 1e-12 * np.trace(expected))


def test_the_first_rows_may_lie_apart_from_the_others(native):
    """Their mean is then no centre, and what was summed about it has lost digits."""
    points = np.random.default_rng(0).normal(size=(1000, 4))
    points[::16] += 1e7
    kept, products = moments(native, points, 1e9)
    assert kept == 1000
    exact = points.astype(np.longdouble) - points.astype(np.longdouble).mean(axis=0)
    np.testing.assert_allclose(products, (exact.T @ exact).astype(float), 1e-12)
