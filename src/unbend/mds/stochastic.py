"""Stress of many objects by stochastic gradient: pairs are moved as they are drawn.

A random matching holds every object once, so that all its pairs can move at the same time and
nothing of size n² is ever made (after Zheng, Pawar and Goodman, 2019).
"""

from collections.abc import Callable

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.report import step

Lengths = Callable[[IntArray, IntArray], FloatArray]
# Share of a pair's error that is mended at first and at last.
FIRST, LAST = 0.2, 2e-3
# Pairs from which the stress is estimated.
SAMPLE = 200_000


def matched_pairs(
    lengths: Lengths, start: FloatArray, matchings: int, rng: np.random.Generator
) -> FloatArray:
    """Minimise raw stress; `lengths` gives dissimilarities of pairs, NaN where not known."""
    x = start.copy()
    n = len(x)
    half = n // 2
    rates = np.geomspace(FIRST, LAST, matchings)
    for number, rate in enumerate(rates):
        order = rng.permutation(n)
        rows, columns = order[:half], order[half : 2 * half]
        targets = np.nan_to_num(lengths(rows, columns), nan=-1.0)
        away = x[rows] - x[columns]
        distance = np.sqrt(np.einsum("ij,ij->i", away, away))
        safe = np.where(distance > 0, distance, 1.0)
        share = np.where(targets >= 0, rate * (distance - targets) / (2.0 * safe), 0.0)
        x[rows] -= share[:, None] * away
        x[columns] += share[:, None] * away
        step(number, matchings)
    return np.asarray(x - x.mean(axis=0))


def sampled_stress(lengths: Lengths, coordinates: FloatArray, rng: np.random.Generator) -> float:
    """Estimate the raw stress over all pairs from some of them."""
    n = len(coordinates)
    rows = rng.integers(n, size=SAMPLE)
    columns = (rows + rng.integers(1, n, size=SAMPLE)) % n
    off = np.linalg.norm(coordinates[rows] - coordinates[columns], axis=1)
    off -= lengths(rows, columns)
    return float(np.nanmean(off**2) * (n * (n - 1) / 2))
