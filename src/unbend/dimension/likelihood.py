"""Estimators from the distances to nearest neighbours: maximum likelihood and TwoNN."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy.special import gammainc

from unbend.arrays import TIED, FloatArray
from unbend.dimension._rows import Rows, distinct_rows
from unbend.dimension.value import PARAMETERS, Curve, Dimension
from unbend.docstrings import complete_docstring
from unbend.neighbors import MetricName, PointSpace
from unbend.validation.scalars import check_integer, check_neighbors, check_real


@complete_docstring(PARAMETERS)
def mle(
    X: Any,
    *,
    n_neighbors: int = 5,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Dimension:
    r"""Dimension by maximum likelihood (Levina and Bickel), averaged as it should be.

    Near a point the neighbours of d-dimensional data are a Poisson process, and with
    :math:`T_j` the distance to the j-th nearest

    .. math:: \hat d(x) = \Big[\frac{1}{k-1} \sum_{j<k} \log \frac{T_k(x)}{T_j(x)}\Big]^{-1}.

    Over all points the *inverses* are averaged, as the likelihood of all of them asks for
    (MacKay and Ghahramani); the mean of the estimates themselves is too large for small k.

    Parameters
    ----------
    n_neighbors : int
        k, at least 3. Few see fine detail, and noise as dimensions; many average over curvature
        and over the edge of the data.

    Returns
    -------
    Dimension
        `local` is the same average over a row and its 2k nearest, infinite where all their
        distances are tied. The curve shows the estimate for 3 to 2k neighbours.

    Notes
    -----
    Good is a curve that is flat around k. One that falls from the left shows noise: at small
    scales it fills all directions. Above d ≈ 10 the estimate is too small, by a quarter at d = 20
    with 2000 rows, since neighbours in many dimensions are hardly nearer than the edge of the
    data. It cannot see which directions the data take, and takes a fractal or a mixture for one
    number.

    References
    ----------
    E. Levina and P. J. Bickel, "Maximum likelihood estimation of intrinsic dimension" (2004).
    D. J. C. MacKay and Z. Ghahramani, comments on it (2005). Book section 1.4.4.

    Examples
    --------
    >>> round(mle(np.random.default_rng(0).normal(size=(1000, 3))).dimension)
    3
    """
    rows = distinct_rows(X, metric, metric_params, n_jobs, min_rows=4)
    k = check_neighbors(n_neighbors, rows.n, low=3)
    most = min(2 * k, rows.n - 1)
    neighbors = rows.space.nearest(most)
    logs = np.log(neighbors.distances.reshape(rows.n, most))
    sizes = np.arange(3, most + 1)
    # Mean of log T_k/T_j over j < k, for every k at once.
    inverses = logs[:, 2:] - (np.cumsum(logs, axis=1)[:, 1:-1] / (sizes - 1))
    inverses[inverses < TIED] = 0.0
    means, inverse = inverses.mean(axis=0), inverses[:, k - 3]
    if means[k - 3] == 0:
        raise ValueError(
            f"Distances to the {k} nearest neighbours of every row are tied, so the dimension is "
            "undefined. Increase n_neighbors."
        )
    dimension = 1 / float(means[k - 3])
    around = inverse[neighbors.indices.reshape(rows.n, most)].sum(axis=1) + inverse
    with np.errstate(divide="ignore"):
        local = (most + 1) / around
        curve = Curve(sizes * 1.0, 1 / means, "neighbours", "dimension", (float(k), float(k)))
    error = dimension**2 * float(inverse.std()) / np.sqrt(rows.n)
    return Dimension("mle", dimension, error, local[rows.copy], curve)


@complete_docstring(PARAMETERS)
def two_nn(
    X: Any,
    *,
    discard: float = 0.1,
    n_neighbors: int = 10,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Dimension:
    r"""Dimension from the two nearest neighbours of each row (Facco et al.).

    Where the density is constant up to the second neighbour, :math:`\mu = T_2/T_1` has the
    distribution :math:`1 - F(\mu) = \mu^{-d}`, whatever that density is: :math:`-\log(1 - F)`
    against :math:`\log \mu` is a line of slope d through the origin, fitted by least squares. The
    largest ratios, where the density is not constant, are discarded.

    Parameters
    ----------
    discard : float
        Share of the largest ratios to discard.
    n_neighbors : int
        Rows whose ratios are put together for the local estimates.

    Returns
    -------
    Dimension
        The curve is −log(1 − F) against log μ, and its line. `local` is the estimate of greatest
        likelihood, which serves a few ratios better than a line; infinite where the two nearest
        distances of a whole neighbourhood are tied. It needs n_neighbors neighbours, where the
        estimate needs two, and is computed on first access.

    Notes
    -----
    Good is a curve that follows its line up to the cut. It needs the least of the density, and
    looks at the smallest scale there is: noise, however small beside the data, counts as
    dimensions as soon as it is as large as the distance between neighbours. Compare it with half
    of the rows: a dimension that falls then is noise. Rounded data have tied distances, which make
    it wrong. It cannot see larger scales, at which the noise would be small.

    References
    ----------
    E. Facco, M. d'Errico, A. Rodriguez and A. Laio, "Estimating the intrinsic dimension of datasets
    by a minimal neighborhood information", Scientific Reports 7 (2017).

    Examples
    --------
    >>> round(two_nn(np.random.default_rng(0).normal(size=(1000, 3))).dimension)
    3
    """
    share = check_real("discard", discard, 0, 1, closed="low")
    rows = distinct_rows(X, metric, metric_params, n_jobs, min_rows=4)
    k = min(check_integer("n_neighbors", n_neighbors, 2), rows.n - 1)
    distances = rows.space.nearest(2).distances.reshape(rows.n, 2)
    logs = np.log(distances[:, 1] / distances[:, 0])
    logs[logs < TIED] = 0.0
    order = np.sort(logs)
    # The largest ratio has 1 - F = 0 and no place on the line.
    kept = max(2, min(rows.n - 1, rows.n - int(np.floor(share * rows.n))))
    x, survival = order[:-1], -np.log1p(-np.arange(1, rows.n) / rows.n)
    cut = float(order[kept - 1])
    if cut <= 0:
        raise ValueError(
            "Distances to the two nearest neighbours of every row are tied. Pass more rows."
        )
    dimension = float(x[:kept] @ survival[:kept]) / float(x[:kept] @ x[:kept])
    local = _local_on_demand(rows, k, logs, cut)
    labels = "log(second / first distance)", "-log(1 - F)"
    curve = Curve(x, survival, *labels, (0.0, cut), dimension * x)
    error = dimension * _spread_of_line(float(survival[kept - 1])) / np.sqrt(rows.n)
    return Dimension("two_nn", dimension, error, local, curve)


def _spread_of_line(end: float) -> float:
    """√n times the relative standard error of the slope of a line that ends at −log(1 − F) = `end`.

    By the delta method the slope errs by the sum over rows of ½ min(t, end)² about its mean, over
    n ∫₀ᵉⁿᵈ t² e⁻ᵗ dt, where t is exponentially distributed; γ(s, ·) is the incomplete gamma
    function.
    """
    fourth, mean = 6 * gammainc(4, end), gammainc(2, end)
    return float(np.sqrt(fourth - mean**2) / (2 * gammainc(3, end)))


def _local_on_demand(
    rows: Rows, k: int, logs: FloatArray, cut: float
) -> FloatArray | Callable[[], FloatArray]:
    """Put off the search for more neighbours, in a copy: the user may write into X meanwhile.

    A matrix of distances is too large to copy, and searched quickly.
    """
    if not isinstance(rows.space, PointSpace):
        return _local_censored(rows, k, logs, cut)
    return partial(_local_censored, Rows(rows.space.copy(), rows.copy), k, logs, cut)


def _local_censored(rows: Rows, k: int, logs: FloatArray, cut: float) -> FloatArray:
    """Estimate from the ratios of each neighbourhood."""
    around = rows.space.nearest(k).indices.reshape(rows.n, k)
    members = np.column_stack((np.arange(rows.n), around))
    kept = np.maximum((logs <= cut + TIED)[members].sum(axis=1) - 1, 1)
    with np.errstate(divide="ignore"):
        local = kept / np.minimum(logs, cut)[members].sum(axis=1)
    return np.asarray(local[rows.copy])
