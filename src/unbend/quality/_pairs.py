"""Distances of pairs of sampled rows, and the standard errors of what is computed from them."""

from collections.abc import Callable

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.quality.measure import jackknifed


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
    return jackknifed(statistic(left), n)


def correlations_by_row(first: FloatArray, second: FloatArray, m: int) -> FloatArray:
    """Correlation over the pairs of each row; zero where one side does not vary."""
    size = m - 1
    first, second = first - first.mean(), second - second.mean()
    one, other = sums_by_row(first, m), sums_by_row(second, m)
    covariance = sums_by_row(first * second, m) - one * other / size
    spread = (sums_by_row(first**2, m) - one**2 / size) * (
        sums_by_row(second**2, m) - other**2 / size
    )
    flat = np.zeros(m)
    divided = np.divide(covariance, np.sqrt(np.maximum(spread, 0.0)), out=flat, where=spread > 0)
    return np.clip(divided, -1.0, 1.0)
