"""Residual variance of distances, and the largest gap of a spectrum."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist

from unbend.arrays import FloatArray, IntArray, is_sparse
from unbend.docstrings import complete_docstring
from unbend.neighbors import MetricName
from unbend.quality._spaces import PARAMETERS, check_points, open_complete, pair_distances
from unbend.quality.stress_measures import variation
from unbend.validation.arrays import check_finite, check_same_rows, real_array
from unbend.validation.distances import check_square
from unbend.validation.scalars import check_integer


@complete_docstring(PARAMETERS)
def residual_variance(
    X: ArrayLike,
    embedding: ArrayLike,
    *,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    max_rows: int = 2000,
) -> FloatArray:
    r"""Share of the variance of distances that 1, 2, … coordinates leave unexplained.

    .. math:: 1 - R^2(D, D_j)

    with R the correlation, over all pairs of rows, of the distances D in the data with the
    distances :math:`D_j` in the first j coordinates. The curve falls until the coordinates are as
    many as the data has dimensions.

    Of geodesic distances, below 0.0025 the data are a flat convex sheet, unrolled; a hole leaves
    0.005 and more, and above 0.04 they close up or the graph jumps between folds. Of straight lines
    it says how much of the outer shape is kept, which on a rolled surface is not the aim. Large
    distances decide: it cannot see tears and false neighbours of few points. `shepard` gives the
    same for all coordinates with its error and the share of every point.

    Parameters
    ----------
    X : array_like of shape (n, D) or (n, n)
        The data, or with ``metric="precomputed"`` its distances, geodesic ones for example.
    max_rows : int
        Above this number of rows, that many are used, evenly spaced.

    Returns
    -------
    ndarray of shape (d,)
        Between 0 and 1 for each number of coordinates; 1 where all distances are equal.

    References
    ----------
    J. B. Tenenbaum, V. de Silva and J. C. Langford, "A global geometric framework for nonlinear
    dimensionality reduction", Science 290 (2000).

    Examples
    --------
    >>> flat = np.random.default_rng(0).uniform(size=(300, 2)) * [3, 1]
    >>> residual_variance(flat, np.column_stack((flat, np.zeros(300)))).round(2) + 0.0
    array([0.04, 0.  , 0.  ])
    """
    coordinates = check_points("embedding", embedding, min_rows=3)
    n, most = len(coordinates), check_integer("max_rows", max_rows)
    rows = np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.intp))
    truth = _distances(X, n, rows, metric, metric_params)
    squares = np.zeros(len(truth))
    curve = []
    for column in coordinates[rows].T:
        squares += pdist(column[:, None], "sqeuclidean")
        curve.append(1.0 - _squared_correlation(truth, np.sqrt(squares)))
    return np.array(curve)


def widest_gap(eigenvalues: ArrayLike) -> int:
    """Count the eigenvalues before the largest ratio of one to the next.

    The values must fall or rise throughout, as estimators give them. What is not positive counts
    as the rounding error of the largest.

    Good is a ratio above ten, a clear gap; below three, the place of the widest one is chance. It
    cannot see a gap beyond the eigenvalues given, and on a long strip, whose spectrum counts the
    waves along it, the gap depends on its shape and not on its dimension.

    Parameters
    ----------
    eigenvalues : array_like of shape (m,)
        At least two, from the end of the spectrum inwards.

    Returns
    -------
    int
        From 1 to m − 1.

    Examples
    --------
    >>> widest_gap([9.0, 7.0, 0.1, 0.09])
    2
    >>> widest_gap([1e-9, 2e-9, 0.01, 0.05])
    2
    """
    values = real_array(eigenvalues, "eigenvalues").ravel()
    if len(values) < 2:
        raise ValueError(f"A gap needs at least two eigenvalues. Pass more than {len(values)}.")
    check_finite(values, "eigenvalues")
    rounding = max(np.finfo(np.float64).eps * float(np.abs(values).max()), 1e-300)
    steps = np.abs(np.diff(np.log(np.maximum(values, rounding))))
    return int(np.argmax(steps)) + 1


def _distances(
    X: Any, n: int, rows: IntArray, metric: MetricName, params: Mapping[str, Any] | None
) -> FloatArray:
    """Distances of the chosen rows, one a pair; only those rows of a large matrix are read."""
    if metric == "precomputed" and getattr(X, "ndim", 0) == 2 and not is_sparse(X):
        check_square(X)
        check_same_rows(X=X, embedding=range(n))
        X, rows = real_array(X)[np.ix_(rows, rows)], np.arange(len(rows))
        n = len(rows)
    space = open_complete(X, metric, params, min_rows=min(3, n))
    check_same_rows(X=range(space.n), embedding=range(n))
    return pair_distances(space, rows)


def _squared_correlation(first: FloatArray, second: FloatArray) -> float:
    centred, sizes = [], 1.0
    for distances in (first, second):
        mean = float(distances.mean())
        centred.append(distances - mean)
        sizes *= float(variation(centred[-1] @ centred[-1], 0.0, len(distances), mean))
    return float(centred[0] @ centred[1]) ** 2 / sizes if sizes > 0 else 0.0
