"""Points in space: a KD-tree in low dimension, blocked matrix products in high."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import KDTree

from unbend._kernels import kernels, reference
from unbend._kernels.signatures import Tree
from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.memory import reserve
from unbend.neighbors.metrics import EUCLIDEAN, Metric
from unbend.neighbors.products import Cloud
from unbend.neighbors.space import Space, centred_gram, principal, smallest, without_self
from unbend.neighbors.value import Neighbors
from unbend.report import step

# Beyond this many columns a KD-tree visits most of its leaves and matrix products win.
TREE_COLUMNS = 15
# Rows of the first call of a search; later calls grow until they take this many seconds, between
# which the progress callback is told and an interrupt is seen.
AT_ONCE = 4096
SECONDS = 0.1
# Norms that the compiled tree serves; SciPy's serves the others.
TREE_NORMS = (1.0, 2.0, np.inf)


@dataclass(frozen=True, eq=False)
class PointSpace(Space):
    """Rows of numbers with a metric.

    Examples
    --------
    >>> import numpy as np
    >>> line = PointSpace(np.array([[0.0], [1.0], [3.0]]))
    >>> line.nearest(1).indices
    array([1, 0, 1], dtype=int32)
    """

    points: FloatArray
    metric: Metric = EUCLIDEAN
    workers: int = 1

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.points)

    def __getstate__(self) -> dict[str, object]:
        """Leave out the trees, which are built again when they are asked for."""
        return {name: self.__dict__[name] for name in ("points", "metric", "workers")}

    @property
    def _low(self) -> bool:
        return self.metric.norm is not None and self.points.shape[1] <= TREE_COLUMNS

    @cached_property
    def _tree(self) -> Tree:
        norm = self.metric.norm or 2.0
        build = kernels.KdTree if norm in TREE_NORMS else reference.KdTree
        return build(np.ascontiguousarray(self.points, dtype=np.float64), norm, self.workers)

    @cached_property
    def _pairs(self) -> KDTree:
        # Balanced trees split at medians, which degenerates when many points coincide.
        return KDTree(self.points, balanced_tree=False, compact_nodes=False)

    @cached_property
    def _cloud(self) -> Cloud:
        return Cloud.of(self.points)

    def nearest(self, k: int) -> Neighbors:
        """Find the k nearest other points of every point."""
        if self._low:
            return Neighbors.rectangular(*self._nearest_by_tree(k))
        if self.metric.norm == 2:
            return Neighbors.rectangular(*self._cloud.neighbors(k, self.workers))
        return without_self(*self._nearest_by_blocks(self.points, k + 1))

    def nearest_of(self, new: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Find the k points nearest to each new point."""
        if not self._low:
            if self.metric.norm == 2:
                return self._cloud.nearest_of(new, k, self.workers)
            return self._nearest_by_blocks(new, k)
        new = np.ascontiguousarray(new, dtype=np.float64)
        indices, distances = np.empty((len(new), k), dtype=np.int32), np.empty((len(new), k))
        for first, last in _paced(len(new), AT_ONCE):
            rows = slice(first, last)
            self._tree.nearest_of(new[rows], self.workers, indices[rows], distances[rows])
            step(last, len(new))
        return indices, distances

    def _nearest_by_tree(self, k: int) -> tuple[IntArray, FloatArray]:
        tree = self._tree
        indices, distances = np.empty((self.n, k), dtype=np.int32), np.empty((self.n, k))
        for first, last in _paced(tree.leaves, max(1, AT_ONCE * tree.leaves // self.n)):
            tree.neighbors(first, last, self.workers, indices, distances)
            step(last, tree.leaves)
        return indices, distances

    def _nearest_by_blocks(self, new: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        found = []
        chunks = row_chunks(len(new), 16 * self.n)
        for number, rows in enumerate(chunks):
            found.append(smallest(self.metric.between(new[rows], self.points), k, self.workers))
            step(number + 1, len(chunks))
        return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])

    def within(self, radius: float) -> Neighbors:
        """Find all other points within `radius` of every point."""
        if self._low:
            norm = self.metric.norm or 2.0
            # A little farther, so that rounding loses no pair at exactly the radius.
            reach = radius * (1 + 1e-12)
            edges = int(self._pairs.count_neighbors(self._pairs, reach, norm))
            reserve(64 * edges, f"{edges} edges within the radius", "use a smaller radius")
            pairs = self._pairs.query_pairs(reach, norm, output_type="ndarray")
            lengths = self.lengths(pairs[:, 0], pairs[:, 1])
            pairs, lengths = pairs[lengths <= radius], lengths[lengths <= radius]
            ends = np.concatenate((pairs, pairs[:, ::-1]))
            return Neighbors.from_edges(self.n, ends[:, 0], ends[:, 1], np.tile(lengths, 2))
        rows, columns, distances = [], [], []
        for chunk in row_chunks(self.n, 16 * self.n):
            between = self.metric.between(self.points[chunk], self.points)
            row, column = np.nonzero(between <= radius)
            rows.append(row + chunk.start)
            columns.append(column)
            distances.append(between[row, column])
            step(chunk.stop, self.n)
        return Neighbors.from_edges(
            self.n, np.concatenate(rows), np.concatenate(columns), np.concatenate(distances)
        )

    def distances_of(self, new: FloatArray) -> FloatArray:
        """Distances of the new points to all points."""
        return self.metric.between(new, self.points)

    def lengths(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Distances of pairs of points."""
        if self.metric.norm is None:
            pairs = zip(self.points[rows, None], self.points[columns, None], strict=True)
            return np.array([self.metric.between(a, b)[0, 0] for a, b in pairs])
        difference = self.points[rows].astype(np.float64) - self.points[columns]
        return np.asarray(np.linalg.norm(difference, ord=self.metric.norm, axis=1))

    def coordinates(self, blocks: IntArray) -> FloatArray:
        """Coordinates of the points in each block, up to a rigid motion."""
        return self._local(self.points[blocks].astype(np.float64))

    def coordinates_of(self, new: FloatArray, blocks: IntArray) -> FloatArray:
        """Do the same with the new point first."""
        return self._local(np.concatenate((new[:, None], self.points[blocks]), axis=1))

    def _local(self, block: FloatArray) -> FloatArray:
        if self.metric.norm != 2:
            return principal(centred_gram(np.stack([self.metric.between(b, b) for b in block])))
        # From the first point: points that coincide differ by exactly zero.
        block = block - block[:, :1]
        if block.shape[2] <= block.shape[1]:
            return block
        # s points span at most s - 1 directions: keep those, not all columns.
        return principal(block @ block.transpose(0, 2, 1))

    def take(self, rows: IntArray) -> "PointSpace":
        """Restrict to some points."""
        return PointSpace(self.points[rows], self.metric, self.workers)

    def rows(self, rows: IntArray) -> FloatArray:
        """Fitted points as new points."""
        return self.points[rows]

    def narrow(self, new: FloatArray, rows: IntArray) -> FloatArray:
        """Return the points: they do not depend on the fitted ones."""
        return new

    def distinct(self) -> tuple[IntArray, IntArray]:
        """First occurrence of each distinct point, and which of them each point equals."""
        _, first, inverse = np.unique(self.points, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return first[order], rank[inverse.ravel()]


def _paced(total: int, at_once: int) -> Iterator[tuple[int, int]]:
    """Ranges that cover 0..total, growing while the caller is done with them quickly.

    Threads wait for each other at the end of each range, so short ones would waste them.
    """
    first = 0
    while first < total:
        last = min(first + at_once, total)
        start = time.perf_counter()
        yield first, last
        if time.perf_counter() - start < SECONDS / 2:
            at_once *= 2
        first = last
