"""Gram matrices of points: inner products of centred rows."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.gram.centered import Carry, CentredGram


@dataclass(frozen=True, eq=False)
class PointGram(CentredGram):
    """CC' for centred points C: what −½ H D² H is for the Euclidean distances between them.

    Products go through C, so neither distances nor kernel are computed, and memory is that of the
    points.

    Examples
    --------
    >>> import numpy as np
    >>> PointGram.of(np.array([[3.0], [5.0]])).formed()
    array([[ 1., -1.],
           [-1.,  1.]])
    """

    centred: FloatArray

    @classmethod
    def of(cls, points: FloatArray) -> "PointGram":
        """Centre points."""
        centred = points - points.mean(axis=0)
        # The mean of rows far from the origin is rounded, and the rest would pass for a direction.
        centred -= centred.mean(axis=0)
        return cls(centred)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.centred)

    @cached_property
    def _lengths(self) -> FloatArray:
        return np.asarray(np.square(self.centred).sum(axis=1))

    @property
    def mean_squares(self) -> FloatArray:
        """Mean squared distance of each row to all."""
        return np.asarray(self._lengths + self._lengths.mean())

    @property
    def trace(self) -> float:
        """Sum of all eigenvalues."""
        return float(self._lengths.sum())

    def _product(self, vectors: FloatArray) -> FloatArray:
        return np.asarray(self.centred @ (self.centred.T @ vectors))

    def formed(self) -> FloatArray:
        """Compute all inner products."""
        return np.asarray(self.centred @ self.centred.T)

    def _sample(self, rows: IntArray) -> tuple[FloatArray, Carry]:
        if self.centred.shape[1] <= len(rows):
            # The same eigenvalues, from all rows, for less than the kernel of some takes.
            small = self.centred.T @ self.centred
            return small * (len(rows) / self.n), lambda vectors: np.asarray(self.centred @ vectors)
        some = self.centred[rows] - self.centred[rows].mean(axis=0)
        return some @ some.T, lambda vectors: np.asarray(self.centred @ (some.T @ vectors))
