"""Scaling by the distances to a few rows: all that is needed of n² squares are m columns.

Coordinates are −½ (s − s̄) W, with s the squared distances of a row to the landmarks and s̄ their
mean over all rows. Of kernels k that are no distances, s = −2k stands for them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.gram import Squares
from unbend.lowrank.nystrom import column_axes, inverse_root
from unbend.neighbors import Space
from unbend.report import step

Work = Callable[[FloatArray], FloatArray]


class ColumnPasses(ABC):
    """Abstract: squares of all rows to m landmarks, seen block by block, as often as needed."""

    # Whether rows are known up to a constant only, so that weights must sum to zero.
    affine: ClassVar[bool] = True

    @abstractmethod
    def passed(self, work: Work) -> Iterator[tuple[slice, FloatArray]]:
        """Do some work on every block of rows, which it may change; results in their order."""

    @abstractmethod
    def squares_between(self) -> FloatArray:
        """Squares (m, m) between the landmarks."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of rows."""

    def mean(self) -> FloatArray:
        """Mean of every column."""
        sums = [total for _, total in self.passed(lambda squares: squares.sum(axis=0))]
        return np.asarray(np.sum(sums, axis=0) / self.n)

    def block(self) -> FloatArray:
        """Kernel −½ S of the landmarks, centred both ways where rows have a constant of their own.

        Their own mean will do: the columns are centred by that of all rows.
        """
        kernel = -0.5 * self.squares_between()
        if self.affine:
            kernel = kernel - kernel.mean(axis=0)
            kernel = kernel - kernel.mean(axis=1, keepdims=True)
        return np.asarray(kernel)

    def moments(self, root: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean of every column of S, and (CR)'(CR) of C = −½ S centred: one pass gives both."""
        near = self.squares_between().mean(axis=0)

        def work(squares: FloatArray) -> FloatArray:
            squares -= near
            beside = squares.sum(axis=0)
            images = self._rows_centred(squares) @ root
            return np.concatenate(((images.T @ images).ravel(), beside))

        total = np.asarray(sum(part for _, part in self.passed(work)))
        # Both sides: rows that are all equal leave a root without columns.
        cross = total[: -len(near)].reshape(root.shape[1], root.shape[1])
        off = total[-len(near) :] / self.n
        mean = near + off
        shift = (self._rows_centred(off[None]) @ root)[0]
        return mean, (cross - self.n * np.outer(shift, shift)) / 4

    def factor(self, mean: FloatArray) -> FloatArray:
        """Triangular R with R'R = C'C of the columns C = −½ S, centred by a mean.

        It keeps the small singular values of C that C'C, with their squares, would lose.
        """

        def work(squares: FloatArray) -> FloatArray:
            squares -= mean
            squares = self._rows_centred(squares)
            return np.asarray(np.linalg.qr(squares, mode="r")) / 2

        factor: FloatArray = np.zeros((0, len(mean)))
        for _, part in self.passed(work):
            factor = np.asarray(np.linalg.qr(np.vstack((factor, part)), mode="r"))
        return factor

    def placed(self, mean: FloatArray, weights: FloatArray) -> FloatArray:
        """Coordinates of all rows: centred, since `mean` is the mean of all."""
        coordinates = np.empty((self.n, weights.shape[1]))
        for rows, block in self.passed(lambda squares: -0.5 * (squares - mean) @ weights):
            coordinates[rows] = block
        return coordinates

    def _rows_centred(self, squares: FloatArray) -> FloatArray:
        if self.affine:
            squares -= squares.mean(axis=1, keepdims=True)
        return squares


@dataclass(frozen=True, eq=False)
class Columns(ColumnPasses):
    """Squared distances of all rows of a space to some of them, made anew for every pass."""

    space: Space
    landmarks: IntArray
    threads: int = 1

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.space.n

    def squares_between(self) -> FloatArray:
        """Squared distances between the landmarks."""
        few = self.space.take(self.landmarks)
        return Squares()(few.distances_of(few.rows(np.arange(few.n))))

    def passed(self, work: Work) -> Iterator[tuple[slice, FloatArray]]:
        """Do some work on every block of rows; results come in the order of the rows."""
        few, n = self.space.take(self.landmarks), self.space.n
        chunks = row_chunks(n, 16 * len(self.landmarks), budget=1 << 25)

        def one(rows: slice) -> FloatArray:
            block = self.space.rows(np.arange(rows.start, rows.stop))
            return work(Squares()(few.distances_of(self.space.narrow(block, self.landmarks))))

        with ThreadPoolExecutor(self.threads) as pool:
            for rows, result in zip(chunks, pool.map(one, chunks), strict=True):
                step(rows.stop, n)
                yield rows, result


@dataclass(frozen=True, eq=False)
class KnownColumns(ColumnPasses):
    """Distances (n, m) of all rows to the landmarks, which are rows of the same array."""

    distances: FloatArray
    landmarks: IntArray

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.distances)

    def squares_between(self) -> FloatArray:
        """Squared distances between the landmarks."""
        return Squares()(self.distances[self.landmarks])

    def passed(self, work: Work) -> Iterator[tuple[slice, FloatArray]]:
        """Do some work on every block of rows; results come in the order of the rows."""
        for rows in row_chunks(self.n, 16 * len(self.landmarks), budget=1 << 25):
            yield rows, work(Squares()(self.distances[rows]))


@dataclass(frozen=True, eq=False)
class Placed:
    """Rows placed by Nyström's approximation: coordinates V√Λ = −½ (s − s̄) W.

    `values` are Λ, one more than there are coordinates where there is one; `trace` is estimated
    from the landmarks, and `negative` is the share of their eigenvalues that is negative.
    """

    values: FloatArray
    coordinates: FloatArray
    weights: FloatArray
    mean: FloatArray
    trace: float
    negative: float


def placed_by_columns(columns: ColumnPasses, count: int, accuracy: float = 0.0) -> Placed:
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
    coordinates = columns.placed(mean, weights)
    centred = block - block.mean(axis=0)
    spectrum = np.linalg.eigvalsh(centred - centred.mean(axis=1, keepdims=True))
    size = float(np.abs(spectrum).sum())
    negative = float(-spectrum[spectrum < 0].sum()) / size if size > 0 else 0.0
    trace = float(spectrum.sum()) * (columns.n - 1) / max(len(block) - 1, 1)
    return Placed(values, coordinates, weights, mean, trace, negative)


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
