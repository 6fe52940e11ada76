"""Capacity dimension: how many rows keep a distance from each other."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from unbend.arrays import TIED, FloatArray, IntArray
from unbend.dimension._rows import Rows, distinct_rows, generator, neighbor_distances, not_isolated
from unbend.dimension.value import PARAMETERS, Curve, Dimension
from unbend.docstrings import complete_docstring
from unbend.neighbors import MetricName
from unbend.validation.random_state import RandomState
from unbend.validation.scalars import check_integer

# Packings of at most this share of the rows, and at most so many: larger ones show that the rows
# are finitely many. The slope is fitted from this share of the largest packing on.
SHARE, LARGEST, FITTED = 0.2, 1000, 1 / 16
# Packings that are looked at.
RADII = 64
# Samples of the bootstrap. In a packing of radius r the row nearest to some place is r away at
# most, and places in the middle between two rows are r/2 at least: a row chosen stands for those
# nearer than this share of r, between both.
REPEATS, REACH = 50, 0.5**0.5


@complete_docstring(PARAMETERS)
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
    repeats : int
        Passes, at least two: their spread is part of the uncertainty.
    random_state : None, int, Generator or RandomState
        Draws the rows to begin with.

    Returns
    -------
    Dimension
        The uncertainty is that of passes with other starts, with that of a bootstrap over rows: of
        places that may be empty in another sample. `local` is None: a packing is one of all rows.
        The curve is log N against −log r, with the fitted range.

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
    rows = distinct_rows(X, metric, metric_params, n_jobs, min_rows=20)
    passes = check_integer("repeats", repeats, 2, 1000)
    rng = generator(random_state)
    nearest = neighbor_distances(rows, min(5, rows.n - 1))
    inside = not_isolated(nearest)
    rows = Rows(rows.space.take(np.flatnonzero(inside)), rows.copy)
    size = max(8, min(LARGEST, int(SHARE * rows.n)))
    packings = [_packing(rows, size, int(start)) for start in rng.integers(rows.n, size=passes)]
    radii = np.array([found for _, found in packings])
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
        raise ValueError(
            "Distances between the rows of X are tied: the dimension is undefined. Use local_pca."
        )
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
    of_starts = np.sqrt(slopes.var(ddof=1) / passes)
    of_rows = _deviation(nearest[inside][packings[0][0]], radii[0], numbers[part], x[0, part], rng)
    error = float(np.hypot(of_starts, dimension**2 * of_rows))
    return Dimension("capacity", dimension, error, None, curve, int(np.sum(~inside)))


def _deviation(
    near: FloatArray, radii: FloatArray, numbers: IntArray, x: FloatArray, rng: np.random.Generator
) -> float:
    """How the slope of one packing, 1/d, varies over samples of the rows, by a bootstrap.

    A row chosen stands for the rows near it. In another sample its place is empty if it is not
    drawn nor any of those; `near` are distances to the nearest (size, k).
    """
    size, k = near.shape
    # Rows are drawn a Poisson number of times: how many are not before the first one that is.
    missed = rng.geometric(1 - np.exp(-1), (REPEATS, size)) - 1
    # Beyond the nearest known no place is empty: e^-6 of all.
    away = np.column_stack((np.zeros(size), near, np.zeros(size)))
    replaced = away[np.arange(size), np.minimum(missed, k + 1)]
    reach = REACH * (1 + TIED) * radii
    counts = np.array([(replaced[:, :m] <= reach[m - 2]).sum(axis=1) for m in numbers])
    y = np.log(np.maximum(counts, 1))
    y -= y.mean(axis=0)
    return float(np.std((x - x.mean()) @ y / np.maximum(np.square(y).sum(axis=0), TIED)))


def _packing(rows: Rows, size: int, start: int) -> tuple[IntArray, FloatArray]:
    """Each next farthest row (size,), and its distance to those before, descending (size − 1,).

    Of tied rows the first is taken.
    """
    away, chosen = np.full(rows.n, np.inf), np.full(size, start)
    radii = np.empty(size - 1)
    for number in range(size - 1):
        there = rows.space.distances_of(rows.space.rows(chosen[number : number + 1]))[0]
        away = np.minimum(away, there)
        radii[number] = away.max()
        chosen[number + 1] = np.argmax(away >= radii[number] * (1 - TIED))
    return chosen, radii
