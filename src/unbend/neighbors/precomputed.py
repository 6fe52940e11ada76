"""Spaces of precomputed distances: a full matrix, or the edges of a graph."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.neighbors.neighbors import Neighbors
from unbend.neighbors.space import (
    Space,
    centered_gram,
    principal_coordinates,
    smallest,
    without_self,
)
from unbend.validation.scalars import check_count, check_radius


class _StoredDistances(Space):
    """Distances that are stored; new samples are distances to the fitted rows."""

    def distances_of(self, new: FloatArray) -> FloatArray:
        """Return the new samples, which are distances."""
        return new

    def coordinates(self, blocks: IntArray) -> FloatArray:
        """Coordinates of the rows of each block by classical MDS of their distances."""
        return principal_coordinates(centered_gram(self._among(blocks)))

    def coordinates_of(self, new: FloatArray, blocks: IntArray) -> FloatArray:
        """Coordinates of each new sample followed by its block."""
        to_new = np.take_along_axis(new, blocks, axis=1)
        bordered = np.pad(self._among(blocks), ((0, 0), (1, 0), (1, 0)))
        bordered[:, 0, 1:] = bordered[:, 1:, 0] = to_new
        return principal_coordinates(centered_gram(bordered))

    def narrow(self, new: FloatArray, rows: IntArray) -> FloatArray:
        """Keep the distances to `rows`."""
        return new[:, rows]

    @abstractmethod
    def _among(self, blocks: IntArray) -> FloatArray:
        """Distances (m, s, s) within each block."""


@dataclass(frozen=True, eq=False)
class DistanceSpace(_StoredDistances):
    """All pairwise distances; new samples are distances to the fitted rows.

    Examples
    --------
    >>> import numpy as np
    >>> DistanceSpace(np.array([[0.0, 1.0], [1.0, 0.0]])).nearest(1).distances
    array([1., 1.])
    """

    distances: FloatArray

    def __post_init__(self) -> None:
        shape = self.distances.shape
        if len(shape) != 2 or shape[0] != shape[1] or not np.all(self.distances >= 0):
            raise ValueError("distances must be a square, non-negative matrix without NaN")

    @property
    def n(self) -> int:
        """Number of fitted rows."""
        return len(self.distances)

    def nearest(self, k: int) -> Neighbors:
        """Find the k nearest other rows of every row."""
        check_count(k, self.n - 1)
        return without_self(*self.nearest_of(self.distances, k + 1))

    def nearest_of(self, new: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Find the k fitted rows nearest to each new sample."""
        check_count(k, self.n)
        found = [smallest(new[rows], k) for rows in row_chunks(len(new), 16 * self.n)]
        return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])

    def within(self, radius: float) -> Neighbors:
        """Find all other rows within `radius` of every row."""
        check_radius(radius)
        rows, columns = np.nonzero(self.distances <= radius)
        return Neighbors.from_edges(self.n, rows, columns, self.distances[rows, columns])

    def lengths(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Distances of pairs of rows."""
        return self.distances[rows, columns]

    def _among(self, blocks: IntArray) -> FloatArray:
        return self.distances[blocks[:, :, None], blocks[:, None, :]]

    def take(self, rows: IntArray) -> "DistanceSpace":
        """Restrict to a subset of the rows."""
        return DistanceSpace(self.distances[np.ix_(rows, rows)])

    def rows(self, rows: IntArray) -> FloatArray:
        """Distances of fitted rows."""
        return self.distances[rows]

    def distinct(self) -> tuple[IntArray, IntArray]:
        """Rows at distance zero with equal distances to all others are duplicates."""
        first: IntArray = np.arange(self.n)
        seen: dict[bytes, int] = {}
        # Only rows with a zero distance to another can be duplicates.
        for row in np.flatnonzero(np.count_nonzero(self.distances == 0, axis=1) > 1):
            # Adding zero turns -0.0 to 0.0: equal numbers must have equal bytes.
            first[row] = seen.setdefault((self.distances[row] + 0.0).tobytes(), int(row))
        return np.unique(first, return_inverse=True)


def dense_distances(sparse: csr_array) -> FloatArray:
    """Convert a sparse matrix of distances to dense rows, infinite where nothing is stored."""
    entries = sparse.tocoo()
    dense = np.full(sparse.shape, np.inf)
    dense[entries.row, entries.col] = entries.data
    return dense


class MissingDistances(ValueError):
    """A sparse distance matrix lacks pairs that a method needs."""


@dataclass(frozen=True, eq=False)
class GraphSpace(_StoredDistances):
    """Distances along the edges of a graph only; absent means unknown.

    The stored entries are the neighbourhoods. New samples are distances to the fitted rows,
    infinite where unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from unbend.neighbors import GraphSpace
    >>> path = csr_array(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> GraphSpace(path).nearest(1).distances
    array([1., 1., 1.])
    """

    edges: csr_array

    @property
    def n(self) -> int:
        """Number of fitted rows."""
        return int(self.edges.shape[0])

    def all_neighbors(self) -> Neighbors:
        """Every stored entry of the graph."""
        edges = self.edges.tocoo()
        return Neighbors.from_edges(self.n, edges.row, edges.col, edges.data)

    def nearest(self, k: int) -> Neighbors:
        """Find at most the k nearest stored neighbours of every row."""
        return self.all_neighbors().nearest(np.full(self.n, k))

    def within(self, radius: float) -> Neighbors:
        """Find the stored neighbours within `radius`."""
        return self.all_neighbors().within(radius)

    def nearest_of(self, new: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Find the k nearest rows with known distances; missing ones are infinite."""
        check_count(k, self.n)
        return smallest(new, k)

    def _among(self, blocks: IntArray) -> FloatArray:
        m, s = blocks.shape
        rows = np.repeat(blocks, s, axis=1).ravel()
        columns = np.tile(blocks, s).ravel()
        return self.lengths(rows, columns).reshape(m, s, s)

    def _position(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Position of each edge in the data, from one; zero where there is none.

        SciPy's indexing does not distinguish a stored zero from an absent entry.
        """
        entries = self.edges.tocoo()
        keys = entries.row.astype(np.int64) * self.n + entries.col
        order = np.argsort(keys)
        wanted = rows.astype(np.int64) * self.n + columns
        place = np.minimum(np.searchsorted(keys, wanted, sorter=order), max(len(keys) - 1, 0))
        if not len(keys):
            return np.zeros(len(wanted), dtype=np.int64)
        return np.where(keys[order[place]] == wanted, order[place] + 1, 0)

    def lengths(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Distances of pairs, all of which must be edges."""
        found = self._position(rows, columns)
        found = np.where(found == 0, self._position(columns, rows), found)
        missing = (found == 0) & (rows != columns)
        if missing.any():
            raise MissingDistances(
                f"{missing.sum()} distances between neighbours of one point are not in the sparse "
                "matrix, and this method needs them: pass a dense distance matrix (for example "
                "unbend.graphs.geodesics of the graph), or points with fit(X, graph=...)"
            )
        return np.where(rows == columns, 0.0, self.edges.data[found - 1])

    def take(self, rows: IntArray) -> "GraphSpace":
        """Restrict to a subset of the rows."""
        return GraphSpace(csr_array(self.edges[rows][:, rows]))

    def rows(self, rows: IntArray) -> FloatArray:
        """Known distances of fitted rows."""
        return dense_distances(csr_array(self.edges[rows]))

    def distinct(self) -> tuple[IntArray, IntArray]:
        """Return all rows: a graph does not determine duplicates."""
        return np.arange(self.n), np.arange(self.n)


@dataclass(frozen=True, eq=False)
class AffinitySpace(GraphSpace):
    """Symmetric affinities w, loops included; the edges of the graph have the lengths 1/w.

    Examples
    --------
    >>> import numpy as np
    >>> space = AffinitySpace.from_affinities(csr_array(np.array([[1.0, 0.5], [0.5, 1.0]])))
    >>> space.nearest(1).distances
    array([2., 2.])
    """

    affinities: csr_array

    @classmethod
    def from_affinities(cls, affinities: csr_array) -> "AffinitySpace":
        """Make the graph of affinities that are not zero."""
        affinities = affinities.copy()
        affinities.sum_duplicates()
        affinities.eliminate_zeros()
        edges = affinities.tocoo()
        apart = edges.row != edges.col
        pairs = (edges.row[apart], edges.col[apart])
        lengths = csr_array((1.0 / edges.data[apart], pairs), shape=edges.shape)
        return cls(lengths, affinities)

    def take(self, rows: IntArray) -> "AffinitySpace":
        """Restrict to a subset of the rows."""
        edges, affinities = (csr_array(m[rows][:, rows]) for m in (self.edges, self.affinities))
        return AffinitySpace(edges, affinities)
