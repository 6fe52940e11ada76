"""Interpolative decomposition: Theorem 15.1 item by item, the randomised form, and SciPy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import interpolative as scipys
from scipy.sparse import csr_array
from scipy.sparse.linalg import aslinearoperator

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
from unbend.lowrank import interpolative, randomized_interpolative, strong_qr
from unbend.lowrank.bounds import interpolation_bound


@pytest.mark.parametrize("f", [1.0, 2.0])
@LAW
@given(matrix=matrices(), rank=st.integers(1, 14))
def test_theorem_15_1_and_its_relaxed_form(f, matrix, rank):
    """Items 1 to 4 for f = 1; the conditions before (15.27) for f = 2."""
    found = interpolative(matrix, min(rank, *matrix.shape), f=f)
    k, n, weights = found.rank, matrix.shape[1], found.interpolation
    assert np.array_equal(weights[:, found.columns], np.eye(k))
    assert np.array_equal(found.basis, matrix[:, found.columns])
    assert np.abs(weights).max(initial=0) <= f * (1 + 1e-6)
    bound = interpolation_bound(n, k, f)
    if k:
        sizes = np.linalg.svd(weights, compute_uv=False)
        assert sizes[0] <= bound * (1 + 1e-6)
        assert sizes[-1] >= 1 - 1e-12
    assert found.error(matrix) <= bound * (singular(matrix)[k] + rounding(matrix))
    if k == min(matrix.shape):
        assert found.error(matrix) <= bound * rounding(matrix)


def test_kahans_matrix_breaks_scipys_bound_and_not_ours():
    matrix = kahan(60)
    sigma = singular(matrix)[59]
    order, weights = scipys.interp_decomp(matrix, 59, rand=False)
    skeleton = scipys.reconstruct_skel_matrix(matrix, 59, order)
    theirs = scipys.reconstruct_matrix_from_id(skeleton, order, weights)
    bound = interpolation_bound(60, 59, 2.0)
    assert np.linalg.norm(matrix - theirs, 2) > 10 * bound * sigma
    assert np.abs(weights).max() > 100
    found = interpolative(matrix, 59)
    assert found.error(matrix) <= bound * sigma
    assert np.abs(found.interpolation).max() <= 2


@LAW
@given(rngs, st.integers(30, 60), st.integers(30, 60), st.integers(1, 8))
def test_the_randomised_form_is_nearly_as_good(rng, m, n, rank):
    matrix = with_spectrum(rng, m, n, 0.5 ** np.arange(min(m, n)))
    found = randomized_interpolative(matrix, rank, rng)
    assert found.rank == rank
    assert np.abs(found.interpolation).max() <= 2 * (1 + 1e-6)
    np.testing.assert_array_equal(found.basis, matrix[:, found.columns])
    # Halko, Martinsson and Tropp (2011), Theorem 10.6: √(1 + k/(p − 1)) σ + tail/…, and the
    # interpolation multiplies by its norm.
    sigma, bound = singular(matrix)[rank], interpolation_bound(n, rank, 2.0)
    assert found.error(matrix) <= 10 * bound * sigma


def test_a_low_rank_is_exact_for_arrays_sparse_matrices_and_operators():
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((200, 5)) @ rng.standard_normal((5, 150))
    matrix[np.abs(matrix) < 1e-3] = 0
    matrix[:, 20:] = matrix[:, :20] @ rng.standard_normal((20, 130))
    kinds = (matrix, csr_array(matrix), aslinearoperator(matrix))
    results = [randomized_interpolative(kind, 25, np.random.default_rng(1)) for kind in kinds]
    for found in results:
        assert np.array_equal(found.columns, results[0].columns)
        assert found.error(matrix) <= 1e3 * rounding(matrix)


def test_scipys_columns_are_taken_where_they_pass_the_test():
    x = np.linspace(0, 1, 100)
    matrix = np.exp(-np.abs(np.subtract.outer(x, x)))
    order, _ = scipys.interp_decomp(matrix, 10, rand=False)
    found = interpolative(matrix, 10)
    assert np.array_equal(found.columns, order[:10])
    np.testing.assert_allclose(found.interpolation, strong_qr(matrix, 10).interpolation(), 0, 1e-12)


def test_they_are_not_taken_where_they_fail_it():
    """Kahan's matrix with zeros below: low rank asked of many columns."""
    matrix = np.zeros((80, 80))
    matrix[:15, :15] = kahan(15, 0.3)
    _, weights = scipys.interp_decomp(matrix, 14, rand=False)
    assert np.abs(weights).max() > 100
    found = interpolative(matrix, 14, tol=1e-300)
    assert np.abs(found.interpolation).max() <= 2


def test_single_precision_is_kept_and_hostile_input_refused():
    rng = np.random.default_rng(2)
    matrix = rng.standard_normal((30, 20)).astype(np.float32)
    for found in (interpolative(matrix, 4), randomized_interpolative(matrix, 4, rng)):
        assert found.basis.dtype == found.interpolation.dtype == np.float32
    refuses(interpolative, BAD_ARGUMENTS)
    refuses(lambda matrix: randomized_interpolative(matrix, 1, rng))
    with pytest.raises(ValueError, match=r"rank=\d+ .* at (least 1|most 20)"):
        randomized_interpolative(matrix, 21, rng)
