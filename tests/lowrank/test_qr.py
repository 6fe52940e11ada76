"""Strong rank-revealing QR: the three inequalities of Gu and Eisenstat for every matrix and f."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg
from scipy.sparse import csr_array

from tests.lowrank.drawn import (
    BAD_ARGUMENTS,
    LAW,
    SPECTRA,
    assert_orthonormal,
    kahan,
    matrices,
    refuses,
    rngs,
    rounding,
    singular,
    with_spectrum,
)
from unbend.lowrank import strong_qr
from unbend.lowrank.bounds import interpolation_bound
from unbend.lowrank.rank_revealing import orthonormal_columns

f_values = st.sampled_from([1.0, 1.1, 2.0, 10.0])


def assert_strong(matrix, found, f):
    n, k = matrix.shape[1], found.rank
    bound, sigma, small = interpolation_bound(n, k, f), singular(matrix), rounding(matrix)
    if k:
        leading = singular(found.r[:k, :k])[:k]
        assert np.all(leading * bound >= sigma[:k] - bound * small)
        assert np.abs(found.interpolation()).max() <= f * (1 + 1e-6)
    if k < min(matrix.shape):
        trailing = singular(found.r[k:, k:])[: n - k]
        assert np.all(trailing <= bound * (sigma[k:][: n - k] + small))


@LAW
@given(matrices(), f_values, st.integers(1, 14))
def test_the_inequalities_of_gu_and_eisenstat_hold_at_every_rank(matrix, f, rank):
    found = strong_qr(matrix, min(rank, *matrix.shape), f=f)
    assert_orthonormal(found.q)
    assert np.array_equal(found.r, np.triu(found.r))
    assert sorted(found.order) == list(range(matrix.shape[1]))
    error = np.linalg.norm(found.q @ found.r - matrix[:, found.order], 2)
    assert error <= rounding(matrix)
    assert_strong(matrix, found, f)


@pytest.mark.parametrize("n", [30, 60, 90])
@pytest.mark.parametrize("f", [1.0, 2.0])
def test_kahans_matrices_defeat_pivoting_and_not_exchanges(n, f):
    matrix = kahan(n)
    sigma = singular(matrix)[:n]
    pivoted = linalg.qr(matrix, mode="r", pivoting=True)[0]
    found = strong_qr(matrix, n - 1, f=f)
    assert abs(pivoted[-1, -1]) > 5 * interpolation_bound(n, n - 1, f) * sigma[-1]
    assert_strong(matrix, found, f)


@LAW
@given(rngs, st.integers(2, 12), st.integers(2, 12), st.data())
def test_the_rank_is_revealed_where_there_is_a_gap(rng, m, n, data):
    rank = data.draw(st.integers(1, min(m, n)))
    sizes = np.where(np.arange(min(m, n)) < rank, 1.0, 1e-9)
    found = strong_qr(with_spectrum(rng, m, n, sizes), tol=1e-5)
    assert found.rank == rank


@LAW
@given(matrices(), st.integers(1, 14))
def test_the_error_is_that_of_the_approximation(matrix, rank):
    found = strong_qr(matrix, min(rank, *matrix.shape))
    apart = np.linalg.norm(matrix - found.matrix(), 2)
    np.testing.assert_allclose(found.error, apart, rtol=1e-6, atol=rounding(matrix))
    interpolated = matrix[:, found.columns] @ found.interpolation()
    # The rounding of the interpolation is that of the matrix, since its entries are bounded.
    size = rounding(matrix) * interpolation_bound(matrix.shape[1], found.rank, 2.0)
    np.testing.assert_allclose(interpolated, found.matrix(), rtol=0, atol=size)


@pytest.mark.parametrize("kind", SPECTRA)
def test_single_precision_is_kept(kind):
    matrix = with_spectrum(np.random.default_rng(1), 20, 12, SPECTRA[kind](12)).astype(np.float32)
    found = strong_qr(matrix)
    assert {found.q.dtype, found.r.dtype, found.matrix().dtype} == {np.dtype(np.float32)}
    assert_strong(matrix, found, 2.0)


def test_a_power_of_two_changes_nothing():
    matrix = np.random.default_rng(2).standard_normal((9, 7))
    plain, scaled = strong_qr(matrix, 3), strong_qr(matrix * 2.0**900, 3)
    assert np.array_equal(plain.order, scaled.order)
    assert np.array_equal(plain.r * 2.0**900, scaled.r)


def test_hostile_input_raises_a_clear_error():
    refuses(strong_qr, [*BAD_ARGUMENTS, ({"f": 0.5}, ValueError, "at least 1")])
    with pytest.raises(TypeError, match="dense array"):
        strong_qr(csr_array(np.eye(3)))


def test_columns_that_are_well_apart_are_made_orthonormal_by_products_alone(monkeypatch):
    def refuse(block):
        raise AssertionError("columns that are well apart need no reflections")

    block = np.random.default_rng(0).normal(size=(300, 6)) * np.logspace(-8, 8, 6)
    monkeypatch.setattr(np.linalg, "qr", refuse)
    basis = orthonormal_columns(block)
    assert_orthonormal(basis)
    left = block / np.linalg.norm(block, axis=0)
    np.testing.assert_allclose(basis @ (basis.T @ left), left, atol=1e-13)


@pytest.mark.parametrize("last", [0.0, 1e-9, np.inf])
def test_columns_that_are_not_are_made_orthonormal_by_reflections(monkeypatch, last):
    used, reflections = [], np.linalg.qr
    monkeypatch.setattr(np.linalg, "qr", lambda block: used.append(1) or reflections(block))
    block = np.random.default_rng(0).normal(size=(300, 6))
    block[:, 5] = block[:, 4] + last * block[:, 5] if np.isfinite(last) else 1e200
    basis = orthonormal_columns(block)
    assert used
    assert_orthonormal(basis)
