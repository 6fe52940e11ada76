"""The U-statistic of Hein and Audibert: the dimension by a rate of convergence."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import ndtr

from unbend.arrays import TIED, FloatArray
from unbend.dimension._rows import Rows, distinct_rows, generator
from unbend.dimension.pair_distances import Pairs, measure_pairs
from unbend.dimension.value import PARAMETERS, Curve, Dimension, integer_error
from unbend.docstrings import complete_docstring
from unbend.neighbors import MetricName, PointSpace
from unbend.validation.random_state import RandomState
from unbend.validation.scalars import check_integer

# Samples are these parts of the rows.
PARTS = np.arange(1.0, 6.0)
# Most dimensions tried unless the user says.
MOST = 50


@complete_docstring(PARAMETERS)
def u_statistic(
    X: Any,
    *,
    max_dimension: int | None = None,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    random_state: RandomState = None,
) -> Dimension:
    r"""Dimension by the rate at which a U-statistic converges (Hein and Audibert).

    .. math:: U_{m,h}(l) = \frac{2}{m(m-1)} \sum_{i<j} h^{-l}\,
        k\big(d(x_i, x_j)^2 / h^2\big), \qquad k(t) = (1 - t)_+

    tends to a constant as the bandwidth h shrinks if l is the dimension, to zero or infinity
    otherwise. For every integer l the bandwidths are those at which samples of n/5, …, n rows would
    be looked at, :math:`h_l(m) \propto (\log m / m)^{1/l}`, and the l is taken whose log U has
    the slope nearest to zero. Each U is that of all rows, the mean over all such samples.

    Parameters
    ----------
    max_dimension : int, optional
        Largest l; by default the number of columns, or 50 if there are more.
    random_state : None, int, Generator or RandomState
        Draws the rows from which distances are measured where there are more than 2000.

    Returns
    -------
    Dimension
        An integer. The uncertainty is how it varies as slopes do in a bootstrap over rows.
        `local` is None: convergence is that of a mean over pairs. The curve shows the slope for
        every l.

    Notes
    -----
    Good is a curve that crosses zero near an integer, with an uncertainty well below one half.
    The scale is the smallest there is, so noise as large as the distance between neighbours counts
    as dimensions, and it cannot see what lies beneath. Above d ≈ 10 it says too little, as all
    estimates by distances do.

    References
    ----------
    M. Hein and J.-Y. Audibert, "Intrinsic dimensionality estimation of submanifolds in R^d"
    (2005). Book section 1.4.4.

    Examples
    --------
    >>> u_statistic(np.random.default_rng(0).uniform(size=(1000, 2))).dimension
    2.0
    """
    rows = distinct_rows(X, metric, metric_params, n_jobs, min_rows=20)
    rng = generator(random_state)
    most = check_integer(
        "max_dimension", _columns(rows) if max_dimension is None else max_dimension, 1, 10_000
    )
    pairs = measure_pairs(rows, rng)
    # The median, where Hein and Audibert have the mean, which one outlier makes as large as it is.
    unit = float(np.median(rows.space.nearest(1).distances))
    slopes = np.array([_rate(pairs, d, _bandwidths(rows.n, d, unit)) for d in range(1, most + 1)])
    chosen = int(np.argmin(np.abs(slopes))) + 1
    deviation = _deviation(pairs, _bandwidths(rows.n, chosen, unit), rng)
    tried = np.arange(1.0, most + 1)
    curve = Curve(tried, slopes, "dimension tried", "slope of log U", (chosen, chosen))
    return Dimension("u_statistic", float(chosen), _error(slopes, deviation), None, curve)


def _columns(rows: Rows) -> int:
    """Most dimensions worth trying."""
    space = rows.space
    if isinstance(space, PointSpace) and space.metric.name == "euclidean":
        return min(MOST, len(space.features[0]))
    return MOST


def _bandwidths(n: int, dimension: int, unit: float) -> FloatArray:
    """Bandwidths for samples of n, n/2, …, n/5 rows, ascending."""
    sizes = n / PARTS
    return np.asarray(unit * (n / sizes * np.log(sizes) / np.log(n)) ** (1 / dimension))


def _slope(logarithms: FloatArray, bandwidths: FloatArray) -> FloatArray:
    """Weighted slope against log h; samples of n/i rows weigh 1/i."""
    # polyfit squares its weights.
    return np.asarray(np.polyfit(np.log(bandwidths), logarithms, 1, w=PARTS**-0.5)[0])


def _rate(pairs: Pairs, dimension: int, bandwidths: FloatArray) -> float:
    # A pair at the bandwidth adds nothing, and rounding must not make it one that is nearer.
    near = np.searchsorted(pairs.distances, bandwidths * (1 - TIED))
    if near[0] == 0:
        raise ValueError(
            "Distances to the nearest neighbours are tied (lattice data), so the convergence rate "
            "is undefined. Use local_pca or multiscale_svd."
        )
    squares = np.concatenate(([0.0], np.cumsum(np.square(pairs.distances[: near[-1]]))))[near]
    kernel = np.maximum(near - squares / np.square(bandwidths), 1e-3)
    return float(_slope(np.log(kernel), bandwidths)) - dimension


def _deviation(pairs: Pairs, bandwidths: FloatArray, rng: np.random.Generator) -> float:
    """Measure how the slope varies over resampled centres."""
    counts = pairs.sums(bandwidths, np.ones(len(pairs.distances)))
    squares = pairs.sums(bandwidths, np.square(pairs.distances))
    kernels = pairs.resample(counts - squares / np.square(bandwidths), rng)
    return float(_slope(np.log(np.maximum(kernels, 1e-3)).T, bandwidths).std()) * pairs.inflation


def _error(slopes: FloatArray, deviation: float) -> float:
    """Spread of the l chosen, where another sample moves all slopes alike.

    A larger number than l is chosen if the slope for l + 1 is the nearer to zero, which is when the
    two add up to more than zero.
    """
    margins = (slopes[:-1] + slopes[1:]) / 2
    return integer_error(ndtr(np.append(np.inf, margins) / max(deviation, TIED)))
