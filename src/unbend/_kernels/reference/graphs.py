"""Symmetric pairs, components and spanning trees of graphs, and products with their matrices."""

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from unbend.arrays import BoolArray, FloatArray, IntArray, with_short_indices


def both_ways(
    row: IntArray, column: IntArray, value: FloatArray, absent: float
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Every pair that is an edge in some direction: offsets, columns, values forth and back.

    SciPy's own maximum and minimum would lose edges of length zero.
    """
    n = len(row) - 1
    edges = coo_array(csr_array((value, column, row), shape=(n, n)))
    pair = edges.row.astype(np.int64) * n + edges.col
    reverse = edges.col.astype(np.int64) * n + edges.row
    every = np.union1d(pair, reverse)
    forth = np.full(len(every), absent)
    forth[np.searchsorted(every, pair)] = edges.data
    back = np.full(len(every), absent)
    back[np.searchsorted(every, reverse)] = edges.data
    offsets = np.searchsorted(every, np.arange(n + 1, dtype=np.int64) * n)
    return offsets, (every % max(n, 1)).astype(np.int32), forth, back


def components(row: IntArray, column: IntArray, labels: IntArray) -> None:
    """Fill the component of each vertex, numbered in the order of their first vertices."""
    n = len(row) - 1
    # Ones in place of lengths: SciPy must not take a length of zero for a missing edge.
    pattern = csr_array((np.ones(len(column)), column, row), shape=(n, n))
    _, found = connected_components(pattern, connection="weak")  # type: ignore[arg-type]
    _, first, inverse = np.unique(found, return_index=True, return_inverse=True)
    labels[...] = np.argsort(np.argsort(first))[inverse]


def spanning_trees(
    indices: IntArray,
    distances: FloatArray,
    inside: BoolArray,
    widths: IntArray,
    counts: IntArray,
    lengths: FloatArray,
) -> None:
    """Fill the edges and lengths of the spanning trees of samples, `inside` (samples, n).

    Edges join rows of a sample to those of their first `widths[s]` neighbours in it.
    Here by SciPy; no length may be zero.
    """
    for sample, (members, width) in enumerate(zip(inside, widths, strict=True)):
        present = members[:, None] & members[indices[:, :width]]
        first = np.concatenate(([0], np.cumsum(present.sum(axis=1))))
        length, column = distances[:, :width][present], indices[:, :width][present]
        edges = csr_array((length, column, first), shape=(len(indices),) * 2)
        tree = minimum_spanning_tree(with_short_indices(edges)).data
        counts[sample], lengths[sample] = len(tree), tree.sum()


def sparse_product(
    row: IntArray,
    column: IntArray,
    values: FloatArray,
    block: FloatArray,
    threads: int,
    image: FloatArray,
) -> None:
    """Fill `image`: a sparse matrix times a block of vectors."""
    matrix = csr_array((values, column, row), shape=(len(row) - 1, len(block)))
    image[...] = np.asarray(matrix @ block)
