"""A finite metric space: points, a distance matrix or a graph."""

from abc import ABC, abstractmethod

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray
from unbend.cached import cached_property
from unbend.neighbors.index.protocol import drop_self
from unbend.neighbors.neighbors import Neighbors

# Neighbours whose distances give the local spacing of rows.
COMPARED = 5


class Space(ABC):
    """The fitted rows: points, a distance matrix or a graph.

    New samples are the rows of `transform`: points, or distances to the fitted rows.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.neighbors import Space, open_space
    >>> space = open_space(np.array([[0.0], [1.0], [3.0]]))
    >>> isinstance(space, Space), space.n, space.nearest(1).indices
    (True, 3, array([1, 0, 1], dtype=int32))
    """

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of fitted rows."""

    @abstractmethod
    def nearest(self, k: int) -> Neighbors:
        """Find the k nearest other rows of every row."""

    @abstractmethod
    def within(self, radius: float) -> Neighbors:
        """Find all other rows within `radius` of every row."""

    @abstractmethod
    def nearest_of(self, new: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Find the k fitted rows nearest to each new sample: indices and distances, (m, k)."""

    @abstractmethod
    def distances_of(self, new: FloatArray) -> FloatArray:
        """Distances of new samples to all fitted rows, (m, n)."""

    @abstractmethod
    def lengths(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Distances of the pairs (rows[i], columns[i])."""

    @abstractmethod
    def coordinates(self, blocks: IntArray) -> FloatArray:
        """Coordinates (m, s, r) of the rows of each block, up to a rigid motion per block."""

    def differences(self, blocks: IntArray) -> FloatArray:
        """Return the same, in however many columns: for what depends on inner products alone."""
        return self.coordinates(blocks)

    @abstractmethod
    def coordinates_of(self, new: FloatArray, blocks: IntArray) -> FloatArray:
        """Coordinates (m, s + 1, r) of each new sample followed by its block of fitted rows."""

    @abstractmethod
    def take(self, rows: IntArray) -> "Space":
        """Restrict to a subset of the rows."""

    @abstractmethod
    def rows(self, rows: IntArray) -> FloatArray:
        """Return fitted rows in the form of new samples."""

    @abstractmethod
    def narrow(self, new: FloatArray, rows: IntArray) -> FloatArray:
        """Convert new samples to those of `take(rows)`."""

    @abstractmethod
    def distinct(self) -> tuple[IntArray, IntArray]:
        """First occurrence of each distinct row, in order, and the inverse indices."""

    @cached_property
    def spacing(self) -> FloatArray:
        """Mean distance of each row to its five nearest others; duplicate rows count once."""
        if self.n < 2:
            return np.zeros(self.n)
        near = self.nearest(min(COMPARED, self.n - 1))
        if np.any(near.distances == 0):
            first, inverse = self.distinct()
            if len(first) < self.n:
                return np.asarray(self.take(first).spacing[inverse])
        return mean_spacing(near)


def mean_spacing(near: Neighbors) -> FloatArray:
    """Mean distance of each row to its nearest neighbours; that of the others where it has none."""
    known = np.isfinite(near.distances)
    rows = near.rows[known]
    counts = np.bincount(rows, minlength=near.n)
    sums = np.bincount(rows, near.distances[known], minlength=near.n)
    typical = sums.sum() / max(counts.sum(), 1)
    return np.asarray(np.divide(sums, counts, out=np.full(near.n, typical), where=counts > 0))


def without_self(indices: IntArray, distances: FloatArray) -> Neighbors:
    """Drop each point from its own row of k + 1 nearest."""
    return Neighbors.rectangular(*drop_self(indices, distances))


def smallest(distances: FloatArray, k: int, threads: int = 1) -> tuple[IntArray, FloatArray]:
    """Columns of the k smallest entries of each row, ascending, ties by column."""
    distances = np.ascontiguousarray(distances, dtype=np.float64)
    indices = np.empty((len(distances), k), dtype=np.int32)
    values = np.empty((len(distances), k))
    kernels.smallest(distances, threads, indices, values)
    return indices, values


def principal_coordinates(gram: FloatArray) -> FloatArray:
    """Coordinates with the given Gram matrices (m, s, s), without negative eigenvalues."""
    values, vectors = np.linalg.eigh(gram)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :])


def centered_gram(distances: FloatArray) -> FloatArray:
    """Gram matrices of centred points from stacked distance matrices: −½ H D² H."""
    squares = np.square(distances, dtype=np.float64)
    means = squares.mean(axis=2, keepdims=True)
    centered = squares - means - means.transpose(0, 2, 1) + means.mean(axis=1, keepdims=True)
    return np.asarray(-0.5 * centered)
