"""The curse of dimensionality: closed forms, the book's table, simulation, large dimensions."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

from unbend.dimension import curse

# Table 1.1 of the book; its entry for D = 10, 0.947347, is cut off and not rounded.
TABLE = {1: 0.04550, 2: 0.13534, 5: 0.54942, 10: 0.94734, 20: 0.99995, 100: 1.00000}


@pytest.mark.parametrize(("dimension", "printed"), TABLE.items())
def test_gaussian_tails_are_those_of_the_book(dimension, printed):
    tail = float(curse.gaussian_tail(dimension))
    assert abs(tail - printed) < 1e-5
    assert round(tail, 4) == pytest.approx(round(printed, 4) if dimension != 10 else 0.9473)


def test_the_mass_of_ten_gaussians_in_the_unit_ball_is_that_of_the_book():
    assert round(100 * float(np.exp(curse.log_gaussian_inside(10, 1.0))), 2) == 0.02
    for dimension, radius in ((1, 0.1), (10, 1.0), (40, 2.0), (40, 9.0)):
        expected = chi2.logcdf(radius**2, dimension)
        assert curse.log_gaussian_inside(dimension, radius) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    ("dimension", "volume"),
    [(1, 2.0), (2, math.pi), (3, 4 * math.pi / 3), (4, math.pi**2 / 2), (5, 8 * math.pi**2 / 15)],
)
def test_balls_have_their_known_volumes(dimension, volume):
    assert np.exp(curse.log_ball_volume(dimension)) == pytest.approx(volume, rel=1e-13)
    scaled = volume * 3.0**dimension
    assert np.exp(curse.log_ball_volume(dimension, 3.0)) == pytest.approx(scaled, rel=1e-13)


@pytest.mark.parametrize("radius", [0.5, 1.0, 3.0])
def test_cubes_have_the_volume_of_their_sides_and_balls_their_share(radius):
    for dimension in (1, 2, 3, 10):
        volume = np.exp(curse.log_cube_volume(dimension, radius))
        assert volume == pytest.approx((2 * radius) ** dimension, rel=1e-13)
    shares = {1: 1.0, 2: math.pi / 4, 3: math.pi / 6, 4: math.pi**2 / 32, 6: math.pi**3 / 384}
    for dimension, share in shares.items():
        assert np.exp(curse.log_ball_share(dimension)) == pytest.approx(share, rel=1e-13)


def test_volumes_obey_their_recursion_up_to_dimension_ten_thousand():
    dimensions = np.arange(3, 10_001)
    steps = curse.log_ball_volume(dimensions) - curse.log_ball_volume(dimensions - 2)
    # V_D = V_{D-2} 2π/D; volumes have logarithms near -3e4, which leaves 12 decimals.
    np.testing.assert_allclose(steps, np.log(2 * np.pi / dimensions), atol=1e-10)


def test_the_share_of_the_ball_in_its_cube_falls_to_nothing():
    shares = curse.log_ball_share(np.arange(1, 10_001))
    assert shares[0] == pytest.approx(0, abs=1e-15)
    assert np.all(np.diff(shares) < 0)
    assert np.isfinite(shares).all()
    inside = np.mean(np.square(np.random.default_rng(0).uniform(-1, 1, (200_000, 5))).sum(1) <= 1)
    assert np.exp(shares[4]) == pytest.approx(inside, rel=0.02)


def test_thin_shells_hold_nearly_everything():
    assert curse.shell_share(10, np.sqrt(0.9)) == pytest.approx(1 - 0.9**5)
    assert curse.shell_share(10_000, 0.999) == pytest.approx(1 - 0.999**10_000, rel=1e-12)
    # A share far below rounding of one keeps its digits.
    assert curse.shell_share(1, 1 - 1e-12) == pytest.approx(1e-12, rel=1e-4)
    assert curse.shell_share(3, 0.0) == 1


def test_inside_and_outside_add_up_and_the_inside_stays_finite():
    for dimension in (1, 7, 60, 300):
        outside = curse.gaussian_tail(dimension, 5.0)
        assert np.exp(curse.log_gaussian_inside(dimension, 5.0)) + outside == pytest.approx(1)
    logs = curse.log_gaussian_inside(np.arange(1, 10_001), 2.0)
    assert np.isfinite(logs).all()
    # The change from direct values to the series leaves no step.
    assert np.all(np.diff(logs) < 0)
    assert np.abs(np.diff(logs, 2)).max() < 0.8


def test_diagonals_turn_away_from_every_axis():
    for dimension in (1, 2, 3, 50, 10_000):
        diagonal = np.ones(dimension)
        cosine = diagonal[0] / np.linalg.norm(diagonal)
        assert np.cos(curse.diagonal_angle(dimension)) == pytest.approx(cosine, rel=1e-9)


UNIFORM = {"mean": 0.5, "variance": 1 / 12, "third": 0.0, "fourth": 1 / 80}
EXPONENTIAL = {"mean": 1.0, "variance": 1.0, "third": 2.0, "fourth": 9.0}
GAUSSIAN = {"mean": 0.0, "variance": 1.0, "third": 0.0, "fourth": 3.0}


@pytest.mark.parametrize(
    ("draw", "moments"),
    [("random", UNIFORM), ("standard_exponential", EXPONENTIAL), ("standard_normal", GAUSSIAN)],
)
def test_norms_concentrate_as_the_theorem_says(draw, moments):
    n, dimension = 4000, 1000
    norms = np.linalg.norm(getattr(np.random.default_rng(0), draw)((n, dimension)), axis=1)
    mean, variance = curse.norm_concentration(dimension, **moments)
    # Five standard errors of the simulation, and the orders that the theorem leaves out.
    assert abs(norms.mean() - mean) < 5 * norms.std() / np.sqrt(n) + 1 / dimension
    assert norms.var() == pytest.approx(variance, rel=5 * np.sqrt(2 / n) + dimension**-0.5)


def test_impossible_arguments_raise_a_clear_error():
    with pytest.raises(ValueError, match="dimension must be at least 1"):
        curse.log_ball_volume(0)
    with pytest.raises(ValueError, match="radius must be above 0"):
        curse.gaussian_tail(3, -1.0)
    with pytest.raises(ValueError, match="inner must lie between"):
        curse.shell_share(3, 2.0, 1.0)


@pytest.mark.parametrize(
    "moments",
    [
        {"mean": 0, "variance": 1, "third": 0, "fourth": 0.5},
        {"mean": 0, "variance": 1, "third": 0, "fourth": np.nan},
        {"mean": np.nan, "variance": 1, "third": 0, "fourth": 3},
        # Skewed by more than the fourth moment allows: the variance of the norm would be negative.
        {"mean": -1, "variance": 1, "third": 1.9, "fourth": 1},
        {"mean": 1, "variance": 0, "third": 1, "fourth": 0},
    ],
)
def test_impossible_moments_are_refused(moments):
    with pytest.raises(ValueError, match="no random variable"):
        curse.norm_concentration(3, **moments)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.7])
def test_two_values_have_the_least_fourth_moment_and_are_accepted(p):
    variance, third = p * (1 - p), p * (1 - p) * (1 - 2 * p)
    fourth = p * (1 - p) * (1 - 3 * p + 3 * p**2)
    found = curse.norm_concentration(50, mean=p, variance=variance, third=third, fourth=fourth)
    assert found.variance >= 0


@pytest.mark.filterwarnings("error")
def test_extreme_radii_keep_their_digits():
    # Of D = 2 the tail is exp(-r²/2) exactly, and what is inside has the logarithm of 1 minus it.
    assert curse.log_gaussian_inside(2, 9.0) == pytest.approx(-math.exp(-40.5), rel=1e-12)
    assert curse.log_gaussian_inside(3, 1e200) == 0
    assert curse.gaussian_tail(3, 1e200) == 0
    # A tiny ball has its volume times the density at the origin.
    for dimension, radius in ((1, 1e-200), (10, 1e-170), (10_000, 1e-300)):
        density = -dimension / 2 * math.log(2 * math.pi)
        expected = density + curse.log_ball_volume(dimension, radius)
        assert curse.log_gaussian_inside(dimension, radius) == pytest.approx(expected, rel=1e-12)
    assert curse.log_cube_volume(2, 1e308) == pytest.approx(2 * (math.log(2) + math.log(1e308)))


def test_the_surface_is_the_derivative_of_the_volume():
    for D in (1, 2, 3, 10, 400):
        for r in (0.5, 1.0, 2.0):
            step = 1e-6
            slope = (curse.log_ball_volume(D, r + step) - curse.log_ball_volume(D, r - step)) / (
                2 * step
            )
            found = curse.log_sphere_area(D, r)
            assert found == pytest.approx(curse.log_ball_volume(D, r) + np.log(slope), rel=1e-6)
    assert curse.log_sphere_area(3, 2.0) == pytest.approx(np.log(16 * np.pi))


@pytest.mark.parametrize("D", [5, 200])
def test_chebyshevs_bound_holds_for_measured_norms(D):
    rows = np.random.default_rng(0).normal(size=(4000, D))
    found = curse.measured_concentration(rows, max_rows=4000)
    predicted = curse.norm_concentration(D, mean=0, variance=1, third=0, fourth=3)
    assert found.mean == pytest.approx(float(predicted.mean), rel=0.03)
    assert found.variance == pytest.approx(float(predicted.variance), rel=0.15)
    norms = np.linalg.norm(rows - rows.mean(axis=0), axis=1)
    assert found.mean == pytest.approx(norms.mean(), rel=1e-12)
    assert found.variance == pytest.approx(norms.var(), rel=1e-10)
    assert found.spread == pytest.approx(norms.std() / norms.mean(), rel=1e-10)
    for deviation in (0.8, 1.5, 3.0):
        share = np.mean(np.abs(norms - found.mean) >= deviation)
        bound = curse.chebyshev_bound(found.variance, deviation)
        assert share <= bound
        assert bound == pytest.approx(min(norms.var() / deviation**2, 1.0), rel=1e-10)
    assert curse.chebyshev_bound(4.0, 1.0) == 1.0


def test_concentration_of_given_rows_grows_with_the_dimension():
    rng = np.random.default_rng(0)
    found = [curse.measured_concentration(rng.uniform(size=(400, D))) for D in (2, 20, 500)]
    assert found[0].spread > found[1].spread > found[2].spread
    assert found[0].contrast > 10 > found[1].contrast > 1 > found[2].contrast
    # A sheet in many columns does not concentrate.
    sheet = rng.uniform(size=(400, 2)) @ rng.normal(size=(2, 500))
    assert curse.measured_concentration(sheet).contrast > 10
    with pytest.raises(ValueError, match="All rows of X are equal"):
        curse.measured_concentration(np.ones((5, 3)))
    with pytest.raises(ValueError, match="deviation must be above 0"):
        curse.chebyshev_bound(1.0, 0.0)
