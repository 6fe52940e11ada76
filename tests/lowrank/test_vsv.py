"""Symmetric VSV of definite and indefinite matrices against the eigenvalues."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lowrank.drawn import (
    BAD_ARGUMENTS,
    LAW,
    assert_orthonormal,
    orthonormal_basis,
    refuses,
    rngs,
    rounding,
    semidefinite,
    singular,
)
from unbend.lowrank import vsv


def symmetric(rng, values):
    vectors = orthonormal_basis(rng, len(values), len(values))
    product = (vectors * values) @ vectors.T
    return (product + product.T) / 2


@st.composite
def indefinite(draw):
    """Take semidefinite spectra with random signs; opposite eigenvalues of one modulus too."""
    values, vectors = np.linalg.eigh(draw(semidefinite()))
    signs = draw(rngs).choice([-1, 1], len(values))
    product = (vectors * values * signs) @ vectors.T
    return (product + product.T) / 2 * draw(st.sampled_from([1.0, 1e-150, 1e150]))


def assert_revealing(matrix, found):
    d, small = found.rank, rounding(matrix)
    assert_orthonormal(found.v)
    assert np.array_equal(found.middle, found.middle.T)
    assert np.linalg.norm(found.v @ found.middle @ found.v.T - matrix, 2) <= small
    sigma = singular(matrix)
    assert found.error <= 1.01 * sigma[d] + small
    apart = np.linalg.norm(matrix - found.matrix(), 2)
    np.testing.assert_allclose(found.error, apart, rtol=1e-6, atol=small)


@LAW
@given(st.one_of(semidefinite(), indefinite()), st.integers(1, 12))
def test_every_rank_is_revealed(matrix, rank):
    assert_revealing(matrix, vsv(matrix, min(rank, len(matrix))))


@LAW
@given(rngs, st.integers(2, 30), st.data())
def test_eigenvalues_have_their_signs_and_the_inertia_is_kept(rng, n, data):
    rank = data.draw(st.integers(1, n))
    values = np.where(np.arange(n) < rank, rng.uniform(1, 2, n), 1e-9) * rng.choice([-1, 1], n)
    matrix = symmetric(rng, values)
    found = vsv(matrix, tol=1e-5)
    assert found.rank == rank
    expected = np.sort(values[:rank])
    np.testing.assert_allclose(np.linalg.eigvalsh(found.leading), expected, 0, 1e-12)
    triangle = found.triangular()
    assert triangle.inertia == (np.sum(expected > 0), np.sum(expected < 0))


@LAW
@given(rngs, st.integers(1, 20))
def test_the_triangular_form_gives_the_leading_block(rng, n):
    found = vsv(symmetric(rng, rng.uniform(0.5, 2, n) * rng.choice([-1, 1], n)))
    lower, omega = found.triangular().lower, found.triangular().signature
    assert np.array_equal(lower, np.tril(lower))
    np.testing.assert_allclose(omega, omega.T, 0, 1e-13)
    assert_orthonormal(omega)
    np.testing.assert_allclose(lower @ omega @ lower.T, found.leading, 0, 1e-12)


def test_the_signature_of_a_definite_matrix_is_the_identity():
    rows = np.random.default_rng(0).standard_normal((30, 5))
    found = vsv(rows @ rows.T)
    assert found.rank == 5
    np.testing.assert_allclose(found.triangular().signature, np.eye(5), 0, 1e-13)


def test_the_kernel_of_geodesics_on_a_circle_is_indefinite_and_its_plane_is_found():
    steps = np.abs(np.subtract.outer(np.arange(101), np.arange(101)))
    squares = np.minimum(steps, 101 - steps) ** 2.0
    centre = np.eye(101) - 1 / 101
    kernel = -0.5 * centre @ squares @ centre
    kernel = (kernel + kernel.T) / 2
    values = np.linalg.eigvalsh(kernel)
    assert values[0] < -0.1 * values[-1]
    found = vsv(kernel, 2)
    # The largest is double; the next in modulus is negative.
    np.testing.assert_allclose(np.linalg.eigvalsh(found.leading), values[-2:], rtol=1e-10)
    assert_revealing(kernel, found)


def test_single_precision_is_kept_and_hostile_input_refused():
    found = vsv(np.diag([3.0, -2.0, 0.0]).astype(np.float32))
    assert {found.v.dtype, found.middle.dtype} == {np.dtype(np.float32)}
    assert found.triangular().lower.dtype == np.float32
    refuses(vsv, BAD_ARGUMENTS)
    with pytest.raises(ValueError, match="square"):
        vsv(np.ones((2, 3)))
    with pytest.raises(ValueError, match="not symmetric"):
        vsv([[1.0, 2.0], [0.0, 1.0]])
