"""A fifth of every surface held out: placed as well as the rest was fitted, and brought back."""

import warnings

import numpy as np
import pytest

from tests.loops import each
from unbend.datasets import SURFACES
from unbend.registry import METHODS
from unbend.validation.parameters import parameters

# Eigenvectors of a walk or a Laplacian hold a chart only together.
SPANNING = {"LaplacianEigenmaps", "DiffusionMaps"}
CLASSES = [entry.load() for entry in METHODS]
SLOW = {"MVU", "LandmarkMVU", "NonmetricMDS"}


def fitted(method, points):
    options = {"n_components": 10 if method.__name__ in SPANNING else 2}
    if any(p.name == "n_neighbors" and p.default == 10 for p in parameters(method)):
        options["n_neighbors"] = 8
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the neighbourhood graph has")
        # Supervised methods know no class.
        return method(**options).fit(points, np.full(len(points), -1))


def errors(method, surface, seed):
    """Share of the chart's variance left on fitted and on placed points by one affine map."""
    sample = SURFACES[surface](1000, random_state=seed)
    model = fitted(method, sample.points[:800])
    rows = np.concatenate((model.embedding_, model.transform(sample.points[800:])))
    rows = np.column_stack((rows, np.ones(1000)))
    chart = sample.chart - sample.chart.mean(axis=0)
    affine = np.linalg.lstsq(rows[:800], chart[:800])[0]
    left = np.square(rows @ affine - chart).sum(axis=1) / np.square(chart).sum(axis=1).mean()
    return left[:800].mean(), left[800:].mean()


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(cls, id=cls.__name__, marks=[pytest.mark.slow] * (cls.__name__ in SLOW))
        for cls in CLASSES
    ],
)
@each("surface", ["swiss_roll", "s_curve", "square", "swiss_hole"], keep=1)
def test_new_points_are_embedded_as_well_as_the_fitted_ones(method, surface):
    fit, placed = np.median([errors(method, surface, seed) for seed in range(3)], axis=0)
    assert placed <= max(2 * fit, 0.002)


@each("name", ["Isomap", "LandmarkIsomap", "LLE", "LTSA", "HessianLLE", "RigidAlignment"])
@each("surface", ["swiss_roll", "s_curve", "swiss_hole"])
def test_inverse_transform_of_new_points_is_near_them(name, surface):
    method = next(cls for cls in CLASSES if cls.__name__ == name)
    off = []
    for seed in range(3):
        points = SURFACES[surface](1000, random_state=seed).points
        model = fitted(method, points[:800])
        back = model.inverse_transform(model.transform(points[800:]))
        spread = np.square(points - points.mean(axis=0)).sum(axis=1).mean()
        off.append(np.square(back - points[800:]).sum(axis=1).mean() / spread)
    # A neighbourhood of eight of 800 points spans about a tenth of the surface, and its chord
    # leaves the surface by a hundredth: one part in a thousand of the spread, squared.
    assert np.median(off) < 0.01
