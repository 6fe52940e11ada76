"""Several similarity matrices made into one: each pair over the matrices that measured it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array
from scipy.stats import rankdata

from tests.stages.drawn import EPS, LAW, rngs, sparse
from unbend.graphs import combine

HOW = pytest.mark.parametrize("how", ["weighted", "rank", "max", "min"])


def measurements(rng, n, count):
    """Symmetric distances with pairs missing, zeros among them, each in a unit of its own."""
    matrices = []
    for _ in range(count):
        upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.8), 1)
        upper[np.triu(rng.random((n, n)) < 0.3, 1)] = np.nan
        matrices.append((upper + upper.T) * 10.0 ** rng.integers(-3, 4))
    return matrices


def pair_by_pair(matrices, how, weights, scale):
    """Combine each pair with a loop."""
    n = len(matrices[0])
    apart = ~np.eye(n, dtype=bool)
    scaled = []
    for matrix in matrices:
        pairs = apart & ~np.isnan(matrix)
        copy = matrix.copy()
        if how == "rank" and pairs.any():
            ranks = rankdata(matrix[pairs])
            copy[pairs] = ranks / ranks.max()
        elif how != "rank" and scale and np.sum(matrix[pairs]) > 0:
            copy /= matrix[pairs].mean()
        scaled.append(copy)
    result = np.full((n, n), np.nan)
    for i, j in np.ndindex(n, n):
        found = [(w, m[i, j]) for w, m in zip(weights, scaled, strict=True) if m[i, j] == m[i, j]]
        if found and how in ("max", "min"):
            result[i, j] = (max if how == "max" else min)(value for _, value in found)
        elif found:
            result[i, j] = sum(w * v for w, v in found) / sum(w for w, _ in found)
    return result


@HOW
@LAW
@given(rngs, st.integers(2, 8), st.integers(1, 4), st.booleans())
def test_dense_matrices_are_combined_pair_by_pair(how, rng, n, count, scale):
    matrices = measurements(rng, n, count)
    weights = rng.uniform(0.5, 2, count) if how in ("weighted", "rank") else np.ones(count)
    given_weights = weights if how in ("weighted", "rank") else None
    found = combine(matrices, how, given_weights, scale=scale)
    expected = pair_by_pair(matrices, how, weights, scale)
    np.testing.assert_allclose(found, expected, 100 * EPS)
    np.testing.assert_array_equal(found, found.T)


@HOW
@LAW
@given(rngs, st.integers(2, 8), st.integers(1, 4))
def test_sparse_matrices_are_combined_as_dense_ones_and_keep_their_zeros(how, rng, n, count):
    matrices = measurements(rng, n, count)
    expected = combine(matrices, how)
    stored = [sparse(np.where(np.isnan(m), np.inf, m)) for m in matrices]
    found = combine(stored, how)
    assert isinstance(found, csr_array)
    entries = coo_array(found)
    dense = np.full((n, n), np.nan)
    dense[entries.row, entries.col] = entries.data
    np.testing.assert_allclose(dense, expected, 100 * EPS)


@HOW
@LAW
@given(rngs, st.integers(3, 8))
def test_units_do_not_matter_and_ranks_ask_only_for_the_order(how, rng, n):
    matrices = measurements(rng, n, 3)
    expected = combine(matrices, how)
    np.testing.assert_allclose(combine([5e3 * matrices[0], *matrices[1:]], how), expected, 1e-12)
    if how == "rank":
        bent = [matrix**3 / (1 + matrix**3) for matrix in matrices]
        np.testing.assert_allclose(combine(bent, how), expected, 1e-12)


def test_a_single_matrix_in_its_own_unit_is_itself():
    matrix = np.array([[0.0, 2.0, np.nan], [2.0, 0.0, 0.0], [np.nan, 0.0, 0.0]])
    for how in ("weighted", "max", "min"):
        np.testing.assert_array_equal(combine([matrix], how, scale=False), matrix)


def test_graphs_that_cannot_be_combined_raise_a_clear_error():
    a = np.ones((3, 3))
    for call, error, words in [
        (lambda: combine([]), ValueError, "nothing to combine"),
        (lambda: combine([a, csr_array(a)]), TypeError, "all dense or all sparse"),
        (lambda: combine([a, np.ones((2, 2))]), ValueError, "of one size"),
        (lambda: combine([-a]), ValueError, "not negative"),
        (lambda: combine([np.full((3, 3), np.inf)]), ValueError, "finite"),
        (lambda: combine([a], "median"), ValueError, "how must be"),
        (lambda: combine([a], "max", [1.0]), ValueError, "takes no weights"),
        (lambda: combine([a, a], weights=[1.0]), ValueError, "2 positive numbers"),
        (lambda: combine([a, a], weights=[1.0, 0.0]), ValueError, "2 positive numbers"),
    ]:
        with pytest.raises(error, match=words):
            call()
