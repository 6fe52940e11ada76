"""How even a chart of a surface is, and how many neighbours on the surface an embedding loses."""

import numpy as np

from unbend.arrays import FloatArray
from unbend.denoising.patches import coefficients, principal_axes
from unbend.neighbors import PointSpace

# Points around one by which the gradients of a chart are fitted, at least, and the share of points
# with gradients below the result. In three dimensions and more they are twice the coefficients of a
# quadratic: by few more points than gradients have components chance alone makes some small.
AROUND, LOWEST = 10, 0.05
# Ridge of the fits that is rounding.
RIDGE = 1e-9
# Nearest points that an embedding should keep.
KEPT_NEAREST = 15


def chart_evenness(points: FloatArray, chart: FloatArray, d: int) -> float:
    """Return the least stretching of a chart in most places of a surface, over its mean.

    A linear map of the tangent plane is fitted to the chart around each point. In the coordinates
    in which their mean square is the identity they all stretch by one if the chart is an affine
    map of an isometric one; where it is torn or folded, or a coordinate is a function of the
    others, some direction is hardly stretched. Affine maps of the chart do not change the result.

    Parameters
    ----------
    points : array (m, D)
        Points on a surface, without noise.
    chart : array (m, d)
        Coordinates of the points.
    d : int
        Dimension of the surface.

    Returns
    -------
    float
        One for an isometric chart, and near zero where a part of it has collapsed.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> plane = rng.uniform(size=(400, 2))
    >>> round(chart_evenness(plane, plane @ [[1, 2], [3, 4]], 2), 6)
    1.0
    >>> folded = np.column_stack((plane[:, 0], plane[:, 0] ** 2))
    >>> chart_evenness(plane, folded, 2) < 0.01
    True
    """
    around_each = max(AROUND, 2 * coefficients(d))
    near = PointSpace(points).nearest(min(around_each, len(points) - 1))
    members = np.column_stack((np.arange(len(points)), near.indices.reshape(len(points), -1)))
    around, values = points[members], chart[members]
    around = around - around.mean(axis=1, keepdims=True)
    values = values - values.mean(axis=1, keepdims=True)
    along = around @ principal_axes(around, d)
    gram = along.transpose(0, 2, 1) @ along
    ridge = RIDGE * np.maximum(np.trace(gram, axis1=1, axis2=2), np.finfo(float).tiny)
    gram += ridge[:, None, None] * np.eye(d)
    slopes = np.linalg.solve(gram, along.transpose(0, 2, 1) @ values)
    squares = slopes.transpose(0, 2, 1) @ slopes
    variances, axes = np.linalg.eigh(squares.mean(axis=0))
    if not variances[-1] > 0:
        return 0.0
    whitened = axes / np.sqrt(np.maximum(variances, RIDGE * variances[-1]))
    least = np.linalg.eigvalsh(whitened.T @ squares @ whitened)[:, 0]
    return float(np.quantile(np.sqrt(np.maximum(least, 0.0)), LOWEST))


def lost_neighbors(points: FloatArray, embedding: FloatArray) -> float:
    """Return the share of the points nearest on a surface that are not nearest in an embedding.

    Parameters
    ----------
    points : array (m, D)
        Points on the surface, without noise.
    embedding : array (m, d)
        Coordinates of the noisy rows of which these are the projections.

    Examples
    --------
    >>> plane = np.random.default_rng(0).uniform(size=(400, 2))
    >>> lost_neighbors(plane, 3 * plane[:, ::-1])
    0.0
    >>> lost_neighbors(plane, plane[:, :1]) > 0.5
    True
    """
    if not np.isfinite(embedding).all():
        return 1.0
    k = min(KEPT_NEAREST, len(points) - 1)
    near, found = (
        PointSpace(np.ascontiguousarray(rows, dtype=np.float64)).nearest(k).indices.reshape(-1, k)
        for rows in (points, embedding)
    )
    return float(1 - (near[:, :, None] == found[:, None, :]).any(axis=2).mean())
