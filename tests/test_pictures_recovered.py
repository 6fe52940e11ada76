"""What sets of pictures are for: their parameters can be found again."""

import numpy as np
import pytest

import unbend
from tests.loops import sampled
from unbend.datasets import rotated_pictures, shifted_pictures, turning_circle, turning_object
from unbend.datasets._render import FIGURES

SEEDS = range(3)


def determined(coordinates, chart):
    """R² of a linear map from the coordinates to each column of the chart."""
    known = np.column_stack([coordinates, np.ones(len(chart))])
    missed = chart - known @ np.linalg.lstsq(known, chart, rcond=None)[0]
    return 1 - missed.var(axis=0) / chart.var(axis=0)


@pytest.mark.parametrize("shape", FIGURES)
@sampled("seed", SEEDS)
def test_isomap_finds_the_two_angles_and_the_light(shape, seed):
    views = turning_object(500, size=32, shape=shape, random_state=seed)
    found = unbend.Isomap(n_components=3, n_neighbors=6).fit_transform(views.points)
    assert np.all(determined(found, views.chart) >= 0.8)


@pytest.mark.parametrize("shape", FIGURES)
@sampled("seed", SEEDS)
def test_isomap_finds_the_two_angles_under_a_fixed_light(shape, seed):
    views = turning_object(400, size=32, shape=shape, light=False, random_state=seed)
    found = unbend.Isomap(n_components=2, n_neighbors=8).fit_transform(views.points)
    assert np.all(determined(found, views.chart) >= 0.95)


@sampled("seed", SEEDS)
def test_isomap_finds_the_shifts(seed):
    letters = shifted_pictures(random_state=seed)
    found = unbend.Isomap(n_components=2, n_neighbors=10).fit_transform(letters.points)
    assert np.all(determined(found, letters.chart) >= 0.95)


@pytest.mark.parametrize("pictures", [turning_circle, rotated_pictures])
@sampled("seed", SEEDS)
def test_isomap_puts_a_full_turn_in_order(pictures, seed):
    shuffled = pictures(72, sampling="shuffled", random_state=seed)
    loop = unbend.Isomap(n_components=2, n_neighbors=4).fit_transform(shuffled.points)
    order = np.argsort(np.arctan2(loop[:, 1], loop[:, 0]))
    places = np.rint(shuffled.chart[order, 0] / 5).astype(int)
    steps = np.diff(places, append=places[0]) % 72
    assert np.all(steps == 1) or np.all(steps == 71)


@sampled("seed", SEEDS)
def test_one_coordinate_of_diffusion_maps_sorts_shuffled_views(seed):
    views = turning_object(36, angles=((-90, 90), (0, 0)), light=False, random_state=seed)
    model = unbend.DiffusionMaps(n_components=1, n_neighbors=5).fit(views.points)
    found = np.argsort(np.argsort(model.embedding_[:, 0]))
    true = np.argsort(np.argsort(views.chart[:, 0]))
    assert abs(np.corrcoef(found, true)[0, 1]) > 0.998
