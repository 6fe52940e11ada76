"""Shepard correlations and stress against SciPy, definitions and minimisation."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import pdist, squareform
from scipy.stats import pearsonr, spearmanr
from sklearn.isotonic import IsotonicRegression

import unbend
from tests.loops import each, sampled
from unbend.quality import residual_variance, shepard, stress

KINDS = ["stress-1", "normalized", "raw", "sstress", "sammon", "nonmetric"]


def pair(seed, n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, X[:, :2] * 3 + rng.normal(size=(n, 2))


def plain(X, Y, kind, scale=1.0):
    """Stress by its formula, pair by pair."""
    delta, d = pdist(X), scale * pdist(Y)
    if kind == "nonmetric":
        fitted = IsotonicRegression().fit_transform(delta, d)
        return np.sqrt(((d - fitted) ** 2).sum() / (d**2).sum())
    return {
        "stress-1": np.sqrt(((d - delta) ** 2).sum() / (d**2).sum()),
        "normalized": ((d - delta) ** 2).sum() / (delta**2).sum(),
        "raw": ((d - delta) ** 2).sum(),
        "sstress": ((d**2 - delta**2) ** 2).sum() / (delta**4).sum(),
        "sammon": ((d - delta) ** 2 / delta).sum() / delta.sum(),
    }[kind]


@sampled("seed", range(3))
def test_shepard_correlations_are_those_of_scipy_for_all_pairs_and_each_point(seed):
    X, Y = pair(seed)
    found = shepard(X, Y)
    assert found.pearson == pytest.approx(pearsonr(pdist(X), pdist(Y))[0], abs=1e-12)
    assert found.spearman == pytest.approx(spearmanr(pdist(X), pdist(Y))[0], abs=1e-12)
    before, after = squareform(pdist(X)), squareform(pdist(Y))
    for i in (0, 31, 59):
        expected = pearsonr(np.delete(before[i], i), np.delete(after[i], i))[0]
        assert found.pearson.local[i] == pytest.approx(expected, abs=1e-12)
    assert found.pearson.error == 0


def test_ranks_see_through_any_increasing_function():
    line = np.random.default_rng(0).uniform(size=(50, 1))
    found = shepard(line, 4 * line)
    assert found.spearman == pytest.approx(1)
    assert found.pearson == pytest.approx(1)


@each("kind", KINDS)
@each("seed", range(3), keep=1)
def test_stress_is_its_formula_and_its_scale_the_best(kind, seed):
    X, Y = pair(seed)
    assert stress(X, Y, kind=kind, scaled=False) == pytest.approx(plain(X, Y, kind), rel=1e-10)
    best = minimize_scalar(lambda s: plain(X, Y, kind, s), bounds=(0.01, 3), method="bounded")
    assert stress(X, Y, kind=kind) == pytest.approx(best.fun, rel=1e-6)
    assert stress(X, 1e4 * Y, kind=kind) == pytest.approx(stress(X, Y, kind=kind), rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_scaled_copy_has_no_stress_and_shares_sum_to_one(kind):
    X, Y = pair(0)
    assert stress(X, 7 * X + 1, kind=kind) < 1e-12
    assert stress(X, Y, kind=kind).local.sum() == pytest.approx(1)
    assert np.isfinite(stress(X, np.zeros((60, 2)), kind=kind))


def test_an_outlier_has_the_largest_share():
    X, _ = pair(0)
    moved = X.copy()
    moved[17] += 20
    assert np.argmax(stress(X, moved).local) == 17


@pytest.mark.parametrize("what", ["pearson", "spearman", "stress-1", "sammon"])
def test_a_sample_of_rows_errs_by_about_its_standard_error(what):
    roll = unbend.datasets.s_curve(1000, random_state=0)
    squashed = roll.points[:, :2]

    def measured(max_rows, seed=0):
        given = (roll.points, squashed)
        if what in KINDS:
            return stress(*given, kind=what, max_rows=max_rows, random_state=seed)
        return getattr(shepard(*given, max_rows=max_rows, random_state=seed), what)

    exact = measured(None)
    parts = [measured(100, seed) for seed in range(40)]
    ratios = [(part - exact) / part.error for part in parts]
    # The mean square of forty such ratios lies in this range but for one time in a thousand.
    assert 0.4 < np.mean(np.square(ratios)) < 2


def test_wrong_kinds_and_single_points_are_refused():
    X, Y = pair(0)
    with pytest.raises(ValueError, match=r"kind='strain' .* must be one of 'stress-1'"):
        stress(X, Y, kind="strain")
    with pytest.raises(ValueError, match="at least two different points"):
        stress(np.zeros((5, 2)), Y[:5])
    with pytest.raises(ValueError, match=r"1 sample\(s\)"):
        stress(X[:1], Y[:1])
    with pytest.raises(ValueError, match=r"2 sample\(s\)"):
        shepard(X[:2], Y[:2])


def test_rounding_parts_no_tied_distances():
    """A lattice that was turned has the ranks, and the order to fit, of the one that was not."""
    lattice = np.stack(np.meshgrid(np.arange(9.0), np.arange(7.0)), axis=-1).reshape(-1, 2)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(2, 2)))[0]
    turned, noisy = lattice @ turn, lattice + np.random.default_rng(1).normal(size=lattice.shape)
    expected = spearmanr(pdist(lattice).round(9), pdist(noisy))[0]
    for points in (lattice, turned, lattice / 3):
        assert shepard(points, turned).spearman == pytest.approx(1, abs=1e-12)
        assert shepard(points, noisy).spearman == pytest.approx(expected, abs=1e-12)
        assert stress(points, noisy, kind="nonmetric") == pytest.approx(
            stress(lattice, noisy, kind="nonmetric"), rel=1e-9
        )


def test_distances_that_differ_by_rounding_do_not_vary():
    """Corners of a simplex are equally far from one another, and a circle from its centre."""
    rng = np.random.default_rng(0)
    simplex = np.eye(40) @ np.linalg.qr(rng.normal(size=(40, 40)))[0]
    scattered = rng.normal(size=(40, 2))
    for X, Y in ((simplex, scattered), (scattered, simplex), (simplex / 3, simplex)):
        found = shepard(X, Y)
        for correlation in (found.pearson, found.spearman):
            assert correlation == 0
            assert np.all(correlation.local == 0)
    assert residual_variance(simplex, scattered).tolist() == [1, 1]
    angles = rng.uniform(0, 2 * np.pi, 39)
    circle = np.vstack([np.zeros(2), np.column_stack([np.cos(angles), np.sin(angles)])])
    local = shepard(circle / 3 + 100, scattered).pearson.local
    assert local[0] == 0
    assert np.all(local[1:] != 0)
