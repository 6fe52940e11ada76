"""Valleys of density within patches: what clusters have, and a surface has not.

Along a surface a patch is filled: its density may fall to one side, but whatever way one looks at
the tangent coordinates it has no valley, as no log-concave density on a convex domain has one. A
patch that spans several clusters has.
"""

import numpy as np

from unbend.arrays import FloatArray
from unbend.denoising.patches import principal_axes
from unbend.neighbors import PointSpace

# Bins of a tangent coordinate, over so many standard deviations to either side.
BINS, REACH = 8, 2.0


def mean_valley(space: PointSpace, points: FloatArray, size: int, d: int) -> float:
    """Return how deep valleys of density are in the patches around points of a surface.

    Rows are counted in bins of the tangent coordinates, along the axes and half way between any two
    of them. A bin with more rows in bins on both sides is a valley, by as many rows as the lower
    side has more, in units of the standard error of that.

    Parameters
    ----------
    space : PointSpace
        The rows.
    points : array (m, D)
        Points of the surface.
    size : int
        Rows of a patch.
    d : int
        Dimension of the surface.

    Returns
    -------
    float
        The deepest valley of a patch, in the mean of the patches: one to two by chance.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> line = np.column_stack((rng.uniform(0, 9, 2000), rng.normal(size=2000) / 10))
    >>> mean_valley(PointSpace(line), line[:50], 500, 1) < 2
    True
    >>> line[:, 0] = np.repeat([0.0, 6.0], 1000) + rng.normal(size=2000)
    >>> mean_valley(PointSpace(line), line[:50], 1500, 1) > 10
    True
    """
    near, _ = space.nearest_of(points, size)
    patch = space.points[near]
    patch = patch - patch.mean(axis=1, keepdims=True)
    views = patch @ principal_axes(patch, d) @ _directions(d).T
    views = views - views.mean(axis=1, keepdims=True)
    spread = np.maximum(views.std(axis=1, keepdims=True), np.finfo(float).tiny)
    bins = np.clip((views / spread / REACH + 1) * BINS / 2, 0, BINS - 1).astype(np.intp)
    counts = np.stack([(bins == number).sum(axis=1) for number in range(BINS)], axis=-1)
    left = np.maximum.accumulate(counts, axis=-1)
    right = np.maximum.accumulate(counts[..., ::-1], axis=-1)[..., ::-1]
    rim = np.minimum(left, right)
    depth = (rim - counts) / np.sqrt(np.maximum(rim, 1))
    return float(depth.max(axis=(1, 2)).mean())


def _directions(d: int) -> FloatArray:
    """Return unit vectors along the axes and half way between any two of them."""
    axes = np.eye(d)
    first, second = np.triu_indices(d, 1)
    between = np.concatenate((axes[first] + axes[second], axes[first] - axes[second]))
    return np.concatenate((axes, between / np.sqrt(2)))
