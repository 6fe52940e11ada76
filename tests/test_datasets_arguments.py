"""What surfaces are made from: mistakes get a sentence."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from tests.loops import each
from unbend.datasets import (
    SURFACES,
    Surface,
    punched_sphere,
    s_curve,
    square,
    swiss_hole,
    swiss_roll,
    toroidal_helix,
)


@each("name", SURFACES)
@each(
    ("options", "error", "words"),
    [
        ({"n": 0}, ValueError, "n must be at least 1"),
        ({"n": -3}, ValueError, "n must be at least 1"),
        ({"n": 10.0}, TypeError, "n must be an integer"),
        ({"n": True}, TypeError, "n must be an integer"),
        ({"n": "many"}, TypeError, "n must be an integer"),
        ({"noise": -0.1}, ValueError, "noise must be finite, at least 0"),
        ({"noise": float("nan")}, ValueError, "noise must be finite"),
        ({"noise": "much"}, TypeError, "noise must be a number"),
        ({"sampling": "surface"}, ValueError, "sampling must be 'area' or 'parameter'"),
        ({"sampling": None}, ValueError, "sampling must be 'area' or 'parameter'"),
        ({"random_state": -1}, ValueError, "random_state must not be negative"),
        ({"random_state": 1.5}, TypeError, "random_state must be None, an integer"),
        ({"random_state": "seed"}, TypeError, "random_state must be None, an integer"),
    ],
)
def test_bad_common_arguments_raise_a_clear_error(name, options, error, words):
    with pytest.raises(error, match=words) as caught:
        SURFACES[name](**options)
    assert str(caught.value).endswith(".")


@each(
    ("make", "options", "error", "words"),
    [
        (swiss_roll, {"length": 0}, ValueError, "length must be finite, greater than 0"),
        (s_curve, {"length": -1}, ValueError, "length must be finite, greater than 0"),
        (square, {"length": float("inf")}, ValueError, "length must be finite"),
        (square, {"length": "long"}, TypeError, "length must be a number"),
        (swiss_hole, {"length": 14}, ValueError, "length must be finite, greater than 14"),
        (punched_sphere, {"height": 0}, ValueError, "greater than 0 and less than 1"),
        (punched_sphere, {"height": 1}, ValueError, "greater than 0 and less than 1"),
        (punched_sphere, {"height": float("nan")}, ValueError, "height must be finite"),
        (toroidal_helix, {"turns": 0}, ValueError, "turns must be at least 1"),
        (toroidal_helix, {"turns": 2.5}, TypeError, "turns must be an integer"),
        (toroidal_helix, {"sampling": "odd"}, ValueError, "'area' or 'parameter' or 'even'"),
    ],
)
def test_bad_arguments_of_one_surface_raise_a_clear_error(make, options, error, words):
    with pytest.raises(error, match=words):
        make(**options)


def test_numpy_numbers_are_as_good_as_python_numbers():
    given = swiss_roll(np.int64(20), length=np.float32(3), random_state=np.int32(1))
    assert np.array_equal(given.points, swiss_roll(20, length=3, random_state=1).points)


def test_a_surface_is_frozen_and_refuses_parts_that_do_not_fit():
    surface = square(5, random_state=0)
    with pytest.raises(FrozenInstanceError):
        surface.name = "other"
    with pytest.raises(ValueError, match="needs points of shape"):
        Surface(surface.points, surface.chart[:3], "square", True)
    with pytest.raises(ValueError, match="needs labels of shape"):
        Surface(surface.points, surface.chart, "square", True, np.arange(3))
