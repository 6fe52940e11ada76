"""How lengths are held: not to be exceeded, or kept at a price.

Maximum variance unfolding maximises tr K − Σ φ(c) over K ⪰ 0 with K1 = 0, where c is the stretch
of an edge, K_ii + K_jj − 2K_ij = (1 + c) d². Its dual over tensions u of the edges is
min Σ u + Σ φ*(u) subject to L(u) ⪰ I on vectors of sum zero.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

from unbend.arrays import FloatArray

# Share of the way to the boundary that is gone.
TO_BOUNDARY = 0.995
# Mean of slack times tension, relative to the mean tension, below which the barrier is not lowered.
LEAST_BARRIER = 1e-12
# The barrier waits where other errors are this many times larger.
LAG = 1e3


class Relaxation(ABC):
    """Abstract: the price φ of a stretch, and its derivatives, for Newton's method.

    The solver keeps for every edge an allowance s besides its actual stretch c(Y), with s = c at
    the end, so that far from it neither curvature is exaggerated by an edge much too long.
    """

    @abstractmethod
    def allowance(self, stretch: FloatArray, slack: float) -> FloatArray:
        """First allowances, at a distance from the boundary."""

    @abstractmethod
    def barrier(self, allowance: FloatArray, tensions: FloatArray, error: float) -> float:
        """Barrier parameter to aim at from a point with that error of the other conditions."""

    @abstractmethod
    def slope(self, allowance: FloatArray, barrier: float) -> FloatArray:
        """φ'(s)."""

    @abstractmethod
    def stiffness(self, allowance: FloatArray, tensions: FloatArray) -> FloatArray:
        """Change of the tension with the allowance."""

    @abstractmethod
    def cost(self, allowance: FloatArray, barrier: float) -> float:
        """Σ φ(s)."""

    @abstractmethod
    def reach(self, allowance: FloatArray, change: FloatArray) -> float:
        """Longest step, at most one, that keeps allowances allowed."""

    @abstractmethod
    def dual_length(self, tensions: FloatArray, change: FloatArray, length: float) -> float:
        """Step of the tensions where that of the coordinates is `length`."""

    @abstractmethod
    def settled(self, allowance: FloatArray, stretch: FloatArray) -> FloatArray:
        """Return allowances for a new stretch that are no dearer."""

    @abstractmethod
    def imbalance(self, allowance: FloatArray, tensions: FloatArray) -> float:
        """How far tension and allowance are from belonging together, relative to the tensions."""

    @abstractmethod
    def permitted(self, coordinates: FloatArray, stretch: FloatArray) -> tuple[FloatArray, float]:
        """Coordinates that may be claimed, and what is paid for their stretch."""

    @abstractmethod
    def conjugate(self, tensions: FloatArray) -> float:
        """Σ φ*(u); infinite where tensions are not allowed."""

    @abstractmethod
    def residual(self, stretch: FloatArray) -> FloatArray:
        """Relative error of each length, as far as it is not wanted."""


def _reach(values: FloatArray, change: FloatArray) -> float:
    falling = change < 0
    if not falling.any():
        return 1.0
    return min(1.0, TO_BOUNDARY * float(np.min(-values[falling] / change[falling])))


@final
@dataclass(frozen=True)
class Inequality(Relaxation):
    """No edge may grow: φ is zero for c ≤ 0 and infinite beyond; a barrier −μ log(−s) leads there.

    Examples
    --------
    >>> import numpy as np
    >>> Inequality().conjugate(np.array([0.5, 2.0]))
    0.0
    """

    def allowance(self, stretch: FloatArray, slack: float) -> FloatArray:
        """Shorter than bounded, by the slack at least."""
        return np.minimum(stretch, -slack)

    def barrier(self, allowance: FloatArray, tensions: FloatArray, error: float) -> float:
        """Lower it as far as pairs and other errors are ready for it."""
        pairs = -allowance * tensions
        mean = max(float(pairs.mean()), LEAST_BARRIER * float(tensions.mean()))
        if error * float(tensions.mean()) > LAG * mean:
            return mean
        return 0.1 * mean

    def slope(self, allowance: FloatArray, barrier: float) -> FloatArray:
        """μ over the slack."""
        return -barrier / allowance

    def stiffness(self, allowance: FloatArray, tensions: FloatArray) -> FloatArray:
        """Tension over slack."""
        return -tensions / allowance

    def cost(self, allowance: FloatArray, barrier: float) -> float:
        """−μ Σ log of the slack."""
        return -barrier * float(np.log(-allowance).sum())

    def reach(self, allowance: FloatArray, change: FloatArray) -> float:
        """Keep slacks positive."""
        return _reach(-allowance, -change)

    def dual_length(self, tensions: FloatArray, change: FloatArray, length: float) -> float:
        """Keep tensions positive."""
        return _reach(tensions, change)

    def settled(self, allowance: FloatArray, stretch: FloatArray) -> FloatArray:
        """Widen slacks that the stretch leaves."""
        # An edge that became shorter than it need be gives more room for nothing.
        return np.minimum(allowance, stretch)

    def imbalance(self, allowance: FloatArray, tensions: FloatArray) -> float:
        """Mean of slack times tension, over the mean tension."""
        return float(-allowance @ tensions / tensions.sum())

    def permitted(self, coordinates: FloatArray, stretch: FloatArray) -> tuple[FloatArray, float]:
        """Shrink all alike until no edge is too long."""
        # A few units of rounding more, so that the shrunk coordinates are feasible as they stand.
        longest = max(1.0, (1.0 + float(stretch.max())) * (1.0 + 32.0 * np.finfo(float).eps))
        return coordinates / np.sqrt(longest), 0.0

    def conjugate(self, tensions: FloatArray) -> float:
        """Zero for tensions that pull."""
        return 0.0 if np.all(tensions >= 0) else np.inf

    def residual(self, stretch: FloatArray) -> FloatArray:
        """By how much an edge is too long."""
        return np.asarray(np.maximum(np.sqrt(1.0 + stretch) - 1.0, 0.0))


@final
@dataclass(frozen=True, eq=False)
class Soft(Relaxation):
    """Every edge is a spring: φ(c) = ½ κ c², with a stiffness κ for each.

    Examples
    --------
    >>> import numpy as np
    >>> Soft(np.array([10.0, 10.0])).conjugate(np.array([1.0, 2.0]))
    0.25
    """

    kappa: FloatArray

    def allowance(self, stretch: FloatArray, slack: float) -> FloatArray:
        """Return the stretch itself."""
        return stretch

    def barrier(self, allowance: FloatArray, tensions: FloatArray, error: float) -> float:
        """None."""
        return 0.0

    def slope(self, allowance: FloatArray, barrier: float) -> FloatArray:
        """κ s."""
        return self.kappa * allowance

    def stiffness(self, allowance: FloatArray, tensions: FloatArray) -> FloatArray:
        """κ."""
        return self.kappa

    def cost(self, allowance: FloatArray, barrier: float) -> float:
        """½ Σ κ s²."""
        return 0.5 * float(self.kappa @ np.square(allowance))

    def reach(self, allowance: FloatArray, change: FloatArray) -> float:
        """All of it."""
        return 1.0

    def dual_length(self, tensions: FloatArray, change: FloatArray, length: float) -> float:
        """As far as the coordinates go."""
        return length

    def settled(self, allowance: FloatArray, stretch: FloatArray) -> FloatArray:
        """Return the stretch itself."""
        return stretch

    def imbalance(self, allowance: FloatArray, tensions: FloatArray) -> float:
        """Tensions against κ s."""
        size = max(float(np.abs(tensions).max()), np.finfo(float).tiny)
        return float(np.abs(tensions - self.kappa * allowance).max()) / size

    def permitted(self, coordinates: FloatArray, stretch: FloatArray) -> tuple[FloatArray, float]:
        """All, at their price."""
        return coordinates, self.cost(stretch, 0.0)

    def conjugate(self, tensions: FloatArray) -> float:
        """½ Σ u²/κ."""
        return 0.5 * float(np.square(tensions) @ (1.0 / self.kappa))

    def residual(self, stretch: FloatArray) -> FloatArray:
        """By how much an edge is too long or too short."""
        return np.asarray(np.abs(np.sqrt(1.0 + stretch) - 1.0))
