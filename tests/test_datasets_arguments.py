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
        ({"n": 0}, ValueError, "n=.* must be an integer of at least 1"),
        ({"n": -3}, ValueError, "n=.* must be an integer of at least 1"),
        ({"n": 10.0}, TypeError, "n=.* must be an integer of at least"),
        ({"n": True}, TypeError, "n=.* must be an integer of at least"),
        ({"n": "many"}, TypeError, "n=.* must be an integer of at least"),
        ({"noise": -0.1}, ValueError, "noise=.* must be a number of at least 0"),
        ({"noise": float("nan")}, ValueError, "noise=.* must be a number"),
        ({"noise": "much"}, TypeError, "noise=.* must be a number"),
        ({"sampling": "surface"}, ValueError, "sampling=.* must be one of 'area', 'parameter'"),
        ({"sampling": None}, TypeError, "sampling=.* must be one of 'area', 'parameter'"),
        ({"random_state": -1}, ValueError, "random_state=-1 is not allowed"),
        ({"random_state": 1.5}, TypeError, "random_state=.* must be None or an integer"),
        ({"random_state": "seed"}, TypeError, "random_state=.* must be None or an integer"),
    ],
)
def test_bad_common_arguments_raise_a_clear_error(name, options, error, words):
    with pytest.raises(error, match=words):
        SURFACES[name](**options)


@each(
    ("make", "options", "error", "words"),
    [
        (swiss_roll, {"length": 0}, ValueError, "length=.* must be a number above 0"),
        (s_curve, {"length": -1}, ValueError, "length=.* must be a number above 0"),
        (square, {"length": float("inf")}, ValueError, "length=.* must be a number"),
        (square, {"length": "long"}, TypeError, "length=.* must be a number"),
        (swiss_hole, {"length": 14}, ValueError, "length=.* must be a number above 14"),
        (punched_sphere, {"height": 0}, ValueError, "above 0 and below 1"),
        (punched_sphere, {"height": 1}, ValueError, "above 0 and below 1"),
        (punched_sphere, {"height": float("nan")}, ValueError, "height=.* must be a number"),
        (toroidal_helix, {"turns": 0}, ValueError, "turns=.* must be an integer of at least 1"),
        (toroidal_helix, {"turns": 2.5}, TypeError, "turns=.* must be an integer of at least"),
        (toroidal_helix, {"sampling": "odd"}, ValueError, "'area', 'parameter', 'even'"),
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
