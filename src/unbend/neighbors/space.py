"""A finite set of points and the distances between them, however these are given."""

from abc import ABC, abstractmethod

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray
from unbend.neighbors.neighbors import Neighbors


class Space(ABC):
    """The fitted rows, as every stage sees them: points, a distance matrix or a graph.

    "New rows" are rows as the user gives them to `transform`: points, or distances to the fitted
    rows.
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
        """Find the k fitted rows nearest to each new row: indices and distances, (m, k)."""

    @abstractmethod
    def distances_of(self, new: FloatArray) -> FloatArray:
        """Distances of the new rows to all fitted rows, (m, n)."""

    @abstractmethod
    def lengths(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Distances of the pairs (rows[i], columns[i])."""

    @abstractmethod
    def coordinates(self, blocks: IntArray) -> FloatArray:
        """Coordinates, up to a rigid motion a block, of the rows in each block: (m, s, r)."""

    @abstractmethod
    def coordinates_of(self, new: FloatArray, blocks: IntArray) -> FloatArray:
        """Do the same with the new row first, before its block of fitted rows: (m, s + 1, r)."""

    @abstractmethod
    def take(self, rows: IntArray) -> "Space":
        """Restrict to some rows."""

    @abstractmethod
    def rows(self, rows: IntArray) -> FloatArray:
        """Give fitted rows the form of new rows."""

    @abstractmethod
    def narrow(self, new: FloatArray, rows: IntArray) -> FloatArray:
        """Give new rows the form of new rows of `take(rows)`."""

    @abstractmethod
    def distinct(self) -> tuple[IntArray, IntArray]:
        """First occurrence of each distinct row, in order, and which of them each row equals."""


def without_self(indices: IntArray, distances: FloatArray) -> Neighbors:
    """Drop each point from its own row of k + 1 nearest.

    With more than k duplicates the point itself may not be among them; then the last is dropped.
    """
    itself = indices == np.arange(len(indices))[:, None]
    itself[~itself.any(axis=1), -1] = True
    shape = (len(indices), indices.shape[1] - 1)
    return Neighbors.rectangular(indices[~itself].reshape(shape), distances[~itself].reshape(shape))


def smallest(distances: FloatArray, k: int, threads: int = 1) -> tuple[IntArray, FloatArray]:
    """Columns of the k smallest entries of each row, ascending, ties by column."""
    distances = np.ascontiguousarray(distances, dtype=np.float64)
    indices = np.empty((len(distances), k), dtype=np.int32)
    values = np.empty((len(distances), k))
    kernels.smallest(distances, threads, indices, values)
    return indices, values


def principal(gram: FloatArray) -> FloatArray:
    """Coordinates with the given Gram matrices (m, s, s); negative directions are left out."""
    values, vectors = np.linalg.eigh(gram)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :])


def centered_gram(distances: FloatArray) -> FloatArray:
    """Gram matrices of centred points from stacked distance matrices: −½ H D² H."""
    squares = np.square(distances, dtype=np.float64)
    means = squares.mean(axis=2, keepdims=True)
    centred = squares - means - means.transpose(0, 2, 1) + means.mean(axis=1, keepdims=True)
    return np.asarray(-0.5 * centred)
