"""Rank-revealing LU: triangular factors, and the bounds of Pan."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.lowrank.drawn import (
    BAD_ARGUMENTS,
    LAW,
    kahan,
    matrices,
    refuses,
    rngs,
    rounding,
    singular,
    with_spectrum,
)
from unbend.lowrank import rank_revealing_lu
from unbend.lowrank.bounds import lu_bound

f_values = st.sampled_from([1.0, 2.0, 5.0])


def assert_revealing(matrix, found, f):
    k, sigma = found.rank, singular(matrix)
    bound = lu_bound(*matrix.shape, k, f)
    small = bound * rounding(matrix)
    block = matrix[np.ix_(found.rows[:k], found.columns[:k])]
    if k:
        assert np.all(singular(block)[:k] * bound >= sigma[:k] - small)
    if k < min(matrix.shape):
        schur = found.lower[k:, k:] @ found.upper[k:, k:]
        assert np.all(singular(schur)[: len(schur)] <= bound * sigma[k:][: len(schur)] + small)


@LAW
@given(matrices(), f_values, st.integers(1, 14))
def test_the_block_and_its_schur_complement_are_within_the_bounds(matrix, f, rank):
    found = rank_revealing_lu(matrix, min(rank, *matrix.shape), f=f)
    assert_revealing(matrix, found, f)


@LAW
@given(matrices(), st.integers(1, 14))
def test_the_factors_are_triangular_and_give_the_matrix(matrix, rank):
    found = rank_revealing_lu(matrix, min(rank, *matrix.shape))
    p = min(matrix.shape)
    assert np.array_equal(np.triu(found.lower[:p], 1), np.zeros((p, p)))
    assert np.all(np.diagonal(found.lower) == 1)
    assert np.array_equal(found.upper, np.triu(found.upper))
    permuted = matrix[np.ix_(found.rows, found.columns)]
    bound = lu_bound(*matrix.shape, found.rank, 2.0)
    assert np.linalg.norm(found.lower @ found.upper - permuted, 2) <= bound * rounding(matrix)


@LAW
@given(matrices(), st.integers(1, 14))
def test_chosen_rows_and_columns_are_kept_and_the_error_is_reported(matrix, rank):
    found = rank_revealing_lu(matrix, min(rank, *matrix.shape))
    k, approximation = found.rank, found.matrix()
    small = lu_bound(*matrix.shape, k, 2.0) * rounding(matrix)
    np.testing.assert_allclose(approximation[found.rows[:k]], matrix[found.rows[:k]], 0, small)
    chosen = found.columns[:k]
    np.testing.assert_allclose(approximation[:, chosen], matrix[:, chosen], 0, small)
    apart = np.linalg.norm(matrix - approximation, 2)
    np.testing.assert_allclose(found.error, apart, rtol=1e-6, atol=small)


@LAW
@given(rngs, st.integers(2, 12), st.data())
def test_the_rank_is_revealed_where_there_is_a_gap(rng, n, data):
    rank = data.draw(st.integers(1, n))
    matrix = with_spectrum(rng, n + 2, n, np.where(np.arange(n) < rank, 1.0, 1e-9))
    assert rank_revealing_lu(matrix, tol=1e-5).rank == rank


def test_kahans_matrix_is_revealed():
    assert_revealing(kahan(60), rank_revealing_lu(kahan(60), 59, f=1.0), 1.0)


def test_single_precision_is_kept_and_hostile_input_refused():
    matrix = np.random.default_rng(0).standard_normal((8, 5)).astype(np.float32)
    found = rank_revealing_lu(matrix, 3)
    assert {found.lower.dtype, found.upper.dtype, found.matrix().dtype} == {np.dtype(np.float32)}
    refuses(rank_revealing_lu, [*BAD_ARGUMENTS, ({"f": np.nan}, ValueError, "at least 1")])
