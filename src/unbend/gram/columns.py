"""Scaling from m columns of the squared distances, those to landmarks.

Coordinates are −½ (s − s̄) W, with s the squared distances of a row to the landmarks and s̄ their
mean. Of kernels k that are no distances, s = −2k stands for them. The weights W are those of
Nyström's approximation, of pivot MDS, or of the landmarks' own Gram matrix
(`CenteredGram.nystrom_weights`); `unbend.extension.Nystrom` applies them to new samples.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar, final

import numpy as np

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.cached import cached_property
from unbend.eigen.problem import Spectrum
from unbend.eigen.solve import fix_signs
from unbend.gram.distances import Squares
from unbend.lowrank.nystrom import column_axes, inverse_root
from unbend.neighbors import Space
from unbend.report import note, step

Work = Callable[[FloatArray], FloatArray]
Rows = IntArray | slice


class ColumnPasses(ABC):
    """Abstract: squares of all rows to m landmarks, computed anew for every pass over the rows."""

    landmarks: IntArray
    threads: int = 1
    # Whether rows are known up to a constant only, so that weights must sum to zero.
    affine: ClassVar[bool] = True
    # Memory of an entry while its block is computed.
    entry_bytes: ClassVar[int] = 16

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of rows."""

    @abstractmethod
    def squares(self, rows: Rows) -> FloatArray:
        """Squares of some rows to the landmarks, as an array that may be overwritten."""

    def squares_of(self, new: FloatArray) -> FloatArray:
        """Squares of new points to the landmarks, where these have coordinates."""
        raise NotImplementedError

    def squares_between(self) -> FloatArray:
        """Squares (m, m) between the landmarks."""
        return self.squares(self.landmarks)

    def map_blocks(self, work: Work) -> Iterator[tuple[slice, FloatArray]]:
        """Do some work on every block of rows, which it may change; results in their order."""
        chunks = row_chunks(self.n, self.entry_bytes * len(self.landmarks), budget=1 << 25)

        def one(rows: slice) -> FloatArray:
            return work(self.squares(rows))

        with ThreadPoolExecutor(self.threads) as pool:
            # A pool runs ahead and keeps all results: not where nothing is gained by it.
            results = map(one, chunks) if self.threads == 1 else pool.map(one, chunks)
            for rows, result in zip(chunks, results, strict=True):
                step(rows.stop, self.n)
                yield rows, result

    def reduce_blocks(
        self, work: Work, combine: Callable[[FloatArray, FloatArray], FloatArray] = np.add
    ) -> FloatArray:
        """Combine the work on all blocks, by default to its sum."""
        return reduce(combine, (part for _, part in self.map_blocks(work)))

    def collect(self, work: Work) -> FloatArray:
        """Collect the work on all blocks, of which each row has a part."""
        return np.concatenate([part for _, part in self.map_blocks(work)])

    def mean(self) -> FloatArray:
        """Mean of every column."""
        return self.reduce_blocks(lambda squares: squares.sum(axis=0)) / self.n

    def block(self) -> FloatArray:
        """Kernel −½ S of the landmarks, centered both ways where rows have a constant of their own.

        Their own mean will do: the columns are centered by that of all rows.
        """
        kernel = -0.5 * self.squares_between()
        if self.affine:
            kernel = kernel - kernel.mean(axis=0)
            kernel = kernel - kernel.mean(axis=1, keepdims=True)
        return np.asarray(kernel)

    def moments(self, root: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean of every column of S, and (CR)'(CR) of C = −½ S centered: one pass gives both."""
        near = self.squares_between().mean(axis=0)

        def work(squares: FloatArray) -> FloatArray:
            squares -= near
            beside = squares.sum(axis=0)
            images = self._center_rows(squares) @ root
            return np.concatenate(((images.T @ images).ravel(), beside))

        total = self.reduce_blocks(work)
        # Both sides: rows that are all equal leave a root without columns.
        cross = total[: -len(near)].reshape(root.shape[1], root.shape[1])
        off = total[-len(near) :] / self.n
        mean = near + off
        shift = (self._center_rows(off[None]) @ root)[0]
        return mean, (cross - self.n * np.outer(shift, shift)) / 4

    def factor(self, mean: FloatArray) -> FloatArray:
        """Triangular R with R'R = C'C of the columns C = −½ S, centered by a mean.

        It keeps the small singular values of C that C'C, with their squares, would lose.
        """

        def work(squares: FloatArray) -> FloatArray:
            squares -= mean
            squares = self._center_rows(squares)
            return np.asarray(np.linalg.qr(squares, mode="r")) / 2

        return self.reduce_blocks(work, stack_factors)

    def coordinates(self, mean: FloatArray, weights: FloatArray) -> FloatArray:
        """Coordinates of all rows: centered, since `mean` is the mean of all."""
        return self.collect(lambda squares: -0.5 * (squares - mean) @ weights)

    def scatter(self, mean: FloatArray, weights: FloatArray) -> FloatArray:
        """Products (d, d) of the coordinates of all rows."""

        def work(squares: FloatArray) -> FloatArray:
            placed = -0.5 * (squares - mean) @ weights
            return placed.T @ placed

        return self.reduce_blocks(work)

    def _center_rows(self, squares: FloatArray) -> FloatArray:
        if self.affine:
            squares -= squares.mean(axis=1, keepdims=True)
        return squares


def stack_factors(one: FloatArray, other: FloatArray) -> FloatArray:
    """Triangular factor of the rows of two."""
    return np.asarray(np.linalg.qr(np.vstack((one, other)), mode="r"))


@dataclass(frozen=True, eq=False)
class Columns(ColumnPasses):
    """Squared distances of all rows of a space to some of them."""

    space: Space
    landmarks: IntArray
    threads: int = 1

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.space.n

    def squares(self, rows: Rows) -> FloatArray:
        """Squared distances of some rows to the landmarks."""
        return self.squares_of(self.space.rows(np.arange(self.n)[rows]))

    def squares_of(self, new: FloatArray) -> FloatArray:
        """Squared distances of new samples to the landmarks."""
        return Squares()(self._few.distances_of(self.space.narrow(new, self.landmarks)))

    @cached_property
    def _few(self) -> Space:
        return self.space.take(self.landmarks)


@dataclass(frozen=True, eq=False)
class KnownColumns(ColumnPasses):
    """Distances (n, m) of all rows to the landmarks, which are rows of the same array."""

    distances: FloatArray
    landmarks: IntArray

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.distances)

    def squares(self, rows: Rows) -> FloatArray:
        """Squared distances of some rows to the landmarks."""
        return Squares()(self.distances[rows])


@dataclass(frozen=True, eq=False)
class PointColumns(ColumnPasses):
    """Abstract: columns that a function of points gives."""

    points: FloatArray
    landmarks: IntArray
    of_points: Callable[[FloatArray], FloatArray]

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.points)


@final
class FeatureColumns(PointColumns):
    """Squared distances of all points to some of them in feature space."""

    entry_bytes: ClassVar[int] = 64

    def squares(self, rows: Rows) -> FloatArray:
        """Squared distances of some points to the landmarks."""
        return self.squares_of(self.points[rows])

    def squares_of(self, new: FloatArray) -> FloatArray:
        """Squared distances of new points to the landmarks."""
        return self.of_points(new)


@final
class SimilarityColumns(PointColumns):
    """−2 k(x, x_j) of all points with some of them, for a kernel k."""

    affine: ClassVar[bool] = False

    def squares(self, rows: Rows) -> FloatArray:
        """−2 k of some points with the landmarks."""
        return self.squares_of(self.points[rows])

    def squares_of(self, new: FloatArray) -> FloatArray:
        """−2 k of new points with the landmarks."""
        return np.asarray(-2.0 * self.of_points(new))


@dataclass(frozen=True, eq=False)
class ColumnScaling:
    """Nyström's approximation of a kernel: coordinates V√Λ = −½ (s − s̄) W.

    `values` are Λ, one more than there are coordinates where there is one; `trace` is estimated
    from the landmarks, and `negative_share` is the share of their eigenvalues that is negative.
    """

    values: FloatArray
    coordinates: FloatArray
    weights: FloatArray
    mean: FloatArray
    trace: float
    negative_share: float

    @property
    def spectrum(self) -> Spectrum:
        """The approximation's own eigenpairs; vectors of eigenvalue zero are zero."""
        kept = self.values[:-1]
        vectors = self.coordinates / np.sqrt(np.where(kept > 0, kept, 1.0))
        norm = max(float(self.values[0]), np.finfo(float).tiny)
        exact = np.zeros(len(kept))
        return Spectrum(kept, vectors, exact, "Nystrom", 0.0, True, float(self.values[-1]), norm)


def scale_by_columns(columns: ColumnPasses, count: int, accuracy: float = 0.0) -> ColumnScaling:
    """Scale all rows by the columns of a few (orthogonalised Nyström, book Theorem 15.3).

    Coordinates beyond the rank of the columns are zero. Two passes.
    """
    block = columns.block()
    root = inverse_root(block, accuracy)
    if columns.affine:
        # Eigenvectors of small eigenvalues have a little of the constant one, whose is zero.
        root = root - root.mean(axis=0)
    mean, cross = columns.moments(root)
    found, axes = column_axes(root, cross, count + 1)
    values, weights = np.zeros(count + 1), np.zeros((len(mean), count))
    values[: len(found)] = found
    weights[:, : axes.shape[1]] = axes[:, :count]
    unsigned = columns.coordinates(mean, weights)
    coordinates = fix_signs(unsigned)
    weights *= np.where(np.sum(coordinates * unsigned, axis=0) < 0, -1.0, 1.0)
    centered = block - block.mean(axis=0)
    spectrum = np.linalg.eigvalsh(centered - centered.mean(axis=1, keepdims=True))
    size = float(np.abs(spectrum).sum())
    negative = float(-spectrum[spectrum < 0].sum()) / size if size > 0 else 0.0
    trace = float(spectrum.sum()) * (columns.n - 1) / max(len(block) - 1, 1)
    note(columns=len(block), negative_share=negative)
    return ColumnScaling(values, coordinates, weights, mean, trace, negative)


def pivot_weights(columns: ColumnPasses, mean: FloatArray, d: int) -> FloatArray:
    """W of pivot MDS (Brandes and Pich, 2007): the axes are those of all n × m distances.

    With U Σ V' = C coordinates are X = U A = C V Σ⁻¹ A. The columns are products with the landmarks
    L, C = X X_L' = U AA' U_L', which gives AA' in the units of the distances wherever they lie.
    """
    _, values, vectors = np.linalg.svd(columns.factor(mean))
    values, vectors = values[:d], vectors[:d].T
    usable = values > np.finfo(np.float64).eps * len(mean) * values[0]
    singular = np.where(usable, values, 1.0)
    # Rows are known up to a constant, which must drop out.
    weights = (vectors - vectors.mean(axis=0)) * np.where(usable, 1.0 / singular, 0.0)
    left = columns.block() @ weights
    left -= left.mean(axis=0)
    size = (singular[:, None] * vectors.T) @ np.linalg.pinv(left).T
    # Both halves give the same numbers, the row of the smaller singular value with less rounding.
    trust = np.square(singular[0] / singular)[:, None]
    size = size * trust
    values, axes = np.linalg.eigh((size + size.T) / (trust + trust.T))
    return np.asarray(weights @ (axes * np.sqrt(np.maximum(values, 0.0))))
