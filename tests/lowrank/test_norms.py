"""Estimates of norms: from below, never far, with vectors that belong to them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.lowrank.drawn import LAW, rngs, rounding, with_spectrum
from unbend.lowrank import largest_eigenvalue, largest_singular


@LAW
@given(rngs, st.integers(1, 60), st.integers(1, 60), st.integers(1, 6))
def test_singular_estimates_lie_between_their_bounds(rng, m, n, steps):
    matrix = rng.standard_normal((m, n))
    found = largest_singular(matrix, steps)
    norm, frobenius = np.linalg.norm(matrix, 2), np.linalg.norm(matrix)
    assert frobenius / np.sqrt(m) * (1 - 1e-12) <= found.value <= norm * (1 + 1e-12)
    np.testing.assert_allclose(matrix @ found.right, found.value * found.left, 0, rounding(matrix))
    residual = np.linalg.norm(matrix.T @ found.left - found.value * found.right)
    np.testing.assert_allclose(residual, found.residual, rtol=1e-6, atol=rounding(matrix))


@LAW
@given(rngs, st.integers(2, 40), st.integers(2, 40))
def test_singular_vectors_are_found_where_the_largest_stands_out(rng, m, n):
    sizes = np.where(np.arange(min(m, n)) < 1, 2.0, 1.0)
    matrix = with_spectrum(rng, m, n, sizes)
    found = largest_singular(matrix)
    u, sigma, vt = np.linalg.svd(matrix)
    np.testing.assert_allclose(found.value, sigma[0], rtol=1e-12)
    assert abs(found.left @ u[:, 0]) > 1 - 1e-12
    assert abs(found.right @ vt[0]) > 1 - 1e-12


@LAW
@given(rngs, st.integers(1, 40), st.integers(2, 6))
def test_eigenvalue_estimates_lie_between_their_bounds(rng, n, steps):
    matrix = rng.standard_normal((n, n))
    matrix = matrix + matrix.T
    found = largest_eigenvalue(matrix, steps)
    least = np.linalg.norm(matrix) / np.sqrt(n)
    assert least * (1 - 1e-12) <= abs(found.value) <= np.linalg.norm(matrix, 2) * (1 + 1e-12)
    residual = np.linalg.norm(matrix @ found.vector - found.value * found.vector)
    np.testing.assert_allclose(residual, found.residual, rtol=1e-6, atol=rounding(matrix))


def test_opposite_eigenvalues_of_one_size_do_not_mix():
    """Singular vectors of diag(2, −2, 1) may mix the first two; eigenvectors may not."""
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3))).Q
    matrix = (turn * [2.0, -2.0, 1.0]) @ turn.T
    found = largest_eigenvalue((matrix + matrix.T) / 2)
    assert abs(abs(found.value) - 2) < 1e-12
    assert found.residual < 1e-7


def test_zero_is_estimated_as_zero():
    assert largest_singular(np.zeros((3, 2))).value == 0
    assert largest_eigenvalue(np.zeros((3, 3))).value == 0
