"""What pictures are made from: mistakes get a sentence."""

from dataclasses import FrozenInstanceError

import pytest

from tests.loops import each
from unbend.datasets import (
    PICTURES,
    Pictures,
    rotated_pictures,
    shifted_pictures,
    turning_circle,
    turning_object,
)


@each("name", PICTURES)
@each(
    ("options", "error", "words"),
    [
        ({"n": 0}, ValueError, "n=.* must be an integer of at least 1"),
        ({"n": 10.0}, TypeError, "n=.* must be an integer of at least"),
        ({"size": 0}, ValueError, "size=.* must be an integer of at least 1"),
        ({"size": 8.0}, TypeError, "size=.* must be an integer of at least"),
        ({"size": (8, 8, 8)}, ValueError, "it must be a number, or two"),
        ({"size": (8, 0)}, ValueError, "each number of size=0 is not allowed"),
        ({"color": "red"}, TypeError, "color='red' is not allowed"),
        ({"noise": -0.1}, ValueError, "noise=.* must be a number of at least 0"),
        ({"sampling": "area"}, ValueError, "must be one of 'random', 'grid', 'shuffled'"),
        ({"random_state": -1}, ValueError, "random_state=-1 is not allowed"),
    ],
)
def test_bad_common_arguments_raise_a_clear_error(name, options, error, words):
    with pytest.raises(error, match=words):
        PICTURES[name](**options)


@each(
    ("make", "options", "error", "words"),
    [
        (
            turning_object,
            {"shape": "teapot"},
            ValueError,
            "shape=.* must be one of 'head', 'rabbit'",
        ),
        (turning_circle, {"shape": None}, TypeError, "shape=.* must be one of 'head', 'rabbit'"),
        (turning_object, {"angles": 45}, TypeError, "angles must be two pairs"),
        (turning_object, {"angles": ((0, 1),)}, TypeError, "angles must be two pairs"),
        (turning_object, {"angles": (0, 1)}, TypeError, "each pair of angles must be a pair"),
        (turning_object, {"angles": ((1, 0), (0, 1))}, ValueError, "lowest, highest"),
        (turning_object, {"light": (0, float("inf"))}, ValueError, "light must be a pair"),
        (turning_object, {"light": (0, "noon")}, TypeError, "light must be a pair"),
        (turning_object, {"light": None}, TypeError, "light must be a pair"),
        (turning_object, {"sampling": "grid"}, ValueError, "such as 512 or 729, not 698"),
        (
            turning_object,
            {"n": 5, "angles": ((0, 0), (1, 1)), "light": False, "sampling": "grid"},
            ValueError,
            "0 varying parameters n must be the number of points of a grid, such as 1, not",
        ),
        (shifted_pictures, {"n": 99, "sampling": "shuffled"}, ValueError, "such as 81 or 100"),
        (shifted_pictures, {"reach": 0}, ValueError, "reach=.* must be a number above 0"),
        (shifted_pictures, {"reach": 0.5}, ValueError, "reach=.* must be a number"),
    ],
)
def test_bad_arguments_of_one_set_raise_a_clear_error(make, options, error, words):
    with pytest.raises(error, match=words):
        make(**options)


def test_pictures_are_frozen_and_refuse_parts_that_do_not_fit():
    pictures = rotated_pictures(5, size=4, random_state=0)
    with pytest.raises(FrozenInstanceError):
        pictures.name = "other"
    for images, chart, labels in (
        (pictures.points, pictures.chart, ("angle",)),
        (pictures.images, pictures.chart[:3], ("angle",)),
        (pictures.images, pictures.chart, ("angle", "light")),
    ):
        with pytest.raises(ValueError, match="Pictures need images of shape"):
            Pictures(images, chart, "rotated_pictures", labels)
