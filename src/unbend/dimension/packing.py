"""Capacity dimension: how many rows keep a distance from each other."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.dimension._gate import (
    TIED,
    MetricName,
    RandomState,
    Rows,
    checked_count,
    crowded,
    generator,
    neighbor_distances,
    opened,
)
from unbend.dimension.value import Curve, Dimension

# Packings of at most this share of the rows, and at most so many: larger ones show that the rows
# are finitely many. The slope is fitted from this share of the largest packing on.
SHARE, LARGEST, FITTED = 0.2, 1000, 1 / 16
# Packings that are looked at.
RADII = 64


def capacity(
    X: Any,
    *,
    repeats: int = 5,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    random_state: RandomState = None,
) -> Dimension:
    r"""Capacity dimension by packing numbers, :math:`d = -\lim \log N(r) / \log r` (Kégl).

    N(r) is the number of rows that a greedy packing chooses which are at least r apart. Each
    next row is the one farthest from those chosen, so that one pass gives the packings of all
    radii; passes begin at random rows and are averaged.

    Parameters
    ----------
    X : array_like, data frame or Space
        Rows of numbers, or a square matrix of distances with ``metric="precomputed"``.
    repeats : int
        Passes.
    metric, metric_params, n_jobs
        As the estimators of `unbend` take them.
    random_state : None, int, Generator or RandomState
        Draws the rows to begin with.

    Returns
    -------
    Dimension
        The uncertainty is the standard deviation of the passes with that of the fit: the slopes of
        both halves of the range. `local` is None: a packing is one of all rows. The curve is log N
        against −log r, with the fitted range.

    Notes
    -----
    It does not depend on how densely rows lie in different places, which spoils the correlation
    dimension, and it is coarse: good is a straight curve inside the fitted range. Packings of few
    rows see the shape of the data, and the edge of the data makes estimates small in more than
    about five dimensions: 2^d rows are needed to see the radius halved, so that it cannot see more.
    Isolated rows are left out, and `outliers` counts them.

    References
    ----------
    B. Kégl, "Intrinsic dimension estimation using packing numbers" (2002). T. F. Gonzalez,
    "Clustering to minimize the maximum intercluster distance" (1985). Book section 1.4.3.

    Examples
    --------
    >>> square = np.random.default_rng(0).uniform(size=(2000, 2))
    >>> round(capacity(square).dimension)
    2
    """
    rows = opened(X, metric, metric_params, n_jobs, least=20)
    passes = checked_count("repeats", repeats, 1, 1000)
    rng = generator(random_state)
    nearest = neighbor_distances(rows, min(5, rows.n - 1))
    inside = crowded(nearest)
    rows = Rows(rows.space.take(np.flatnonzero(inside)), rows.copy)
    size = max(8, min(LARGEST, int(SHARE * rows.n)))
    radii = np.array(
        [_radii(rows, size, int(start)) for start in rng.integers(rows.n, size=passes)]
    )
    # As many rows are at least r apart as were chosen at distances of at least r. The middle of a
    # hole lies farther from the rows chosen than the row nearest to it, by about half the distance
    # between neighbours: on a torus slopes are right with it, and 10 % too small without.
    gap = float(np.median(nearest[inside, 0]))
    numbers = np.unique(np.geomspace(2, size, RADII).astype(int))
    y, x = np.log(numbers), -np.log(radii[:, numbers - 2] + gap / 2)
    part = slice(int(np.searchsorted(numbers, max(4, FITTED * size))), None)
    # Radii are uncertain, numbers are not: the slope is that of the radii.
    inverses = np.polyfit(y[part], x[:, part].T, 1)[0]
    if inverses.min() < TIED:
        raise ValueError("the rows of X are equally far from each other, which tells no dimension")
    slopes = 1 / inverses
    dimension, middle = float(slopes.mean()), x.mean(axis=0)
    intercept = float(np.mean(y[part] - dimension * middle[part]))
    curve = Curve(
        middle,
        y,
        "-log r",
        "log N(r)",
        (float(middle[part][0]), float(middle[part][-1])),
        intercept + dimension * middle,
    )
    error = float(np.hypot(slopes.std(), dimension**2 * _bend(middle[part], y[part])))
    return Dimension("capacity", dimension, error, None, curve, int(np.sum(~inside)))


def _bend(x: FloatArray, y: FloatArray) -> float:
    """Half the difference between the slopes of both halves of the range, of radii by numbers.

    Those are 1/d, and zero where radii are tied.
    """
    middle = int(np.searchsorted(y, (y[0] + y[-1]) / 2))
    lower, upper = (np.polyfit(y[s], x[s], 1)[0] for s in (slice(middle), slice(middle, None)))
    return float(abs(upper - lower) / 2)


def _radii(rows: Rows, size: int, start: int) -> FloatArray:
    """Distance of each next farthest row to those before it, descending (size − 1,)."""
    away, chosen = np.full(rows.n, np.inf), start
    radii = np.empty(size - 1)
    for number in range(size - 1):
        there = rows.space.distances_of(rows.space.rows(np.array([chosen])))[0]
        away = np.minimum(away, there)
        chosen = int(np.argmax(away))
        radii[number] = away[chosen]
    return radii
