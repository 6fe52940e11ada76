"""Edges with squared lengths: of a graph, or in a basis of few columns.

Within a span K = Q L Q' with a matrix Q of few columns (9.36). With an orthonormal basis U of the
centred columns of Q, K = U Z U' has the trace of Z, and an edge depends on Z through the difference
of two rows of U: the problem is that of all rows, with p × p matrices in place of n × n ones.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_array, csr_array

from unbend._kernels.parts import map_parts
from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.cached import cached_property
from unbend.graphs import components
from unbend.neighbors import GraphSpace, Neighbors, Space

# Edges shorter than this fraction of the median length are contracted: errors of 1e-10 in the
# squares of the others would stretch them without bound.
TOUCHING = 1e-6
# Bytes of a block of differences of a basis.
BLOCK = 1 << 21


def center(values: FloatArray) -> FloatArray:
    """Subtract the mean row."""
    return np.asarray(values - values.mean(axis=0))


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges i < j of a connected graph on n vertices, and their squared lengths, all positive.

    Every quantity is relative to the lengths: `stretch` is ‖yᵢ − yⱼ‖²/d² − 1, and a tension u
    stands for the weight u/d² of an edge in the Laplacian.

    Examples
    --------
    >>> import numpy as np
    >>> path = Edges(3, np.array([0, 1]), np.array([1, 2]), np.array([1.0, 4.0]))
    >>> path.stretch(np.array([[0.0], [1.0], [4.0]]))
    array([0.  , 1.25])
    >>> path.laplacian(np.array([1.0, 4.0])).toarray()
    array([[ 1., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  1.]])
    """

    n: int
    first: IntArray
    second: IntArray
    squares: FloatArray

    @property
    def m(self) -> int:
        """Number of edges."""
        return len(self.first)

    @cached_property
    def incidence(self) -> csr_array:
        """Matrix (n, m) with 1 where an edge begins and −1 where it ends."""
        every = np.arange(self.m)
        signs = np.concatenate((np.ones(self.m), -np.ones(self.m)))
        ends = np.concatenate((self.first, self.second))
        return csr_array((signs, (ends, np.concatenate((every, every)))), shape=(self.n, self.m))

    def differences(self, coordinates: FloatArray) -> FloatArray:
        """Vectors yᵢ − yⱼ (m, r)."""
        return np.asarray(coordinates[self.first] - coordinates[self.second])

    def stretch(self, coordinates: FloatArray) -> FloatArray:
        """‖yᵢ − yⱼ‖²/d² − 1 for each edge."""
        squares = np.square(self.differences(coordinates)).sum(axis=1)
        return np.asarray(squares / self.squares - 1.0)

    def laplacian(self, tensions: FloatArray) -> csr_array:
        """Laplacian with weights u/d²."""
        scaled = self.incidence * (tensions / self.squares)
        return csr_array(scaled @ self.incidence.T)

    def pull(self, tensions: FloatArray, differences: FloatArray) -> FloatArray:
        """L(u) Y, from the differences of Y."""
        return np.asarray(self.incidence @ ((tensions / self.squares)[:, None] * differences))

    def center(self, coordinates: FloatArray) -> FloatArray:
        """Subtract the mean row, on which no edge depends."""
        return center(coordinates)

    def normalize(self) -> tuple["Edges", float]:
        """Divide squared lengths by their mean, also returned."""
        size = float(self.squares.mean())
        return replace(self, squares=self.squares / size), size


def graph_edges(lengths: csr_array) -> tuple[Edges, IntArray]:
    """Edges of a symmetric matrix of lengths, and the vertex of each row.

    Rows at distance zero, up to rounding, are contracted to one vertex, since errors are relative
    to lengths. Of parallel edges the shortest is kept.

    Examples
    --------
    >>> import numpy as np
    >>> path = csr_array(np.array([[0.0, 1, 0], [1, 0, 2], [0, 2, 0]]))
    >>> edges, vertex = graph_edges(path)
    >>> edges.squares, vertex
    (array([1., 4.]), array([0, 1, 2]))
    """
    entries = coo_array(lengths)
    rows, columns = entries.coords
    # Not the mean, which is sensitive to outliers.
    usual = float(np.median(entries.data[entries.data > 0])) if np.any(entries.data > 0) else 0.0
    zero = entries.data <= TOUCHING * usual
    n = lengths.shape[0]
    touching = csr_array((np.ones(int(zero.sum())), (rows[zero], columns[zero])), shape=(n, n))
    vertex = components(touching) if zero.any() else np.arange(n)
    first, second = vertex[rows], vertex[columns]
    upper = first < second
    order = np.lexsort((entries.data[upper], second[upper], first[upper]))
    first, second = first[upper][order], second[upper][order]
    squares = np.square(np.asarray(entries.data[upper][order], dtype=np.float64))
    new = np.append(True, (np.diff(first) != 0) | (np.diff(second) != 0))[: len(first)]
    return Edges(int(vertex.max()) + 1, first[new], second[new], squares[new]), vertex


def complete_neighborhoods(space: Space, neighbors: Neighbors) -> Neighbors:
    """Connect all neighbours of a point with each other where their distance is known (9.1.1).

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.neighbors import PointSpace
    >>> line = PointSpace(np.array([[0.0], [1.0], [2.5]]))
    >>> complete_neighborhoods(line, line.nearest(1)).counts
    array([1, 2, 1])
    """
    if isinstance(space, GraphSpace):
        return neighbors
    n = neighbors.n
    offsets, members = neighbors.with_self()
    holds = csr_array((np.ones(len(members)), members, offsets), shape=(n, n))
    pairs = coo_array(holds.T @ holds)
    rows, columns = pairs.coords
    rows, columns = rows[rows != columns], columns[rows != columns]
    return Neighbors.from_edges(n, rows, columns, space.lengths(rows, columns))


# Relative tolerance of the rank of the centred basis.
NULL = 1e-9


@dataclass(frozen=True, eq=False)
class SubspaceEdges:
    """Edges of coordinates U R: `vectors` (m, p) are the differences of rows of U.

    Examples
    --------
    >>> import numpy as np
    >>> path = Edges(3, np.array([0, 1]), np.array([1, 2]), np.ones(2))
    >>> straight = SubspaceEdges.of(path, np.array([[-1.0], [0.0], [1.0]]) / np.sqrt(2))
    >>> straight.laplacian(np.ones(2)).round(6)
    array([[1.]])
    """

    vectors: FloatArray
    squares: FloatArray
    threads: int = 1

    @classmethod
    def of(cls, edges: Edges, basis: FloatArray, threads: int = 1) -> "SubspaceEdges":
        """Edges of a graph in an orthonormal basis of sum zero."""
        vectors = np.empty((edges.m, basis.shape[1]))

        def fill(rows: slice) -> None:
            np.subtract(basis[edges.first[rows]], basis[edges.second[rows]], out=vectors[rows])

        map_parts(fill, row_chunks(edges.m, 8 * basis.shape[1], BLOCK), threads)
        return cls(vectors, edges.squares, threads)

    @property
    def p(self) -> int:
        """Number of basis vectors."""
        return int(self.vectors.shape[1])

    def take(self, rows: IntArray) -> "SubspaceEdges":
        """Restrict to a subset of the edges."""
        return replace(self, vectors=self.vectors[rows], squares=self.squares[rows])

    def differences(self, coordinates: FloatArray) -> FloatArray:
        """Vectors yᵢ − yⱼ (m, r)."""
        differences = np.empty((len(self.vectors), coordinates.shape[1]))

        def fill(rows: slice) -> None:
            np.matmul(self.vectors[rows], coordinates, out=differences[rows])

        map_parts(fill, self._blocks, self.threads)
        return differences

    def stretch(self, coordinates: FloatArray) -> FloatArray:
        """‖yᵢ − yⱼ‖²/d² − 1 for each edge."""
        squares = np.square(self.differences(coordinates)).sum(axis=1)
        return np.asarray(squares / self.squares - 1.0)

    def laplacian(self, tensions: FloatArray) -> FloatArray:
        """U' L(u) U."""
        return self._weighed_products(tensions, self.vectors)

    def pull(self, tensions: FloatArray, differences: FloatArray) -> FloatArray:
        """U' L(u) Y, from the differences of Y."""
        return self._weighed_products(tensions, differences)

    @cached_property
    def _blocks(self) -> list[slice]:
        """Edges that one thread takes at a time: their number fixes the order of sums."""
        return row_chunks(len(self.vectors), 8 * self.p, BLOCK)

    def _weighed_products(self, tensions: FloatArray, others: FloatArray) -> FloatArray:
        def product(rows: slice) -> FloatArray:
            weights = tensions[rows] / self.squares[rows]
            return np.asarray(self.vectors[rows].T @ (weights[:, None] * others[rows]))

        return np.asarray(sum(map_parts(product, self._blocks, self.threads)))

    def center(self, coordinates: FloatArray) -> FloatArray:
        """Return the coordinates: the basis is centred."""
        return coordinates


def orthonormal_basis(columns: FloatArray) -> FloatArray:
    """Orthonormal basis of the span of centred columns.

    Examples
    --------
    >>> import numpy as np
    >>> orthonormal_basis(np.array([[1.0, 2.0], [1.0, 4.0], [1.0, 6.0]])).shape
    (3, 1)
    """
    left, values, _ = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
    return np.asarray(left[:, values > NULL * values.max(initial=0.0)])
