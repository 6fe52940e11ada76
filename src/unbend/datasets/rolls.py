"""Developable surfaces: a plane curve times a segment (book 1.5.4 and 13.3)."""

import numpy as np

from unbend.arrays import BoolArray, FloatArray
from unbend.datasets._draw import Draw, RandomState, Sampling, begin, checked_number, fill
from unbend.datasets.surface import Surface

THETA_RANGE = (1.5 * np.pi, 4.5 * np.pi)
HOLE_THETA = (9.0, 12.0)
HOLE_S = (9.0, 14.0)


def swiss_roll(
    n: int = 1000,
    *,
    length: float = 21,
    noise: float = 0,
    sampling: Sampling = "area",
    random_state: RandomState = None,
) -> Surface:
    r"""Spiral :math:`(\theta\cos\theta,\ s,\ \theta\sin\theta)`, one turn and a half.

    Here :math:`\theta = \frac{3\pi}{2}(1 + 2t)` with :math:`0 \le t \le 1` and
    :math:`0 \le s \le` `length`: formula (1.5) of the book, whose range of t is a misprint.

    Parameters
    ----------
    n : int
        Number of points.
    length : float
        Width of the rolled sheet.
    noise : float
        Standard deviation of the Gaussian noise added to each coordinate of the points.
    sampling : {"area", "parameter"}
        Uniform by area, or uniform in (t, s), which crowds the inner turn.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Source of randomness.

    Returns
    -------
    Surface
        Its chart is isometric: the spiral's arc length
        :math:`\frac12(\theta\sqrt{1 + \theta^2} + \operatorname{asinh}\theta)`, and s.

    Examples
    --------
    >>> roll = swiss_roll(1000, random_state=0)
    >>> bool(roll.chart[:, 1].max() <= 21)
    True
    """
    draw = begin(n, noise, sampling, random_state)
    sheet = _sheet(draw, draw.n, checked_number("length", length, least=0))
    return _rolled(draw, sheet, "swiss_roll")


def swiss_hole(
    n: int = 1000,
    *,
    length: float = 21,
    noise: float = 0,
    sampling: Sampling = "area",
    random_state: RandomState = None,
) -> Surface:
    r"""Swiss roll without the rectangle :math:`9 < \theta < 12,\ 9 < s < 14` (book 13.3).

    Parameters
    ----------
    n : int
        Number of points, none of them in the hole.
    length : float
        Width of the rolled sheet; more than 14, so that the sheet surrounds the hole.
    noise : float
        Standard deviation of the Gaussian noise added to each coordinate of the points.
    sampling : {"area", "parameter"}
        Uniform by area, or uniform in (t, s), on what the hole leaves.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Source of randomness.

    Returns
    -------
    Surface
        Its chart is that of `swiss_roll`. It keeps the length of every curve, but it is not
        convex: shortest paths go around the hole and are longer than the straight line between
        their ends in the chart, which is why Isomap stretches the hole.

    See Also
    --------
    swiss_roll : The same sheet without a hole.

    Examples
    --------
    >>> sheet = swiss_hole(1000, random_state=0)
    >>> len(sheet.points)
    1000
    """
    draw = begin(n, noise, sampling, random_state)
    length = checked_number("length", length, least=HOLE_S[1])

    def outside_the_hole(size: int) -> FloatArray:
        sheet = _sheet(draw, size, length)
        return sheet[~(_between(sheet[:, 0], HOLE_THETA) & _between(sheet[:, 1], HOLE_S))]

    return _rolled(draw, fill(draw.n, outside_the_hole), "swiss_hole")


def s_curve(
    n: int = 1000,
    *,
    length: float = 5,
    noise: float = 0,
    sampling: Sampling = "area",
    random_state: RandomState = None,
) -> Surface:
    r"""Two three-quarter circles of radius 1 that form an S, times a segment (book (1.6)).

    With :math:`u = 1.5\pi t`, :math:`0 \le t \le 2`, the points are :math:`(-\cos u,\ s,\ z)`,
    where :math:`z = -\sin u` up to t = 1 and :math:`z = 2 + \sin u` beyond.

    Parameters
    ----------
    n : int
        Number of points.
    length : float
        Width of the sheet.
    noise : float
        Standard deviation of the Gaussian noise added to each coordinate of the points.
    sampling : {"area", "parameter"}
        The same thing here, because u is the arc length.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Source of randomness.

    Returns
    -------
    Surface
        Its chart (u, s) is isometric.

    Examples
    --------
    >>> s_curve(1000, random_state=0).chart.max(axis=0).round().tolist()
    [9.0, 5.0]
    """
    draw = begin(n, noise, sampling, random_state)
    length = checked_number("length", length, least=0)
    u = draw.rng.uniform(0, 3 * np.pi, draw.n)
    s = draw.rng.uniform(0, length, draw.n)
    z = np.where(u <= 1.5 * np.pi, -np.sin(u), 2 + np.sin(u))
    points = np.column_stack([-np.cos(u), s, z])
    return draw.surface(points, np.column_stack([u, s]), name="s_curve", isometric=True)


def _sheet(draw: Draw, size: int, length: float) -> FloatArray:
    """Rows (theta, s) of the unholed roll."""
    if draw.by_area:
        shortest, longest = _arc_length(np.array(THETA_RANGE))
        theta = _theta_at(draw.rng.uniform(shortest, longest, size))
    else:
        theta = draw.rng.uniform(*THETA_RANGE, size)
    return np.column_stack([theta, draw.rng.uniform(0, length, size)])


def _rolled(draw: Draw, sheet: FloatArray, name: str) -> Surface:
    theta, s = sheet.T
    points = np.column_stack([theta * np.cos(theta), s, theta * np.sin(theta)])
    chart = np.column_stack([_arc_length(theta), s])
    return draw.surface(points, chart, name=name, isometric=True)


def _arc_length(theta: FloatArray) -> FloatArray:
    return 0.5 * (theta * np.sqrt(1 + theta**2) + np.arcsinh(theta))


def _theta_at(arc: FloatArray) -> FloatArray:
    """Invert the arc length by Newton's method; its derivative is sqrt(1 + theta^2)."""
    theta = np.sqrt(2 * arc)
    # The error e becomes at most e^2 / (2 theta): below 0.4 at the start, 1e-10 after three
    # steps, rounding after four. The fifth is a margin.
    for _ in range(5):
        theta -= (_arc_length(theta) - arc) / np.sqrt(1 + theta**2)
    return theta.clip(*THETA_RANGE)


def _between(values: FloatArray, interval: tuple[float, float]) -> BoolArray:
    return (interval[0] < values) & (values < interval[1])
