"""Stress of a configuration and its gradient."""

import numpy as np
from scipy.optimize import isotonic_regression

from unbend.arrays import FloatArray, IntArray

RAW, SSTRESS, SAMMON = range(3)


def stress(
    dissimilarities: FloatArray,
    weights: FloatArray,
    loss: int,
    coordinates: FloatArray,
    threads: int,
    gradient: FloatArray,
    spread: FloatArray,
) -> float:
    """Sum a loss over the pairs i < j of n objects at `coordinates` (n, d).

    0: w (d − δ)²; 1: w (d² − δ²)²; 2: w (d − δ)²/δ. Empty weights are all one. Fills the
    gradient (n, d) and, unless it is empty, each object's sum in `spread` (n,).
    """
    gradient[...] = 0.0
    spread[...] = 0.0
    first, total = 0, 0.0
    for i in range(len(coordinates) - 1):
        pairs = slice(first, first + len(coordinates) - 1 - i)
        first = pairs.stop
        away = coordinates[i] - coordinates[i + 1 :]
        weight = weights[pairs].astype(np.float64) if len(weights) else np.ones(len(away))
        share, pull = pair_stress(np.square(away).sum(axis=1), dissimilarities[pairs], weight, loss)
        moves = 2.0 * pull[:, None] * away
        gradient[i] += moves.sum(axis=0)
        gradient[i + 1 :] -= moves
        if len(spread):
            spread[i] += share.sum()
            spread[i + 1 :] += share
        total += float(share.sum())
    return total


def pair_stress(
    square: FloatArray, target: FloatArray, weight: FloatArray, loss: int
) -> tuple[FloatArray, FloatArray]:
    """Stress of each pair, and half its derivative with respect to the distance, over that."""
    target = target.astype(np.float64)
    if loss == SSTRESS:
        off = square - target**2
        return weight * off**2, 2.0 * weight * off
    if loss == SAMMON:
        weight = np.where(target > 0, weight / np.where(target > 0, target, 1.0), 0.0)
    distance = np.sqrt(square)
    off = distance - target
    return weight * off**2, weight * off / np.where(distance > 0, distance, 1.0)


def monotone_stress(
    first: IntArray,
    second: IntArray,
    ties: IntArray,
    coordinates: FloatArray,
    threads: int,
    distances: FloatArray,
    sums: FloatArray,
    starts: IntArray,
    gradient: FloatArray,
) -> tuple[float, float, int]:
    """Residual sum of squares of a monotone regression of distances, that of these, and blocks.

    `first` and `second` are the objects of all pairs in ascending order of dissimilarity; within
    `ties` (t, 2), begin and end of equal ones, they are sorted by distance, in place. Fills the
    `distances`, for the blocks with equal disparities, which are counted, their sums of distances
    and first pairs (`starts`), and the gradient of the ratio of the two sums, which is zero where
    it is one or undefined.
    """
    away = coordinates[first] - coordinates[second]
    distances[:] = np.sqrt(np.square(away).sum(axis=1))
    for begin, end in ties:
        order = begin + np.argsort(distances[begin:end], kind="stable")
        for values in (first, second, distances):
            values[begin:end] = values[order]
    found = isotonic_regression(distances)
    blocks = len(found.blocks) - 1
    starts[:blocks] = found.blocks[:-1]
    sums[:blocks] = np.add.reduceat(distances, found.blocks[:-1]) if len(distances) else 0.0
    gradient[...] = 0.0
    residual, size = float(np.square(distances - found.x).sum()), float(distances @ distances)
    if size == 0 or residual >= size:
        return residual, size, blocks
    safe = np.where(distances > 0, distances, 1.0)
    pull = np.where(distances > 0, 2.0 * (1.0 - residual / size - found.x / safe) / size, 0.0)
    moves = pull[:, None] * (coordinates[first] - coordinates[second])
    np.add.at(gradient, first, moves)
    np.subtract.at(gradient, second, moves)
    return residual, size, blocks
