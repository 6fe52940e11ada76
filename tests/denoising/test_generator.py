"""The surfaces of benchmarks/noise: derivatives, foot points and draws."""

import numpy as np
import pytest
from benchmarks.noise.cases import HALVES, Case, make_cases
from benchmarks.noise.more_surfaces import MORE_FAMILIES
from benchmarks.noise.surfaces import FAMILIES as FIRST_FAMILIES
from scipy.spatial import KDTree

FAMILIES = FIRST_FAMILIES | MORE_FAMILIES


@pytest.mark.parametrize("d", [1, 2, 4])
@pytest.mark.parametrize("family", FAMILIES)
def test_jacobians_are_those_of_the_embedding(family, d):
    surface = FAMILIES[family](np.random.default_rng(d), d)
    u = surface.domain.sample(50, np.random.default_rng(0))
    step = 1e-6
    moved = [
        (surface.embed(u + step * axis) - surface.embed(u - step * axis)) / (2 * step)
        for axis in np.eye(d)
    ]
    assert np.abs(np.stack(moved, axis=2) - surface.jacobian(u)).max() < 1e-7


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("family", FAMILIES)
def test_foot_points_are_as_near_as_the_nearest_of_a_fine_mesh(family, d):
    rng = np.random.default_rng(d)
    surface = FAMILIES[family](rng, d)
    u = surface.domain.sample(300, rng)
    points = surface.embed(u)
    away = rng.normal(size=points.shape)
    points += (
        0.3
        * surface.gap
        * rng.uniform(size=(300, 1))
        * away
        / np.linalg.norm(away, axis=1, keepdims=True)
    )
    feet = surface.feet(points, u)
    mesh = surface.domain.sample(200_000, np.random.default_rng(0))
    nearest, _ = KDTree(surface.embed(mesh)).query(points)
    excess = np.linalg.norm(surface.embed(feet) - points, axis=1) - nearest
    assert surface.domain.depth(feet).min() > -1e-9
    assert excess.max() < 1e-4 * surface.gap


def test_points_of_the_surface_are_their_own_foot_points():
    surface = FAMILIES["graph_holes"](np.random.default_rng(3), 3)
    u = surface.domain.sample(200, np.random.default_rng(0))
    np.testing.assert_allclose(surface.feet(surface.embed(u), u), u, atol=1e-9)


@pytest.mark.parametrize("halves", [("calibration", "reporting"), ("seen", "fresh")])
def test_the_halves_share_neither_family_nor_seed(halves):
    assert not set(HALVES[halves[0]]) & set(HALVES[halves[1]])
    first, second = (make_cases(half, 6) for half in halves)
    assert {case.family for case in first} == set(HALVES[halves[0]])
    assert all(a.surface.gap != b.surface.gap for a in first for b in second if a.d == b.d > 9)
    assert len({case.name for case in (*first, *second)}) == 12


def test_draws_differ_but_are_reproducible_and_have_the_noise_of_the_case():
    case = Case("calibration", 1, "cylinder", 2, 12, 4000, 20.0, "isotropic", 0.05)
    first, again, other = case.draw(0), case.draw(0), case.draw(1)
    assert np.array_equal(first.rows, again.rows)
    assert not np.array_equal(first.rows, other.rows)
    noise = first.rows - first.clean
    assert noise.std() == pytest.approx(case.sigma, rel=0.02)
    assert first.rows.shape == (4000, 12)
    # Foot points are nearer than the points that rows came from.
    across = np.linalg.norm(noise, axis=1)
    foot = case.surface.embed(first.foot_chart) - case.surface.embed(first.chart)
    assert np.all(np.linalg.norm(foot, axis=1) <= 2 * across)


def test_density_falls_by_the_ratio_of_the_case():
    case = Case("calibration", 4, "graph_square", 2, 4, 20_000, 20.0, "isotropic", 0.0)
    chart = case.draw(0).chart
    along = chart @ case._rng(2).normal(size=2)
    even = case.surface.domain.sample(20_000, np.random.default_rng(0)) @ case._rng(2).normal(
        size=2
    )
    low, high = np.quantile(even, (0.1, 0.9))
    assert np.sum(along < low) > 4 * np.sum(along > high)


def test_outliers_are_not_scored():
    case = Case("reporting", 1, "roll", 2, 3, 5000, 1.0, "outliers", 0.01)
    draw = case.draw(0)
    assert 0.985 < draw.regular.mean() <= 0.991


def test_few_foot_points_are_those_of_all():
    case = Case("fresh", 1, "cone", 2, 5, 600, 1.0, "outliers", 0.05)
    few, whole = case.draw(0, most_feet=100), case.draw(0)
    assert 90 < few.regular.sum() <= 100
    assert np.array_equal(few.rows, whole.rows)
    np.testing.assert_array_equal(few.foot_chart[few.regular], whole.foot_chart[few.regular])
    assert not np.any(few.regular & ~whole.regular)
