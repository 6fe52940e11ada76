"""Nyström's formula: extensions by distances or geodesics to fitted rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, final

import numpy as np
from scipy.sparse import csr_array

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray, row_chunks, row_products
from unbend.cached import cached_property
from unbend.extension.extension import NeighborExtension
from unbend.graphs import geodesics, symmetric_geodesics
from unbend.report import step

# From one in so many vertices on, geodesics are computed from all.
SOME_SOURCES = 4


class Distances(Protocol):
    """Distances of new samples to all fitted rows, in the sense of the method."""

    def __call__(self, new: FloatArray) -> FloatArray:
        """Return an (m, n) array."""


@dataclass(frozen=True, eq=False)
class Nystrom:
    """Eigenvectors of a Gram matrix of distances, extended to new samples (Bengio et al., 2004).

    y = −½ (s(x) − s̄)' W, with s(x) the squared distances to the fitted rows, s̄ their mean over
    the fitted rows, and W = V √λ / λ. Centering over the fitted rows drops out since V ⊥ 1.
    """

    distances: Distances
    squares: Callable[[FloatArray], FloatArray]
    mean_squares: FloatArray
    weights: FloatArray

    def __call__(self, new: FloatArray) -> FloatArray:
        """Place new samples."""
        placed = np.empty((len(new), self.weights.shape[1]))
        for rows in row_chunks(len(new), 16 * len(self.mean_squares)):
            squares = self.squares(self.distances(new[rows]))
            placed[rows] = -0.5 * row_products(squares - self.mean_squares, self.weights)
        return placed


@final
@dataclass(frozen=True, eq=False)
class AllGeodesics:
    """Geodesics between all vertices of a graph; files and pickles hold the graph alone.

    A reloaded one computes the rows it is asked for, to the same bits, and all of them once many
    are asked for.
    """

    lengths: csr_array
    precision: str
    threads: int
    directed: bool = False

    @classmethod
    def from_matrix(
        cls, lengths: csr_array, matrix: FloatArray, threads: int, directed: bool
    ) -> "AllGeodesics":
        """Take geodesics that were computed."""
        made = cls(lengths, str(matrix.dtype), threads, directed)
        made.__dict__["matrix"] = matrix
        return made

    def __getstate__(self) -> dict[str, object]:
        """Leave out the geodesics, which the graph determines."""
        return {
            name: self.__dict__[name] for name in ("lengths", "precision", "threads", "directed")
        }

    @property
    def n(self) -> int:
        """Number of vertices."""
        return int(self.lengths.shape[0])

    @cached_property
    def matrix(self) -> FloatArray:
        """All geodesics (n, n)."""
        return self._rows(None)

    def rows(self, indices: IntArray) -> tuple[FloatArray, IntArray]:
        """Geodesics from at least some vertices, and where among them each index is."""
        if "matrix" not in self.__dict__:
            sources, places = np.unique(indices, return_inverse=True)
            if SOME_SOURCES * len(sources) < self.n:
                return self._rows(sources), places.reshape(indices.shape)
        return self.matrix, indices

    def _rows(self, sources: IntArray | None) -> FloatArray:
        precision = np.dtype(self.precision)
        compute = symmetric_geodesics if self.directed else geodesics
        return compute(self.lengths, sources, dtype=precision, threads=self.threads)


@final
@dataclass(frozen=True, eq=False)
class GeodesicNystrom(NeighborExtension):
    """Nyström's formula with geodesics: shortest paths through any neighbour of a new sample.

    `geodesics` lead from every fitted row to the m rows of `weights` (m, d), `constant` is added to
    each, and `mean` (d,) are the mean squares over all fitted rows times the weights.
    """

    geodesics: FloatArray | AllGeodesics
    weights: FloatArray
    mean: FloatArray
    constant: float
    threads: int

    def place(self, new: FloatArray, indices: IntArray, distances: FloatArray) -> FloatArray:
        """Place new samples."""
        placed = np.empty((len(new), self.weights.shape[1]))
        known, places = self.geodesics, indices
        if isinstance(known, AllGeodesics):
            known, places = known.rows(indices)
        kernels.place_by_paths(
            known,
            places.astype(np.int32, copy=False),
            distances.astype(known.dtype, copy=False),
            self.constant,
            np.ascontiguousarray(self.weights.T),
            self.threads,
            step,
            placed,
        )
        return np.asarray(-0.5 * (placed - self.mean))
