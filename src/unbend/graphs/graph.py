"""Undirected graphs of distances, and the symmetrisation of directed ones."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from unbend._kernels import kernels
from unbend.arrays import BoolArray, FloatArray, IntArray, is_sparse, sorted_rows
from unbend.memory import check_fits
from unbend.neighbors.neighbors import Neighbors
from unbend.validation.arrays import check_finite
from unbend.validation.distances import check_nonnegative

How = Literal["max", "min", "mean"]

# Parameters of functions of graphs, unless these describe them.
PARAMETERS = {
    "lengths": "csr_array\n    Edge lengths, not negative; a stored zero is an edge of length "
    "zero.",
    "weights": "csr_array\n    Symmetric weights; pass a directed graph through `symmetrize` "
    "first.",
    "threads": "int\n    Sources are shared between this many threads; the result does not depend "
    "on it.",
}


def as_edges(graph: Any, what: str = "weights", meaning: Any = None) -> csr_array:
    """Compressed rows of a graph, or of a square sparse matrix; every stored entry is an edge.

    Of a graph, the numbers must have the `meaning` of one, if one is given.
    """
    if not isinstance(graph, csr_array):
        # It reads graphs of other libraries into the values of this module.
        from unbend.graphs.readers import edges_of

        graph = graph if is_sparse(graph) else edges_of(graph, meaning)
        if not is_sparse(graph):
            raise TypeError(
                f"{what} must be a graph or a sparse matrix: of a dense one define the edges "
                "with scipy.sparse.csr_array(matrix)"
            )
    if graph.ndim != 2 or graph.shape[0] != graph.shape[1]:
        raise ValueError(f"{what} must be a square matrix and they are {graph.shape}")
    if graph.dtype.kind not in "fiub":
        raise TypeError(f"{what} must be real numbers and they are {graph.dtype}")
    return graph if isinstance(graph, csr_array) else csr_array(graph)


def as_weights(graph: Any) -> csr_array:
    """Do the same with weights, finite and not negative; edges stored twice are added up."""
    weights = as_edges(graph, meaning="similarity")
    check_finite(weights, "weights")
    check_nonnegative(weights, "weights", what="Weights")
    if not weights.has_sorted_indices or not weights.has_canonical_format:
        weights = weights.copy()
        weights.sum_duplicates()
    return weights


def check_word(name: str, word: object, words: tuple[str, ...]) -> None:
    """Refuse a word that is not one of some."""
    if word not in words:
        raise ValueError(f"{name}={word!r} is not allowed: it must be one of {', '.join(words)}")


@dataclass(frozen=True, eq=False)
class Graph:
    """Edge lengths in compressed rows, and the component of each vertex.

    A stored zero is an edge of length zero; absent means no edge.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend import graphs
    >>> from unbend.neighbors import PointSpace
    >>> line = PointSpace(np.array([[0.0], [1.0], [5.0], [6.0]]))
    >>> graph = graphs.undirected(line.nearest(1))
    >>> graph.components, graph.lengths.nnz
    (array([0, 0, 1, 1]), 4)
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
    check_word("how", how, ("max", "min", "mean"))
    offsets, columns, forth, back = both_ways(neighbors.graph(), absent=np.inf)
    if how == "max":
        lengths = np.minimum(forth, back)
    elif how == "min":
        lengths = np.maximum(forth, back)
    else:
        lengths = np.where(
            np.isinf(forth), back, np.where(np.isinf(back), forth, (forth + back) / 2)
        )
    graph = _csr(offsets, columns, lengths, np.isfinite(lengths))
    return Graph(graph, components(graph))


def symmetrize(weights: csr_array, how: How = "max") -> csr_array:
    """Symmetric weights max(W, W'), min(W, W') or (W + W')/2, where absent means zero.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from unbend import graphs
    >>> one_way = csr_array(np.array([[0.0, 2], [0, 0]]))
    >>> graphs.symmetrize(one_way, "mean").toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    check_word("how", how, ("max", "min", "mean"))
    return symmetric_part(as_weights(weights), how)


def symmetric_part(weights: csr_array, how: How) -> csr_array:
    """Do what `symmetrize` does, with weights of which no edge is stored twice."""
    return merge_directions(weights.indptr, weights.indices, weights.data, how).matrix()


def merge_directions(
    offsets: IntArray, columns: IntArray, weights: FloatArray, how: How, threads: int = 1
) -> "CompressedRows":
    """Do what `symmetrize` does, with compressed rows of which no edge is stored twice."""
    merged = kernels.merge_directions(
        *_compressed(offsets, columns, weights), ("max", "min", "mean").index(how), threads
    )
    return CompressedRows(*merged)


def components(graph: csr_array) -> IntArray:
    """Component of each vertex, numbered by size, largest first, ties by first vertex.

    Edges count whichever way they point.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from unbend import graphs
    >>> graphs.components(csr_array(np.array([[0.0, 0, 0], [0, 0, 1], [0, 1, 0]])))
    array([1, 0, 0])
    """
    graph = as_edges(graph, "the edges of a graph")
    return components_of(graph.indptr, graph.indices)


def components_of(offsets: IntArray, columns: IntArray) -> IntArray:
    """Do what `components` does, with the offsets and columns of compressed rows."""
    labels = np.empty(len(offsets) - 1, dtype=np.int32)
    kernels.components(
        offsets.astype(np.int64, copy=False), columns.astype(np.int32, copy=False), labels
    )
    if not labels.any():
        return np.zeros(len(labels), dtype=np.intp)
    counts = np.bincount(labels)
    rank = np.empty(len(counts), dtype=np.intp)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return rank[labels]


def both_ways(graph: csr_array, absent: float) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Every pair that is an edge in some direction: offsets, columns, values forth and back."""
    return kernels.both_ways(*_compressed(graph.indptr, graph.indices, graph.data), absent)


def _compressed(
    offsets: IntArray, columns: IntArray, values: FloatArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Compressed rows in the types of the kernels, if both directions of them fit in memory."""
    # Each edge may be there in both directions: a number and two values, and what is kept of them.
    edges = len(columns)
    check_fits(64 * edges, f"a graph of {edges} edges", "use fewer neighbours or rows")
    return (
        offsets.astype(np.int64, copy=False),
        columns.astype(np.int32, copy=False),
        np.asarray(values, dtype=np.float64),
    )


def _csr(offsets: IntArray, columns: IntArray, values: FloatArray, keep: BoolArray) -> csr_array:
    """Compressed rows of the entries to keep; columns are sorted and none comes twice."""
    if not keep.all():
        offsets = np.concatenate(([0], np.cumsum(keep)))[offsets]
        columns, values = columns[keep], values[keep]
    return sorted_rows(offsets, columns, values)


class CompressedRows(NamedTuple):
    """Square sparse matrix between two kernels, without the checks of SciPy's.

    Columns of a row are sorted and none comes twice.

    Examples
    --------
    >>> import numpy as np
    >>> offsets, columns = np.array([0, 1, 2]), np.array([1, 0], dtype=np.int32)
    >>> edge = CompressedRows(offsets, columns, np.array([2.0, 2.0]))
    >>> edge.sums(), edge.matrix().toarray().tolist()
    (array([2., 2.]), [[0.0, 2.0], [2.0, 0.0]])
    """

    offsets: IntArray
    columns: IntArray
    values: FloatArray

    @classmethod
    def of(cls, matrix: csr_array) -> "CompressedRows":
        """Rows of a matrix of SciPy."""
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        return cls(
            matrix.indptr.astype(np.int64, copy=False),
            matrix.indices.astype(np.int32, copy=False),
            matrix.data.astype(np.float64, copy=False),
        )

    def sums(self) -> FloatArray:
        """Sum of each row."""
        n = len(self.offsets) - 1
        sums = np.empty((n, 1))
        kernels.sparse_product(*self, np.ones((n, 1)), 1, sums)
        return sums.ravel()

    def matrix(self) -> csr_array:
        """Return the matrix for SciPy."""
        return sorted_rows(*self)
