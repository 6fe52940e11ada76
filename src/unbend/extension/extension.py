"""What every extension is: a map of new samples, most of them by their nearest fitted rows."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.neighbors import Space

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
