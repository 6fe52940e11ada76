"""Out-of-sample extension: from the fitted rows of a method to new samples."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, final

import numpy as np
from scipy.sparse import csr_array

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray, is_sparse, row_chunks, row_products
from unbend.cached import cached_property
from unbend.graphs import geodesics, symmetric_geodesics
from unbend.graphs.weights import Affinity, Weight
from unbend.local import barycentric_weights
from unbend.neighbors import PointSpace, Space
from unbend.neighbors.space import COMPARED
from unbend.report import step
from unbend.validation.arrays import stored_type

# Least share of the degree by which a sum over neighbours is divided.
LEAST_SHARE = 0.1
# From one in so many vertices on, geodesics are computed from all.
SOME_SOURCES = 4
# Least ridge with which the equations of weights are solved by columns: they lose its digits.
LEAST_REG = 1e-6
# Rows that are made dense at a time.
BLOCK_BYTES = 1 << 26

Extension = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Rule:
    """Which fitted rows are neighbours of a new sample: the k nearest within the radius.

    The nearest one always is, however far.
    """

    k: int
    radius: float = np.inf

    def neighbors(self, space: Space, new: FloatArray) -> tuple[IntArray, FloatArray]:
        """Find indices and distances (m, k), infinite where not a neighbour."""
        indices, distances = space.nearest_of(new, min(self.k, space.n))
        return indices, self.limit(distances)

    def limit(self, distances: FloatArray) -> FloatArray:
        """Make distances beyond the radius infinite, but never the first."""
        far = distances > self.radius
        far[:, 0] = False
        return np.where(far, np.inf, distances)


@dataclass(frozen=True, eq=False)
class NeighborExtension(ABC):
    """Abstract: an extension that needs only the fitted rows near a new sample.

    A caller that has the neighbours already, as `Placement` has, passes them on to `place`.
    """

    space: Space
    rule: Rule

    def __call__(self, new: FloatArray) -> FloatArray:
        """Place new samples."""
        return self.place(new, *self.rule.neighbors(self.space, new))

    @abstractmethod
    def place(self, new: FloatArray, indices: IntArray, distances: FloatArray) -> FloatArray:
        """Place new samples whose neighbours are those that the rule finds in the space."""


# Axes up to which, and columns from which on, rows are multiplied one by one: blocks for BLAS are
# filled up to eight axes, which takes about twice as long for two axes of 64 to 10 304 columns.
MOST_AXES, LONG_ROWS = 2, 16


@dataclass(frozen=True, eq=False)
class Linear:
    """y = A (x − mean)."""

    mean: FloatArray
    axes: FloatArray

    def __call__(self, new: FloatArray) -> FloatArray:
        """Project new samples, which may be sparse."""
        if is_sparse(new):
            return np.asarray(new @ self.axes.T - self.mean @ self.axes.T)
        few, columns = self.axes.shape
        if 0 < few <= MOST_AXES and columns >= LONG_ROWS:
            return self._of_long_rows(new)
        return row_products(new, self.axes.T, self.mean if self.mean.any() else None)

    def _of_long_rows(self, new: FloatArray) -> FloatArray:
        """Project samples so that each is read once; none depends on the others either."""
        rows = np.ascontiguousarray(new, dtype=np.float64)
        found = np.empty((len(rows), len(self.axes)))
        mean, axes = (np.ascontiguousarray(one, np.float64) for one in (self.mean, self.axes))
        kernels.thin_products(rows, mean, axes, found)
        return found

    def place(self, centered: FloatArray) -> FloatArray:
        """Project samples from which the mean was subtracted."""
        return row_products(centered, self.axes.T)


@dataclass(frozen=True, eq=False)
class LinearInverse:
    """x = A'y + mean."""

    mean: FloatArray
    axes: FloatArray

    def __call__(self, coordinates: FloatArray) -> FloatArray:
        """Reconstruct rows."""
        return np.asarray(row_products(coordinates, self.axes) + self.mean)


def subspace_distances(rows: Any, coordinates: FloatArray, inverse: Extension) -> FloatArray:
    """Distances of rows, which may be sparse, to the subspace that they have coordinates in.

    From differences: ‖x‖² − ‖y‖² would lose the distances of rows near the subspace.
    """
    distances = np.empty(rows.shape[0])
    for some in row_chunks(rows.shape[0], 24 * rows.shape[1], BLOCK_BYTES):
        dense = rows[some].toarray() if is_sparse(rows) else rows[some]
        off = dense - inverse(coordinates[some])
        distances[some] = np.einsum("ij,ij->i", off, off)
    return np.sqrt(distances)


# Density from which on BLAS is faster on a sparse matrix made dense: at 1/3 it took a fifth to a
# ninth of the time of a sparse product.
DENSE_FROM = 1 / 20


@dataclass(frozen=True, eq=False)
class SparseLinear:
    """y = A x with a sparse A."""

    axes: csr_array

    def __call__(self, new: Any) -> FloatArray:
        """Project new samples, which may be sparse."""
        rows, columns = self.axes.shape
        if self.axes.nnz > DENSE_FROM * rows * columns:
            axes = self.axes.toarray()
            if is_sparse(new):
                return np.asarray(new.astype(np.float64) @ axes.T)
            return row_products(new.astype(np.float64, copy=False), axes.T)
        if is_sparse(new):
            return np.asarray((new.astype(np.float64) @ self.axes.T).toarray())
        return np.asarray((self.axes @ new.astype(np.float64, copy=False).T).T)


@dataclass(frozen=True, eq=False)
class ProjectionInverse:
    """x = A⁺ y: the shortest row with these coordinates; A⁺ is found when first needed."""

    axes: FloatArray | csr_array

    @cached_property
    def _inverse_gram(self) -> FloatArray:
        gram: Any = self.axes @ self.axes.T
        return np.linalg.pinv(gram.toarray() if is_sparse(gram) else gram, hermitian=True)

    def __call__(self, coordinates: FloatArray) -> FloatArray:
        """Reconstruct rows."""
        weights = row_products(coordinates, self._inverse_gram)
        if isinstance(self.axes, np.ndarray):
            return row_products(weights, self.axes)
        return np.asarray((self.axes.T @ weights.T).T)


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
    def known(
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


@final
@dataclass(frozen=True, eq=False)
class Barycentric(NeighborExtension):
    """y = Σ w_j y_j over the nearest fitted rows, with the weights that write x by the x_j."""

    coordinates: FloatArray
    reg: float = 1e-3

    def place(self, new: FloatArray, indices: IntArray, distances: FloatArray) -> FloatArray:
        """Place new samples."""
        placed = np.empty((len(new), self.coordinates.shape[1]))
        left = self._place_in_few_columns(new, indices, placed)
        for rows in row_chunks(len(left), 32 * (indices.shape[1] + 1) ** 2, 1 << 22):
            near = indices[left[rows]]
            local = self.space.coordinates_of(new[left[rows]], near)
            weights = barycentric_weights(local, self.reg)
            placed[left[rows]] = np.einsum("ij,ijk->ik", weights, self.coordinates[near])
        return placed

    def _place_in_few_columns(
        self, new: FloatArray, indices: IntArray, placed: FloatArray
    ) -> IntArray:
        """Place samples that have no more columns than neighbours; return those that are left."""
        everyone = np.arange(len(new))
        space, k = self.space, indices.shape[1]
        few = isinstance(space, PointSpace) and space.is_euclidean and space.features.shape[1] <= k
        if not few or self.reg < LEAST_REG or not len(new):
            return everyone
        assert isinstance(space, PointSpace)
        kernels.place_barycentric(
            np.ascontiguousarray(space.features, dtype=stored_type(space.features)),
            _doubles(self.coordinates),
            _doubles(space.features_of(new)),
            np.ascontiguousarray(indices, dtype=np.int32),
            self.reg,
            space.workers,
            placed,
        )
        return everyone[~np.isfinite(placed).all(axis=1)]


@final
@dataclass(frozen=True, eq=False)
class Harmonic(NeighborExtension):
    """Laplacian eigenvectors extended to new samples (Bengio et al., 2004).

    L f = λ M f read at one vertex, (d − λ m) f(x) = Σ_j w(x, x_j) f_j, with m = d or m = 1; the
    D^½ scaling multiplies by √d. A fitted row of mass m counts as m rows in one place.
    """

    weight: Weight
    vectors: FloatArray
    values: FloatArray
    plain: bool
    scaled: bool
    masses: FloatArray | None = None

    def place(self, new: FloatArray, indices: IntArray, distances: FloatArray) -> FloatArray:
        """Place new samples."""
        near = np.isfinite(distances)
        # The nearest row is a neighbour, however far: its distance fills the gaps.
        weights = np.where(near, self.weight(np.where(near, distances, distances[:, :1])), 0.0)
        # A row so far that all its weights vanish belongs with its nearest neighbour.
        weights[weights.sum(axis=1) == 0, 0] = 1.0
        if self.masses is not None:
            weights = weights * self.masses[indices]
        degree = weights.sum(axis=1, keepdims=True)
        sums = _combine(self.space, self.vectors, indices, weights)
        own = degree - self.values * (1.0 if self.plain else degree)
        # Rough vectors, of eigenvalues near the degree, would be blown up: nothing is known of
        # them between the fitted rows, so they are only averaged.
        placed = sums / np.maximum(own, LEAST_SHARE * degree)
        return np.asarray(placed * np.sqrt(degree) if self.scaled else placed)


@final
@dataclass(frozen=True, eq=False)
class DiffusionExtension(NeighborExtension):
    """Eigenvectors of a diffusion extended to new samples: λ f(x) = Σ_j p(x, x_j) f_j.

    p(x, ·) are the affinities of x, normalised as those of the fitted rows were. A fitted row has
    itself among its neighbours, so the formula is exact there and continuous around it. With a
    `volume`, f is multiplied by φ₀(x), the root of the share of x in it. A fitted row of mass m
    counts as m rows in one place.
    """

    affinity: Affinity
    density: FloatArray
    vectors: FloatArray
    values: FloatArray
    alpha: float
    volume: float | None = None
    masses: FloatArray | None = None

    def place(self, new: FloatArray, indices: IntArray, distances: FloatArray) -> FloatArray:
        """Place new samples."""
        weights = self.affinity.of_new(indices, distances)
        # A row so far that all its weights vanish belongs with its nearest neighbour.
        weights[weights.sum(axis=1) == 0, 0] = 1.0
        if self.masses is not None:
            weights = weights * self.masses[indices]
        own = weights.sum(axis=1, keepdims=True) ** self.alpha
        weights = weights / self.density[indices]
        degree = weights.sum(axis=1, keepdims=True)
        placed = _combine(self.space, self.vectors, indices, weights / degree) / self.values
        if self.volume is None:
            return np.asarray(placed)
        return np.asarray(placed * np.sqrt(degree / own / self.volume))


@dataclass(frozen=True, eq=False)
class EmbeddingResult:
    """What a method makes of its spectrum: coordinates, their extension, fitted attributes."""

    coordinates: FloatArray
    extension: Extension
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Piece:
    """One component: its rows, its extension, and the scale and offset of its coordinates."""

    rows: IntArray
    extension: Extension
    factor: float
    offset: FloatArray


@dataclass(frozen=True, eq=False)
class Placement:
    """Send new samples to the piece of the nearest fitted row; duplicates of that row join it."""

    space: Space
    embedding: FloatArray
    owner: IntArray
    pieces: tuple[Piece, ...]

    @classmethod
    def by_one(cls, space: Space, embedding: FloatArray, extension: Extension) -> "Placement":
        """Place by one extension, but duplicates of a fitted row where that row is."""
        everyone = np.arange(len(embedding))
        piece = Piece(everyone, extension, 1.0, np.zeros(embedding.shape[1]))
        return cls(space, embedding, np.zeros_like(everyone), (piece,))

    def __call__(self, new: FloatArray) -> FloatArray:
        """Place new samples."""
        return self.place(new, *self.neighbors(new))

    def neighbors(self, new: FloatArray) -> tuple[IntArray, FloatArray]:
        """Find as many nearest fitted rows as the extension, or a score of outlyingness, needs."""
        shared = self._shared_extension()
        k = max(COMPARED, shared.rule.k if shared else 1)
        return self.space.nearest_of(new, min(k, self.space.n))

    def place(self, new: FloatArray, indices: IntArray, distances: FloatArray) -> FloatArray:
        """Place new samples whose nearest fitted rows are known."""
        shared = self._shared_extension()
        if shared:
            indices = indices[:, : shared.rule.k]
            distances = shared.rule.limit(distances[:, : shared.rule.k])
        nearest = indices[:, 0]
        apart = distances[:, 0] > 0
        if shared and apart.all():
            piece = self.pieces[0]
            return np.asarray(piece.factor * shared.place(new, indices, distances) + piece.offset)
        placed = self.embedding[nearest].astype(np.float64)
        for number, piece in enumerate(self.pieces):
            mine = np.flatnonzero(apart & (self.owner[nearest] == number))
            if len(mine):
                if shared:
                    found = shared.place(new[mine], indices[mine], distances[mine])
                else:
                    found = piece.extension(self.space.narrow(new[mine], piece.rows))
                placed[mine] = piece.factor * found + piece.offset
        return placed

    def _shared_extension(self) -> NeighborExtension | None:
        """Return the extension of the only piece, if it asks the same space for neighbours."""
        extension = self.pieces[0].extension
        if len(self.pieces) == 1 and isinstance(extension, NeighborExtension):
            return extension if extension.space is self.space else None
        return None


def _combine(
    space: Space, values: FloatArray, indices: IntArray, weights: FloatArray
) -> FloatArray:
    """Weighted sums (m, d) of the values (n, d) of some rows for each sample."""
    sums = np.empty((len(indices), values.shape[1]))
    near = np.ascontiguousarray(indices, dtype=np.int32)
    workers = space.workers if isinstance(space, PointSpace) else 1
    kernels.combine_rows(_doubles(values), near, _doubles(weights), workers, sums)
    return sums


def _doubles(values: FloatArray) -> FloatArray:
    return np.ascontiguousarray(values, dtype=np.float64)


def barycentric_preimage(
    space: Space | None, embedding: FloatArray, k: int | None = None
) -> Placement | None:
    """Reconstruct rows from the k nearest coordinates, by default twice as many as a simplex has.

    None where there are no points to reconstruct.
    """
    if not isinstance(space, PointSpace):
        return None
    coordinates, k = PointSpace(embedding), k or 2 * (embedding.shape[1] + 1)
    back = Barycentric(coordinates, Rule(k), space.points)
    return Placement.by_one(coordinates, space.points, back)
