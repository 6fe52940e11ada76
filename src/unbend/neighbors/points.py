"""Points in space: a KD-tree in low dimension, blocked matrix products in high."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import KDTree

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.memory import reserve
from unbend.neighbors.metrics import EUCLIDEAN, Metric
from unbend.neighbors.space import Space, centred_gram, principal, smallest, without_self
from unbend.neighbors.value import Neighbors
from unbend.report import step

# Beyond this many columns a KD-tree visits most of its leaves and matrix products win.
TREE_COLUMNS = 15
# Relative rounding of one term of the expanded square.
ROUNDING = 4 * np.finfo(np.float64).eps
# Candidates fetched beyond k by the expanded square, whose rounding may swap near ties.
SPARE = 4


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

    @cached_property
    def _tree(self) -> KDTree | None:
        if self.metric.norm is None or self.points.shape[1] > TREE_COLUMNS:
            return None
        # Balanced trees split at medians, which degenerates when many points coincide.
        return KDTree(self.points, balanced_tree=False, compact_nodes=False)

    @cached_property
    def _center(self) -> FloatArray:
        # Without it |a|² + |b|² − 2ab loses all digits on data far from the origin.
        return np.asarray(self.points.mean(axis=0, dtype=np.float64))

    def nearest(self, k: int) -> Neighbors:
        """Find the k nearest other points of every point."""
        return without_self(*self.nearest_of(self.points, k + 1))

    def nearest_of(self, new: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Find the k points nearest to each new point."""
        if self._tree is None:
            search = self._nearest_by_products if self.metric.norm == 2 else self._nearest_by_blocks
            return search(new, k)
        found = []
        chunks = row_chunks(len(new), 16 * (k + 8))
        for number, rows in enumerate(chunks):
            found.append(
                self._tree.query(
                    new[rows], np.arange(1, k + 1), p=self.metric.norm or 2.0, workers=self.workers
                )
            )
            step(number + 1, len(chunks))
        return np.concatenate([f[1] for f in found]), np.concatenate([f[0] for f in found])

    def _nearest_by_products(self, new: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        fitted = self.points.astype(np.float64) - self._center
        squares = np.einsum("ij,ij->i", fitted, fitted)
        fetched = min(self.n, k + SPARE)
        indices = np.empty((len(new), k), dtype=np.intp)
        distances = np.empty((len(new), k))
        row_bytes = 8 * (2 * self.n + fetched * fitted.shape[1])
        chunks = row_chunks(len(new), row_bytes)
        for number, rows in enumerate(chunks):
            queries = new[rows] - self._center
            approximate = squares - 2.0 * (queries @ fitted.T)
            candidates, found = smallest(approximate, fetched)
            # The product only proposes: distances come from differences, exact even for twins.
            differences = fitted[candidates] - queries[:, None]
            exact = np.sqrt(np.einsum("ijk,ijk->ij", differences, differences))
            order, nearest = smallest(exact, k)
            indices[rows] = np.take_along_axis(candidates, order, axis=1)
            distances[rows] = nearest
            # Where rounding could have hidden a nearer row behind the last candidate, look at all.
            lengths = np.einsum("ij,ij->i", queries, queries)
            rounding = ROUNDING * fitted.shape[1] * (lengths + squares.max())
            beyond = found[:, -1] + lengths - rounding
            unsure = np.flatnonzero((nearest[:, -1] ** 2 > beyond) & (fetched < self.n))
            if len(unsure):
                some = np.arange(rows.start, rows.stop)[unsure]
                indices[some], distances[some] = self._nearest_by_blocks(new[some], k)
            step(number + 1, len(chunks))
        return indices, distances

    def _nearest_by_blocks(self, new: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        found = []
        chunks = row_chunks(len(new), 16 * self.n)
        for number, rows in enumerate(chunks):
            found.append(smallest(self.metric.between(new[rows], self.points), k))
            step(number + 1, len(chunks))
        return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])

    def within(self, radius: float) -> Neighbors:
        """Find all other points within `radius` of every point."""
        if self._tree is not None:
            norm = self.metric.norm or 2.0
            # A little farther, so that rounding loses no pair at exactly the radius.
            reach = radius * (1 + 1e-12)
            edges = int(self._tree.count_neighbors(self._tree, reach, norm))
            reserve(64 * edges, f"{edges} edges within the radius", "use a smaller radius")
            pairs = self._tree.query_pairs(reach, norm, output_type="ndarray")
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
