"""Exact neighbours in few columns by a KD-tree."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray
from unbend.neighbors.index.protocol import (
    contiguous_points,
    contiguous_queries,
    require_built,
)
from unbend.report import step
from unbend.validation.scalars import check_count, check_threads

# Norms of the compiled tree; others use SciPy's.
COMPILED_NORMS = (1.0, 2.0, np.inf)
# Rows of the first call of a search; later calls grow until they take this many seconds. The
# progress callback is called, and interrupts are handled, between calls.
AT_ONCE = 4096
SECONDS = 0.1


@dataclass(frozen=True)
class KDTree:
    """Exact search by a KD-tree, for about 15 columns at most; a `NeighborIndex`.

    Parameters
    ----------
    p : float
        Order of the Minkowski norm, at least 1.
    threads : int
        Number of threads; an estimator sets it to its `n_jobs`.
    tree : object, optional
        Set by `build`.
    shape : tuple
        Shape of the points, set by `build`.

    Examples
    --------
    >>> import numpy as np
    >>> index = KDTree(p=1).build(np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 0.0]]))
    >>> index.query(np.array([[1.0, 0.0]]), 2)
    (array([[0, 1]], dtype=int32), array([[1., 1.]]))
    """

    p: float = 2.0
    threads: int = 1
    tree: Any = field(default=None, repr=False, compare=False)
    shape: tuple[int, ...] = field(default=(0, 0), repr=False, compare=False)

    def __post_init__(self) -> None:
        check_threads(self.threads)
        if not self.p >= 1:
            raise ValueError(f"p={self.p!r} is not allowed: it must be a number of at least 1")

    def build(self, points: FloatArray) -> "KDTree":
        """Return an index of the points."""
        if self.p in COMPILED_NORMS:
            make = kernels.KdTree
        else:
            from unbend._kernels import reference

            make = reference.KdTree
        points = contiguous_points(points)
        tree = make(points, float(self.p), self.threads)
        return replace(self, tree=tree, shape=points.shape)

    def query(self, rows: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Find the k points nearest to each row."""
        tree = require_built(self.tree, self)
        rows = contiguous_queries(rows, k, self.shape)
        indices, distances = np.empty((len(rows), k), dtype=np.int32), np.empty((len(rows), k))
        for first, last in growing_ranges(len(rows), AT_ONCE):
            some = slice(first, last)
            tree.nearest_of(rows[some], self.threads, indices[some], distances[some])
            step(last, len(rows))
        return indices, distances

    def query_self(self, k: int) -> tuple[IntArray, FloatArray]:
        """Find the k nearest other points of every point."""
        tree = require_built(self.tree, self)
        n = self.shape[0]
        check_count(k, n - 1)
        indices, distances = np.empty((n, k), dtype=np.int32), np.empty((n, k))
        for first, last in growing_ranges(tree.leaves, max(1, AT_ONCE * tree.leaves // n)):
            tree.neighbors(first, last, self.threads, indices, distances)
            step(last, tree.leaves)
        return indices, distances


def growing_ranges(total: int, at_once: int) -> Iterator[tuple[int, int]]:
    """Yield ranges that cover 0..total, doubled while they are processed quickly.

    Threads synchronise at the end of each range, so short ranges are inefficient.
    """
    first = 0
    while first < total:
        last = min(first + at_once, total)
        start = time.perf_counter()
        yield first, last
        if time.perf_counter() - start < SECONDS / 2:
            at_once *= 2
        first = last
