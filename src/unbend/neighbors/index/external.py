"""Indexes of other libraries: results are checked, distances recomputed, the recall estimated."""

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.neighbors.index.brute_force import Cloud
from unbend.neighbors.index.kd_tree import AT_ONCE, growing_ranges
from unbend.neighbors.index.protocol import (
    NeighborIndex,
    contiguous_queries,
    drop_self,
    note_recall,
)
from unbend.neighbors.metrics.norms import PNorm
from unbend.report import step

# Number of points on which the recall is estimated.
SAMPLE = 250


@dataclass(frozen=True, eq=False)
class ExternalIndex:
    """A built index of another library.

    Its neighbours are candidates: distances are recomputed in double precision and ties are broken
    by index, so an index may work in single precision, or return squared distances.
    """

    index: NeighborIndex
    cloud: Cloud
    p: float
    threads: int

    @classmethod
    def build(cls, index: NeighborIndex, points: FloatArray, threads: int) -> "ExternalIndex":
        """Build a copy of an index, which itself stays unbuilt."""
        cloud = Cloud.of(np.asarray(points, dtype=np.float64))
        built = copy(index).build(cloud.points)
        if not callable(getattr(built, "query", None)):
            raise TypeError(
                f"{type(index).__name__}.build(points) must return an index with a method query "
                f"and returned a {type(built).__name__}: end it with `return self`"
            )
        return cls(built, cloud, norm_order(index), threads)

    def query(self, rows: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Find k points near each row."""
        rows = contiguous_queries(rows, k, self.cloud.points.shape)
        indices, distances = np.empty((len(rows), k), dtype=np.int32), np.empty((len(rows), k))
        for first, last in growing_ranges(len(rows), AT_ONCE):
            answer = self.index.query(rows[first:last], k)
            indices[first:last] = self._check_answer(answer, (last - first, k))
            step(last, len(rows))
        for some in row_chunks(len(rows), 8 * k * (rows.shape[1] + 8)):
            indices[some], distances[some] = self._rank(rows[some], indices[some])
        return indices, distances

    def query_self(self, k: int) -> tuple[IntArray, FloatArray]:
        """Find k other points near every point, and report the recall."""
        indices, distances = self.query(self.cloud.points, k + 1)
        indices, distances = drop_self(indices, distances)
        n = len(indices)
        sample = np.sort(np.random.default_rng(0).choice(n, min(SAMPLE, n), replace=False))
        # The point itself is one of the k + 1 nearest.
        reach = self._exact_distances(self.cloud.points[sample], k + 1)[:, -1]
        note_recall(type(self.index).__name__, distances[sample], reach)
        return indices, distances

    def _rank(self, rows: FloatArray, indices: IntArray) -> tuple[IntArray, FloatArray]:
        """Sort neighbours by recomputed distances, ties by index."""
        if self.p == 2:
            return self.cloud.rank_candidates(rows, indices, indices.shape[1], self.threads)
        near = self.cloud.points[indices.ravel()]
        lengths = PNorm(self.p).along(np.repeat(rows, indices.shape[1], axis=0), near)
        distances = lengths.reshape(indices.shape)
        order = np.lexsort((indices, distances), axis=1)
        return np.take_along_axis(indices, order, 1), np.take_along_axis(distances, order, 1)

    def _exact_distances(self, rows: FloatArray, k: int) -> FloatArray:
        if self.p == 2:
            return self.cloud.nearest_of(rows, k, self.threads)[1]
        points = self.cloud.points
        chunks = row_chunks(len(rows), 16 * len(points))
        between = (PNorm(self.p).between(rows[some], points) for some in chunks)
        return np.concatenate([np.sort(block, axis=1)[:, :k] for block in between])

    def _check_answer(self, answer: Any, shape: tuple[int, int]) -> IntArray:
        """Return the indices of a result, or raise if it is invalid."""
        name, n = f"{type(self.index).__name__}.query(rows, k)", len(self.cloud.points)
        indices, distances = _arrays(name, answer, shape)
        if np.any(indices < 0):
            raise ValueError(
                f"{name} found fewer than k={shape[1]} neighbours for some rows (a negative "
                "index): increase its search effort, or use a smaller n_neighbors"
            )
        if np.any(indices >= n):
            raise ValueError(
                f"{name} returned index {indices.max()} and there are {n} points: return indices "
                "of the points passed to build, from 0"
            )
        if not np.isfinite(distances).all() or np.any(distances < 0):
            raise ValueError(
                f"{name} returned distances that are NaN, infinite or negative: return Euclidean "
                "distances, not inner products"
            )
        if np.any(np.diff(distances, axis=1) < 0):
            raise ValueError(
                f"{name} returned distances that are not ascending: sort the neighbours of each "
                "row, nearest first"
            )
        if np.any(np.diff(np.sort(indices, axis=1), axis=1) == 0):
            raise ValueError(
                f"{name} returned the same neighbour twice for a row: return distinct points"
            )
        return indices


def norm_order(index: object) -> float:
    """Order p of the Minkowski norm of an index; 2 unless it has an attribute p."""
    return float(getattr(index, "p", 2.0))


def _arrays(name: str, answer: Any, shape: tuple[int, int]) -> tuple[IntArray, FloatArray]:
    """Return the two arrays of a result, or raise if they do not have that shape."""
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise TypeError(
            f"{name} must return a pair (indices, distances): it returned a {type(answer).__name__}"
        )
    indices, distances = (np.asarray(part) for part in answer)
    if indices.shape != shape or distances.shape != shape:
        raise ValueError(
            f"{name} must return k={shape[1]} neighbours of each of {shape[0]} rows, two arrays of "
            f"shape {shape}: the indices are {indices.shape} and the distances {distances.shape}"
        )
    if indices.dtype.kind not in "iu" or distances.dtype.kind not in "fiu":
        raise TypeError(
            f"{name} must return (indices, distances), integers and real numbers in this order: "
            f"they are {indices.dtype} and {distances.dtype}"
        )
    return indices, distances
