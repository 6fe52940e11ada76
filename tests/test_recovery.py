"""What the methods must show: the true charts of surfaces, on fifteen seeds, none chosen."""

import warnings
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_array_less
from scipy.stats import spearmanr

import unbend
from tests.loops import each, sampled
from unbend.datasets import SURFACES
from unbend.quality import procrustes

SEEDS = range(15)


@cache
def median_error(surface: str, method: str, n: int, k: int, kind: str) -> float:
    errors = []
    for seed in SEEDS:
        sample = SURFACES[surface](n, random_state=seed)
        embedding = getattr(unbend, method)(n_neighbors=k).fit_transform(sample.points)
        errors.append(procrustes(sample.chart, embedding, kind=kind))
    return float(np.median(errors))


@pytest.mark.parametrize("surface", ["swiss_roll", "s_curve"])
def test_isomap_recovers_the_chart_up_to_a_similarity(surface):
    assert median_error(surface, "Isomap", 1000, 8, "similarity") <= 0.003


@pytest.mark.parametrize("method", ["LTSA", "HessianLLE"])
@pytest.mark.parametrize("surface", ["swiss_roll", "s_curve"])
def test_tangent_methods_recover_the_chart_up_to_an_affine_map(surface, method):
    assert median_error(surface, method, 1000, 8, "affine") <= 0.001


@pytest.mark.parametrize("surface", ["swiss_roll", "s_curve", "swiss_hole"])
def test_rigid_alignment_recovers_the_chart_up_to_a_similarity(surface):
    assert median_error(surface, "RigidAlignment", 1000, 8, "similarity") <= 0.00002


@pytest.mark.parametrize("method", ["PCA", "ClassicalMDS"])
def test_linear_methods_recover_a_plane_exactly(method):
    square = unbend.datasets.square(400, random_state=0)
    flat = getattr(unbend, method)().fit_transform(square.points)
    assert procrustes(square.chart, flat) < 1e-24


@pytest.mark.parametrize("surface", ["swiss_roll", "s_curve"])
def test_the_first_laplacian_eigenvector_orders_the_points_by_arc_length(surface):
    correlations = []
    for seed in SEEDS:
        sample = SURFACES[surface](1000, random_state=seed)
        waves = unbend.LaplacianEigenmaps(n_neighbors=8).fit_transform(sample.points)
        correlations.append(abs(spearmanr(waves[:, 0], sample.chart[:, 0])[0]))
    assert np.median(correlations) >= 0.99


@pytest.mark.parametrize("surface", ["swiss_roll", "s_curve"])
def test_ten_laplacian_eigenvectors_hold_the_chart_in_their_span(surface):
    left = []
    for seed in SEEDS:
        sample = SURFACES[surface](1000, random_state=seed)
        method = unbend.LaplacianEigenmaps(n_components=10, n_neighbors=8)
        left.append(procrustes(sample.chart, method.fit_transform(sample.points), kind="affine"))
    assert np.median(left) <= 0.03


def test_laplacian_eigenmaps_tell_that_the_second_eigenvector_of_a_roll_repeats_the_first():
    roll = unbend.datasets.swiss_roll(2000, random_state=0)
    fitted = unbend.LaplacianEigenmaps(n_neighbors=10).fit(roll.points)
    assert fitted.redundancy_[1] > 0.9
    assert fitted.report_.stage("spectrum").facts["redundancy"][1] > 0.9


@pytest.mark.parametrize(("n", "k"), [(600, 7), (1000, 8)])
@pytest.mark.parametrize("other", ["Isomap", "LLE"])
def test_hessian_lle_recovers_a_roll_with_a_hole_ten_times_better(other, n, k):
    hessian = median_error("swiss_hole", "HessianLLE", n, k, "affine")
    assert 10 * hessian <= median_error("swiss_hole", other, n, k, "affine")


def test_residual_variance_falls_until_the_true_dimension_and_no_further():
    roll = unbend.datasets.swiss_roll(1000, random_state=0)
    curve = unbend.Isomap(n_neighbors=8).fit(roll.points).residual_variance_
    assert len(curve) == 10
    assert curve[1] < 0.2 * curve[0]
    assert_array_less(curve[1:], 1.5 * curve[1])


def assert_says_whether_it_keeps_both_coordinates(method, n, noise, seed):
    """Check that a coordinate that is lost is said to be, and one that is kept is not."""
    roll = unbend.datasets.swiss_roll(n, noise=noise, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = getattr(unbend, method)(n_neighbors=12).fit(roll.points)
    worst = max(procrustes(c[:, None], fitted.embedding_, kind="affine") for c in roll.chart.T)
    said = any("is a function of earlier ones" in warning for warning in fitted.report_.warnings)
    assert said if worst > 0.9 else (not said or worst > 0.1)
    return worst


@pytest.mark.parametrize("method", ["LTSA", "HessianLLE"])
@sampled("seed", range(3))
def test_warns_when_noise_hides_a_coordinate(method, seed):
    clean, _, noisy = (
        assert_says_whether_it_keeps_both_coordinates(method, 10_000, noise, seed)
        for noise in (0.0, 0.1, 0.3)
    )
    assert clean < 1e-4
    assert noisy > 0.9


@pytest.mark.slow
@each("method", ["LLE", "LTSA", "HessianLLE"])
@each("noise", [0.0, 0.01, 0.05, 0.1])
def test_warns_when_noise_hides_a_coordinate_of_a_hundred_thousand_points(method, noise):
    assert_says_whether_it_keeps_both_coordinates(method, 100_000, noise, 0)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["LTSA", "HessianLLE"])
def test_a_hundred_thousand_points_keep_both_coordinates(method):
    roll = unbend.datasets.swiss_roll(100_000, random_state=0)
    flat = getattr(unbend, method)(n_neighbors=12).fit_transform(roll.points)
    for coordinate in roll.chart.T:
        assert procrustes(coordinate[:, None], flat, kind="affine") <= 0.01
