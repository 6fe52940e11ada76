"""Distances of pairs of sampled rows, and the standard errors of what is computed from them."""

from collections.abc import Callable

import numpy as np

from unbend.arrays import TIED, FloatArray, IntArray
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
