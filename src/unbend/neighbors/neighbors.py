"""Neighbourhoods of all points."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from scipy.sparse import csr_array

from unbend._kernels import kernels
from unbend._kernels.parts import map_parts
from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.report import step

# Blocks that a thread works on between two calls of the callback.
BATCH = 2


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The neighbours of each point, nearest first; a point is never its own neighbour.

    The neighbours of point i are ``indices[offsets[i]:offsets[i + 1]]``, with their distances. Rows
    may differ in length (radius graphs, a count for each point, connected components); local
    methods use `blocks`, which groups rows of equal length.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = Neighbors.rectangular(np.array([[1], [0]]), np.array([[2.0], [2.0]]))
    >>> pairs.counts
    array([1, 1])
    """

    offsets: IntArray
    indices: IntArray
    distances: FloatArray

    def __post_init__(self) -> None:
        ends = self.offsets[:1].tolist() + self.offsets[-1:].tolist()
        if len(self.indices) != len(self.distances) or ends != [0, len(self.indices)]:
            raise ValueError(
                "offsets, indices and distances are inconsistent: pass the arrays of a CSR graph"
            )
        if len(self.indices) and not 0 <= self.indices.min() <= self.indices.max() < self.n:
            raise ValueError(f"indices must be from 0 to {self.n - 1}")

    @classmethod
    def rectangular(cls, indices: IntArray, distances: FloatArray) -> "Neighbors":
        """Build from (n, k) arrays that are sorted along each row."""
        n, k = indices.shape
        offsets = np.arange(n + 1, dtype=np.int64) * k
        return cls(offsets, indices.astype(np.int32, copy=False).ravel(), distances.ravel())

    @classmethod
    def from_edges(
        cls, n: int, rows: IntArray, columns: IntArray, distances: FloatArray
    ) -> "Neighbors":
        """Build from edges in any order, without loops; of repeated edges the shortest is kept."""
        order = np.lexsort((columns, distances, rows))
        rows, columns, distances = rows[order], columns[order], distances[order]
        pair = rows.astype(np.int64) * n + columns
        _, first = np.unique(pair, return_index=True)
        keep = np.zeros(len(pair), dtype=bool)
        keep[first] = True
        keep &= rows != columns
        counts = np.bincount(rows[keep], minlength=n)
        offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        return cls(offsets, columns[keep].astype(np.int32), distances[keep])

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.offsets) - 1

    @property
    def counts(self) -> IntArray:
        """Number of neighbours of each point."""
        return np.diff(self.offsets)

    @property
    def rows(self) -> IntArray:
        """The point that owns each entry."""
        return np.repeat(np.arange(self.n, dtype=np.int32), self.counts)

    @property
    def ranks(self) -> IntArray:
        """Rank of each entry among the neighbours of its point, from zero."""
        return np.arange(len(self.indices)) - np.repeat(self.offsets[:-1], self.counts)

    def graph(self) -> csr_array:
        """Return the directed graph; stored entries, zeros too, are edges."""
        return csr_array((self.distances, self.indices, self.offsets), shape=(self.n, self.n))

    def with_self(self) -> tuple[IntArray, IntArray]:
        """Offsets and members of the neighbourhoods with the point itself first."""
        offsets = self.offsets + np.arange(self.n + 1)
        members = np.empty(offsets[-1], dtype=np.int32)
        others = np.ones(len(members), dtype=bool)
        others[offsets[:-1]] = False
        members[offsets[:-1]] = np.arange(self.n)
        members[others] = self.indices
        return offsets, members

    def blocks(self, rows_at_once: int) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield (points, indices) with one row of neighbours per point, all of one length."""
        counts = self.counts
        for count in np.unique(counts):
            points = np.flatnonzero(counts == count)
            for start in range(0, len(points), rows_at_once):
                chunk = points[start : start + rows_at_once]
                yield chunk, self.indices[self.offsets[chunk, None] + np.arange(count)]

    def map_blocks(
        self,
        work: Callable[[IntArray, IntArray], None],
        rows_at_once: int,
        threads: int = 1,
    ) -> None:
        """Do some work on every block of `blocks`, shared by threads; reports progress."""
        done, blocks = 0, self.blocks(rows_at_once)
        while batch := list(islice(blocks, BATCH * threads)):
            map_parts(lambda block: work(*block), batch, threads)
            done += sum(len(points) for points, _ in batch)
            step(done, self.n)

    def select(self, keep: BoolArray) -> "Neighbors":
        """Keep the entries where `keep` is true."""
        counts = np.bincount(self.rows[keep], minlength=self.n)
        offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        return Neighbors(offsets, self.indices[keep], self.distances[keep])

    def nearest(self, counts: IntArray) -> "Neighbors":
        """Keep at most `counts[i]` nearest neighbours of point i."""
        return self.select(self.ranks < np.repeat(counts, self.counts))

    def within(self, radius: float) -> "Neighbors":
        """Keep the neighbours within `radius`."""
        return self.select(self.distances <= radius)

    def mutual(self, least: int = 0) -> "Neighbors":
        """Keep the entries whose reverse is stored too, and the `least` nearest of each point.

        Examples
        --------
        >>> import numpy as np
        >>> from unbend.neighbors import PointSpace
        >>> line = PointSpace(np.array([[0.0], [1.0], [3.0]])).nearest(1)
        >>> line.mutual().counts
        array([1, 1, 0])
        """
        number = np.arange(len(self.indices), dtype=np.float64)
        _, _, entry, reverse = kernels.both_ways(self.offsets, self.indices, number, -1.0)
        keep = self.ranks < least
        keep[entry[(entry >= 0) & (reverse >= 0)].astype(np.intp)] = True
        return self.select(keep)

    def take(self, rows: IntArray) -> "Neighbors":
        """Restrict to a subset of points, renumbered, which must contain all their neighbours."""
        position = np.full(self.n, -1, dtype=np.int32)
        position[rows] = np.arange(len(rows), dtype=np.int32)
        entry = np.concatenate([np.arange(self.offsets[i], self.offsets[i + 1]) for i in rows])
        offsets = np.concatenate(([0], np.cumsum(self.counts[rows]))).astype(np.int64)
        return Neighbors(offsets, position[self.indices[entry]], self.distances[entry])

    def add_edges(self, rows: IntArray, columns: IntArray, distances: FloatArray) -> "Neighbors":
        """Add edges; only the points that get one are sorted again."""
        changed = np.zeros(self.n, dtype=bool)
        changed[rows] = True
        old = changed[self.rows]
        part = Neighbors.from_edges(
            self.n,
            np.concatenate((self.rows[old], rows)),
            np.concatenate((self.indices[old], columns)),
            np.concatenate((self.distances[old], distances)),
        )
        counts = np.where(changed, part.counts, self.counts)
        new = np.repeat(changed, counts)
        indices = np.empty(len(new), dtype=np.int32)
        lengths = np.empty(len(new), dtype=part.distances.dtype)
        indices[new], indices[~new] = part.indices, self.indices[~old]
        lengths[new], lengths[~new] = part.distances, self.distances[~old]
        return Neighbors(np.concatenate(([0], np.cumsum(counts))), indices, lengths)
