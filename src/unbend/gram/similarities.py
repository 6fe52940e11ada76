"""Columns of a kernel, made a block of rows at a time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unbend.arrays import FloatArray, IntArray, add_to_pairs, row_chunks
from unbend.gram.columns import ColumnPasses, Work
from unbend.report import step

# Largest error of a squared distance, times the kernel's width, that a product may make.
PRODUCT_ERROR = 1e-10
# The same in units of rounding, which differences make too: up to here products lose no digit that
# differences would keep.
SAME_ERROR = 16.0


@dataclass(frozen=True, eq=False)
class SimilarityColumns(ColumnPasses):
    """−2 k(x, x_j) of all rows with some of them, made anew for every pass."""

    points: FloatArray
    landmarks: IntArray
    similarities: Callable[[FloatArray], FloatArray]
    affine: ClassVar[bool] = False

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.points)

    def squares_between(self) -> FloatArray:
        """−2 k between the landmarks."""
        return np.asarray(-2.0 * self.similarities(self.points[self.landmarks]))

    def passed(self, work: Work) -> Iterator[tuple[slice, FloatArray]]:
        """Do some work on every block of rows; results come in the order of the rows."""
        for rows in row_chunks(self.n, 16 * len(self.landmarks), budget=1 << 25):
            values = np.array(self.similarities(self.points[rows]))
            values *= -2.0
            step(rows.stop, self.n)
            yield rows, work(values)


@dataclass(frozen=True, eq=False)
class FeatureColumns(ColumnPasses):
    """Squared distances of all rows to some of them in feature space, made anew for every pass."""

    points: FloatArray
    landmarks: IntArray
    squares: Callable[[FloatArray], FloatArray]

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.points)

    def squares_between(self) -> FloatArray:
        """Squared distances between the landmarks."""
        return np.asarray(self.squares(self.points[self.landmarks]))

    def passed(self, work: Work) -> Iterator[tuple[slice, FloatArray]]:
        """Do some work on every block of rows; results come in the order of the rows."""
        for rows in row_chunks(self.n, 64 * len(self.landmarks), budget=1 << 25):
            step(rows.stop, self.n)
            yield rows, work(self.squares(self.points[rows]))


@dataclass(frozen=True, eq=False)
class GaussianSimilarities:
    """exp(−γ‖x − x_j‖²) by matrix products, for rows near the landmarks' mean.

    Squares from products have errors of about ε‖x‖² about that mean; `safe` tells whether these
    are too small to be seen.
    """

    centre: FloatArray
    landmarks: FloatArray
    gamma: float

    @classmethod
    def of(cls, landmarks: FloatArray, gamma: float) -> "GaussianSimilarities":
        """Centre the landmarks."""
        centre = landmarks.mean(axis=0)
        return cls(centre, landmarks - centre, gamma)

    def safe(self, points: FloatArray) -> bool:
        """Whether all points are near enough."""
        spread = np.maximum(points.max(axis=0) - self.centre, self.centre - points.min(axis=0))
        error = 4.0 * np.finfo(np.float64).eps * float(np.square(spread).sum())
        return bool(self.gamma * error <= PRODUCT_ERROR)

    def between(self) -> FloatArray | None:
        """Similarities between all landmarks; None where differences would be more accurate."""
        squares = self.landmarks @ self.landmarks.T
        lengths = self.gamma * squares.diagonal()
        if not 4.0 * lengths.max() <= SAME_ERROR:
            return None
        squares *= 2.0 * self.gamma
        add_to_pairs(squares, -lengths)
        np.minimum(squares, 0.0, out=squares)
        return np.exp(squares, out=squares)

    def __call__(self, new: FloatArray) -> FloatArray:
        """Return an (m, landmarks) array."""
        centred = new - self.centre
        squares = centred @ self.landmarks.T
        squares *= 2.0 * self.gamma
        squares -= self.gamma * np.einsum("ij,ij->i", centred, centred)[:, None]
        squares -= self.gamma * np.einsum("ij,ij->i", self.landmarks, self.landmarks)
        np.minimum(squares, 0.0, out=squares)
        return np.exp(squares, out=squares)
