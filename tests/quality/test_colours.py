"""Colour mixing, values for each point, and invalid input of measures."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import unbend
from tests.loops import each, sampled
from unbend import quality

SAMPLED = [
    quality.local_isometry_error,
    quality.conformality_error,
    quality.density_distortion,
    quality.noise_amplification,
    quality.color_mixing,
]
OF_SQUARES = [
    quality.shepard,
    quality.stress,
    quality.procrustes,
    quality.residual_variance,
    quality.density_distortion,
    quality.local_isometry_error,
    quality.color_mixing,
]


def squared(n=3000):
    """Draw a plane and its image under z², which stretches by 2|z|."""
    plane = np.random.default_rng(0).uniform(1, 3, (n, 2))
    image = (plane @ [1, 1j]) ** 2
    return plane, np.column_stack((image.real, image.imag))


@sampled("seed", range(3))
def test_mixing_is_its_formula(seed):
    rng = np.random.default_rng(seed)
    embedding, values = rng.normal(size=(50, 2)), rng.normal(size=(50, 3)) * [1, 10, 100]
    distances = cdist(embedding, embedding) + np.diag(np.full(50, np.inf))
    expected = [
        np.mean([(values[j] - values[i]) ** 2 / (2 * values.var(axis=0)) for j in near])
        for i, near in enumerate(np.argsort(distances, axis=1)[:, :7])
    ]
    measure = quality.color_mixing(embedding, values, n_neighbors=7)
    np.testing.assert_allclose(measure.local, expected)
    assert measure == pytest.approx(np.mean(expected))


def test_mixing_is_one_by_chance_and_little_for_smooth_colours():
    rng = np.random.default_rng(0)
    plane = rng.uniform(size=(4000, 2))
    chance = quality.color_mixing(plane, rng.normal(size=(4000, 5)))
    assert chance == pytest.approx(1, abs=0.03)
    # In a unit square the k nearest lie within r² = k/(πn), at r²/2 in the mean square, and a
    # column has the variance 1/12.
    expected = 10 / (np.pi * 4000) / 4 / 2 * 12
    assert quality.color_mixing(plane, plane) == pytest.approx(expected, rel=0.15)
    assert quality.color_mixing(plane, np.ones(4000)) == 0


def test_mixing_shows_where_a_projection_overlaps_itself():
    curve = unbend.datasets.s_curve(1000, random_state=0)
    pressed = curve.points[:, [0, 1]]
    local = quality.color_mixing(pressed, curve.chart[:, 0]).local
    # The S covers the strip three times in the middle and once at its ends.
    middle = np.abs(pressed[:, 0]) < 0.5
    assert np.median(local[middle]) > 10 * np.median(quality.color_mixing(curve.chart, curve.chart))


@pytest.mark.parametrize("measure", SAMPLED)
def test_a_sample_of_rows_errs_by_about_its_standard_error(measure):
    plane, image = squared()
    whole = measure(plane, image)
    assert whole.error == 0
    parts = [measure(plane, image, max_rows=300, random_state=seed) for seed in range(40)]
    off = np.array([(part - whole) / part.error for part in parts])
    assert 0.5 < np.sqrt(np.mean(off**2)) < 1.6
    np.testing.assert_array_equal(parts[0].rows, np.unique(parts[0].rows))


@pytest.mark.parametrize("kind", ["similarity", "affine"])
def test_procrustes_errors_of_points_have_the_error_as_their_mean(kind):
    plane, image = squared(200)
    error = quality.procrustes(plane, image, kind=kind)
    assert error.local.mean() == pytest.approx(error)
    moved = plane.copy()
    moved[17] += 5
    assert int(np.argmax(quality.procrustes(plane, moved, kind=kind).local)) == 17


@each("measure", OF_SQUARES)
@each("unit", [1e200, 1e-200])
def test_units_whose_squares_overflow_or_underflow_are_refused(measure, unit):
    plane, image = squared(50)
    with pytest.raises(ValueError, match="leaves double precision"):
        measure(unit * plane, unit * image)


@pytest.mark.parametrize("measure", [quality.trustworthiness, quality.coranking, *OF_SQUARES])
def test_sparse_matrices_are_refused_with_advice(measure):
    plane, image = squared(50)
    with pytest.raises(TypeError, match=r"Pass \w+.toarray"):
        measure(csr_array(plane), image)


def test_colours_for_other_points_are_refused():
    with pytest.raises(ValueError, match="values has 3 rows and embedding has 4"):
        quality.color_mixing(np.eye(4), np.ones(3), n_neighbors=2)
    with pytest.raises(ValueError, match="at most 3 with 4 samples"):
        quality.color_mixing(np.eye(4), np.ones(4))
