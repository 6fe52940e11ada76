"""Pivoted Cholesky: LAPACK's pivots, exact rows and columns, and few entries read."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import lapack

from tests.lowrank.drawn import BAD_ARGUMENTS, LAW, refuses, rngs, rounding, semidefinite, singular
from unbend.lowrank import Columnwise, pivoted_cholesky


@LAW
@given(semidefinite(), st.integers(1, 12))
def test_chosen_columns_are_kept_and_the_rest_is_semidefinite(matrix, rank):
    found = pivoted_cholesky(matrix, min(rank, len(matrix)))
    small = rounding(matrix)
    rest = matrix - found.matrix()
    np.testing.assert_allclose(rest[:, found.pivots], 0, atol=small)
    assert np.linalg.eigvalsh(rest)[0] >= -small
    np.testing.assert_allclose(np.diagonal(rest), found.residual, 0, small)
    np.testing.assert_allclose(found.error, np.trace(rest), 0, len(matrix) * small)
    triangle = found.factor[found.pivots]
    np.testing.assert_allclose(triangle, np.tril(triangle), 0, 0)


@LAW
@given(semidefinite())
def test_the_trace_that_is_left_bounds_every_norm(matrix):
    found = pivoted_cholesky(matrix, tol=1e-3)
    rest = matrix - found.matrix()
    assert found.error <= 1e-3 * np.trace(matrix) or found.rank == len(matrix)
    for norm in (2, "fro", "nuc"):
        assert np.linalg.norm(rest, norm) <= found.error + len(matrix) * rounding(matrix)


@LAW
@given(rngs, st.integers(1, 15), st.integers(1, 6))
def test_pivots_are_those_of_lapack(rng, n, rank):
    rows = rng.standard_normal((n, min(rank, n)))
    matrix = rows @ rows.T
    _, pivots, found_rank, _ = lapack.dpstrf(matrix, lower=1, tol=1e-9)
    found = pivoted_cholesky(matrix, tol=1e-9)
    assert found.rank == found_rank
    assert np.array_equal(found.pivots, pivots[:found_rank] - 1)


@LAW
@given(semidefinite(), st.integers(1, 12))
def test_the_error_is_within_the_known_bound(matrix, rank):
    """‖rest‖ ≤ 4ᵏ (n − k) λₖ₊₁ (Harbrecht, Peters and Schneider, 2012): the worst case."""
    found = pivoted_cholesky(matrix, min(rank, len(matrix)))
    k, n = found.rank, len(matrix)
    largest = found.residual.max()
    assert largest <= 4.0**k * (n - k) * singular(matrix)[k] + rounding(matrix)


def test_only_the_diagonal_and_chosen_columns_are_read():
    points = np.random.default_rng(0).uniform(size=(5000, 2))
    asked = []

    def column(j):
        asked.append(j)
        return np.exp(-np.sum((points - points[j]) ** 2, axis=1))

    found = pivoted_cholesky(Columnwise(np.ones(5000), column), tol=1e-8)
    assert asked == found.pivots.tolist()
    assert found.rank < 60
    rows = np.random.default_rng(1).integers(0, 5000, (2, 500))
    truth = np.exp(-np.sum((points[rows[0]] - points[rows[1]]) ** 2, axis=1))
    guess = np.sum(found.factor[rows[0]] * found.factor[rows[1]], axis=1)
    # Entries of a semidefinite rest are at most its largest diagonal.
    np.testing.assert_allclose(guess, truth, 0, found.residual.max() + 1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_kept(dtype):
    rows = np.random.default_rng(2).standard_normal((20, 4)).astype(dtype)
    found = pivoted_cholesky(rows @ rows.T)
    assert found.rank == 4
    assert found.factor.dtype == found.residual.dtype == dtype


@pytest.mark.parametrize(
    "matrix",
    [
        [[0.0, 1.0], [1.0, 0.0]],
        [[1.0, 2.0], [2.0, 1.0]],
        -np.eye(3),
        [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]],
        [[2.0, 1.0, 1.0], [1.0, 2.0, -1.9], [1.0, -1.9, 2.0]],
    ],
)
def test_indefinite_matrices_are_refused(matrix):
    with pytest.raises(ValueError, match="not positive semidefinite"):
        pivoted_cholesky(matrix)


def test_hostile_input_is_refused():
    refuses(pivoted_cholesky, BAD_ARGUMENTS)
    with pytest.raises(ValueError, match="diagonal must be a vector"):
        pivoted_cholesky(Columnwise(np.array([1.0, np.nan]), lambda j: np.ones(2)))
    with pytest.raises(ValueError, match="vector of 2 finite numbers"):
        pivoted_cholesky(Columnwise(np.ones(2), lambda j: np.ones(3)))
