"""Rounding of eigenvectors to clusters: k-means and discretisation."""

from typing import NamedTuple

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import FloatArray
from unbend.report import ask, note, warn

# Runs of k-means, iterations of each, and the squared move of all centers, relative to the mean
# variance of the columns, at which a run ends: those of scikit-learn.
RUNS, ITERATIONS, TOLERANCE = 10, 300, 1e-4


class Means(NamedTuple):
    """Centers of clusters, the sum of squared distances to them, and iterations of the best run."""

    centers: FloatArray
    inertia: float
    iterations: int
    converged: bool


def kmeans(rows: FloatArray, clusters: int, rng: np.random.Generator, threads: int = 1) -> Means:
    """Centers of the best of ten runs of k-means, which threads share.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> np.sort(kmeans(rows, 2, np.random.default_rng(0)).centers.ravel())
    array([ 0.5, 10.5])
    """
    points = np.ascontiguousarray(rows, dtype=np.float64)
    numbers = rng.random((RUNS, clusters, 2 + int(np.log(clusters))))
    centers = np.empty((clusters, points.shape[1]))
    tolerance = TOLERANCE * float(points.var(axis=0).mean())
    inertia, iterations = kernels.kmeans(points, numbers, ITERATIONS, tolerance, centers, threads)
    return Means(centers, inertia, iterations, iterations < ITERATIONS)


def discretize(
    rows: FloatArray, rng: np.random.Generator, starts: int = 10, steps: int = 50
) -> FloatArray:
    """Rotation R that brings unit rows X nearest to indicators of clusters (Yu and Shi, 2003).

    Alternates between indicators, the largest coordinate of each row of XR, and the Procrustes
    rotation to them. The best of several starts from nearly orthogonal rows is returned; a warning
    says if it did not converge in `steps`.

    Examples
    --------
    >>> import numpy as np
    >>> turned = np.array([[1.0, 1], [1, 1], [1, -1]]) / np.sqrt(2)
    >>> rotation = discretize(turned, np.random.default_rng(0))
    >>> labels = np.argmax(turned @ rotation, axis=1)
    >>> bool(labels[0] == labels[1] != labels[2])
    True
    """
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    best: FloatArray = np.eye(rows.shape[1])
    score, converged = -np.inf, False
    for _ in range(starts):
        rotation, total, steady = _improve(unit, _orthogonal_rows(unit, rng), steps)
        if total > score:
            best, score, converged = rotation, total, steady
    note(discretized=converged)
    if not converged:
        warn(
            f"The discretisation did not converge in {steps} iterations. Use "
            "assign_labels='kmeans'."
        )
    return best


def _orthogonal_rows(unit: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Columns that are rows of the data, each as orthogonal as possible to the previous ones."""
    k = unit.shape[1]
    chosen = [unit[rng.integers(len(unit))]]
    overlap = np.zeros(len(unit))
    for _ in range(k - 1):
        overlap += np.abs(unit @ chosen[-1])
        chosen.append(unit[int(np.argmin(overlap))])
    return np.column_stack(chosen)


def _improve(unit: FloatArray, rotation: FloatArray, steps: int) -> tuple[FloatArray, float, bool]:
    """Rotation, the sum of singular values that it reaches, and whether that stopped growing."""
    total = -np.inf
    for _ in range(steps):
        ask()
        labels = np.argmax(unit @ rotation, axis=1)
        sums = np.zeros_like(rotation)
        np.add.at(sums.T, labels, unit)
        left, singular, right = np.linalg.svd(sums)
        rotation, previous, total = left @ right, total, float(singular.sum())
        if total <= previous * (1 + 1e-12):
            return rotation, total, True
    return rotation, total, False
