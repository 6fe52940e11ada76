"""Redundancy of spectral coordinates: how far each is a function of earlier ones."""

import numpy as np
from numpy.typing import ArrayLike

from unbend.arrays import FloatArray
from unbend.neighbors import PointSpace
from unbend.quality._spaces import check_points
from unbend.validation.scalars import check_integer, check_neighbors

# Share of the neighbours' mean variance added to their covariance: earlier coordinates that lie
# on a curve leave it singular, and the slope must then be flat across the curve.
RIDGE = 1e-3
# Rows that agree to this share of the standard deviation in all coordinates are one point.
COINCIDENT = 1e-3


def coordinate_redundancy(
    embedding: ArrayLike, *, n_neighbors: int = 10, max_rows: int = 2000
) -> FloatArray:
    r"""How well each coordinate can be predicted from those before it.

    On a long strip the second eigenfunction of the Laplacian, :math:`\cos 2x`, is a function of
    the first, :math:`\cos x`: a second coordinate that shows nothing new. Each coordinate is
    predicted at each point by an affine fit to the points nearest in the earlier coordinates,
    the point itself left out, and the share of its variance so explained is returned. Rows that
    coincide in all coordinates count once: a copy would predict its twin perfectly, whatever the
    coordinates show.

    Below 0.5 a coordinate shows something of its own; above 0.8 it mostly repeats, and the next
    one may show more. It cannot see whether a new direction is a true one: noise is new too.

    Parameters
    ----------
    embedding : array_like of shape (n, d)
        The coordinates, in the order of their eigenvalues. Their scales do not matter.
    n_neighbors : int
        Number of points in each fit, less than the number of rows used. Coordinate j uses at
        least 2(j + 1), twice the number of coefficients.
    max_rows : int
        Above this number of rows, that many are used, evenly spaced.

    Returns
    -------
    ndarray of shape (d,)
        R² of each coordinate, negative values cut to 0: near 1 for a coordinate that repeats
        earlier ones (or is constant), 0 for the first.

    References
    ----------
    C. J. Dsilva, R. Talmon, R. R. Coifman and I. G. Kevrekidis, "Parsimonious representation of
    nonlinear dynamical systems through manifold learning: a chemotaxis case study", Applied and
    Computational Harmonic Analysis 44 (2018).

    Examples
    --------
    >>> x, y = np.random.default_rng(0).uniform(0, np.pi, (2, 500))
    >>> coordinate_redundancy(np.cos(np.column_stack([x, 2 * x, y]))).round(1).tolist()
    [0.0, 1.0, 0.0]
    """
    points = check_points("embedding", embedding, min_rows=2)
    most = check_integer("max_rows", max_rows)
    if len(points) > most:
        points = points[np.linspace(0, len(points) - 1, most).round().astype(np.intp)]
    k = check_neighbors(n_neighbors, len(points))
    # Each earlier coordinate has the same say in who is near, whatever its eigenvalue.
    spread = points.std(axis=0)
    points = (points - points.mean(axis=0)) / np.where(spread > 0, spread, 1)
    points = points[np.unique(np.round(points / COINCIDENT), axis=0, return_index=True)[1]]
    if len(points) < 2:
        return np.array([0.0, *np.ones(points.shape[1] - 1)])
    shares = [_r_squared(points[:, :j], points[:, j], k) for j in range(1, points.shape[1])]
    return np.array([0.0, *shares])


def _r_squared(predictors: FloatArray, response: FloatArray, n_neighbors: int) -> float:
    """Leave-one-out R² of locally affine regression."""
    total = np.sum(response**2)
    if total == 0:
        return 1.0
    coefficients = predictors.shape[1] + 1
    k = min(max(n_neighbors, 2 * coefficients), len(response) - 1)
    neighbors = PointSpace(np.ascontiguousarray(predictors)).nearest(k).indices.reshape(-1, k)
    nearby, values = predictors[neighbors], response[neighbors]
    centre, mean = nearby.mean(axis=1), values.mean(axis=1)
    nearby -= centre[:, None]
    gram = nearby.mT @ nearby
    ridge = RIDGE * np.trace(gram, axis1=1, axis2=2) / predictors.shape[1]
    # The smallest positive number keeps neighbours that all coincide solvable, with slope 0.
    gram += (ridge + np.finfo(np.float64).tiny)[:, None, None] * np.eye(predictors.shape[1])
    slope = np.linalg.solve(gram, nearby.mT @ (values - mean[:, None])[:, :, None])[:, :, 0]
    predicted = mean + np.sum((predictors - centre) * slope, axis=1)
    return float(max(0.0, 1 - np.sum((response - predicted) ** 2) / total))
