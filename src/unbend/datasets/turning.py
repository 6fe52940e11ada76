"""Pictures of a turning object under a moving light (book 8.4.2, 14.5.2 and 14.5.3)."""

from typing import Literal, TypeAlias

import numpy as np

from unbend.arrays import FloatArray
from unbend.datasets._draw import RandomState, begin, checked_count
from unbend.datasets._figures import FIGURES
from unbend.datasets._render import Figure, render
from unbend.datasets._views import (
    PICTURE_SAMPLINGS,
    PictureSampling,
    Range,
    around,
    checked_range,
    finished,
    within,
)
from unbend.datasets.pictures import Pictures

Shape: TypeAlias = Literal["head", "rabbit"]

# With these ranges the three parameters change the pictures by similar amounts. Where one does
# much less than another, as the up-down pose does within 10 degrees, the bend of the long
# direction takes a coordinate of the embedding before the short direction does.
ANGLES = ((-45.0, 45.0), (-35.0, 35.0))
LIGHT = (-70.0, 70.0)
LABELS = ("left–right", "up–down", "light")
# Height of the light above the horizon, in degrees.
ELEVATION = 20.0


def turning_object(
    n: int = 698,
    *,
    size: int = 64,
    shape: Shape = "head",
    angles: tuple[Range, Range] = ANGLES,
    light: bool | Range = True,
    noise: float = 0,
    sampling: PictureSampling = "random",
    random_state: RandomState = None,
) -> Pictures:
    """Object that turns left and right, up and down, while the light moves around it.

    The object is rendered from its geometry: seen from afar, lit by one distant light and a
    little from everywhere (Lambert's law), before a black background. The light stays 20 degrees
    above the viewer's horizon. Pictures change continuously with the parameters.

    Parameters
    ----------
    n : int
        Number of pictures.
    size : int
        Width and height of each picture, in pixels.
    shape : {"head", "rabbit"}
        What turns.
    angles : ((float, float), (float, float))
        Least and greatest angle in degrees of the turn from left to right, positive when the
        object looks to the viewer's right, and of the nod, positive when it looks up. A parameter
        with equal ends does not vary.
    light : bool or (float, float)
        Least and greatest angle in degrees of the light, positive from the viewer's right; True
        is (-70, 70). False leaves the light in front, and its column out of the chart.
    noise : float
        Standard deviation of the Gaussian noise added to each pixel.
    sampling : {"random", "grid", "shuffled"}
        Parameters uniform in their ranges, on a grid that includes the ends (n must be its number
        of points), or on that grid in random order.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Source of randomness.

    Returns
    -------
    Pictures
        Its chart holds the angles, in degrees: left–right, up–down, light.

    See Also
    --------
    turning_circle : The object turns once around.

    Examples
    --------
    >>> views = turning_object(4, angles=((-90, 90), (0, 0)), light=False, sampling="grid")
    >>> views.chart[:, 0].tolist()
    [-90.0, -30.0, 30.0, 90.0]
    """
    draw = begin(n, noise, sampling, random_state, PICTURE_SAMPLINGS)
    size, figure = checked_count("size", size), _figure(shape)
    moving = light is not False
    ranges = _ranges(angles)
    if moving:
        ranges.append(LIGHT if light is True else checked_range("light", light))
    chart = within(draw, sampling, ranges)
    azimuth = chart[:, 2] if moving else np.zeros(draw.n)
    images = render(figure, rotations(chart[:, 0], chart[:, 1]), directions(azimuth), size)
    return finished(draw, images, chart, "turning_object", LABELS[: len(ranges)])


def turning_circle(
    n: int = 72,
    *,
    size: int = 64,
    shape: Shape = "head",
    noise: float = 0,
    sampling: PictureSampling = "shuffled",
    random_state: RandomState = None,
) -> Pictures:
    """Object that turns once around its vertical axis, under a light from the front.

    Parameters
    ----------
    n : int
        Number of pictures.
    size : int
        Width and height of each picture, in pixels.
    shape : {"head", "rabbit"}
        What turns.
    noise : float
        Standard deviation of the Gaussian noise added to each pixel.
    sampling : {"random", "grid", "shuffled"}
        Angles uniform over the circle, whose gaps may cut a graph of few neighbours; the n angles
        360 i/n in order; or those in random order.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Source of randomness.

    Returns
    -------
    Pictures
        Its chart is the angle in degrees, in one column: 0 looks at the viewer, 90 to the viewer's
        right. The pictures form a closed curve: a good embedding is a loop, which takes two
        coordinates.

    See Also
    --------
    turning_object : Two angles and a light, each within limits.

    Examples
    --------
    >>> turning_circle(4, sampling="grid").chart[:, 0].tolist()
    [0.0, 90.0, 180.0, 270.0]
    """
    draw = begin(n, noise, sampling, random_state, PICTURE_SAMPLINGS)
    size, figure = checked_count("size", size), _figure(shape)
    chart = around(draw, sampling)
    level = np.zeros(draw.n)
    images = render(figure, rotations(chart[:, 0], level), directions(level), size)
    return finished(draw, images, chart, "turning_circle", ("angle",))


def rotations(turn: FloatArray, nod: FloatArray) -> FloatArray:
    """Rotation matrices (n, 3, 3): the turn about the vertical axis, then the nod."""
    matrices = np.zeros((2, len(turn), 3, 3))
    # Fixed axis, and the axes of the plane that turns, from the first towards the second.
    for matrix, angle, (fixed, first, second) in zip(
        matrices, np.radians([turn, nod]), ((1, 2, 0), (0, 2, 1)), strict=True
    ):
        matrix[:, fixed, fixed] = 1
        matrix[:, first, first] = matrix[:, second, second] = np.cos(angle)
        matrix[:, second, first] = np.sin(angle)
        matrix[:, first, second] = -np.sin(angle)
    product: FloatArray = matrices[1] @ matrices[0]
    return product


def directions(azimuth: FloatArray) -> FloatArray:
    """Return unit vectors (n, 3) towards the light."""
    angle, height = np.radians(azimuth), np.radians(ELEVATION)
    across, ahead = np.cos(height) * np.sin(angle), np.cos(height) * np.cos(angle)
    return np.column_stack([across, np.full_like(across, np.sin(height)), ahead])


def _figure(shape: object) -> Figure:
    if not isinstance(shape, str) or shape not in FIGURES:
        allowed = " or ".join(repr(name) for name in FIGURES)
        raise ValueError(f"shape must be {allowed}, but it is {shape!r}.")
    return FIGURES[shape]


def _ranges(angles: object) -> list[Range]:
    if not isinstance(angles, tuple | list) or len(angles) != 2:
        raise TypeError(
            "angles must be two pairs (lowest, highest) in degrees, left–right and up–down, "
            f"but it is {angles!r}."
        )
    return [checked_range("each pair of angles", pair) for pair in angles]
