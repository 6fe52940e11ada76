"""Undirected graphs of distances, and the symmetrisation of directed ones."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from unbend.arrays import FloatArray, IntArray
from unbend.neighbors.value import Neighbors

How = Literal["max", "min", "mean"]


@dataclass(frozen=True, eq=False)
class Graph:
    """Edge lengths in compressed rows, and the component of each vertex.

    A stored zero is an edge of length zero; absent means no edge.
    """

    lengths: csr_array
    components: IntArray

    @property
    def n(self) -> int:
        """Number of vertices."""
        return int(self.lengths.shape[0])


def undirected(neighbors: Neighbors, how: How = "max") -> Graph:
    """Join each pair that is an edge in either (`max`, `mean`) or both (`min`) directions.

    Where the two directions differ in length, `max` (the larger adjacency) keeps the shorter,
    `min` the longer and `mean` their average. Book section 4.1.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.neighbors import PointSpace
    >>> line = PointSpace(np.array([[0.0], [1.0], [1.5]])).nearest(1)
    >>> undirected(line).lengths.toarray()
    array([[0. , 1. , 0. ],
           [1. , 0. , 0.5],
           [0. , 0.5, 0. ]])
    """
    rows, columns, forth, back = _both_ways(neighbors.graph(), absent=np.inf)
    if how == "max":
        lengths = np.minimum(forth, back)
    elif how == "min":
        lengths = np.maximum(forth, back)
    else:
        lengths = np.where(
            np.isinf(forth), back, np.where(np.isinf(back), forth, (forth + back) / 2)
        )
    keep = np.isfinite(lengths)
    n = neighbors.n
    graph = _csr(rows[keep], columns[keep], lengths[keep], n)
    return Graph(graph, components(graph))


def symmetrize(weights: csr_array, how: How = "max") -> csr_array:
    """Symmetric weights max(W, W'), min(W, W') or (W + W')/2, where absent means zero."""
    rows, columns, forth, back = _both_ways(weights, absent=0.0)
    if how == "mean":
        merged = (forth + back) / 2
    else:
        merged = np.maximum(forth, back) if how == "max" else np.minimum(forth, back)
    keep = merged != 0
    return _csr(rows[keep], columns[keep], merged[keep], weights.shape[0])


def components(graph: csr_array) -> IntArray:
    """Component of each vertex, numbered by size, largest first, ties by first vertex.

    Edges count whichever way they point.
    """
    # Ones in place of lengths: SciPy must not take a length of zero for a missing edge.
    pattern = csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)
    _, labels = connected_components(pattern, directed=True, connection="weak")
    _, first, inverse, counts = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    rank = np.empty(len(counts), dtype=np.intp)
    rank[np.lexsort((first, -counts))] = np.arange(len(counts))
    return rank[inverse]


def _both_ways(
    graph: csr_array, absent: float
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Every ordered pair that is an edge in some direction, with its value in both directions.

    SciPy's own maximum and minimum would lose edges of length zero.
    """
    n = graph.shape[0]
    edges = coo_array(graph)
    pair = edges.row.astype(np.int64) * n + edges.col
    reverse = edges.col.astype(np.int64) * n + edges.row
    every = np.union1d(pair, reverse)
    forth = np.full(len(every), absent)
    forth[np.searchsorted(every, pair)] = edges.data
    back = np.full(len(every), absent)
    back[np.searchsorted(every, reverse)] = edges.data
    return every // n, every % n, forth, back


def _csr(rows: IntArray, columns: IntArray, values: FloatArray, n: int) -> csr_array:
    """Compressed rows of entries that are already in row order."""
    offsets = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n))))
    return csr_array((values, columns.astype(np.int32), offsets), shape=(n, n))
