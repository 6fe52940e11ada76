"""A flat piece of plane, which even a linear method must recover (book 5.2.3)."""

import numpy as np

from unbend.datasets._draw import RandomState, Sampling, begin, checked_number
from unbend.datasets.surface import Surface

# Orthonormal rows, parallel to no axis: no coordinate of the points is a coordinate of the chart.
FRAME = np.array([[2.0, 2.0, 1.0], [-2.0, 1.0, 2.0]]) / 3


def square(
    n: int = 1000,
    *,
    length: float = 1,
    noise: float = 0,
    sampling: Sampling = "area",
    random_state: RandomState = None,
) -> Surface:
    r"""Rectangle of width 1 and the given length, lying obliquely in space.

    The points are :math:`a\,(2, 2, 1)/3 + s\,(-2, 1, 2)/3` with :math:`0 \le a \le 1` and
    :math:`0 \le s \le` `length`.

    Parameters
    ----------
    n : int
        Number of points.
    length : float
        Length of the second side.
    noise : float
        Standard deviation of the Gaussian noise added to each coordinate of the points.
    sampling : {"area", "parameter"}
        The same thing here.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Source of randomness.

    Returns
    -------
    Surface
        Its chart (a, s) is isometric.

    Examples
    --------
    >>> plane = square(100, random_state=0)
    >>> int(np.linalg.matrix_rank(plane.points))
    2
    """
    draw = begin(n, noise, sampling, random_state)
    length = checked_number("length", length, least=0)
    chart = draw.rng.uniform(0, (1, length), (draw.n, 2))
    return draw.surface(chart @ FRAME, chart, name="square", isometric=True)
