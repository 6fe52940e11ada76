"""Minkowski's distances keep their digits at every size and for every p."""

import numpy as np
import pytest

from tests.loops import each
from unbend.neighbors import Metric, PointSpace


def exact(points, p):
    """Distances of all pairs in extended precision, where no power of these leaves the range."""
    apart = np.abs(points[:, None] - points[None]).astype(np.longdouble)
    if np.isinf(p):
        return apart.max(axis=2)
    return np.sum(apart ** np.longdouble(p), axis=2) ** (1 / np.longdouble(p))


@each("p", [1.0, 1.5, 2.0, 3.0, 7.5, 40.0, np.inf])
@each("size", [1.0, 1e-6, 1e60, 1e-60, 1e150, 1e-150])
@each("columns", [3, 20])
def test_distances_and_neighbours_do_not_depend_on_units(p, size, columns):
    points = np.random.default_rng(0).normal(size=(40, columns))
    space = PointSpace(points * size, Metric("minkowski", {"p": p}).fit(points))
    expected = exact(points, p).astype(np.float64)
    between = space.distances_of(space.points)
    np.testing.assert_allclose(between / size, expected, rtol=1e-10)
    np.testing.assert_allclose(
        space.lengths(np.arange(39), np.arange(1, 40)) / size, expected.diagonal(1), rtol=1e-10
    )
    np.fill_diagonal(expected, np.inf)
    nearest = space.nearest(5)
    np.testing.assert_allclose(
        nearest.distances.reshape(40, 5) / size, np.sort(expected, axis=1)[:, :5], rtol=1e-10
    )
    radius = float(np.median(nearest.distances))
    count = np.sum(expected <= radius / size * (1 + 1e-12))
    assert abs(len(space.within(radius).indices) - count) <= 2


@pytest.mark.parametrize("p", [3.0, 40.0])
def test_nearly_identical_rows_are_distinguished(p):
    line = np.zeros((30, 4))
    line[:, 0] = 1e-9 * np.arange(30) ** 2
    line[0, 1] = 1.0
    nearest = PointSpace(line, Metric("minkowski", {"p": p})).nearest(1)
    assert nearest.indices[2:].tolist() == list(range(1, 29))


def test_a_new_row_far_away_has_its_nearest():
    points = np.random.default_rng(1).normal(size=(30, 3))
    space = PointSpace(points, Metric("minkowski", {"p": 3.0}))
    new = np.array([[1e140, 0.0, 0.0]])
    indices, distances = space.nearest_of(new, 2)
    np.testing.assert_allclose(distances, 1e140, rtol=1e-12)
    assert indices.max() < 30
