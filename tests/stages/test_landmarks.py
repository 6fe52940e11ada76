"""Landmarks stand for the rows as the metric sees them."""

import numpy as np
import pytest

from unbend.estimators.landmarks import landmarks_of_space
from unbend.neighbors import Metric, PointSpace


def chosen(points, metric):
    space = PointSpace(points, metric.fit(points))
    return landmarks_of_space("kmeans", 12, space, np.random.default_rng(0))


def test_means_of_weighted_rows_do_not_depend_on_the_units_of_columns():
    points = np.random.default_rng(0).normal(size=(400, 5))
    metric = Metric("weighted")
    in_other_units = points * 2.0 ** np.array([0, 20, -20, 5, -7])
    assert np.array_equal(chosen(points, metric), chosen(in_other_units, metric))


@pytest.mark.parametrize("name", ["angular", "correlation", "fourier_phase"])
def test_means_of_directions_stand_for_every_direction(name):
    rng = np.random.default_rng(1)
    kinds = rng.normal(size=(12, 16))
    labels = np.repeat(np.arange(12), 30)
    sizes = 10.0 ** rng.uniform(-3, 3, size=(360, 1))
    points = sizes * (kinds[labels] + 1e-6 * rng.normal(size=(360, 16)))
    # By raw rows nearly all centres would go to the largest rows: one kind or two.
    assert len(np.unique(labels[chosen(points, Metric(name))])) >= 9
