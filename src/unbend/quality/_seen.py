"""Rows as the measures see them, by coordinates or by given distances: who is how near to whom."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist, pdist, squareform

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.neighbors.space import smallest
from unbend.quality._checks import checked_points, squarable
from unbend.quality._ranks import nearest_others, others_of, ranks_of

Metric: TypeAlias = Literal["euclidean", "precomputed"]


class Seen(ABC):
    """Rows that know their distances. Nearness is ordered by (distance, row number)."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of rows."""

    @abstractmethod
    def nearest(self, rows: IntArray, k: int, threads: int) -> IntArray:
        """Find the k nearest others (m, k) of each of the rows."""

    @abstractmethod
    def ranks(self, rows: IntArray, targets: IntArray, threads: int) -> IntArray:
        """Rank (m, k) of each target among all others as seen from its row; the nearest is 1."""

    @abstractmethod
    def distances(self, rows: IntArray) -> FloatArray:
        """Distances (m, n) from the rows to all rows."""

    @abstractmethod
    def pairs(self, rows: IntArray) -> FloatArray:
        """Distances of all pairs of the rows, in SciPy's condensed order."""


@final
@dataclass(frozen=True, eq=False)
class Points(Seen):
    """Rows of coordinates at Euclidean distances."""

    points: FloatArray

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.points)

    def nearest(self, rows: IntArray, k: int, threads: int) -> IntArray:
        """Search for the nearest others."""
        return nearest_others(self.points, rows, k, threads)

    def ranks(self, rows: IntArray, targets: IntArray, threads: int) -> IntArray:
        """Count those that are nearer."""
        return ranks_of(self.points, rows, targets, threads)

    def distances(self, rows: IntArray) -> FloatArray:
        """Distances from differences, which lose nothing far from the origin."""
        return np.asarray(cdist(self.points[rows], self.points))

    def pairs(self, rows: IntArray) -> FloatArray:
        """Distances of pairs."""
        return np.asarray(pdist(squarable("X or embedding", self.points)[rows]))


@final
@dataclass(frozen=True, eq=False)
class Given(Seen):
    """Rows of a matrix of distances."""

    matrix: FloatArray

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.matrix)

    def nearest(self, rows: IntArray, k: int, threads: int) -> IntArray:
        """Select the smallest distances."""
        found = [
            smallest(self.matrix[rows[part]], k + 1, threads)[0]
            for part in row_chunks(len(rows), 16 * self.n)
        ]
        return others_of(np.concatenate(found), rows)

    def ranks(self, rows: IntArray, targets: IntArray, threads: int) -> IntArray:
        """Count those that are nearer."""
        ranks = np.empty(targets.shape, dtype=np.int32)
        everyone = np.arange(self.n)
        for part in row_chunks(len(rows), 16 * self.n):
            here = self.distances(rows[part])
            for place in range(targets.shape[1]):
                chosen = targets[part, place]
                reach = here[np.arange(len(here)), chosen][:, None]
                ties = (here == reach) & (everyone < chosen[:, None])
                # The row itself, at −1, is nearer than all: it counts as the 1 that ranks begin at.
                ranks[part, place] = ((here < reach) | ties).sum(axis=1)
        return ranks

    def distances(self, rows: IntArray) -> FloatArray:
        """Given distances, that of a row to itself put before all others."""
        here = np.array(self.matrix[rows], dtype=np.float64)
        here[np.arange(len(rows)), rows] = -1
        return here

    def pairs(self, rows: IntArray) -> FloatArray:
        """Given distances of pairs."""
        among = np.array(self.matrix[np.ix_(rows, rows)], dtype=np.float64)
        np.fill_diagonal(among, 0.0)
        return np.asarray(squareform(among, checks=False))


def seen(X: ArrayLike, embedding: ArrayLike, metric: Metric) -> tuple[Seen, Points]:
    """Check data and embedding: points, or with ``metric="precomputed"`` distances, and points."""
    if metric not in ("euclidean", "precomputed"):
        raise ValueError(f"metric must be 'euclidean' or 'precomputed', but it is {metric!r}.")
    data, coordinates = checked_points("X", X), checked_points("embedding", embedding)
    if len(data) != len(coordinates):
        raise ValueError(
            "X and embedding must hold the same points, "
            f"but they have {len(data)} and {len(coordinates)} rows."
        )
    if metric == "euclidean":
        return Points(data), Points(coordinates)
    if data.shape[0] != data.shape[1]:
        raise ValueError(f"X must be a square matrix of distances, but its shape is {data.shape}.")
    if data.min() < 0:
        raise ValueError("X must hold distances, but some are negative.")
    return Given(data), Points(coordinates)
