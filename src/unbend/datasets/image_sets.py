"""Sets of pictures with known parameters (book 8.4.2, 14.5.2 and 14.5.3).

A letter is shifted or rotated in its plane and drawn anew each time, without resampling; an object
turns under a moving light.
"""

from typing import Literal, TypeAlias

import numpy as np

from unbend.arrays import FloatArray
from unbend.datasets._render import FIGURES, Figure, render
from unbend.datasets._sampling import (
    PICTURE_PARAMETERS,
    PICTURE_SAMPLINGS,
    PictureSampling,
    Range,
    check_range,
    check_size,
    make_sampler,
    sample_angles,
    sample_ranges,
)
from unbend.datasets.containers import Pictures
from unbend.docstrings import complete_docstring
from unbend.validation.random_state import RandomState
from unbend.validation.scalars import check_choice, check_flag, check_real

# A letter F: strokes from point to point, in a square of side 2 whose y points up. It has no
# symmetry, so that no two angles look alike.
STROKES = np.array(
    [
        [[-0.45, -0.75], [-0.45, 0.75]],
        [[-0.45, 0.75], [0.6, 0.75]],
        [[-0.45, 0.05], [0.35, 0.05]],
    ]
)
# Standard deviation of the brightness across a stroke.
WIDTH = 0.16
# Colours of the letter and of its canvas.
INK, PAPER = np.array([1.0, 0.85, 0.2]), np.array([0.1, 0.15, 0.45])
# Half the side of the letter's square as a share of the canvas.
SMALL, LARGE = 0.25, 0.4


@complete_docstring(PICTURE_PARAMETERS)
def shifted_pictures(
    n: int | tuple[int, ...] = 400,
    *,
    size: int | tuple[int, int] = 32,
    reach: float = 0.25,
    color: bool = False,
    noise: float = 0,
    sampling: PictureSampling = "random",
    random_state: RandomState = None,
) -> Pictures:
    """Letter shifted across a black canvas, by any part of a pixel.

    Parameters
    ----------
    size : int or (int, int)
        Height and width of the canvas, in pixels; the letter is half as high as the shorter.
    reach : float
        Largest shift from the centre as a share of the sides of the canvas, less than 1/2; up to
        1/4 the letter stays on the canvas.
    sampling : {"random", "grid", "shuffled"}
        Shifts uniform in their square, on a grid that includes its sides (n must be a square, or
        two numbers), or on that grid in random order.

    Returns
    -------
    Pictures
        Its chart holds the shifts to the right and down, in pixels.

    Examples
    --------
    >>> letters = shifted_pictures(4, sampling="grid")
    >>> letters.chart.tolist()
    [[-8.0, -8.0], [-8.0, 8.0], [8.0, -8.0], [8.0, 8.0]]
    """
    sampler = make_sampler(n, noise, sampling, random_state, PICTURE_SAMPLINGS)
    height, width = check_size(size)
    share = check_real("reach", reach, 0, 0.5, closed="neither")
    ranges = [(-share * width, share * width), (-share * height, share * height)]
    chart = sample_ranges(sampler, sampling, ranges)
    x, y = _canvas(height, width)
    unit = SMALL * min(height, width)
    images = _letter((x - chart[:, 0, None, None]) / unit, (y + chart[:, 1, None, None]) / unit)
    return sampler.pictures(_paint(images, color), chart, "shifted_pictures", ("right", "down"))


@complete_docstring(PICTURE_PARAMETERS)
def rotated_pictures(
    n: int | tuple[int, ...] = 200,
    *,
    size: int | tuple[int, int] = 32,
    color: bool = False,
    noise: float = 0,
    sampling: PictureSampling = "shuffled",
    random_state: RandomState = None,
) -> Pictures:
    """Letter turned about the centre of its picture, once around.

    Parameters
    ----------
    sampling : {"random", "grid", "shuffled"}
        Angles uniform over the circle, whose gaps may disconnect a neighbourhood graph; the n
        angles 360 i/n in order; or those in random order.

    Returns
    -------
    Pictures
        Its chart is the angle in degrees, counterclockwise, in one column. The pictures form a
        closed curve: a good embedding is a circle, which takes two coordinates.

    Examples
    --------
    >>> letters = rotated_pictures(4, sampling="grid")
    >>> upright, quarter, *_ = letters.images
    >>> bool(np.allclose(quarter, np.rot90(upright)))
    True
    """
    sampler = make_sampler(n, noise, sampling, random_state, PICTURE_SAMPLINGS)
    height, width = check_size(size)
    chart = sample_angles(sampler, sampling)
    x, y = (part / (LARGE * min(height, width)) for part in _canvas(height, width))
    angle = np.radians(chart)[:, :, None]
    cosine, sine = np.cos(angle), np.sin(angle)
    # The letter is rotated by rotating the sampling points backwards.
    images = _letter(cosine * x + sine * y, cosine * y - sine * x)
    return sampler.pictures(_paint(images, color), chart, "rotated_pictures", ("angle",))


def _canvas(height: int, width: int) -> tuple[FloatArray, FloatArray]:
    """Return the x of the columns and the y of the rows, in pixels from the centre."""
    down, x = (np.arange(side) - (side - 1) / 2 for side in (height, width))
    return x, -down[:, None]


def _paint(images: FloatArray, color: bool) -> FloatArray:
    """Give white on black two colours."""
    check_flag("color", color)
    return images[..., None] * (INK - PAPER) + PAPER if color else images


def _letter(x: FloatArray, y: FloatArray) -> FloatArray:
    """Brightness at the points (x, y): 1 on a stroke, falling off with the distance."""
    nearest: FloatArray = np.full(np.broadcast_shapes(x.shape, y.shape), np.inf)
    for start, end in STROKES:
        along = end - start
        share = ((x - start[0]) * along[0] + (y - start[1]) * along[1]) / (along @ along)
        share = np.clip(share, 0, 1)
        across = (x - start[0] - share * along[0]) ** 2 + (y - start[1] - share * along[1]) ** 2
        nearest = np.minimum(nearest, across)
    brightness: FloatArray = np.exp(-nearest / (2 * WIDTH**2))
    return brightness


Shape: TypeAlias = Literal["head", "rabbit"]

# With these ranges the three parameters change the pictures by similar amounts. Otherwise, as with
# an up-down range of 10 degrees, a higher harmonic of the long direction precedes the short one in
# the embedding.
ANGLES = ((-45.0, 45.0), (-35.0, 35.0))
LIGHT = (-70.0, 70.0)
LABELS = ("left–right", "up–down", "light")
# Height of the light above the horizon, in degrees.
ELEVATION = 20.0


@complete_docstring(PICTURE_PARAMETERS)
def turning_object(
    n: int | tuple[int, ...] = 698,
    *,
    size: int | tuple[int, int] = 64,
    shape: Shape = "head",
    angles: tuple[Range, Range] = ANGLES,
    light: bool | Range = True,
    color: bool = False,
    noise: float = 0,
    sampling: PictureSampling = "random",
    random_state: RandomState = None,
) -> Pictures:
    """Object that turns left and right, up and down, while the light moves around it.

    The object is rendered by orthographic projection with Lambertian shading, one distant light and
    ambient light, before a black background. The light is 20 degrees above the horizon. Pictures
    are continuous in the parameters.

    Parameters
    ----------
    shape : {"head", "rabbit"}
        The object.
    angles : ((float, float), (float, float))
        Least and greatest angle in degrees of the turn from left to right, positive when the
        object looks to the viewer's right, and of the nod, positive when it looks up. A parameter
        with equal ends does not vary.
    light : bool or (float, float)
        Least and greatest angle in degrees of the light, positive from the viewer's right; True
        is (-70, 70). False leaves the light in front, and its column out of the chart.
    sampling : {"random", "grid", "shuffled"}
        Parameters uniform in their ranges, on a grid that includes the ends (n must be its number
        of points, or the numbers of values of each varying parameter), or on that grid in random
        order.

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
    sampler = make_sampler(n, noise, sampling, random_state, PICTURE_SAMPLINGS)
    canvas, figure = check_size(size), _figure(shape)
    check_flag("color", color)
    moving = light is not False
    ranges = _ranges(angles)
    if moving:
        ranges.append(LIGHT if light is True else check_range("light", light))
    chart = sample_ranges(sampler, sampling, ranges)
    azimuth = chart[:, 2] if moving else np.zeros(sampler.n)
    views = rotations(chart[:, 0], chart[:, 1])
    images = render(figure, views, directions(azimuth), canvas, color)
    return sampler.pictures(images, chart, "turning_object", LABELS[: len(ranges)])


@complete_docstring(PICTURE_PARAMETERS)
def turning_circle(
    n: int | tuple[int, ...] = 72,
    *,
    size: int | tuple[int, int] = 64,
    shape: Shape = "head",
    color: bool = False,
    noise: float = 0,
    sampling: PictureSampling = "shuffled",
    random_state: RandomState = None,
) -> Pictures:
    """Object that turns once around its vertical axis, under a light from the front.

    Parameters
    ----------
    shape : {"head", "rabbit"}
        The object.
    sampling : {"random", "grid", "shuffled"}
        Angles uniform over the circle, whose gaps may disconnect a neighbourhood graph; the n
        angles 360 i/n in order; or those in random order.

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
    sampler = make_sampler(n, noise, sampling, random_state, PICTURE_SAMPLINGS)
    canvas, figure = check_size(size), _figure(shape)
    check_flag("color", color)
    chart = sample_angles(sampler, sampling)
    level = np.zeros(sampler.n)
    images = render(figure, rotations(chart[:, 0], level), directions(level), canvas, color)
    return sampler.pictures(images, chart, "turning_circle", ("angle",))


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
    return FIGURES[check_choice("shape", shape, FIGURES)]


def _ranges(angles: object) -> list[Range]:
    if not isinstance(angles, tuple | list) or len(angles) != 2:
        raise TypeError(
            "angles must be two pairs (lowest, highest) in degrees, left–right and up–down, "
            f"not {angles!r}."
        )
    return [check_range("each pair of angles", pair) for pair in angles]
