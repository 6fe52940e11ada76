"""Sketches: the right law, and fast products that equal the plain ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import hadamard
from scipy.sparse import csr_array
from scipy.sparse.linalg import aslinearoperator

from tests.stages.drawn import EPS, LAW
from unbend.lowrank import SKETCHES, apply_sketch, random_matrix, sketch_matrix

every_sketch = pytest.mark.parametrize("kind", SKETCHES)


@every_sketch
def test_lengths_are_kept_in_the_mean(kind):
    n, m, draws = 24, 16, 3000
    rng = np.random.default_rng(0)
    vector = rng.normal(size=n)
    vector /= np.linalg.norm(vector)
    images = [vector @ sketch_matrix(n, m, kind, rng) for _ in range(draws)]
    squares = np.square(images).sum(axis=1) / m
    # Four standard errors of the mean.
    assert abs(squares.mean() - 1) <= 4 * squares.std() / np.sqrt(draws)


@every_sketch
@LAW
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 2**31))
def test_fast_products_are_products_with_the_matrix(kind, n, m, seed):
    rows = np.random.default_rng(seed).normal(size=(7, n))
    omega = sketch_matrix(n, m, kind, np.random.default_rng(seed))
    assert omega.shape == (n, m)
    slack = 64 * n * EPS * np.abs(rows).max()
    for form in (np.asarray, csr_array, aslinearoperator):
        found = apply_sketch(form(rows), m, kind, np.random.default_rng(seed))
        np.testing.assert_allclose(found, rows @ omega, 0, slack)


def test_a_whole_hadamard_sketch_is_sylvesters_matrix_with_signs():
    omega = sketch_matrix(16, 16, "hadamard", np.random.default_rng(0))
    sylvester = hadamard(16)
    # The product of two columns has no signs left and is a column of the matrix again.
    matches = np.abs((omega * omega[:, :1]).T @ sylvester).max(axis=1)
    np.testing.assert_allclose(matches, 16)
    np.testing.assert_allclose(omega.T @ omega, 16 * np.eye(16))


@pytest.mark.parametrize("n", [5, 16, 31])
def test_a_whole_fourier_sketch_is_orthogonal(n):
    omega = sketch_matrix(n, n, "fourier", np.random.default_rng(0))
    np.testing.assert_allclose(omega @ omega.T, n * np.eye(n), 0, 64 * n * EPS * n)


def test_types_one_to_three_have_the_entries_of_the_book():
    rng = np.random.default_rng(0)
    signs = random_matrix(300, 300, "sign", rng)
    sparse = random_matrix(300, 300, "sparse", rng)
    gaussian = random_matrix(300, 300, "gaussian", rng)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert abs(np.mean(signs > 0) - 1 / 2) <= 4 * np.sqrt(1 / 4 / 90_000)
    np.testing.assert_allclose(np.unique(sparse), [-np.sqrt(3), 0, np.sqrt(3)])
    # Shares within four standard deviations of 1/6.
    for share in (np.mean(sparse > 0), np.mean(sparse < 0)):
        assert abs(share - 1 / 6) <= 4 * np.sqrt(5 / 36 / 90_000)
    assert abs(gaussian.var() - 1) <= 4 * np.sqrt(2 / 90_000)
