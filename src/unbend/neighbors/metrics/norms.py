"""How far apart two rows of features are, and how a search by a plain norm serves it.

A tree or a matrix product finds neighbours by a p-norm. A distance that grows with the norm has
the same neighbours: the norm is *read* as a distance afterwards.
"""

import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, final

import numpy as np
from scipy.spatial.distance import cdist

from unbend.arrays import BoolArray, FloatArray, row_chunks

_CDIST = {1.0: "cityblock", 2.0: "euclidean", np.inf: "chebyshev"}
# Sums of powers below this have lost digits, or all of them, to underflow.
_SMALLEST = np.finfo(np.float64).tiny / np.finfo(np.float64).eps
# Working set of the loop over wrapped columns: it stays in cache.
_CACHED = 1 << 19


class Norm(ABC):
    """A distance between rows of features."""

    # p of the p-norm that the distance grows with; None if there is no such norm.
    p: float | None
    # Norms beyond this tell the distance only roughly: it is then measured again.
    reliable: ClassVar[float] = np.inf

    @abstractmethod
    def read(self, lengths: FloatArray) -> FloatArray:
        """Distances that belong to values of the p-norm."""

    @abstractmethod
    def unread(self, distance: float) -> float:
        """Value of the p-norm that belongs to a distance."""

    @abstractmethod
    def between(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Distances of every row of `first` to every row of `second`."""

    @abstractmethod
    def along(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Distances of the pairs (first[i], second[i])."""


@final
class Plain(Norm):
    """The p-norm itself.

    Examples
    --------
    >>> import numpy as np
    >>> Plain(1.0).between(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[7.]])
    """

    def __init__(self, p: float) -> None:
        self.p: float = p

    def read(self, lengths: FloatArray) -> FloatArray:
        """Return them: they are the distances."""
        return lengths

    def unread(self, distance: float) -> float:
        """Return it: it is the norm."""
        return distance

    def between(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Distances of all pairs."""
        name: Any = _CDIST.get(self.p, "minkowski")
        options: Any = {} if self.p in _CDIST else {"p": self.p}
        distances = np.asarray(cdist(first, second, name, **options))
        rows, columns = np.nonzero(self._doubtful(distances))
        for some in row_chunks(len(rows), 32 * first.shape[1]):
            pairs = rows[some], columns[some]
            distances[pairs] = self._by_largest(first[pairs[0]] - second[pairs[1]])
        return distances

    def along(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Norms of the differences."""
        differences = first - second
        with np.errstate(over="ignore"):
            distances = np.asarray(np.linalg.norm(differences, ord=self.p, axis=1))
        again = self._doubtful(distances)
        distances[again] = self._by_largest(differences[again])
        return distances

    def _doubtful(self, distances: FloatArray) -> BoolArray:
        """Which are not known, since powers of differences left double precision."""
        if self.p in (1.0, np.inf):
            return np.zeros(distances.shape, dtype=bool)
        least = float(_SMALLEST ** (1.0 / self.p))
        return np.asarray((distances < least) | ~np.isfinite(distances))

    def _by_largest(self, differences: FloatArray) -> FloatArray:
        """Norms by shares of the largest difference, whose powers have room."""
        largest = np.abs(differences).max(axis=1, keepdims=True, initial=0.0)
        shares = np.divide(differences, largest, out=np.zeros(differences.shape), where=largest > 0)
        return np.asarray(largest[:, 0] * np.linalg.norm(shares, ord=self.p, axis=1))


@final
class Arc(Norm):
    """The angle between unit vectors: 2 atan2(|u − v|, |u + v|), which loses no digit anywhere.

    It grows with the chord |u − v| = 2 sin(angle / 2).
    """

    p = 2.0
    # Beyond a right angle, where the chord hardly grows any more, the sum tells.
    reliable = float(np.sqrt(2.0))

    def read(self, lengths: FloatArray) -> FloatArray:
        """Angles of chords."""
        return np.asarray(2.0 * np.arcsin(np.minimum(lengths / 2.0, 1.0)))

    def unread(self, distance: float) -> float:
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

    def read(self, lengths: FloatArray) -> FloatArray:
        """Square and halve."""
        return np.asarray(np.square(lengths) / 2.0)

    def unread(self, distance: float) -> float:
        """Double and take the root."""
        return float(np.sqrt(2.0 * distance))

    def between(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Distances of all pairs."""
        return self.read(cdist(first, second))

    def along(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Distances of pairs."""
        return self.read(np.linalg.norm(first - second, axis=1))


@final
class Wrapped(Norm):
    """Root of the sum of squared differences of angles, each taken modulo 2π.

    A distance on a flat torus of as many dimensions as there are angles, which has no isometric
    image in a space with a norm: unit complex numbers would measure chords, not angles. So all
    pairs are compared. Angles must lie between −π and π.
    """

    p = None

    def read(self, lengths: FloatArray) -> FloatArray:
        """Return them."""
        return lengths

    def unread(self, distance: float) -> float:
        """Return it."""
        return distance

    def between(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Distances of all pairs."""
        distances = np.zeros((len(first), len(second)))
        columns = np.ascontiguousarray(second.T)
        for rows in row_chunks(len(first), 24 * len(second), _CACHED):
            squares = distances[rows]
            for own, others in zip(first[rows].T, columns, strict=True):
                squares += np.square(_wrapped(own[:, None] - others))
            np.sqrt(squares, out=squares)
        return distances

    def along(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Distances of pairs."""
        return np.asarray(np.linalg.norm(_wrapped(first - second), axis=1))


@final
class Called(Norm):
    """A user's function of two rows."""

    p = None

    def __init__(self, function: Callable[..., Any], params: Mapping[str, Any]) -> None:
        self.function = function
        self.params = params

    def read(self, lengths: FloatArray) -> FloatArray:
        """Return them."""
        return lengths

    def unread(self, distance: float) -> float:
        """Return it."""
        return distance

    def between(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Call the function for all pairs."""
        measured: Any = self._measured
        return np.asarray(cdist(first, second, measured))

    def along(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Call the function for each pair."""
        return np.array([self._measured(a, b) for a, b in zip(first, second, strict=True)])

    def _measured(self, first: FloatArray, second: FloatArray) -> float:
        """Check every answer: a wrong one would spoil all neighbours."""
        answer = self.function(first, second, **self.params)
        if not isinstance(answer, numbers.Real) or not 0 <= float(answer) < np.inf:
            raise ValueError(
                f"the metric gave {answer!r} for two rows: it must give a finite number that is "
                "not negative"
            )
        return float(answer)


def _wrapped(differences: FloatArray) -> FloatArray:
    """Magnitudes of differences of angles modulo 2π; overwrites them."""
    np.abs(differences, out=differences)
    return np.asarray(np.minimum(differences, 2.0 * np.pi - differences, out=differences))
