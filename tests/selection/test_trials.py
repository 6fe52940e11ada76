"""Trials on a sample: curves are laid out by the method that misses their geodesics less."""

import numpy as np
import pytest

import unbend
from unbend.selection.trials import chart_misfit, curve_misfit


def spiral(n, noise, seed=0):
    """Two turns of a spiral in five columns, and the arc length of each row."""
    rng = np.random.default_rng(seed)
    fine = np.linspace(np.pi, 5 * np.pi, 20_000)
    curve = np.column_stack((fine * np.cos(fine), fine * np.sin(fine), *np.zeros((3, len(fine)))))
    lengths = np.append(0, np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1)))
    s = rng.uniform(0, lengths[-1], n)
    points = np.column_stack([np.interp(s, lengths, column) for column in curve.T])
    return points + rng.normal(scale=noise, size=points.shape), s


def test_the_misfit_knows_no_scale_and_sees_what_is_folded():
    rng = np.random.default_rng(0)
    s = rng.uniform(size=60)
    lengths = np.abs(s[:, None] - s)
    assert curve_misfit(3 - 7 * s, lengths) == pytest.approx(0, abs=1e-12)
    assert curve_misfit(np.abs(s - 0.5), lengths) > 0.2
    assert curve_misfit(rng.permutation(s), lengths) > 0.2


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_the_chart_of_a_curve_is_its_arc_length(noise):
    points, s = spiral(600, noise)
    suggestion = unbend.suggest(points, for_="chart", scale="none")
    found = suggestion.findings
    assert found.verdict == "1"
    assert not found.closed
    assert set(found.trials) == {"LTSA", "Isomap"}
    assert type(suggestion.estimator).__name__ == min(found.trials, key=found.trials.get)
    position = suggestion.estimator.fit(points).embedding_[:, 0]
    assert abs(np.corrcoef(position, s)[0, 1]) > 0.99


def test_a_ring_closes_with_noise_and_a_noisy_arc_does_not():
    rng = np.random.default_rng(0)
    for turn, closed in ((2 * np.pi, True), (1.4 * np.pi, False)):
        angle = rng.uniform(0, turn, 600)
        points = np.column_stack((np.cos(angle), np.sin(angle), *np.zeros((2, 600))))
        points += rng.normal(scale=0.06, size=points.shape)
        suggestion = unbend.suggest(points, for_="chart", scale="none", dimension=1)
        assert suggestion.findings.closed == closed
        assert suggestion.estimator.n_components == 1 + closed


def test_the_misfit_of_a_chart_sees_folds_and_coordinates_that_repeat_others():
    rng = np.random.default_rng(0)
    plane = rng.uniform(0, [4, 1], size=(600, 2))
    bent = np.column_stack((np.cos(plane[:, 0]), np.sin(plane[:, 0]), plane[:, 1]))
    right = chart_misfit(plane, bent, 2, 60)
    assert right < 1e-4
    turned = plane @ np.array([[1.0, 0.3], [0.5, -2.0]])
    assert chart_misfit(turned, bent, 2, 60) == pytest.approx(right)
    folded = np.column_stack((np.abs(plane[:, 0] - 2), plane[:, 1]))
    repeated = np.column_stack((plane[:, 0], plane[:, 0] ** 2))
    flat = bent[:, :2]
    for wrong in (folded, repeated, flat):
        assert chart_misfit(wrong, bent, 2, 60) > 100 * right


def test_a_bent_sheet_gets_ltsa_and_a_flat_one_pca():
    rng = np.random.default_rng(0)
    plane = rng.uniform(0, [4, 3], size=(600, 2))
    flat = np.column_stack((plane, np.zeros((600, 2))))
    bent = np.column_stack((np.cos(plane[:, 0]), np.sin(plane[:, 0]), plane[:, 1], np.zeros(600)))
    for points, name in ((flat, "PCA"), (bent, "LTSA")):
        noisy = points + rng.normal(scale=0.05, size=points.shape)
        suggestion = unbend.suggest(noisy, for_="chart", scale="none")
        assert type(suggestion.estimator).__name__ == name
        assert set(suggestion.findings.charts) == {"PCA", "LTSA"}


def test_a_cap_that_is_nearly_flat_is_bent_all_the_same():
    # 97 % of the variance lies in a plane, but the height is a function of the place.
    rng = np.random.default_rng(0)
    radius, angle = 0.6 * np.sqrt(rng.uniform(size=800)), rng.uniform(0, 2 * np.pi, 800)
    ring = np.sin(radius)[:, None] * np.column_stack((np.cos(angle), np.sin(angle)))
    cap = np.column_stack((ring, np.cos(radius)))
    found = unbend.suggest(cap, for_="chart", scale="none")
    assert found.findings.outside < 0.03
    assert type(found.estimator).__name__ == "LTSA"
