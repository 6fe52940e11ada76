"""Comparison of distances in data and embedding: Shepard correlations and stress."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression
from scipy.stats import rankdata

from unbend.arrays import TIED, FloatArray, IntArray, distinct_values
from unbend.docstrings import complete_docstring
from unbend.memory import reserve
from unbend.neighbors import MetricName
from unbend.neighbors.space import centered_gram
from unbend.quality._spaces import PARAMETERS, open_pair, pair_distances
from unbend.quality.measure import Measure, jackknife_error, sample_rows
from unbend.validation.scalars import check_choice

Kind: TypeAlias = Literal[
    "stress-1", "normalized", "raw", "sstress", "sammon", "nonmetric", "inverse"
]


@dataclass(frozen=True, eq=False)
class Shepard:
    """Distances of pairs in data and embedding, and how they go together.

    Attributes
    ----------
    pearson : Measure
        Correlation of the distances: 1 where the embedding is a scaled copy.
    spearman : Measure
        Correlation of their ranks: 1 where longer in the data is longer in the embedding.
    rows : ndarray of shape (m,)
        The points used.
    data, embedded : ndarray of shape (m(m - 1)/2,)
        The distances, in SciPy's order of pairs: the axes of a Shepard diagram.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(300, random_state=0)
    >>> found = unbend.quality.shepard(roll.points, unbend.PCA(3).fit_transform(roll.points))
    >>> bool(found.pearson > 0.999999)
    True
    """

    pearson: Measure
    spearman: Measure
    rows: IntArray
    data: FloatArray
    embedded: FloatArray


@complete_docstring(PARAMETERS)
def shepard(
    X: ArrayLike,
    embedding: ArrayLike,
    *,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    max_rows: int | None = 1000,
    random_state: int = 0,
) -> Shepard:
    """Correlate the distances in the data with those in the embedding, over pairs of points.

    Above 0.95 the rough arrangement is kept; the `local` values are the correlations of each
    point's own distances. Large distances decide: it cannot see tears and false neighbours; and
    on a bent surface straight lines through space are the wrong distances: an unrolled roll
    has a low correlation, and should. Correlate with geodesic distances there, by
    ``metric="precomputed"``: one minus the square of Pearson's correlation is then the residual
    variance, with its error and the share of every point.

    Parameters
    ----------
    max_rows : int or None
        Above this number of rows, use the pairs of that many drawn at random. The errors are
        those of the jackknife over rows. None uses all: the memory grows as n².

    Returns
    -------
    Shepard
        Both correlations, between −1 and 1, and the diagram.

    Examples
    --------
    >>> import unbend
    >>> sheet = unbend.datasets.square(300, random_state=0)
    >>> shepard(sheet.points, 2 * sheet.chart).pearson.local.min().round(12)
    np.float64(1.0)
    """
    data, coordinates = open_pair(X, embedding, metric, metric_params, min_rows=3)
    n = data.n
    rows = sample_rows(n, max_rows, random_state)
    before, after = pair_distances(data, rows), pair_distances(coordinates, rows)
    pearson = _correlation(before, after, rows, n)
    ranks, ranks_after = (rankdata(distinct_values(d)[1]) for d in (before, after))
    spearman = _correlation(ranks, ranks_after, rows, n)
    return Shepard(pearson, spearman, rows, before, after)


def _correlation(before: FloatArray, after: FloatArray, rows: IntArray, n: int) -> Measure:
    m, means = len(rows), (float(before.mean()), float(after.mean()))
    first, second = before - means[0], after - means[1]
    count = np.ones(len(before))
    terms = [count, first, second, first * second, first**2, second**2]

    def statistic(sums: list[FloatArray]) -> FloatArray:
        size, one, other, product, squares, others = sums
        spread = variation(squares, one, size, means[0]) * variation(others, other, size, means[1])
        covariance = product - one * other / size
        flat = np.zeros_like(covariance)
        return np.divide(covariance, np.sqrt(spread), out=flat, where=spread > 0)

    value = float(statistic([np.atleast_1d(term.sum()) for term in terms])[0])
    local = correlations_by_row(before, after, m)
    return Measure(value, local, rows, jackknife(terms, m, n, statistic))


@complete_docstring(PARAMETERS)
def stress(
    X: ArrayLike,
    embedding: ArrayLike,
    *,
    kind: Kind = "stress-1",
    scaled: bool = True,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    max_rows: int | None = 1000,
    random_state: int = 0,
) -> Measure:
    r"""How far the distances in the embedding miss those in the data.

    With :math:`\delta` the distances in the data and d those in the embedding, over pairs:

    - ``"stress-1"``: :math:`\sqrt{\sum (d - \delta)^2 / \sum d^2}` (Kruskal)
    - ``"normalized"``: :math:`\sum (d - \delta)^2 / \sum \delta^2`
    - ``"raw"``: :math:`\sum (d - \delta)^2`
    - ``"sstress"``: :math:`\sum (d^2 - \delta^2)^2 / \sum \delta^4`
    - ``"sammon"``: :math:`\sum (d - \delta)^2 / \delta \,/ \sum \delta`, where small distances
      count as much as large ones; pairs at distance zero are left out
    - ``"nonmetric"``: stress-1 with the best increasing function of :math:`\delta` in its place
    - ``"inverse"``: the best increasing function f of d in place of d,
      :math:`\sqrt{\sum (\delta - f(d))^2 / \sum \delta^2}`, in the units of the data

    Of stress-1, 0.05 is good and 0.2 poor, after Kruskal; more points and fewer dimensions make it
    larger. Without the best scale, stress tells more about units than about the embedding:
    vectors of unit length, as spectral methods give them, look bad only for that. Distances in the
    data are straight lines: on a bent surface a right embedding has a large stress, unless geodesic
    distances are given. Of a sum over pairs most are far apart: but for "sammon", it cannot
    see who the neighbours are.

    Parameters
    ----------
    kind : str
        One of the kinds above.
    scaled : bool
        Whether the embedding is scaled as suits the kind best first.
    metric, metric_params, max_rows, random_state
        As in `shepard`; the sum of "raw" is then over the pairs drawn.

    Returns
    -------
    Measure
        Zero is best; `local` is each point's share of the numerator, which sums to one.

    References
    ----------
    J. B. Kruskal, "Multidimensional scaling by optimizing goodness of fit to a nonmetric
    hypothesis", Psychometrika 29 (1964); J. W. Sammon, IEEE Trans. Comput. C-18 (1969);
    book section 6.3.

    Examples
    --------
    >>> import unbend
    >>> sheet = unbend.datasets.square(300, random_state=0)
    >>> stress(sheet.points, 100 * sheet.chart) < 1e-12
    True
    """
    check_choice("kind", kind, get_args(Kind))
    data, coordinates = open_pair(X, embedding, metric, metric_params)
    rows = sample_rows(data.n, max_rows, random_state)
    if len(rows) < 2:
        raise ValueError("Stress is measured over pairs of rows. Use max_rows of at least 2.")
    target, found = pair_distances(data, rows), pair_distances(coordinates, rows)
    if not target.any():
        raise ValueError("All rows of X are equal. Pass at least two different points.")
    missed, size = _terms(target, found, kind, scaled)
    root = kind in ("stress-1", "nonmetric", "inverse")

    def statistic(sums: list[FloatArray]) -> FloatArray:
        flat = np.zeros_like(sums[0])
        ratio = np.divide(sums[0], sums[1], out=flat, where=sums[1] > 0)
        return np.sqrt(ratio) if root else ratio

    value = float(statistic([np.array([missed.sum()]), np.array([size.sum()])])[0])
    shares = sums_by_row(missed, len(rows))
    local = shares / max(float(shares.sum()), np.finfo(float).tiny)
    return Measure(value, local, rows, jackknife([missed, size], len(rows), data.n, statistic))


@complete_docstring(PARAMETERS)
def strain(
    X: ArrayLike,
    embedding: ArrayLike,
    *,
    normalized: bool = False,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
) -> float:
    r"""How far the scalar products of the embedding miss those of the data.

    .. math:: \sum_{ij} (k_{ij} - y_i' y_j)^2

    with K = −½HD²H, the scalar products of the centered data where distances are Euclidean, and y
    centered, too. Classical scaling minimises it: its strain is the sum of the squares of all
    eigenvalues that were left out. Long distances dominate it, so it cannot see whether
    neighbourhoods are preserved.

    Parameters
    ----------
    normalized : bool
        Whether it is divided by the sum of the squares of K.

    Returns
    -------
    float
        Zero is perfect. If normalized, below 0.01 is good, and an embedding in one point has 1.

    References
    ----------
    W. S. Torgerson, "Multidimensional scaling: I. theory and method", Psychometrika 17 (1952).

    Examples
    --------
    >>> import numpy as np
    >>> rectangle = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0], [2.0, 1.0]])
    >>> round(strain(rectangle, rectangle[:, :1]), 9)
    1.0
    """
    data, coordinates = open_pair(X, embedding, metric, metric_params)
    n = data.n
    reserve(32 * n * n, f"{n} x {n} scalar products", "pass fewer rows")
    kernel, found = (
        centered_gram(space.distances_of(space.rows(np.arange(n)))[None])[0]
        for space in (data, coordinates)
    )
    missed = float(np.square(kernel - found).sum())
    if not normalized:
        return missed
    size = float(np.square(kernel).sum())
    if size == 0:
        raise ValueError("All rows of X are equal. Pass at least two different points.")
    return missed / size


def _terms(
    target: FloatArray, found: FloatArray, kind: Kind, scaled: bool
) -> tuple[FloatArray, FloatArray]:
    """Numerator and denominator of each pair."""
    if kind in ("nonmetric", "inverse"):
        # Increasing functions of one list of distances, fitted to the other.
        given, fit = (target, found) if kind == "nonmetric" else (found, target)
        order = np.lexsort((fit, distinct_values(given)[1]))
        fitted = np.empty_like(fit)
        fitted[order] = isotonic_regression(fit[order]).x
        return (fit - fitted) ** 2, fit**2
    if kind == "sstress":
        target, found = target**2, found**2
    weights = np.ones_like(target)
    if kind == "sammon":
        weights = np.divide(1.0, target, out=np.zeros_like(target), where=target > 0)
    if scaled:
        found = _best_scale(target, found, weights, kind) * found
    missed = weights * (found - target) ** 2
    sizes = {"stress-1": found**2, "raw": np.full_like(found, 1 / len(found)), "sammon": target}
    return missed, sizes.get(kind, target**2)


def _best_scale(target: FloatArray, found: FloatArray, weights: FloatArray, kind: Kind) -> float:
    products, squares = float(weights @ (target * found)), float(weights @ found**2)
    if squares == 0 or products == 0:
        return 1.0
    # Stress-1 divides by the embedding's own size, which moves the best scale.
    return float(target @ target) / products if kind == "stress-1" else products / squares


def pair_rows(m: int) -> tuple[IntArray, IntArray]:
    """Both rows of every pair, in SciPy's order of condensed distances."""
    first, second = np.triu_indices(m, 1)
    return first.astype(np.intp), second.astype(np.intp)


def sums_by_row(values: FloatArray, m: int) -> FloatArray:
    """Sum over the pairs that each row is part of."""
    first, second = pair_rows(m)
    summed = np.bincount(first, values, m) + np.bincount(second, values, m)
    return np.asarray(summed, dtype=np.float64)


def jackknife(
    terms: list[FloatArray], m: int, n: int, statistic: Callable[[list[FloatArray]], FloatArray]
) -> float:
    """Estimate the standard error of a function of sums over pairs of m rows drawn of n.

    Pairs that share a row are not independent, so rows, not pairs, are left out one by one.
    `statistic` takes one array of sums for each term.
    """
    if m >= n:
        return 0.0
    left = [float(term.sum()) - sums_by_row(term, m) for term in terms]
    return jackknife_error(statistic(left), n)


def variation(
    squares: FloatArray, sums: FloatArray | float, size: FloatArray | int, mean: float
) -> FloatArray:
    """Sum of squared deviations, from sums over values that were shifted by their mean.

    Zero where it is rounding: tied values do not vary, and the difference of two sums of `size`
    terms has an error of about `size` units in their last place.
    """
    found = squares - sums**2 / size
    rounding = 4 * np.finfo(np.float64).eps * size * squares + size * (TIED * mean) ** 2
    return np.where(found > rounding, found, 0.0)


def correlations_by_row(first: FloatArray, second: FloatArray, m: int) -> FloatArray:
    """Correlation over the pairs of each row; zero where one side does not vary."""
    size, means = m - 1, (float(first.mean()), float(second.mean()))
    first, second = first - means[0], second - means[1]
    one, other = sums_by_row(first, m), sums_by_row(second, m)
    covariance = sums_by_row(first * second, m) - one * other / size
    spread = variation(sums_by_row(first**2, m), one, size, means[0])
    spread = spread * variation(sums_by_row(second**2, m), other, size, means[1])
    divided = np.divide(covariance, np.sqrt(spread), out=np.zeros(m), where=spread > 0)
    return np.clip(divided, -1.0, 1.0)
