"""Both ULV algorithms: orthogonal factors, a triangular middle, and a revealed rank."""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.loops import each
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
from unbend.lowrank import largest_singular, ulv

algorithms = each("algorithm", ["L", "A"])


@algorithms
@LAW
@given(matrices(), st.integers(1, 14))
def test_the_factors_are_orthogonal_and_give_the_matrix(algorithm, matrix, rank):
    found = ulv(matrix, min(rank, *matrix.shape), algorithm=algorithm)
    assert_orthonormal(found.u)
    assert_orthonormal(found.v)
    assert np.all(found.lower[: found.rank, found.rank :] == 0)
    assert np.array_equal(found.leading, np.tril(found.leading))
    apart = np.linalg.norm(found.u @ found.lower @ found.v.T - matrix, 2)
    assert apart <= rounding(matrix)


@algorithms
@LAW
@given(matrices(), st.integers(1, 14))
def test_every_rank_is_revealed(algorithm, matrix, rank):
    """(15.10): with estimates of the norm this good the constants are one plus little."""
    found = ulv(matrix, min(rank, *matrix.shape), algorithm=algorithm)
    d, sigma, small = found.rank, singular(matrix), rounding(matrix)
    assert found.error <= 1.01 * sigma[d] + small
    if d:
        assert np.all(singular(found.leading)[:d] <= sigma[:d] + small)
        assert np.all(singular(found.leading)[:d] >= 0.99 * sigma[:d] - small)
    apart = np.linalg.norm(matrix - found.matrix(), 2)
    np.testing.assert_allclose(found.error, apart, rtol=1e-6, atol=small)


@algorithms
@LAW
@given(rngs, st.integers(1, 12), st.integers(1, 12), st.data())
def test_the_tolerance_finds_the_rank_of_matrices_with_a_gap(algorithm, rng, m, n, data):
    rank = data.draw(st.integers(1, min(m, n)))
    sizes = np.where(np.arange(min(m, n)) < rank, 1.0, 1e-9)
    matrix = with_spectrum(rng, m, n, sizes)
    found = ulv(matrix, tol=1e-5, algorithm=algorithm)
    assert found.rank == rank
    # Refined: the spaces are as good as the gap allows.
    assert np.linalg.norm(found.coupling) <= 1e-9 + rounding(matrix)


@algorithms
@pytest.mark.parametrize("start", [0, 1, 7])
def test_poor_estimates_cost_accuracy_not_the_rank(algorithm, start, monkeypatch):
    """One step for each norm: deflation still finds the rank, refinement the rest."""
    module = import_module("unbend.lowrank.utv")
    monkeypatch.setattr(module, "largest_singular", lambda block: largest_singular(block, 1))
    rng = np.random.default_rng(start)
    matrix = with_spectrum(rng, 40, 30, np.where(np.arange(30) < 5, np.arange(6, -24, -1.0), 1e-8))
    found = ulv(matrix, tol=1e-5, algorithm=algorithm)
    assert found.rank == 5
    assert found.error <= 1.01 * singular(matrix)[5] + rounding(matrix)


@algorithms
@each("kind", SPECTRA)
def test_ranks_are_revealed_where_the_estimates_stop_early(algorithm, kind):
    """Krylov spaces of 30 do not hold all of 70 × 60: not more than half is lost."""
    matrix = with_spectrum(np.random.default_rng(5), 70, 60, SPECTRA[kind](60))
    for rank in (3, 25):
        found = ulv(matrix, rank, algorithm=algorithm)
        assert found.error <= 1.5 * singular(matrix)[found.rank] + rounding(matrix)


@algorithms
def test_a_high_rank_is_revealed_too(algorithm):
    matrix = kahan(40)
    found = ulv(matrix, 39, algorithm=algorithm)
    assert found.error <= 1.01 * singular(matrix)[39] + rounding(matrix)


@algorithms
def test_single_precision_is_kept_and_hostile_input_refused(algorithm):
    matrix = with_spectrum(np.random.default_rng(3), 9, 6, 10.0 ** -np.arange(6)).astype(np.float32)
    found = ulv(matrix, 3, algorithm=algorithm)
    kinds = {found.u.dtype, found.lower.dtype, found.v.dtype, found.matrix().dtype}
    assert kinds == {np.dtype(np.float32)}
    assert found.error <= 1.01 * singular(matrix)[3] + rounding(matrix)
    refuses(lambda matrix, **more: ulv(matrix, algorithm=algorithm, **more), BAD_ARGUMENTS)
    with pytest.raises(ValueError, match="one of 'L', 'A'"):
        ulv(np.eye(2), algorithm="B")
