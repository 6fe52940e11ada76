"""The correlation dimension: how the number of pairs grows with their distance."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.dimension._rows import distinct_rows, generator
from unbend.dimension.pair_distances import Pairs, measure_pairs
from unbend.dimension.value import PARAMETERS, Curve, Dimension
from unbend.docstrings import complete_docstring
from unbend.neighbors import MetricName
from unbend.validation.random_state import RandomState

# The smallest radius has this many pairs per row on average; their number grows by this factor.
FEWEST, FACTOR = 0.5, 2**0.5
# A range counts as straight if the slopes of its halves differ by less than this share, or by no
# more than this many standard errors. The shortest range has this many radii.
BEND, ERRORS, SHORTEST = 0.05, 2.0, 7


@complete_docstring(PARAMETERS)
def correlation(
    X: Any,
    *,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    random_state: RandomState = None,
) -> Dimension:
    r"""Correlation dimension: the slope of log C(r) against log r (Grassberger and Procaccia).

    .. math:: C(r) = \Pr[\,d(x, y) < r\,] \sim r^d

    for two random rows; of pairs at exactly r, as in a lattice, half are counted. The slope is
    taken over the *scaling range*, the longest range of radii, from small ones on, over which the
    curve is straight: where the slopes of both its halves agree. At larger radii the edge and the
    curvature of the data bend it, at smaller ones noise.

    Parameters
    ----------
    random_state : None, int, Generator or RandomState
        Draws the rows from which distances are measured where there are more than 2000, and
        the bootstrap.

    Returns
    -------
    Dimension
        The uncertainty is that of a bootstrap over rows. `local` is None: C(r) is a mean over
        pairs, and one row has too few; `mle` is its local counterpart. The curve is log C
        against log r, with the fitted range.

    Notes
    -----
    A good fitted range spans at least a factor of two in r, with the curve on its line. A
    shorter one means that there are too few rows to estimate the dimension: reading d dimensions
    over a factor of two takes 2^d times the pairs. Rows that are not spread evenly weigh dense
    regions more, and the result is then at most the dimension of the support. It cannot detect
    parts of different dimension: all pairs make one curve.

    References
    ----------
    P. Grassberger and I. Procaccia, "Measuring the strangeness of strange attractors", Physica D 9
    (1983). Book section 1.4.2.

    Examples
    --------
    >>> square = np.random.default_rng(0).uniform(size=(1000, 2))
    >>> round(correlation(square).dimension)
    2
    """
    rows = distinct_rows(X, metric, metric_params, n_jobs, min_rows=10)
    rng = generator(random_state)
    pairs = measure_pairs(rows, rng)
    first = max(2.0, FEWEST * pairs.centres)
    steps = int(np.log(len(pairs.distances) / first) / np.log(FACTOR)) + 1
    counts = np.unique((first * FACTOR ** np.arange(steps)).astype(np.intp))
    radii = np.unique(pairs.distances[np.minimum(counts, len(pairs.distances) - 1)])
    # At the smallest distance C jumps from zero, and its logarithm has no middle.
    radii = radii[radii > pairs.distances[0]]
    if len(radii) < 3:
        raise ValueError(
            "Too many distances of X are tied to fit a slope: its near pairs have "
            f"{len(radii) + 1} different distances. Use local_pca or multiscale_svd."
        )
    # Of pairs at the radius half count as nearer: the mean of radii just below and just above.
    nearer, within = (np.searchsorted(pairs.distances, radii, side=s) for s in ("left", "right"))
    counts = (nearer + within) / 2
    x, y = np.log(radii), np.log(counts / (pairs.centres * pairs.others))
    window = _scaling_range(x, y, counts)
    slope, intercept = np.polyfit(x[window], y[window], 1)
    curve = Curve(
        x,
        y,
        "log r",
        "log C(r)",
        (float(x[window][0]), float(x[window][-1])),
        intercept + slope * x,
    )
    error = _bootstrap_error(pairs, radii, rng)
    return Dimension("correlation", float(slope), error, None, curve)


def _scaling_range(x: FloatArray, y: FloatArray, counts: FloatArray) -> slice:
    """Find the longest straight range; of several, that of the smallest radii."""
    shortest = min(SHORTEST, len(x))
    best = slice(0, shortest)
    for length in range(shortest, len(x) + 1):
        for start in range(len(x) - length + 1):
            middle, end = start + length // 2, start + length - 1
            lower = (y[middle] - y[start]) / (x[middle] - x[start])
            upper = (y[end] - y[middle]) / (x[end] - x[middle])
            # Counts of pairs are nearly Poisson, and the smallest has the largest error.
            error = 1 / np.sqrt(counts[start]) / (x[middle] - x[start])
            if abs(upper - lower) <= max(BEND * lower, ERRORS * error):
                best = slice(start, end + 1)
                break
        else:
            return best
    return best


def _bootstrap_error(pairs: Pairs, radii: FloatArray, rng: np.random.Generator) -> float:
    """Measure how the slope, its range chosen anew, varies over resampled centres."""
    counts = pairs.resample(pairs.sums(radii, np.ones(len(pairs.distances))), rng)
    x, slopes = np.log(radii), []
    for sample in np.maximum(counts, 1.0):
        y = np.log(sample)
        window = _scaling_range(x, y, sample)
        slopes.append(np.polyfit(x[window], y[window], 1)[0])
    return float(np.std(slopes)) * pairs.inflation
