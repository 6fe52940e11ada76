"""One small picture shifted or rotated in its plane, drawn anew at each place (no resampling)."""

import numpy as np

from unbend.arrays import FloatArray
from unbend.datasets._draw import RandomState, begin, checked_count, checked_number
from unbend.datasets._views import PICTURE_SAMPLINGS, PictureSampling, around, finished, within
from unbend.datasets.pictures import Pictures

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
# Half the side of the letter's square as a share of the canvas.
SMALL, LARGE = 0.25, 0.4


def shifted_pictures(
    n: int = 400,
    *,
    size: int = 32,
    reach: float = 0.25,
    noise: float = 0,
    sampling: PictureSampling = "random",
    random_state: RandomState = None,
) -> Pictures:
    """Letter shifted across a black canvas, by any part of a pixel.

    Parameters
    ----------
    n : int
        Number of pictures.
    size : int
        Width and height of the canvas, in pixels; the letter is half as high.
    reach : float
        Largest shift from the centre as a share of the canvas, less than 1/2; up to 1/4 the
        letter stays on the canvas.
    noise : float
        Standard deviation of the Gaussian noise added to each pixel.
    sampling : {"random", "grid", "shuffled"}
        Shifts uniform in their square, on a grid that includes its sides (n must be a square), or
        on that grid in random order.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Source of randomness.

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
    draw = begin(n, noise, sampling, random_state, PICTURE_SAMPLINGS)
    size = checked_count("size", size)
    most = size * checked_number("reach", reach, least=0, most=0.5)
    chart = within(draw, sampling, [(-most, most)] * 2)
    x, y = _canvas(size)
    unit = SMALL * size
    images = _letter((x - chart[:, 0, None, None]) / unit, (y + chart[:, 1, None, None]) / unit)
    return finished(draw, images, chart, "shifted_pictures", ("right", "down"))


def rotated_pictures(
    n: int = 200,
    *,
    size: int = 32,
    noise: float = 0,
    sampling: PictureSampling = "shuffled",
    random_state: RandomState = None,
) -> Pictures:
    """Letter turned about the centre of its picture, once around.

    Parameters
    ----------
    n : int
        Number of pictures.
    size : int
        Width and height of each picture, in pixels.
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
        Its chart is the angle in degrees, counterclockwise, in one column. The pictures form a
        closed curve: a good embedding is a circle, which takes two coordinates.

    Examples
    --------
    >>> letters = rotated_pictures(4, sampling="grid")
    >>> upright, quarter, *_ = letters.images
    >>> bool(np.allclose(quarter, np.rot90(upright)))
    True
    """
    draw = begin(n, noise, sampling, random_state, PICTURE_SAMPLINGS)
    size = checked_count("size", size)
    chart = around(draw, sampling)
    x, y = (part / (LARGE * size) for part in _canvas(size))
    angle = np.radians(chart)[:, :, None]
    cosine, sine = np.cos(angle), np.sin(angle)
    # The letter turns forwards when the points at which it is drawn turn backwards.
    images = _letter(cosine * x + sine * y, cosine * y - sine * x)
    return finished(draw, images, chart, "rotated_pictures", ("angle",))


def _canvas(size: int) -> tuple[FloatArray, FloatArray]:
    """Return the x of the columns and the y of the rows, in pixels from the centre."""
    x = np.arange(size) - (size - 1) / 2
    return x, -x[:, None]


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
