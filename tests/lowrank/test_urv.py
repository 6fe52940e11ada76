"""URV: orthogonal factors, an upper triangular middle, and a revealed rank."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lowrank.drawn import (
    BAD_ARGUMENTS,
    LAW,
    assert_orthonormal,
    matrices,
    refuses,
    rounding,
    singular,
)
from unbend.lowrank import ulv, urv

algorithms = pytest.mark.parametrize("algorithm", ["L", "A"])


@algorithms
@LAW
@given(matrices(), st.integers(1, 14))
def test_the_factors_give_the_matrix_and_reveal_every_rank(algorithm, matrix, rank):
    found = urv(matrix, min(rank, *matrix.shape), algorithm=algorithm)
    d, sigma, small = found.rank, singular(matrix), rounding(matrix)
    assert_orthonormal(found.u)
    assert_orthonormal(found.v)
    assert np.all(found.upper[d:, :d] == 0)
    assert np.array_equal(found.leading, np.triu(found.leading))
    assert np.linalg.norm(found.u @ found.upper @ found.v.T - matrix, 2) <= small
    assert found.error <= 1.01 * sigma[d] + small
    if d:
        assert np.all(singular(found.leading)[:d] >= 0.99 * sigma[:d] - small)
    apart = np.linalg.norm(matrix - found.matrix(), 2)
    np.testing.assert_allclose(found.error, apart, rtol=1e-6, atol=small)


def test_blocks_are_those_of_the_transposed_ulv():
    matrix = np.random.default_rng(0).standard_normal((7, 5))
    found, other = urv(matrix, 2), ulv(matrix.T, 2)
    np.testing.assert_array_equal(found.leading, other.leading.T)
    np.testing.assert_array_equal(found.coupling, other.coupling.T)
    np.testing.assert_array_equal(found.trailing, other.trailing.T)


def test_single_precision_is_kept_and_hostile_input_refused():
    found = urv(np.random.default_rng(1).standard_normal((6, 4)).astype(np.float32), 2)
    assert {found.u.dtype, found.upper.dtype, found.v.dtype} == {np.dtype(np.float32)}
    refuses(urv, BAD_ARGUMENTS)
