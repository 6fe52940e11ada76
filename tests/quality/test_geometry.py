"""Lengths, angles, densities and noise against maps whose derivatives are known."""

import numpy as np
import pytest

import unbend
from tests.loops import sampled
from unbend.quality import (
    conformality_error,
    density_distortion,
    local_isometry_error,
    noise_amplification,
)


def plane(n=4000, seed=0):
    return np.random.default_rng(seed).uniform(1, 2, (n, 2))


def turned(seed, columns):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(columns, columns)))[0]


@sampled("seed", range(3))
def test_a_similarity_in_more_columns_has_no_error(seed):
    chart = plane(500)
    moved = 3 * np.pad(chart, ((0, 0), (0, 2))) @ turned(seed, 4) + 5
    assert local_isometry_error(chart, moved) < 1e-12
    assert local_isometry_error(chart, moved, scaled=False) == pytest.approx(8)
    assert conformality_error(chart, moved) < 1e-12
    assert density_distortion(chart, moved) < 1e-12
    assert noise_amplification(chart, moved) == pytest.approx(9)
    assert noise_amplification(chart, moved, scaled=True) == pytest.approx(1)


@pytest.mark.parametrize("stretch", [0.5, 2.0, 5.0])
def test_a_linear_map_has_the_errors_of_its_singular_values(stretch):
    chart = plane(500)
    mapped = chart @ turned(0, 2) * [stretch, 1.0] @ turned(1, 2)
    squares = np.array([stretch**2, 1.0])
    round_part = squares.sum() ** 2 / (2 * (squares**2).sum())
    assert conformality_error(chart, mapped) == pytest.approx(1 - round_part)
    assert local_isometry_error(chart, mapped) == pytest.approx(np.sqrt(1 - round_part))
    assert noise_amplification(chart, mapped) == pytest.approx(max(squares))
    assert noise_amplification(chart, mapped).local == pytest.approx(np.full(500, max(squares)))


def test_a_conformal_map_changes_sizes_as_its_derivative_and_no_angles():
    chart = plane()
    z = chart @ [1, 1j]
    image = np.column_stack(((z**2).real, (z**2).imag))
    assert conformality_error(chart, image) < 1e-3
    stretch = 4 * np.abs(z) ** 2
    assert np.corrcoef(noise_amplification(chart, image).local, stretch)[0, 1] > 0.999
    inner = (np.abs(chart - 1.5) < 0.4).all(axis=1)
    distortion = density_distortion(chart, image).local[inner]
    assert np.corrcoef(distortion, np.log(stretch[inner]))[0, 1] > 0.95
    G = stretch[:, None, None] * np.eye(2)
    scale = np.trace(G, axis1=1, axis2=2).sum() / (G**2).sum()
    expected = np.sqrt(np.mean((scale * stretch - 1) ** 2))
    assert local_isometry_error(chart, image) == pytest.approx(expected, rel=0.02)


def test_noise_grows_as_the_amplification_says():
    """Book (4.5): the mean square of what happens to noise is at most |dh|² times its variance."""
    chart = plane(3000)
    roll = np.column_stack((np.cos(chart[:, 0]), np.sin(chart[:, 0]), chart[:, 1]))

    def coordinates(points):
        return np.column_stack((3 * np.arctan2(points[:, 1], points[:, 0]), points[:, 2] ** 2))

    amplification = noise_amplification(roll, coordinates(roll), n_neighbors=8).local
    expected = np.maximum(9.0, 4 * chart[:, 1] ** 2)
    assert np.median(np.abs(amplification / expected - 1)) < 0.01
    noise = 1e-4 * np.random.default_rng(1).normal(size=(200, *roll.shape))
    moved = np.mean([((coordinates(roll + e) - coordinates(roll)) ** 2).sum(1) for e in noise], 0)
    bound = amplification * np.mean((noise**2).sum(axis=2), axis=0)
    assert np.mean(moved <= bound) > 0.99


def test_collapsed_points_are_the_worst_and_never_not_a_number():
    chart = plane(200)
    point = np.zeros((200, 2))
    assert conformality_error(chart, point) == 1
    assert local_isometry_error(chart, point) == 1
    assert noise_amplification(chart, point, scaled=True) == 0
    line = np.column_stack((chart[:, 0], point[:, 0]))
    assert conformality_error(chart, line) == pytest.approx(0.5)
    copies = np.repeat(chart[:20], 10, axis=0)
    for measure in (density_distortion, noise_amplification, local_isometry_error):
        assert np.isfinite(measure(copies, copies, n_neighbors=5).local).all()


@sampled("seed", range(3))
def test_lengths_of_a_roll_tell_methods_apart(seed):
    roll = unbend.datasets.swiss_roll(2000, random_state=seed)
    waves = unbend.LTSA(n_neighbors=8).fit_transform(roll.points)
    isomap = unbend.Isomap(n_neighbors=8).fit_transform(roll.points)
    # LTSA has the lengths up to a linear map, and those it has right to a few percent.
    aligned = unbend.quality.align(roll.chart, waves, kind="affine")
    assert local_isometry_error(roll.chart, aligned) < 0.05
    assert local_isometry_error(roll.chart, waves) > 0.5
    # Isomap has them over long ways; near by, edges that zigzag show.
    near, far = (local_isometry_error(roll.chart, isomap, n_neighbors=k) for k in (10, 100))
    assert far < near < local_isometry_error(roll.chart, waves)


@pytest.mark.parametrize("measure", [local_isometry_error, noise_amplification])
def test_too_few_neighbours_for_a_derivative_are_refused(measure):
    with pytest.raises(ValueError, match=r"n_neighbors=\d+ .* at (least 2|most 9)"):
        measure(plane(10), plane(10), n_neighbors=1)
    with pytest.raises(ValueError, match=r"n_neighbors=\d+ .* at (least 2|most 9)"):
        measure(plane(10), plane(10), n_neighbors=10)
