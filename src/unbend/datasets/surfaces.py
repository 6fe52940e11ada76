"""A plane, rolls, spheres and a closed curve (book 1.5.4, 5.2.3, 13.3 and 14.5.1)."""

from typing import Literal

import numpy as np

from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.datasets._sampling import (
    SAMPLINGS,
    SURFACE_PARAMETERS,
    Sampler,
    Sampling,
    make_sampler,
    rejection_sample,
)
from unbend.datasets.containers import Surface
from unbend.docstrings import complete_docstring
from unbend.validation.random_state import RandomState
from unbend.validation.scalars import check_integer, check_real

# Orthonormal rows of the square, not parallel to any axis.
FRAME = np.array([[2.0, 2.0, 1.0], [-2.0, 1.0, 2.0]]) / 3


@complete_docstring(SURFACE_PARAMETERS)
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
    length : float
        Length of the second side.
    sampling : {"area", "parameter"}
        Both are the same here.

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
    sampler = make_sampler(n, noise, sampling, random_state)
    length = check_real("length", length, 0, closed="high")
    chart = sampler.rng.uniform(0, (1, length), (sampler.n, 2))
    return sampler.surface(chart @ FRAME, chart, name="square", isometric=True)


THETA_RANGE = (1.5 * np.pi, 4.5 * np.pi)
HOLE_THETA = (9.0, 12.0)
HOLE_S = (9.0, 14.0)


@complete_docstring(SURFACE_PARAMETERS)
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
    length : float
        Width of the rolled sheet.
    sampling : {"area", "parameter"}
        Uniform by area, or uniform in (t, s), which samples the inner turn more densely.

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
    sampler = make_sampler(n, noise, sampling, random_state)
    sheet = _sheet(sampler, sampler.n, check_real("length", length, 0, closed="high"))
    return _roll(sampler, sheet, "swiss_roll")


@complete_docstring(SURFACE_PARAMETERS)
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
    sampling : {"area", "parameter"}
        Uniform by area, or uniform in (t, s), outside the hole.

    Returns
    -------
    Surface
        Its chart is that of `swiss_roll`: isometric but not convex. Geodesics around the hole are
        longer than straight lines in the chart, which is why Isomap enlarges the hole.

    See Also
    --------
    swiss_roll : The same sheet without a hole.

    Examples
    --------
    >>> sheet = swiss_hole(1000, random_state=0)
    >>> len(sheet.points)
    1000
    """
    sampler = make_sampler(n, noise, sampling, random_state)
    length = check_real("length", length, HOLE_S[1], closed="high")

    def outside_the_hole(size: int) -> FloatArray:
        sheet = _sheet(sampler, size, length)
        return sheet[~(_between(sheet[:, 0], HOLE_THETA) & _between(sheet[:, 1], HOLE_S))]

    return _roll(sampler, rejection_sample(sampler.n, outside_the_hole), "swiss_hole")


@complete_docstring(SURFACE_PARAMETERS)
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
    length : float
        Width of the sheet.
    sampling : {"area", "parameter"}
        Both are the same here, since u is the arc length.

    Returns
    -------
    Surface
        Its chart (u, s) is isometric.

    Examples
    --------
    >>> s_curve(1000, random_state=0).chart.max(axis=0).round().tolist()
    [9.0, 5.0]
    """
    sampler = make_sampler(n, noise, sampling, random_state)
    length = check_real("length", length, 0, closed="high")
    u = sampler.rng.uniform(0, 3 * np.pi, sampler.n)
    s = sampler.rng.uniform(0, length, sampler.n)
    z = np.where(u <= 1.5 * np.pi, -np.sin(u), 2 + np.sin(u))
    points = np.column_stack([-np.cos(u), s, z])
    return sampler.surface(points, np.column_stack([u, s]), name="s_curve", isometric=True)


def _sheet(sampler: Sampler, size: int, length: float) -> FloatArray:
    """Rows (theta, s) of the roll without a hole."""
    if sampler.by_area:
        shortest, longest = _arc_length(np.array(THETA_RANGE))
        theta = _theta_at(sampler.rng.uniform(shortest, longest, size))
    else:
        theta = sampler.rng.uniform(*THETA_RANGE, size)
    return np.column_stack([theta, sampler.rng.uniform(0, length, size)])


def _roll(sampler: Sampler, sheet: FloatArray, name: str) -> Surface:
    theta, s = sheet.T
    points = np.column_stack([theta * np.cos(theta), s, theta * np.sin(theta)])
    chart = np.column_stack([_arc_length(theta), s])
    return sampler.surface(points, chart, name=name, isometric=True)


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
CENTERS = np.array([[-4.0, 0.0, 0.0], [0.0, 0.0, 3.0], [4.0, 0.0, 0.0]])
RADIUS = 1.5
SPHERE_SHARE = 0.3
SEGMENT_SHARE = 0.05


@complete_docstring(SURFACE_PARAMETERS)
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
    height : float
        Where the sphere is cut, above 0 (the bottom pole) and below 1 (the top pole).
    sampling : {"area", "parameter"}
        Uniform by area, which is uniform in z (Archimedes), or uniform in the two angles,
        which samples the bottom pole more densely.

    Returns
    -------
    Surface
        A sphere has no isometric chart. This one is the azimuthal equidistant projection from
        the bottom pole.

    Examples
    --------
    >>> cap = punched_sphere(1000, height=0.5, random_state=0)
    >>> bool(cap.points[:, 2].max() <= 0.5)
    True
    """
    sampler = make_sampler(n, noise, sampling, random_state)
    height = check_real("height", height, 0, 1, closed="neither")
    longitude, angle = _angles(sampler, sampler.n, np.arccos(1 - 2 * height))
    direction = np.column_stack([np.cos(longitude), np.sin(longitude)])
    points = 0.5 * np.column_stack([np.sin(angle)[:, None] * direction, 1 - np.cos(angle)])
    chart = 0.5 * angle[:, None] * direction
    return sampler.surface(points, chart, name="punched_sphere", isometric=False)


@complete_docstring(SURFACE_PARAMETERS)
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
    sampling : {"area", "parameter"}
        Uniform by area on each sphere, or uniform in its two angles, which samples its poles more
        densely. On a segment the sample is stratified: a random gap would disconnect the
        neighbourhood graph.

    Returns
    -------
    Surface
        Its chart is the projection to the plane of the three centres. Front and back of a sphere
        coincide there, so use it for colours only. The labels are 0, 1, 2 for the spheres and
        3, 4 for the segments.

    Examples
    --------
    >>> chain = clusters_3d(1000, random_state=0)
    >>> np.bincount(chain.labels).tolist()
    [300, 300, 300, 50, 50]
    """
    sampler = make_sampler(n, noise, sampling, random_state)
    labels = _chain_labels(sampler)
    points = np.empty((sampler.n, 3))
    for sphere, center in enumerate(CENTERS):
        members = labels == sphere
        points[members] = center + RADIUS * _unit_sphere(sampler, int(members.sum()))
    for segment in (0, 1):
        members = labels == len(CENTERS) + segment
        points[members] = _segment(sampler, segment, int(members.sum()))
    chart = points[:, [0, 2]]
    return sampler.surface(points, chart, name="clusters_3d", isometric=False, labels=labels)


def _angles(sampler: Sampler, size: int, widest: float) -> tuple[FloatArray, FloatArray]:
    """Longitude, and angle from the bottom pole up to `widest`."""
    longitude = sampler.rng.uniform(0, 2 * np.pi, size)
    if sampler.by_area:
        return longitude, np.arccos(sampler.rng.uniform(np.cos(widest), 1, size))
    return longitude, sampler.rng.uniform(0, widest, size)


def _unit_sphere(sampler: Sampler, size: int) -> FloatArray:
    longitude, angle = _angles(sampler, size, np.pi)
    across = np.sin(angle)
    return np.column_stack([across * np.cos(longitude), across * np.sin(longitude), -np.cos(angle)])


def _chain_labels(sampler: Sampler) -> IntArray:
    """Labels in random order; rounding the running total makes the counts add up to n."""
    shares = [SPHERE_SHARE] * 3 + [SEGMENT_SHARE] * 2
    totals = np.rint(sampler.n * np.cumsum(shares)).astype(np.int64)
    counts = np.diff(totals, prepend=0)
    return sampler.rng.permutation(np.repeat(np.arange(len(shares)), counts))


def _segment(sampler: Sampler, start: int, size: int) -> FloatArray:
    between = CENTERS[start + 1] - CENTERS[start]
    distance = np.linalg.norm(between)
    pieces = (np.arange(size) + sampler.rng.uniform(0, 1, size)) / max(size, 1)
    along = RADIUS + pieces * (distance - 2 * RADIUS)
    points: FloatArray = CENTERS[start] + along[:, None] * (between / distance)
    return points


@complete_docstring(SURFACE_PARAMETERS)
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
    turns : int
        Number of turns around the tube.
    sampling : {"area", "parameter", "even"}
        Uniform by arc length, uniform in u, or the n values :math:`u = 2\pi i/n` in order.

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
    sampler = make_sampler(n, noise, sampling, random_state, (*SAMPLINGS, "even"))
    turns = check_integer("turns", turns)

    def by_arc_length(size: int) -> FloatArray:
        proposed = sampler.rng.uniform(0, 2 * np.pi, size)
        # The speed is sqrt(turns^2 + (2 + cos(turns u))^2), largest where the cosine is 1.
        speed = np.hypot(turns, 2 + np.cos(turns * proposed))
        u: FloatArray = proposed[sampler.rng.uniform(0, np.hypot(turns, 3), size) < speed]
        return u

    u: FloatArray
    if sampling == "even":
        u = 2 * np.pi * np.arange(sampler.n) / sampler.n
    elif sampler.by_area:
        u = rejection_sample(sampler.n, by_arc_length)
    else:
        u = sampler.rng.uniform(0, 2 * np.pi, sampler.n)
    across = 2 + np.cos(turns * u)
    points = np.column_stack([across * np.cos(u), across * np.sin(u), np.sin(turns * u)])
    return sampler.surface(points, u[:, None], name="toroidal_helix", isometric=False)
