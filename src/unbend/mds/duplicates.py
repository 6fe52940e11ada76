"""Duplicate objects: equal dissimilarities to all others, and equal coordinates."""

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.cached import cached_property
from unbend.mds.object_pairs import Pairs
from unbend.mds.objective import InverseStress, MetricStress, Objective, Stress1


def find_duplicates(pairs: Pairs) -> IntArray | None:
    """First object that each one equals, or None if all are distinct.

    Duplicates have dissimilarity zero, and equal ones to all others. Pairs with weights, or of
    which only some are listed, describe no duplicates.
    """
    if pairs.weights is not None or pairs.ends is not None or pairs.dissimilarities.all():
        return None
    first: IntArray = np.arange(pairs.n)
    others: IntArray = np.arange(pairs.n)
    seen: dict[bytes, int] = {}
    with_zero = np.zeros(pairs.n, dtype=bool)
    starts = pairs.starts()
    for i, start in enumerate(starts):
        zero = pairs.dissimilarities[start : start + pairs.n - 1 - i] == 0
        with_zero[i] |= zero.any()
        with_zero[i + 1 :] |= zero
    for i in np.flatnonzero(with_zero).tolist():
        row = np.zeros(pairs.n, dtype=pairs.precision)
        known = others != i
        row[known] = pairs.dissimilarities[pairs.index(np.full(pairs.n - 1, i), others[known])]
        # Adding zero turns -0.0 to 0.0: equal numbers must have equal bytes.
        first[i] = seen.setdefault(blake2b((row + 0.0).tobytes()).digest(), i)
    return first


class Duplicates:
    """Objects that equal another one, sorted by the distinct object that they are.

    Parameters
    ----------
    copy : array (n,)
        Number of the distinct object, or of the first object, that each one equals.
    """

    def __init__(self, copy: IntArray) -> None:
        counts = np.bincount(copy)
        several = np.flatnonzero(counts[copy] > 1)
        self._objects = several[np.argsort(copy[several], kind="stable")]
        self._counts = counts[counts > 1]
        self._starts = np.cumsum(self._counts) - self._counts

    def __bool__(self) -> bool:
        return bool(len(self._objects))

    def average(self, rows: FloatArray) -> None:
        """Give duplicates the mean of their rows, in place."""
        if self:
            sums = np.add.reduceat(rows[self._objects], self._starts, axis=0)
            rows[self._objects] = np.repeat(sums / self._counts[:, None], self._counts, axis=0)


@dataclass(frozen=True, eq=False)
class JoinedStress:
    """Stress as a function of distinct objects: duplicates move together, by their mean step.

    Without this, rounding moves duplicates apart wherever that lowers the stress, as it may in
    few dimensions and where tied dissimilarities may have different distances.
    """

    objective: Objective
    duplicates: Duplicates

    @property
    def size(self) -> float:
        """Unit of values and gradients."""
        return self.objective.size

    @property
    def rounding(self) -> float:
        """Machine epsilon of the dissimilarities."""
        return self.objective.rounding

    @property
    def resolution(self) -> float:
        """Relative decrease of several iterations together below which they end."""
        return self.objective.resolution

    @property
    def inverse(self) -> bool:
        """Whether it is an inverse stress, which starts from the minimum of another one."""
        return isinstance(self.objective, InverseStress)

    @cached_property
    def before(self) -> "JoinedStress":
        """The stress whose minimum is the start, of an inverse stress."""
        assert isinstance(self.objective, InverseStress)
        return JoinedStress(self.objective.before, self.duplicates)

    def __call__(self, coordinates: FloatArray) -> tuple[float, FloatArray]:
        """Value and gradient at a configuration (n, d)."""
        value, gradient = self.objective(coordinates)
        self.duplicates.average(gradient)
        return value, gradient

    def precondition(self, vectors: FloatArray) -> FloatArray:
        """Multiply by about the inverse Hessian."""
        found = np.array(self.objective.precondition(vectors))
        self.duplicates.average(found)
        return found

    def guttman_transform(self, coordinates: FloatArray) -> tuple[float, FloatArray]:
        """Value at a configuration, and its Guttman transform among joined ones."""
        assert isinstance(self.objective, MetricStress | Stress1)
        value, moved = self.objective.guttman_transform(coordinates)
        self.duplicates.average(moved)
        return value, moved
