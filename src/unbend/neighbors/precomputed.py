"""Spaces known only by distances: all of them, or those along the edges of a graph."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.neighbors.neighbors import Neighbors
from unbend.neighbors.space import Space, centered_gram, principal, smallest, without_self
from unbend.validation.scalars import check_count, check_radius


@dataclass(frozen=True, eq=False)
class DistanceSpace(Space):
    """All pairwise distances; new rows are distances to the fitted rows.

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
            raise ValueError(
                "distances must be a square matrix of numbers that are not negative, with no NaN"
            )

    @property
    def n(self) -> int:
        """Number of fitted rows."""
        return len(self.distances)

    def nearest(self, k: int) -> Neighbors:
        """Find the k nearest other rows of every row."""
        check_count(k, self.n - 1)
        return without_self(*self.nearest_of(self.distances, k + 1))

    def nearest_of(self, new: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Find the k fitted rows nearest to each new row."""
        check_count(k, self.n)
        found = [smallest(new[rows], k) for rows in row_chunks(len(new), 16 * self.n)]
        return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])

    def within(self, radius: float) -> Neighbors:
        """Find all other rows within `radius` of every row."""
        check_radius(radius)
        rows, columns = np.nonzero(self.distances <= radius)
        return Neighbors.from_edges(self.n, rows, columns, self.distances[rows, columns])

    def distances_of(self, new: FloatArray) -> FloatArray:
        """Return the distances, which new rows already are."""
        return new

    def lengths(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Distances of pairs of rows."""
        return self.distances[rows, columns]

    def coordinates(self, blocks: IntArray) -> FloatArray:
        """Coordinates of the rows in each block by classical MDS of their distances."""
        return principal(centered_gram(self._among(blocks)))

    def coordinates_of(self, new: FloatArray, blocks: IntArray) -> FloatArray:
        """Do the same with the new row first."""
        return principal(centered_gram(_bordered(self._among(blocks), new, blocks)))

    def _among(self, blocks: IntArray) -> FloatArray:
        return self.distances[blocks[:, :, None], blocks[:, None, :]]

    def take(self, rows: IntArray) -> "DistanceSpace":
        """Restrict to some rows."""
        return DistanceSpace(self.distances[np.ix_(rows, rows)])

    def rows(self, rows: IntArray) -> FloatArray:
        """Distances of fitted rows."""
        return self.distances[rows]

    def narrow(self, new: FloatArray, rows: IntArray) -> FloatArray:
        """Keep the distances to `rows`."""
        return new[:, rows]

    def distinct(self) -> tuple[IntArray, IntArray]:
        """First of the rows that are at distance zero and agree in every distance."""
        first: IntArray = np.arange(self.n)
        seen: dict[bytes, int] = {}
        # Equal rows are at distance zero from each other: only rows with such a zero can be.
        for row in np.flatnonzero(np.count_nonzero(self.distances == 0, axis=1) > 1):
            # Adding zero turns -0.0 to 0.0: equal numbers must have equal bytes.
            first[row] = seen.setdefault((self.distances[row] + 0.0).tobytes(), int(row))
        return np.unique(first, return_inverse=True)


def _bordered(among: FloatArray, new: FloatArray, blocks: IntArray) -> FloatArray:
    """Distances inside each block with those of its new row put first."""
    to_new = np.take_along_axis(new, blocks, axis=1)
    bordered = np.pad(among, ((0, 0), (1, 0), (1, 0)))
    bordered[:, 0, 1:] = to_new
    bordered[:, 1:, 0] = to_new
    return bordered


def measured(sparse: csr_array) -> FloatArray:
    """Dense rows of a sparse matrix of distances: infinite where nothing is stored."""
    entries = sparse.tocoo()
    dense = np.full(sparse.shape, np.inf)
    dense[entries.row, entries.col] = entries.data
    return dense


class PairsNotMeasured(ValueError):
    """A sparse matrix of local distances lacks pairs that a method needs."""


@dataclass(frozen=True, eq=False)
class GraphSpace(Space):
    """Distances along the edges of a given graph only; absent means not measured.

    The graph is taken as it is: its stored entries are the neighbourhoods. New rows are sparse or
    dense rows of distances to fitted rows, where absent, or infinite, means not measured.
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
        """Find at most k nearest of the measured neighbours of every row."""
        return self.all_neighbors().nearest(np.full(self.n, k))

    def within(self, radius: float) -> Neighbors:
        """Find the measured neighbours within `radius`."""
        neighbors = self.all_neighbors()
        return neighbors.select(neighbors.distances <= radius)

    def nearest_of(self, new: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Find the k nearest measured rows; an infinite distance marks a missing one."""
        check_count(k, self.n)
        return smallest(new, k)

    def distances_of(self, new: FloatArray) -> FloatArray:
        """Return the distances, infinite where not measured."""
        return new

    def lengths(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Distances of pairs, all of which must be edges."""
        return self._measured(rows, columns)

    def coordinates(self, blocks: IntArray) -> FloatArray:
        """Local coordinates, where all pairs inside the blocks are measured."""
        return principal(centered_gram(self._among(blocks)))

    def coordinates_of(self, new: FloatArray, blocks: IntArray) -> FloatArray:
        """Do the same with the new row first."""
        return principal(centered_gram(_bordered(self._among(blocks), new, blocks)))

    def _among(self, blocks: IntArray) -> FloatArray:
        m, s = blocks.shape
        rows = np.repeat(blocks, s, axis=1).ravel()
        columns = np.tile(blocks, s).ravel()
        return self._measured(rows, columns).reshape(m, s, s)

    def _position(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Place of each edge in the data, counted from one; zero where there is none.

        Looked up by number: SciPy's own indexing cannot tell a stored zero from an absent entry.
        """
        entries = self.edges.tocoo()
        keys = entries.row.astype(np.int64) * self.n + entries.col
        order = np.argsort(keys)
        wanted = rows.astype(np.int64) * self.n + columns
        place = np.minimum(np.searchsorted(keys, wanted, sorter=order), max(len(keys) - 1, 0))
        if not len(keys):
            return np.zeros(len(wanted), dtype=np.int64)
        return np.where(keys[order[place]] == wanted, order[place] + 1, 0)

    def _measured(self, rows: IntArray, columns: IntArray) -> FloatArray:
        found = self._position(rows, columns)
        found = np.where(found == 0, self._position(columns, rows), found)
        missing = (found == 0) & (rows != columns)
        if missing.any():
            raise PairsNotMeasured(
                f"{missing.sum()} distances between neighbours of one point are not in the sparse "
                "matrix, and this method needs them: give a dense distance matrix (for example "
                "unbend.graphs.geodesics of the graph), or points with fit(X, graph=...)"
            )
        return np.where(rows == columns, 0.0, self.edges.data[found - 1])

    def take(self, rows: IntArray) -> "GraphSpace":
        """Restrict to some rows."""
        return GraphSpace(csr_array(self.edges[rows][:, rows]))

    def rows(self, rows: IntArray) -> FloatArray:
        """Measured distances of fitted rows."""
        return measured(csr_array(self.edges[rows]))

    def narrow(self, new: FloatArray, rows: IntArray) -> FloatArray:
        """Keep the distances to `rows`."""
        return new[:, rows]

    def distinct(self) -> tuple[IntArray, IntArray]:
        """Return all rows: a graph does not say which of its points coincide."""
        return np.arange(self.n), np.arange(self.n)
