"""Nearest rows, in any norm and from products."""

from collections.abc import Iterator

import numpy as np
from scipy.spatial import KDTree as PlainTree

from unbend.arrays import BoolArray, FloatArray, IntArray, row_chunks

# Relative slack for distances that SciPy sums in another order.
SLACK = 1e-13


class KdTree:
    """Rows arranged for neighbour queries; answers are sorted by (distance, index).

    The compiled tree serves the 1-, 2- and maximum norm. This one is SciPy's, with distances
    summed column by column, and serves any p-norm.
    """

    def __init__(self, points: FloatArray, norm: float, threads: int) -> None:
        if not np.isfinite(points).all():
            raise ValueError("the rows must be finite")
        self.norm = norm
        self.points = points
        self.scale = _safe_scale(float(np.abs(points).max()))
        # Balanced trees split at medians, which degenerates when many points coincide.
        self.tree = PlainTree(points * self.scale, balanced_tree=False, compact_nodes=False)

    @property
    def leaves(self) -> int:
        """Number of groups in which `neighbors` goes through the rows; here each is a group."""
        return len(self.points)

    def neighbors(
        self, first: int, last: int, threads: int, indices: IntArray, distances: FloatArray
    ) -> None:
        """Fill the rows of (n, k) arrays that belong to some groups with their nearest others."""
        k = indices.shape[1]
        for i, others, away in self._sorted(self.points[first:last], k + 1, threads):
            keep = others != first + i
            indices[first + i], distances[first + i] = others[keep][:k], away[keep][:k]

    def nearest_of(
        self, points: FloatArray, threads: int, indices: IntArray, distances: FloatArray
    ) -> None:
        """Fill (m, k) arrays with the rows nearest to each new one."""
        if not np.isfinite(points).all():
            raise ValueError("the rows must be finite")
        k = indices.shape[1]
        for i, others, away in self._sorted(points, k, threads):
            indices[i], distances[i] = others[:k], away[:k]

    def _sorted(
        self, new: FloatArray, k: int, threads: int
    ) -> Iterator[tuple[int, IntArray, FloatArray]]:
        """Yield each row's number and all that is as near as its k-th nearest, in order."""
        scaled = new * self.scale
        everyone = np.arange(len(self.points))
        found = np.asarray(self.tree.query(scaled, [k], p=self.norm, workers=threads)[0])[:, 0]
        for i, reach in enumerate(found):
            near = everyone
            if np.isfinite(reach):
                ball = self.tree.query_ball_point(scaled[i], reach * (1 + SLACK), p=self.norm)
                near = np.asarray(ball)
            away = self._distances(self.points[near], new[i])
            order = np.lexsort((near, away))
            yield i, near[order], away[order]

    def _distances(self, points: FloatArray, row: FloatArray) -> FloatArray:
        scale = _safe_scale(max(np.abs(points).max(), np.abs(row).max()))
        differences = np.abs(points * scale - row * scale)
        if self.norm == np.inf:
            return np.asarray(differences.max(axis=1) / scale)
        powers = np.zeros(len(points))
        for column in differences.T:
            powers += column if self.norm == 1 else column**self.norm
        if self.norm == 2:
            return np.asarray(np.sqrt(powers) / scale)
        return np.asarray(powers ** (1 / self.norm) / scale)


def _safe_scale(largest: float) -> float:
    """Give the power of two that keeps squares in range."""
    if largest == 0 or 2.0**-250 <= largest <= 2.0**400:
        return 1.0
    return float(np.ldexp(1.0, min(-int(np.frexp(largest)[1]), 1000)))


def smallest(values: FloatArray, threads: int, indices: IntArray, keys: FloatArray) -> None:
    """Fill (m, k) arrays with the k smallest of each row, sorted by (value, index)."""
    order = np.argsort(values, axis=1, kind="stable")[:, : indices.shape[1]]
    indices[...] = order
    keys[...] = np.take_along_axis(values, order, axis=1)


def rank(
    points: FloatArray,
    queries: FloatArray,
    scale: float,
    candidates: IntArray,
    bounds: FloatArray,
    complete: bool,
    threads: int,
    indices: IntArray,
    distances: FloatArray,
    sure: BoolArray,
) -> None:
    """Fill (m, k) arrays with the nearest candidates by their distances from differences.

    `bounds`, ascending, are lower bounds of the squared distances times scale²; a query is
    sure if they prove that no other row is nearer, or if the candidates are `complete`.
    """
    k = indices.shape[1]
    for rows in row_chunks(len(queries), 16 * candidates.shape[1] * points.shape[1]):
        differences = (points[candidates[rows]] - queries[rows, None]) * scale
        squares = sum_of_squares(differences)
        order = np.lexsort((candidates[rows], np.sqrt(squares)), axis=1)[:, :k]
        indices[rows] = np.take_along_axis(candidates[rows], order, axis=1)
        nearest = np.take_along_axis(squares, order, axis=1)
        distances[rows] = np.sqrt(nearest) / scale
        beyond = nearest[:, -1] * (1 + 4 * np.finfo(np.float64).eps * (points.shape[1] + 9))
        sure[rows] = complete | (bounds[rows, -1] > beyond)


def count_nearer(
    points: FloatArray,
    asked: IntArray,
    approximate: FloatArray,
    slack: FloatArray,
    targets: IntArray,
    threads: int,
    ranks: IntArray,
) -> None:
    """Fill `ranks` (m, k): the rank of each target among all rows as seen from the asked ones.

    Rows are ordered by (distance, index), the asked one left out; the nearest has rank 1.
    `approximate` (m, n) are squared distances known up to `slack` (m,), or (m, 0).
    Here by sorting all rows, without what is approximate.
    """
    n = len(points)
    for place, row in enumerate(asked):
        differences = points - points[row]
        if approximate.shape[1]:
            squares = sum_of_squares(differences)
        else:
            squares = np.zeros(n)
            for column in differences.T:
                squares += column * column
        order = np.lexsort((np.arange(n), np.sqrt(squares)))
        rank_of = np.empty(n, dtype=np.intp)
        rank_of[order[order != row]] = np.arange(1, n)
        ranks[place] = rank_of[targets[place]]


def sum_of_squares(numbers: FloatArray) -> FloatArray:
    """Sum along the last axis in the order of the compiled kernel: sixteen partial sums."""
    *shape, d = numbers.shape
    padded = np.zeros((*shape, -(-d // 16) * 16))
    padded[..., :d] = numbers * numbers
    sums = np.zeros((*shape, 4, 4))
    for part in np.moveaxis(padded.reshape(*shape, -1, 4, 4), -3, 0):
        sums += part
    lanes = (sums[..., 0, :] + sums[..., 1, :]) + (sums[..., 2, :] + sums[..., 3, :])
    return np.asarray((lanes[..., 0] + lanes[..., 1]) + (lanes[..., 2] + lanes[..., 3]))
