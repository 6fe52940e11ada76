"""k-means of rows of few columns."""

import numpy as np

from unbend.arrays import FloatArray, IntArray


def kmeans(
    rows: FloatArray,
    numbers: FloatArray,
    max_iter: int,
    tolerance: float,
    centers: FloatArray,
    threads: int = 1,
) -> tuple[float, int]:
    """Fill the centers of the best of several runs; return its inertia and iterations.

    Runs begin from greedy k-means++ (Arthur and Vassilvitskii, 2007) with uniform random `numbers`
    (runs, clusters, trials), and end when the squared moves of the centers sum to `tolerance`.
    """
    best = np.inf, 0
    for drawn in numbers:
        found, inertia, iterations = _run(rows, drawn, max_iter, tolerance)
        if inertia < best[0]:
            best, centers[...] = (inertia, iterations), found
    return best


def _run(
    rows: FloatArray, drawn: FloatArray, max_iter: int, tolerance: float
) -> tuple[FloatArray, float, int]:
    centers, iterations, moved = _seed(rows, drawn), 0, np.inf
    while moved > tolerance and iterations < max_iter:
        before, centers = centers, _means(rows, centers)
        moved, iterations = float(np.square(centers - before).sum()), iterations + 1
    return centers, float(_nearest(rows, centers)[1].sum()), iterations


def _squares(rows: FloatArray, point: FloatArray) -> FloatArray:
    """Sum column by column, as the compiled loop does."""
    total = np.zeros(len(rows))
    for column, value in zip(rows.T, point, strict=True):
        total += np.square(column - value)
    return total


def _seed(rows: FloatArray, drawn: FloatArray) -> FloatArray:
    """Draw rows far from the centers so far; of the trials the one that lowers the sum most."""
    centers = np.empty((len(drawn), rows.shape[1]))
    centers[0] = rows[min(int(drawn[0, 0] * len(rows)), len(rows) - 1)]
    nearest = _squares(rows, centers[0])
    for number, trials in enumerate(drawn[1:], 1):
        sums = np.cumsum(nearest)
        least, best = np.inf, nearest
        for at in trials * sums[-1]:
            row = min(int(np.searchsorted(sums, at, side="right")), len(rows) - 1)
            tried = np.minimum(nearest, _squares(rows, rows[row]))
            total = float(np.cumsum(tried)[-1])
            if total < least:
                least, best, centers[number] = total, tried, rows[row]
        nearest = best
    return centers


def _nearest(rows: FloatArray, centers: FloatArray) -> tuple[IntArray, FloatArray]:
    squares = np.stack([_squares(rows, center) for center in centers], axis=1)
    labels = np.argmin(squares, axis=1)
    return labels, squares[np.arange(len(rows)), labels]


def _means(rows: FloatArray, centers: FloatArray) -> FloatArray:
    """Means of the rows of each center; one without rows moves to the row farthest from its own."""
    labels, squares = _nearest(rows, centers)
    count = np.bincount(labels, minlength=len(centers))
    for empty in np.flatnonzero(count == 0):
        far = int(np.argmax(squares))
        if squares[far] > 0:
            count[labels[far]] -= 1
            labels[far], squares[far], count[empty] = empty, 0.0, 1
    sums = np.zeros_like(centers)
    np.add.at(sums, labels, rows)
    return np.where(count[:, None] > 0, sums / np.maximum(count, 1)[:, None], centers)
