"""Plain twins of the kernels over all pairs of rows."""

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import pdist

from unbend.arrays import FloatArray, IntArray


def pair_distances(rows: FloatArray, threads: int, distances: FloatArray) -> None:
    """Fill the Euclidean distances of all pairs i < j, row after row."""
    first = 0
    for i in range(len(rows) - 1):
        away = np.abs(rows[i] - rows[i + 1 :])
        # Relative to the largest difference: squares do not overflow, nor do all of them vanish.
        size = away.max(axis=1, keepdims=True, initial=0.0)
        shares = np.divide(away, size, out=np.zeros(away.shape), where=size > 0)
        distances[first : first + len(away)] = size[:, 0] * np.linalg.norm(shares, axis=1)
        first += len(away)


def sorted_order(numbers: FloatArray, threads: int, order: IntArray) -> None:
    """Fill the indices of numbers in ascending order, those of equal ones ascending."""
    order[:] = np.argsort(numbers, kind="stable")


def line_sums(
    given: Sequence[FloatArray],
    weights: Sequence[FloatArray],
    centers: FloatArray,
    rows: FloatArray,
    threads: int,
    sums: FloatArray,
) -> None:
    """Σ w d, Σ w (δ − center) d and Σ w d² over the pairs of rows at distance d.

    One row of `sums` for each array δ of `given`; empty weights are all one.
    """
    distances = pdist(rows)
    for k, (values, weight) in enumerate(zip(given, weights, strict=True)):
        weighed = distances * weight if len(weight) else distances
        sums[k] = weighed.sum(), weighed @ (values - centers[k]), weighed @ distances


def line_residuals(
    given: Sequence[FloatArray],
    weights: Sequence[FloatArray],
    lines: FloatArray,
    rows: FloatArray,
    threads: int,
    targets: FloatArray,
    residuals: FloatArray,
) -> None:
    """Σ w (d − d̂)² with d̂ = max(intercept + slope δ, 0), for each array δ of `given`.

    `targets` gets the mean of all d̂ by their weights.
    """
    distances = pdist(rows)
    total, count = np.zeros(len(distances)), np.zeros(len(distances))
    for k, (values, weight) in enumerate(zip(given, weights, strict=True)):
        fitted = np.maximum(lines[k, 0] + lines[k, 1] * values.astype(np.float64), 0.0)
        share = weight.astype(np.float64) if len(weight) else np.ones(len(distances))
        residuals[k] = share @ np.square(distances - fitted)
        total += share * fitted
        count += share
    targets[:] = np.divide(total, count, out=np.zeros(len(total)), where=count > 0)
