"""Distances between features, and their relation to p-norms.

A tree or a matrix product searches by a p-norm. A distance that is an increasing function of the
norm has the same neighbours: norms are converted to distances afterwards.
"""

import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, final

import numpy as np
from scipy.spatial.distance import cdist

from unbend.arrays import BoolArray, FloatArray, row_chunks

_CDIST = {1.0: "cityblock", 2.0: "euclidean", np.inf: "chebyshev"}
# Sums of powers below this have lost digits to underflow.
_SMALLEST = np.finfo(np.float64).tiny / np.finfo(np.float64).eps
# Working set, in bytes, of the loop over columns of angles: it fits in cache.
_CACHED = 1 << 19


class Norm(ABC):
    """A distance between rows of features."""

    # p of the p-norm of which the distance is an increasing function, or None.
    p: float | None
    # Largest norm from which the distance is computed accurately.
    reliable: ClassVar[float] = np.inf

    @abstractmethod
    def to_distance(self, lengths: FloatArray) -> FloatArray:
        """Convert values of the p-norm to distances."""

    @abstractmethod
    def to_norm(self, distance: float) -> float:
        """Convert a distance to the value of the p-norm."""

    @abstractmethod
    def between(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Distances of every row of `first` to every row of `second`."""

    @abstractmethod
    def along(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Distances of the pairs (first[i], second[i])."""


class _SelfNorm(Norm):
    """A distance that is its own norm."""

    def to_distance(self, lengths: FloatArray) -> FloatArray:
        """Return the lengths."""
        return lengths

    def to_norm(self, distance: float) -> float:
        """Return the distance."""
        return distance


@final
class PNorm(_SelfNorm):
    """The p-norm itself.

    Examples
    --------
    >>> import numpy as np
    >>> PNorm(1.0).between(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[7.]])
    """

    def __init__(self, p: float) -> None:
        self.p: float = p

    def between(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Distances of all pairs."""
        name: Any = _CDIST.get(self.p, "minkowski")
        options: Any = {} if self.p in _CDIST else {"p": self.p}
        distances = np.asarray(cdist(first, second, name, **options))
        rows, columns = np.nonzero(self._out_of_range(distances))
        for some in row_chunks(len(rows), 32 * first.shape[1]):
            pairs = rows[some], columns[some]
            distances[pairs] = self._scaled_norms(first[pairs[0]] - second[pairs[1]])
        return distances

    def along(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Norms of the differences."""
        differences = first - second
        with np.errstate(over="ignore"):
            distances = np.asarray(np.linalg.norm(differences, ord=self.p, axis=1))
        again = self._out_of_range(distances)
        distances[again] = self._scaled_norms(differences[again])
        return distances

    def _out_of_range(self, distances: FloatArray) -> BoolArray:
        """Whether powers of differences overflowed or underflowed."""
        if self.p in (1.0, np.inf):
            return np.zeros(distances.shape, dtype=bool)
        least = float(_SMALLEST ** (1.0 / self.p))
        return np.asarray((distances < least) | ~np.isfinite(distances))

    def _scaled_norms(self, differences: FloatArray) -> FloatArray:
        """Norms of differences scaled by the largest."""
        largest = np.abs(differences).max(axis=1, keepdims=True, initial=0.0)
        shares = np.divide(differences, largest, out=np.zeros(differences.shape), where=largest > 0)
        return np.asarray(largest[:, 0] * np.linalg.norm(shares, ord=self.p, axis=1))


@final
class Arc(Norm):
    """The angle between unit vectors: 2 atan2(|u − v|, |u + v|), accurate for all angles.

    It increases with the chord |u − v| = 2 sin(angle / 2).
    """

    p = 2.0
    # Beyond a right angle the chord is insensitive to the angle.
    reliable = float(np.sqrt(2.0))

    def to_distance(self, lengths: FloatArray) -> FloatArray:
        """Angles of chords."""
        return np.asarray(2.0 * np.arcsin(np.minimum(lengths / 2.0, 1.0)))

    def to_norm(self, distance: float) -> float:
        """Chord of an angle."""
        return float(2.0 * np.sin(min(distance, np.pi) / 2.0))

    def between(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Angles of all pairs."""
        return np.asarray(2.0 * np.arctan2(cdist(first, second), cdist(first, -second)))

    def along(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Angles of pairs."""
        apart, together = first - second, first + second
        lengths = np.linalg.norm(apart, axis=1), np.linalg.norm(together, axis=1)
        return np.asarray(2.0 * np.arctan2(*lengths))


@final
class HalfSquare(Norm):
    """Half the squared distance of unit vectors, |u − v|² / 2 = 1 − cos of the angle.

    Exactly zero for equal rows, which 1 − u·v is not.
    """

    p = 2.0

    def to_distance(self, lengths: FloatArray) -> FloatArray:
        """Square and halve."""
        return np.asarray(np.square(lengths) / 2.0)

    def to_norm(self, distance: float) -> float:
        """Double and take the root."""
        return float(np.sqrt(2.0 * distance))

    def between(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Distances of all pairs."""
        return self.to_distance(cdist(first, second))

    def along(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Distances of pairs."""
        return self.to_distance(np.linalg.norm(first - second, axis=1))


@final
class TorusNorm(_SelfNorm):
    """Root of the sum of squared differences of angles, each taken modulo 2π.

    The distance of a flat torus, which has no isometric embedding in a normed space: unit complex
    numbers would measure chords, not angles. So all pairs are compared. Angles are in [−π, π].
    """

    p = None

    def between(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Distances of all pairs."""
        distances = np.zeros((len(first), len(second)))
        columns = np.ascontiguousarray(second.T)
        for rows in row_chunks(len(first), 24 * len(second), _CACHED):
            squares = distances[rows]
            for own, others in zip(first[rows].T, columns, strict=True):
                squares += np.square(_wrap(own[:, None] - others))
            np.sqrt(squares, out=squares)
        return distances

    def along(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Distances of pairs."""
        return np.asarray(np.linalg.norm(_wrap(first - second), axis=1))


@final
class CallableNorm(_SelfNorm):
    """A callable of two rows."""

    p = None

    def __init__(self, function: Callable[..., Any], params: Mapping[str, Any]) -> None:
        self.function = function
        self.params = params

    def between(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Call the function for all pairs."""
        measured: Any = self._call
        return np.asarray(cdist(first, second, measured))

    def along(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Call the function for each pair."""
        return np.array([self._call(a, b) for a, b in zip(first, second, strict=True)])

    def _call(self, first: FloatArray, second: FloatArray) -> float:
        """Call the metric and check the result."""
        answer = self.function(first, second, **self.params)
        if not isinstance(answer, numbers.Real) or not 0 <= float(answer) < np.inf:
            raise ValueError(
                f"the metric returned {answer!r} for two rows: it must return a finite, "
                "non-negative number"
            )
        return float(answer)


def _wrap(differences: FloatArray) -> FloatArray:
    """Absolute differences of angles modulo 2π, in place."""
    np.abs(differences, out=differences)
    return np.asarray(np.minimum(differences, 2.0 * np.pi - differences, out=differences))
