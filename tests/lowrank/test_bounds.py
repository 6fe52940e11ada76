"""Theorems 15.1 to 15.9 and the corollaries: what is measured stays below what is promised."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import subspace_angles

from tests.lowrank.drawn import LAW, orthonormal_basis, rngs, semidefinite, singular, with_spectrum
from unbend.lowrank import ULV, URV, randomized_interpolative, ulv, urv, volume_columns
from unbend.lowrank.bounds import (
    interpolative_corollary,
    largest_singular_failure,
    randomized_bound,
    smallest_singular_failure,
    subspace_bounds,
    svd_corollary,
    volume_bound,
    volume_trace,
)


def sine(first, second):
    return np.sin(subspace_angles(first, second)[0]) if first.shape[1] else 0.0


def assert_within(bounds, matrix, found):
    """Theorem 15.2 on both sides, against the singular vectors."""
    u, _, vt = np.linalg.svd(matrix)
    d = found.rank
    for side, first, second in (
        (bounds.left, u[:, :d], found.u[:, :d]),
        (bounds.right, vt[:d].T, found.v[:, :d]),
    ):
        assert side[0] - 1e-9 <= sine(first, second) <= side[1] + 1e-9


@LAW
@given(rngs, st.integers(2, 9), st.integers(0, 3), st.data())
def test_theorem_15_2_for_any_blocks(rng, n, more, data):
    """Drawn blocks, not those of our algorithms, whose coupling vanishes."""
    d = data.draw(st.integers(1, n - 1))
    lower = np.zeros((n, n))
    lower[:d, :d] = np.tril(with_spectrum(rng, d, d, np.ones(d))) + 2 * np.eye(d)
    least = np.linalg.svd(lower[:d, :d], compute_uv=False)[-1]
    lower[d:, :d] = rng.standard_normal((n - d, d)) * data.draw(st.sampled_from([1e-3, 0.3, 1.0]))
    block = rng.standard_normal((n - d, n - d))
    share = data.draw(st.floats(0.01, 0.95))
    lower[d:, d:] = block * share * least / np.linalg.norm(block, 2)
    u, v = orthonormal_basis(rng, n + more, n), orthonormal_basis(rng, n, n)
    found = ULV(u, lower, v, d)
    assert_within(subspace_bounds(found), u @ lower @ v.T, found)
    mirrored = URV(v, lower.T, u, d)
    assert_within(subspace_bounds(mirrored), v @ lower.T @ u.T, mirrored)


@pytest.mark.parametrize("algorithm", ["L", "A"])
@LAW
@given(rngs, st.integers(3, 12), st.integers(3, 12), st.data())
def test_theorem_15_2_for_our_decompositions(algorithm, rng, m, n, data):
    p = min(m, n)
    d = data.draw(st.integers(1, p - 1))
    matrix = with_spectrum(rng, m, n, np.where(np.arange(p) < d, 2.0, 1.0) * np.linspace(2, 1.2, p))
    for found in (ulv(matrix, d, algorithm=algorithm), urv(matrix, d, algorithm=algorithm)):
        bounds = subspace_bounds(found)
        assert max(*bounds.left, *bounds.right) < np.inf
        assert_within(bounds, matrix, found)


def test_theorem_15_2_says_nothing_without_a_gap():
    found = ULV(np.eye(2), np.diag([1.0, 2.0]), np.eye(2), 1)
    assert subspace_bounds(found).left == subspace_bounds(found).right == (0.0, np.inf)


@pytest.mark.parametrize(
    ("l", "k", "beta"), [(4, 4, 100.0), (6, 4, 4.0), (5, 2, 1.0), (12, 4, 0.2)]
)
def test_least_singular_values_of_gaussian_matrices(l, k, beta):  # noqa: E741
    """Lemma 15.2 with the root of β; the print, without it, is broken by the square case."""
    rng = np.random.default_rng(0)
    least = np.linalg.svd(rng.standard_normal((20_000, l, k)), compute_uv=False)[:, -1]
    share = np.mean(least < 1 / np.sqrt(l * beta))
    bound = smallest_singular_failure(l, k, beta)
    assert share <= bound + 4 * np.sqrt(bound / 20_000)
    if l == k:
        printed = smallest_singular_failure(l, k, beta**2)
        assert share > 5 * printed


@pytest.mark.parametrize(("sides", "x", "gamma"), [((3, 3), 3, 1.5), ((2, 5), 5, 1.3)])
def test_largest_singular_values_of_gaussian_matrices(sides, x, gamma):
    rng = np.random.default_rng(1)
    largest = np.linalg.norm(rng.standard_normal((20_000, *sides)), 2, axis=(1, 2))
    share, bound = np.mean(largest > np.sqrt(2 * x * gamma)), largest_singular_failure(x, gamma)
    assert share <= bound + 4 * np.sqrt(bound / 20_000)


def gaussian_svd(matrix, k, l, rng):  # noqa: E741
    """Run the algorithm of 15.2.3: error of the projection on k right vectors of GA."""
    sketch = rng.standard_normal((l, len(matrix))) @ matrix
    q = np.linalg.svd(sketch, full_matrices=False)[2][:k].T
    return np.linalg.norm(matrix - (matrix @ q) @ q.T, 2)


@LAW
@given(
    rngs, st.integers(26, 60), st.integers(26, 60), st.integers(1, 4), st.sampled_from([0.3, 0.9])
)
def test_theorems_15_5_to_15_8_and_the_corollaries(rng, m, n, k, decay):
    matrix = with_spectrum(rng, m, n, decay ** np.arange(min(m, n)))
    sigma, l, j = singular(matrix), k + 20, 5  # noqa: E741
    errors = {
        True: randomized_interpolative(matrix, k, rng).error(matrix),
        False: gaussian_svd(matrix, k, l, rng),
    }
    for interpolative, error in errors.items():
        plain = randomized_bound(m, n, k, l, interpolative=interpolative)
        finer = randomized_bound(m, n, k, l, j, interpolative=interpolative)
        assert max(plain.failure, finer.failure) < 1e-15
        assert error <= plain.first * sigma[k]
        assert error <= finer.first * sigma[k] + finer.later * sigma[k + j]
    assert errors[True] <= interpolative_corollary(m, n, k) * sigma[k]
    assert errors[False] <= svd_corollary(m, k) * sigma[k]


@pytest.mark.parametrize(("m", "n", "k", "l", "j"), [(300, 200, 5, 25, 7), (90, 400, 3, 40, 60)])
@pytest.mark.parametrize(("beta", "gamma"), [(9 / 16, 5.0), (2.0, 1.5)])
def test_factors_and_probabilities_are_the_printed_formulas(m, n, k, l, j, beta, gamma):  # noqa: E741
    """(15.29)–(15.36) and (15.40)–(15.43), with the root of β in (15.29)."""
    c = np.sqrt(4 * k * (n - k) + 1)
    sizes = max(m - k - j, l), max(j, l), max(j + k, l)
    more = l - k + 1
    least = (np.e / (more * np.sqrt(beta))) ** more / np.sqrt(2 * np.pi * more)

    def largest(x):
        power = (2 * gamma / np.exp(gamma - 1)) ** x
        return power / (4 * (gamma - 1) * np.sqrt(np.pi * x * gamma))

    def root(size, one=0):
        return np.sqrt(2 * l * beta * gamma * size + one)

    for interpolative, (first, second) in {True: (c + 1, c), False: (2, 2)}.items():
        options = {"interpolative": interpolative, "beta": beta, "gamma": gamma}
        plain = randomized_bound(m, n, k, l, **options)
        assert plain.first == pytest.approx(root(m, 1) * first + root(m) * second)
        assert plain.failure == pytest.approx(min(least, 1) + 2 * min(largest(m), 1), rel=1e-9)
        finer = randomized_bound(m, n, k, l, j, **options)
        assert finer.first == pytest.approx(root(sizes[1], 1) * first + root(sizes[2]) * second)
        assert finer.later == pytest.approx(root(sizes[0], 1) * first + root(sizes[0]) * second)
        tails = [min(largest(size), 1) for size in sizes]
        expected = min(least, 1) + 2 * tails[0] + tails[1] + tails[2]
        assert finer.failure == pytest.approx(expected, rel=1e-9)


@LAW
@given(st.integers(1, 200), st.integers(1, 5000), st.integers(1, 5000))
def test_the_corollaries_follow_from_the_theorems(k, m, n):
    m, n = m + k + 20, n + k + 20
    columns = randomized_bound(m, n, k, k + 20, interpolative=True)
    vectors = randomized_bound(m, n, k, k + 20, interpolative=False)
    assert columns.first < interpolative_corollary(m, n, k)
    # The factor √k is not even needed.
    assert vectors.first < svd_corollary(m, k) / np.sqrt(k)
    assert max(columns.failure, vectors.failure) <= 1e-17


def test_bounds_have_the_units_of_the_matrix():
    """(15.38) has σ outside the root: in print the bound of 2A would be √2 times that of A."""
    rng = np.random.default_rng(2)
    matrix = 1e12 * with_spectrum(rng, 60, 50, 0.5 ** np.arange(50))
    sigma = singular(matrix)[3]
    error = randomized_interpolative(matrix, 3, rng).error(matrix)
    assert (
        10 * np.sqrt(3 * 23 * 60 * 50 * sigma) < error <= interpolative_corollary(60, 50, 3) * sigma
    )


def left_by_nystrom(gram, chosen):
    columns = gram[:, chosen]
    return gram - columns @ np.linalg.pinv(gram[np.ix_(chosen, chosen)], hermitian=True) @ columns.T


@LAW
@given(semidefinite(least=3), st.data())
def test_theorem_15_9_by_all_subsets(gram, data):
    """The mean over all sets of k columns, exactly, and its trace by the identity."""
    values = np.linalg.eigvalsh(gram)[::-1]
    rank = int(np.sum(values > 1e-6))
    if rank == 0 or len(gram) > 8:
        return
    k = data.draw(st.integers(1, rank))
    sets = [list(s) for s in combinations(range(len(gram)), k)]
    volumes = np.array([max(np.linalg.det(gram[np.ix_(s, s)]), 0) for s in sets])
    volumes[volumes < 1e-12 * volumes.max()] = 0
    kept = [(v, left_by_nystrom(gram, s)) for v, s in zip(volumes, sets, strict=True) if v > 0]
    mean = sum(v * np.linalg.norm(rest) for v, rest in kept) / volumes.sum()
    trace = sum(v * np.trace(rest) for v, rest in kept) / volumes.sum()
    assert mean <= volume_bound(values, k) + 1e-9
    np.testing.assert_allclose(trace, volume_trace(np.maximum(values, 0), k), 1e-6, 1e-9)


@pytest.mark.parametrize("k", [2, 5, 10])
def test_theorem_15_9_by_three_hundred_draws(k):
    rng = np.random.default_rng(k)
    x = np.sort(rng.uniform(size=60))
    gram = np.exp(-20 * np.subtract.outer(x, x) ** 2)
    rests = [left_by_nystrom(gram, volume_columns(gram, k, rng)) for _ in range(300)]
    values = np.linalg.eigvalsh(gram)
    assert np.mean([np.linalg.norm(rest) for rest in rests]) <= volume_bound(values, k)
    traces = [np.trace(rest) for rest in rests]
    deviation = np.std(traces) / np.sqrt(300)
    assert abs(np.mean(traces) - volume_trace(np.maximum(values, 0), k)) <= 5 * deviation
