"""Surfaces made of spheres, none of which has an isometric chart (book 1.5.4)."""

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.datasets._draw import Draw, RandomState, Sampling, begin, checked_number
from unbend.datasets.surface import Surface

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
