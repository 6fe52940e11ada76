"""Scaling by the distances to a few rows: all that is needed of n² squares are m columns.

Coordinates are −½ (s − s̄) W, with s the squared distances of a row to the landmarks, s̄ their mean
over all rows, and W with columns that sum to zero.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.gram import Squares
from unbend.neighbors import Space
from unbend.report import step


@dataclass(frozen=True, eq=False)
class Columns:
    """Squared distances of all rows of a space to some of them, made anew for every pass."""

    space: Space
    landmarks: IntArray
    threads: int = 1

    def passed(
        self, work: Callable[[FloatArray], FloatArray]
    ) -> Iterator[tuple[slice, FloatArray]]:
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

    def mean(self) -> FloatArray:
        """Mean of every column."""
        sums = [total for _, total in self.passed(lambda squares: squares.sum(axis=0))]
        return np.asarray(np.sum(sums, axis=0) / self.space.n)

    def cross(self, mean: FloatArray) -> FloatArray:
        """C'C of the columns C = −½ S, centred both ways."""

        def work(squares: FloatArray) -> FloatArray:
            squares -= mean
            squares -= squares.mean(axis=1, keepdims=True)
            return np.asarray(squares.T @ squares / 4)

        return np.asarray(sum(part for _, part in self.passed(work)))

    def placed(self, mean: FloatArray, weights: FloatArray) -> FloatArray:
        """Coordinates of all rows: centred, since `mean` is the mean of all."""
        coordinates = np.empty((self.space.n, weights.shape[1]))
        for rows, block in self.passed(lambda squares: -0.5 * (squares - mean) @ weights):
            coordinates[rows] = block
        return coordinates


def pivot_weights(columns: Columns, mean: FloatArray, d: int) -> FloatArray:
    """W of pivot MDS (Brandes and Pich, 2007): the axes are those of all n × m distances.

    With U Σ V' = C coordinates are U √λ = C V Σ⁻¹ √λ; m of n columns are known, so λ ≈ Σ √(n/m).
    """
    values, vectors = np.linalg.eigh(columns.cross(mean))
    values, vectors = values[::-1][:d], vectors[:, ::-1][:, :d]
    usable = values > 1e-14 * values[0]
    singular = np.sqrt(np.where(usable, values, 1.0))
    eigenvalues = singular * np.sqrt(columns.space.n / len(mean))
    return np.asarray(vectors * np.where(usable, np.sqrt(eigenvalues) / singular, 0.0))
