"""A flat piece of plane, which even a linear method must recover (book 5.2.3)."""

from typing import Literal

import numpy as np

from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.datasets._sampling import (
    SAMPLINGS,
    Draw,
    RandomState,
    Sampling,
    begin,
    checked_count,
    checked_number,
    fill,
)
from unbend.datasets.containers import Surface

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


# A straight chain of equal spheres leaves the second to sixth eigenvalue of the Isomap kernel
# nearly equal, hence no second coordinate to recover. The bend at the middle sphere sets the
# second one apart: about 0.12 of the first, and the third 0.02.
CENTRES = np.array([[-4.0, 0.0, 0.0], [0.0, 0.0, 3.0], [4.0, 0.0, 0.0]])
RADIUS = 1.5
SPHERE_SHARE = 0.3
SEGMENT_SHARE = 0.05


def punched_sphere(
    n: int = 1000,
    *,
    height: float = 0.75,
    noise: float = 0,
    sampling: Sampling = "area",
    random_state: RandomState = None,
) -> Surface:
    r"""Sphere of diameter 1 without its top: the part with :math:`0 \le z \le` `height`.

    Formula (1.7) of the book, scaled to diameter 1 and lifted so that the bottom pole is the
    origin: :math:`\frac12(\cos s \sin\varphi,\ \sin s \sin\varphi,\ 1 - \cos\varphi)`, where
    :math:`\varphi` is the angle from the bottom pole.

    Parameters
    ----------
    n : int
        Number of points.
    height : float
        Where the sphere is cut, above 0 (the bottom pole) and below 1 (the top pole).
    noise : float
        Standard deviation of the Gaussian noise added to each coordinate of the points.
    sampling : {"area", "parameter"}
        Uniform by area, which is uniform in z (Archimedes), or uniform in the two angles,
        which crowds the bottom pole.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Source of randomness.

    Returns
    -------
    Surface
        A sphere has no isometric chart. This one is azimuthal equidistant: direction and
        distance along the sphere, seen from the bottom pole, are true.

    Examples
    --------
    >>> cap = punched_sphere(1000, height=0.5, random_state=0)
    >>> bool(cap.points[:, 2].max() <= 0.5)
    True
    """
    draw = begin(n, noise, sampling, random_state)
    height = checked_number("height", height, least=0, most=1)
    longitude, angle = _angles(draw, draw.n, np.arccos(1 - 2 * height))
    direction = np.column_stack([np.cos(longitude), np.sin(longitude)])
    points = 0.5 * np.column_stack([np.sin(angle)[:, None] * direction, 1 - np.cos(angle)])
    chart = 0.5 * angle[:, None] * direction
    return draw.surface(points, chart, name="punched_sphere", isometric=False)


def clusters_3d(
    n: int = 1000,
    *,
    noise: float = 0,
    sampling: Sampling = "area",
    random_state: RandomState = None,
) -> Surface:
    """Three separate spheres joined by two segments into a bent chain.

    The spheres have radius 1.5 and centres (-4, 0, 0), (0, 0, 3) and (4, 0, 0). The segments lie
    on the lines between consecutive centres and reach from sphere to sphere, so they are 2 long.
    Each sphere gets 30 % of the points and each segment 5 %, rounded, in random order.

    Parameters
    ----------
    n : int
        Number of points.
    noise : float
        Standard deviation of the Gaussian noise added to each coordinate of the points.
    sampling : {"area", "parameter"}
        Uniform by area on each sphere, or uniform in its two angles, which crowds its poles.
        On a segment the points are uniform, one in each of equally long pieces: a random gap
        would cut the chain in a graph of few neighbours.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Source of randomness.

    Returns
    -------
    Surface
        Its chart is the view onto the plane of the three centres: x runs along the chain, z is
        the height across it. Front and back of a sphere coincide there, so the chart serves to
        colour a picture, not to measure one. The labels are 0, 1, 2 for the spheres and 3, 4
        for the segments.

    Examples
    --------
    >>> chain = clusters_3d(1000, random_state=0)
    >>> np.bincount(chain.labels).tolist()
    [300, 300, 300, 50, 50]
    """
    draw = begin(n, noise, sampling, random_state)
    labels = _chain_labels(draw)
    points = np.empty((draw.n, 3))
    for sphere, centre in enumerate(CENTRES):
        members = labels == sphere
        points[members] = centre + RADIUS * _unit_sphere(draw, int(members.sum()))
    for segment in (0, 1):
        members = labels == len(CENTRES) + segment
        points[members] = _segment(draw, segment, int(members.sum()))
    chart = points[:, [0, 2]]
    return draw.surface(points, chart, name="clusters_3d", isometric=False, labels=labels)


def _angles(draw: Draw, size: int, widest: float) -> tuple[FloatArray, FloatArray]:
    """Longitude, and angle from the bottom pole up to `widest`."""
    longitude = draw.rng.uniform(0, 2 * np.pi, size)
    if draw.by_area:
        return longitude, np.arccos(draw.rng.uniform(np.cos(widest), 1, size))
    return longitude, draw.rng.uniform(0, widest, size)


def _unit_sphere(draw: Draw, size: int) -> FloatArray:
    longitude, angle = _angles(draw, size, np.pi)
    across = np.sin(angle)
    return np.column_stack([across * np.cos(longitude), across * np.sin(longitude), -np.cos(angle)])


def _chain_labels(draw: Draw) -> IntArray:
    """Labels in random order; rounding the running total makes the counts add up to n."""
    shares = [SPHERE_SHARE] * 3 + [SEGMENT_SHARE] * 2
    totals = np.rint(draw.n * np.cumsum(shares)).astype(np.int64)
    counts = np.diff(totals, prepend=0)
    return draw.rng.permutation(np.repeat(np.arange(len(shares)), counts))


def _segment(draw: Draw, start: int, size: int) -> FloatArray:
    between = CENTRES[start + 1] - CENTRES[start]
    distance = np.linalg.norm(between)
    pieces = (np.arange(size) + draw.rng.uniform(0, 1, size)) / max(size, 1)
    along = RADIUS + pieces * (distance - 2 * RADIUS)
    points: FloatArray = CENTRES[start] + along[:, None] * (between / distance)
    return points


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
