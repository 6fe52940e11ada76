"""Choices of columns, their weights, and Theorem 15.4; volume sampling against all subsets."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from tests.lowrank.drawn import LAW, orthonormal_basis, refuses, rngs, semidefinite
from unbend.lowrank import (
    greedy_columns,
    leverage_columns,
    leverage_scores,
    pivoted_columns,
    random_columns,
    volume_columns,
    weighted_columns,
)
from unbend.lowrank.selection import log_elementary

WAYS = {
    "greedy": lambda gram, k, rng: greedy_columns(gram, k),
    "pivoted": lambda gram, k, rng: pivoted_columns(gram, k),
    "random": lambda gram, k, rng: random_columns(len(gram), k, rng),
    "leverage": leverage_columns,
    "volume": volume_columns,
}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


def definite(rng, n):
    vectors = orthonormal_basis(rng, n, n)
    product = (vectors * rng.uniform(0.1, 3, n)) @ vectors.T
    return (product + product.T) / 2


def root(gram):
    values, vectors = np.linalg.eigh(gram)
    return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T


@every_way
@LAW
@given(rngs, st.integers(2, 10), st.data())
def test_every_choice_has_different_columns_and_the_error_of_theorem_15_4(way, rng, n, data):
    gram, k = definite(rng, n), data.draw(st.integers(1, n))
    chosen = way(gram, k, rng)
    assert len(set(chosen.tolist())) == len(chosen) == k
    found = weighted_columns(gram, chosen)
    apart = np.linalg.norm(gram - found.matrix(gram))
    np.testing.assert_allclose(found.error, apart, 0, 1e-7 * np.linalg.norm(gram))
    # (15.26) with the inverse that the print lacks.
    squares, others = gram**2, np.setdiff1d(np.arange(n), chosen)
    block, side = squares[np.ix_(chosen, chosen)], squares[np.ix_(chosen, others)]
    schur = squares[np.ix_(others, others)] - side.T @ np.linalg.solve(block, side)
    expected = np.trace(schur @ np.ones_like(schur))
    np.testing.assert_allclose(found.error**2, expected, 1e-6, 1e-12)


@LAW
@given(semidefinite(least=2), rngs, st.data())
def test_the_weights_are_the_best(gram, rng, data):
    k = data.draw(st.integers(1, len(gram)))
    chosen = random_columns(len(gram), k, rng)
    found = weighted_columns(gram, chosen)
    terms = [np.outer(a, a).ravel() for a in root(gram)[:, chosen].T]
    best = np.linalg.lstsq(np.stack(terms, axis=1), gram.ravel(), rcond=None)[0]
    least = np.linalg.norm(gram.ravel() - np.stack(terms, axis=1) @ best)
    np.testing.assert_allclose(found.error, least, 0, 1e-6 * max(np.linalg.norm(gram), 1e-9))


def test_all_columns_have_weight_one_and_no_error():
    gram = definite(np.random.default_rng(0), 6)
    found = weighted_columns(gram, np.arange(6))
    np.testing.assert_allclose(found.weights, 1, 0, 1e-12)
    assert found.error == 0


def test_greedy_takes_the_longest_and_pivoted_avoids_duplicates():
    rows = np.array([[3.0, 0.0], [3.0, 0.0], [0.0, 2.0], [0.1, 0.1]])
    gram = rows @ rows.T
    assert set(greedy_columns(gram, 2).tolist()) == {0, 1}
    assert set(pivoted_columns(gram, 2).tolist()) == {0, 2}
    lengths = np.linalg.norm(gram, axis=0)[greedy_columns(gram, 4)]
    assert np.all(np.diff(lengths) <= 0)


def frequencies(draw, sets, count):
    found = dict.fromkeys(sets, 0)
    for _ in range(count):
        found[tuple(sorted(draw().tolist()))] += 1
    return np.array(list(found.values()))


def assert_drawn_from(probabilities, counts):
    """Pearson's test, at one in a million."""
    expected = probabilities * counts.sum()
    kept = expected > 1
    statistic = np.sum((counts[kept] - expected[kept]) ** 2 / expected[kept])
    assert statistic <= chi2.ppf(1 - 1e-6, kept.sum() - 1)
    assert counts[probabilities < 1e-12].sum() == 0


@pytest.mark.parametrize(("n", "k"), [(5, 1), (5, 2), (6, 3), (5, 4)])
def test_volume_sampling_has_the_law_15_46(n, k):
    rng = np.random.default_rng(n * k)
    gram = definite(rng, n)
    sets = list(combinations(range(n), k))
    volumes = np.array([np.linalg.det(gram[np.ix_(s, s)]) for s in sets])
    counts = frequencies(lambda: volume_columns(gram, k, rng), sets, 1000)
    assert_drawn_from(volumes / volumes.sum(), counts)


def test_volume_sampling_never_takes_dependent_columns():
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((6, 3))
    rows[4] = 2 * rows[0]
    gram = rows @ rows.T
    sets = list(combinations(range(6), 3))
    volumes = np.array([np.linalg.det(gram[np.ix_(s, s)]) for s in sets])
    counts = frequencies(lambda: volume_columns(gram, 3, rng), sets, 1000)
    assert counts[[{0, 4} <= set(s) for s in sets]].sum() == 0
    volumes[volumes < 1e-12] = 0
    assert_drawn_from(volumes / volumes.sum(), counts)


def test_leverage_sampling_has_its_law_without_replacement():
    rng = np.random.default_rng(4)
    gram = definite(rng, 5)
    p = leverage_scores(gram, 2) / 2
    np.testing.assert_allclose(p.sum(), 1)
    sets = list(combinations(range(5), 2))
    chances = np.array([p[i] * p[j] / (1 - p[i]) + p[j] * p[i] / (1 - p[j]) for i, j in sets])
    assert_drawn_from(chances, frequencies(lambda: leverage_columns(gram, 2, rng), sets, 1000))


@LAW
@given(rngs, st.integers(1, 8), st.integers(0, 8))
def test_elementary_polynomials_are_sums_over_subsets(rng, n, k):
    values = rng.uniform(0, 2, n) * rng.integers(0, 2, n)
    expected = sum(np.prod(values[list(s)]) for s in combinations(range(n), k))
    np.testing.assert_allclose(np.exp(log_elementary(values, k)[-1, k]), expected, 1e-12)


def test_volumes_of_many_columns_do_not_overflow():
    x = np.linspace(0, 1, 300)
    gram = np.exp(-300 * np.abs(np.subtract.outer(x, x))) * 1e30
    drawn = volume_columns(gram, 150, np.random.default_rng(0))
    assert len(set(drawn.tolist())) == 150


def test_hostile_input_is_refused():
    rng = np.random.default_rng(0)
    for way in (greedy_columns, pivoted_columns, leverage_scores):
        refuses(lambda gram, way=way: way(gram, 1))
    refuses(lambda gram: volume_columns(gram, 1, rng))
    refuses(lambda gram: weighted_columns(gram, [0]))
    with pytest.raises(ValueError, match="rank 1, so 2 columns span no volume"):
        volume_columns(np.ones((3, 3)), 2, rng)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        volume_columns(np.diag([1.0, -1.0]), 1, rng)
    with pytest.raises(ValueError, match=r"k=\d+ .* at (least 1|most 3)"):
        random_columns(3, 4, rng)
    for wrong in ([0, 0], [[0]], [0.5], [3], [-1], []):
        with pytest.raises(ValueError, match="indices"):
            weighted_columns(np.eye(3), wrong)
