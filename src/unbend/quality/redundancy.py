"""Degenerate embeddings: coordinates that repeat earlier ones, and points in a few clumps."""

import numpy as np
from numpy.typing import ArrayLike

from unbend.arrays import FloatArray
from unbend.neighbors import PointSpace
from unbend.quality._spaces import check_points
from unbend.validation.scalars import check_integer, check_neighbors

# Share of the neighbours' mean variance added to their covariance: earlier coordinates that lie
# on a curve leave it singular, and the slope must then be flat across the curve.
RIDGE = 1e-3
# Cells along each axis, of about the size of a marker in a figure, and the share of the points that
# cells are counted for.
CELLS, MOST = 100, 0.8
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


def occupancy(embedding: ArrayLike) -> float:
    """Share of the places that points could occupy which most of them do: low for a few specks.

    The bounding box is divided into 100 cells along each axis. The cells that hold 80 % of the
    points, fullest first, are counted and divided by 80 % of the points, or of all cells where
    these are fewer.

    Points spread over a plane have 0.7 and more, a closed curve or a parabola 0.2 to 0.4. Below
    0.1 the points coincide in a few clumps, or a few outliers leave the others no room: nothing
    can be seen of most of the data. It cannot see whether the places are right.

    Parameters
    ----------
    embedding : array_like of shape (n, d)
        The coordinates. Their scales do not matter. Duplicate rows of the data belong together:
        pass each once.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> spread = rng.normal(size=(500, 2))
    >>> round(occupancy(spread), 1)
    0.9
    >>> specks = np.repeat(spread[:3], 200, axis=0) + 1e-3 * rng.normal(size=(600, 2))
    >>> round(occupancy(specks), 3)
    0.006
    """
    points = check_points("embedding", embedding, min_rows=2)
    low, width = points.min(axis=0), np.ptp(points, axis=0)
    places = (points - low) / np.where(width > 0, width, 1)
    cells = np.minimum(CELLS * places, CELLS - 1).astype(np.intp)
    counts = np.sort(np.unique(cells, axis=0, return_counts=True)[1])[::-1]
    most = MOST * len(points)
    needed = int(np.searchsorted(np.cumsum(counts), most)) + 1
    return float(min(1.0, needed / (MOST * min(len(points), CELLS ** min(points.shape[1], 9)))))
