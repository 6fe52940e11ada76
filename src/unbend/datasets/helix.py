"""A closed curve that winds around a torus (book 14.5.1)."""

from typing import Literal

import numpy as np

from unbend.arrays import FloatArray
from unbend.datasets._draw import SAMPLINGS, RandomState, begin, checked_count, fill
from unbend.datasets.surface import Surface


def toroidal_helix(
    n: int = 1000,
    *,
    turns: int = 8,
    noise: float = 0,
    sampling: Literal["area", "parameter", "even"] = "area",
    random_state: RandomState = None,
) -> Surface:
    r"""Toroidal helix :math:`((2 + \cos ku)\cos u,\ (2 + \cos ku)\sin u,\ \sin ku)`.

    The curve is closed: it goes once around a torus, :math:`0 \le u < 2\pi`, and k = `turns`
    times around its tube.

    Parameters
    ----------
    n : int
        Number of points.
    turns : int
        Number of turns around the tube.
    noise : float
        Standard deviation of the Gaussian noise added to each coordinate of the points.
    sampling : {"area", "parameter", "even"}
        Uniform by arc length, uniform in u, or the n values :math:`u = 2\pi i/n` in order.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Source of randomness.

    Returns
    -------
    Surface
        Its chart is u, in one column. A closed curve has no isometric chart: a good embedding
        is a circle, which takes two coordinates.

    Examples
    --------
    >>> curve = toroidal_helix(4, sampling="even")
    >>> (curve.chart[:, 0] / np.pi).tolist()
    [0.0, 0.5, 1.0, 1.5]
    """
    draw = begin(n, noise, sampling, random_state, (*SAMPLINGS, "even"))
    turns = checked_count("turns", turns)

    def by_arc_length(size: int) -> FloatArray:
        proposed = draw.rng.uniform(0, 2 * np.pi, size)
        # The speed is sqrt(turns^2 + (2 + cos(turns u))^2), largest where the cosine is 1.
        speed = np.hypot(turns, 2 + np.cos(turns * proposed))
        u: FloatArray = proposed[draw.rng.uniform(0, np.hypot(turns, 3), size) < speed]
        return u

    u: FloatArray
    if sampling == "even":
        u = 2 * np.pi * np.arange(draw.n) / draw.n
    elif draw.by_area:
        u = fill(draw.n, by_arc_length)
    else:
        u = draw.rng.uniform(0, 2 * np.pi, draw.n)
    across = 2 + np.cos(turns * u)
    points = np.column_stack([across * np.cos(u), across * np.sin(u), np.sin(turns * u)])
    return draw.surface(points, u[:, None], name="toroidal_helix", isometric=False)
