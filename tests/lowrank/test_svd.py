"""Randomised singular values against LAPACK's, for every form of matrix and every way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.linalg import aslinearoperator

from tests.loops import each
from tests.oracles.embeddings import subspace_angle
from tests.stages.drawn import EPS, LAW, rngs
from unbend.lowrank import SKETCHES, RowBlocks, randomized_svd, single_pass_svd


def decaying(rows, columns, sizes, rng):
    left = np.linalg.qr(rng.normal(size=(rows, len(sizes)))).Q
    right = np.linalg.qr(rng.normal(size=(columns, len(sizes)))).Q
    return (left * sizes) @ right.T


def in_blocks(matrix):
    return RowBlocks([matrix[:3], csr_array(matrix[3:10]), matrix[10:]])


def anew(matrix):
    return RowBlocks(lambda: iter(np.array_split(matrix, 4)))


FORMS = [np.asarray, csr_array, aslinearoperator, in_blocks, anew]
every_form = each("form", FORMS)


@every_form
@each("sketch", SKETCHES)
def test_low_rank_is_found_exactly_from_every_form(form, sketch):
    matrix = decaying(60, 40, [5.0, 3.0, 2.0, 1.0], np.random.default_rng(0))
    found = randomized_svd(form(matrix), 4, sketch=sketch)
    np.testing.assert_allclose(found.to_dense(), matrix, 0, 1e3 * EPS)
    np.testing.assert_allclose(found.singular, [5, 3, 2, 1], 1e3 * EPS)
    np.testing.assert_allclose(found.left.T @ found.left, np.eye(4), 0, 1e2 * EPS)
    np.testing.assert_allclose(found.right.T @ found.right, np.eye(4), 0, 1e2 * EPS)


@each("form", [np.asarray, csr_array, in_blocks, anew])
@each("sketch", SKETCHES)
def test_one_pass_finds_low_rank_exactly(form, sketch):
    matrix = decaying(60, 40, [5.0, 3.0, 2.0, 1.0], np.random.default_rng(0))
    found = single_pass_svd(form(matrix), 4, sketch=sketch)
    np.testing.assert_allclose(found.to_dense(), matrix, 0, 1e4 * EPS)
    np.testing.assert_allclose(found.right.T @ found.right, np.eye(4), 0, 1e2 * EPS)


def test_one_pass_looks_at_every_block_once():
    matrix = decaying(60, 40, [2.0, 1.0], np.random.default_rng(0))
    once = iter(np.array_split(matrix, 5))
    np.testing.assert_allclose(
        single_pass_svd(RowBlocks(lambda: once), 2).to_dense(), matrix, 0, 1e-12
    )
    assert next(once, None) is None


@LAW
@given(rngs, st.integers(1, 5), st.integers(0, 3))
def test_the_error_is_at_least_the_next_singular_value_and_near_it_with_powers(rng, rank, power):
    sizes = 0.7 ** np.arange(30)
    matrix = decaying(80, 50, sizes, rng)
    found = randomized_svd(matrix, rank, power=power, rng=rng)
    error = np.linalg.norm(matrix - found.to_dense(), 2)
    best = sizes[rank]
    # Halko, Martinsson and Tropp, Corollary 10.10, for the mean; truncation adds the next value.
    span = 1 + np.sqrt(rank / 9) + np.e * np.sqrt((rank + 10) * (50 - rank)) / 10
    assert best * (1 - 1e-12) <= error <= best * (1 + 10 * span ** (1 / (2 * power + 1)))
    assert (found.singular <= sizes[:rank] * (1 + 1e-12)).all()


@each("tol", [1e-1, 1e-3, 1e-6, 1e-9])
@every_form
def test_a_tolerance_is_met_and_takes_few_more_than_needed(form, tol):
    sizes = 3.0 * 0.6 ** np.arange(50)
    matrix = decaying(120, 60, sizes, np.random.default_rng(0))
    found = randomized_svd(form(matrix), tol=tol)
    assert np.linalg.norm(matrix - found.to_dense(), 2) <= tol * 3.0
    needed = int(np.sum(sizes > tol * 3.0))
    # What random vectors show is multiplied by eight: log 8 / log(1/0.6) ≈ 4 more, and a guard.
    assert needed <= len(found.singular) <= needed + 8


def test_a_tolerance_with_a_largest_rank_keeps_to_it():
    matrix = decaying(100, 60, np.ones(60), np.random.default_rng(0))
    assert len(randomized_svd(matrix, 30, tol=1e-3).singular) == 30
    assert len(randomized_svd(np.zeros((30, 20)), tol=1e-3).singular) == 1


def test_single_precision_is_kept_and_spans_the_same():
    sizes = 0.8 ** np.arange(40)
    matrix = decaying(300, 100, sizes, np.random.default_rng(0))
    single = randomized_svd(matrix.astype(np.float32), 5, power=6)
    assert {part.dtype for part in single} == {np.dtype(np.float32)}
    exact = np.linalg.svd(matrix)[0][:, :5]
    assert subspace_angle(exact, single.left.astype(float)) < 1e-3
    np.testing.assert_allclose(single.singular, sizes[:5], 1e-5)


@pytest.mark.parametrize("given", [{}, {"rank": 0}, {"tol": 0.0}, {"tol": 2.0}])
def test_invalid_arguments_raise_a_clear_error(given):
    with pytest.raises(ValueError, match=r"not allowed: (pass|it must)"):
        randomized_svd(np.eye(5), **given)


def test_blocks_that_change_between_passes_are_refused():
    blocks = iter([np.eye(30)])
    with pytest.raises(ValueError, match="the same blocks every time"):
        randomized_svd(RowBlocks(lambda: blocks), 2)
    shrinking = iter([[np.eye(30)], [np.eye(30)], [np.eye(30)], [np.eye(20, 30)]])
    with pytest.raises(ValueError, match="20 rows in this pass and had 30"):
        randomized_svd(RowBlocks(lambda: next(shrinking)), 2)
