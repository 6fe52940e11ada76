"""Checks of tables, dense kernels and orthonormal blocks: compiled kernels against plain twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.stages.drawn import EPS, LAW, rngs
from unbend._kernels import reference

APART = 1e-2


@pytest.fixture(scope="module")
def native():
    return pytest.importorskip("unbend._kernels._native", reason="no compiler at installation")


@LAW
@given(rngs, st.integers(0, 80), st.sampled_from([0.0, np.nan, np.inf, -np.inf, -1e300]))
def test_the_largest_magnitude_is_that_of_the_reference_kernel(native, rng, count, other):
    numbers = rng.normal(size=count)
    numbers[rng.random(count) < 0.1] = other
    found, expected = (one.largest_magnitude(numbers) for one in (native, reference))
    assert found == expected or (np.isnan(found) and np.isnan(expected))


@LAW
@given(rngs, st.integers(1, 60), st.integers(1, 40), st.integers(1, 70))
def test_spreads_of_columns_are_those_of_the_reference_kernel(native, rng, n, columns, step):
    rows = rng.normal(size=(n, columns)) + 1e6
    found, expected = np.full((2, 2, columns), np.nan)
    native.column_spread(rows, step, *found)
    reference.column_spread(rows, step, *expected)
    np.testing.assert_allclose(found, expected, 1e-12, 1e-12)


@LAW
@given(rngs, st.integers(1, 100), st.integers(1, 5), st.floats(0.01, 5.0))
def test_gaussians_equal_the_reference_kernel_and_are_symmetric(native, rng, n, columns, size):
    points = size * rng.normal(size=(n, columns))
    points[n // 2] = points[0]
    products = points @ points.T
    found, expected = products.copy(), products.copy()
    native.gaussians(found)
    reference.gaussians(expected)
    np.testing.assert_allclose(found, expected, 4 * EPS, 0)
    assert (found == found.T).all()
    assert (found.diagonal() == 1.0).all()
    assert (found <= 1.0).all()


@LAW
@given(rngs, st.integers(1, 70), st.integers(0, 13))
def test_few_products_and_sums_of_pairs_equal_the_reference_kernels(native, rng, n, width):
    matrix = rng.normal(size=(n, n))
    matrix += matrix.T
    vectors, values = rng.normal(size=(width, n)), rng.normal(size=n)
    found, expected = np.full((2, width, n), np.nan)
    native.few_products(matrix, vectors, found)
    reference.few_products(matrix, vectors, expected)
    assert (np.abs(found - expected) <= 2 * n * EPS * (np.abs(vectors) @ np.abs(matrix))).all()
    sums = [matrix.copy(), matrix.copy()]
    native.add_to_pairs(sums[0], values)
    reference.add_to_pairs(sums[1], values)
    assert sums[0].tobytes() == sums[1].tobytes()


@LAW
@given(rngs, st.integers(20, 90), st.integers(0, 12), st.integers(1, 7))
def test_orthonormal_blocks_span_what_the_reference_kernel_spans(native, rng, n, count, width):
    basis = np.linalg.qr(rng.normal(size=(n, count)))[0].T.copy()
    block = rng.normal(size=(n, width)) * 10.0 ** rng.integers(-30, 30)
    found, expected = block.copy(), block.copy()
    inside = native.orthonormal_block(basis, found, APART)
    assert (inside < 0) == (reference.orthonormal_block(basis, expected, APART) < 0)
    if inside < 0:
        assert found.tobytes() == block.tobytes()
        return
    np.testing.assert_allclose(found, expected, 0, 1e-9)
    np.testing.assert_allclose(found.T @ found, np.eye(width), 0, 1e-14)
    np.testing.assert_allclose(basis @ found, 0, 0, 1e-14)


@pytest.mark.parametrize("kind", ["zero", "equal", "inside", "nan", "infinite"])
def test_blocks_that_are_not_well_apart_are_left_as_they_are(native, kind):
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(50, 4)))[0].T.copy()
    block = rng.normal(size=(50, 3))
    block[:, 1] = {
        "zero": np.zeros(50),
        "equal": block[:, 0],
        "inside": basis[2],
        "nan": np.full(50, np.nan),
        "infinite": np.full(50, np.inf),
    }[kind]
    for kernels in (native, reference):
        own = block.copy()
        with np.errstate(invalid="ignore"):
            inside = kernels.orthonormal_block(basis, own, APART)
        # What is left of a vector inside the basis is rounding, for the next round.
        assert inside < 0 or (kind == "inside" and inside > 1e-2)
        assert inside >= 0 or own.tobytes() == block.tobytes()


def symmetric_matrix(rng, n, kind):
    """Symmetric matrices whose eigenvalues are hard to tell apart, or of very different sizes."""
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = {
        "spread": rng.normal(size=n),
        "equal": np.full(n, 2.0),
        "few": rng.integers(0, 3, n).astype(float),
        "close": 1.0 + 1e-14 * rng.normal(size=n),
        "graded": 10.0 ** -rng.uniform(0, 25, n),
        "zero": np.zeros(n),
    }[kind]
    return (turn * values) @ turn.T


KINDS = ("spread", "equal", "few", "close", "graded", "zero")


@LAW
@given(rngs, st.integers(0, 70), st.sampled_from(KINDS), st.integers(-250, 250))
def test_eigenpairs_of_small_matrices_are_those_of_lapack(native, rng, n, kind, power):
    matrix = symmetric_matrix(rng, n, kind) * 10.0**power
    mean = matrix / 2 + matrix.T / 2
    size = np.abs(mean).sum(axis=1).max(initial=0.0)
    # Rounding of n reflections and about 2n steps of rotations.
    slack = 20 * n * EPS
    for kernels in (native, reference):
        values, vectors = np.full(n, np.nan), np.full((n, n), np.nan)
        assert kernels.symmetric_eigenpairs(matrix, values, vectors)
        np.testing.assert_allclose(values, np.linalg.eigvalsh(mean), 0, slack * size)
        np.testing.assert_allclose(vectors @ vectors.T, np.eye(n), 0, slack)
        unit = mean / (size or 1.0)
        np.testing.assert_allclose(
            vectors @ unit, values[:, None] / (size or 1.0) * vectors, 0, slack
        )
        assert (np.diff(values) >= 0).all()


@pytest.mark.parametrize("diagonals", ["one", "three"])
def test_eigenpairs_of_matrices_that_are_reduced_already(native, diagonals):
    n = 30
    matrix = np.diag(np.arange(n, 0.0, -1))
    if diagonals == "three":
        # The path graph: eigenvalues 2 - 2 cos(pi k / (n + 1)).
        matrix = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    values, vectors = np.empty(n), np.empty((n, n))
    assert native.symmetric_eigenpairs(matrix, values, vectors)
    k = np.arange(1.0, n + 1)
    expected = k if diagonals == "one" else 2.0 - 2.0 * np.cos(np.pi * k / (n + 1))
    np.testing.assert_allclose(values, expected, 0, 20 * n * EPS)
    np.testing.assert_allclose(matrix @ vectors.T, vectors.T * values, 0, 100 * n * EPS)


@pytest.mark.parametrize("stage", ["reflections", "rotations"])
def test_eigenvectors_are_orthonormal_where_squares_of_entries_underflow(native, stage):
    if stage == "reflections":
        sizes, numbers = 10.0 ** -np.linspace(0.0, 100.0, 50), np.arange(50)
        matrix = np.cos(1.0 + np.add.outer(numbers, numbers) ** 2) * np.outer(sizes, sizes)
    else:
        beside = np.array([1e-80, 1.0, 1.0])
        matrix = np.diag(beside, 1) + np.diag(beside, -1)
    n = len(matrix)
    values, vectors = np.empty(n), np.empty((n, n))
    assert native.symmetric_eigenpairs(matrix, values, vectors)
    slack = 20 * n * EPS
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(n), 0, slack)
    size = np.abs(matrix).sum(axis=1).max()
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix), 0, slack * size)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_eigenpairs_of_numbers_that_are_not_finite_are_refused(native, wrong):
    matrix = np.eye(5)
    matrix[2, 1] = wrong
    for kernels in (native, reference):
        assert not kernels.symmetric_eigenpairs(matrix, np.empty(5), np.empty((5, 5)))
