"""Isomap's single precision: where it is taken, how much it costs, and where it is not."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from unbend import Isomap
from unbend.datasets import swiss_roll

ROLL = swiss_roll(1100, random_state=0).points


def relative(found, expected):
    return np.abs(found - expected).max() / np.abs(expected).max()


def test_single_precision_moves_coordinates_by_a_millionth():
    single, double = (Isomap(precision=p).fit(ROLL) for p in ("single", "double"))
    assert single.geodesics_.dtype == np.float32
    assert double.geodesics_.dtype == np.float64
    assert np.sin(subspace_angles(single.embedding_, double.embedding_)).max() < 1e-5
    assert relative(single.embedding_, double.embedding_) < 1e-5
    new = swiss_roll(50, random_state=1).points
    assert relative(single.transform(new), double.transform(new)) < 1e-5


def test_auto_takes_it_beyond_a_thousand_rows_only():
    assert Isomap().fit(ROLL).geodesics_.dtype == np.float32
    assert Isomap().fit(ROLL[:1000]).geodesics_.dtype == np.float64


@pytest.mark.parametrize("scale", [1e-60, 1e-44, 1e-33, 1e-20, 1e20, 1e30, 1e37])
def test_no_scale_leaves_its_range(scale):
    usual = Isomap(precision="double").fit_transform(ROLL)
    assert relative(Isomap().fit_transform(ROLL * scale) / scale, usual) < 1e-5


def test_asked_for_where_it_cannot_be_had_it_is_double_and_said_so():
    with pytest.warns(UserWarning, match="range of single precision"):
        model = Isomap(precision="single").fit(ROLL * 1e-40)
    assert model.geodesics_.dtype == np.float64


def test_coordinates_that_are_only_rounding_are_zero_and_said_so():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(1200, 20))
    points[:, 1:] *= 0.2
    points[600:] += 1e6
    with pytest.warns(UserWarning, match="only 1 positive"):
        model = Isomap().fit(points)
    assert not model.embedding_[:, 1].any()
