"""Length constraints: upper bounds with a log barrier, or quadratic penalties.

Maximum variance unfolding maximises tr K − Σ φ(c) over K ⪰ 0 with K1 = 0, where c is the stretch
of an edge, K_ii + K_jj − 2K_ij = (1 + c) d². Its dual over tensions u of the edges is
min Σ u + Σ φ*(u) subject to L(u) ⪰ I on vectors of sum zero.

The solver keeps an allowance s for every edge besides its actual stretch c(Y), with s = c at
convergence, so that an edge much too long does not dominate the curvature. Both relaxations have
the same methods:

allowance, update_allowance
    Initial allowances, strictly feasible; allowances for a new stretch at no greater cost.
barrier, cost, slope, stiffness
    Barrier parameter to aim at; Σ φ(s); φ'(s); derivative of the tension by the allowance.
max_step, dual_step
    Longest feasible step of the allowances, at most one; step of the tensions.
imbalance
    Relative residual of the complementarity of tensions and allowances.
feasible
    Coordinates that satisfy the constraints, and the cost of their stretch.
conjugate, residual
    Σ φ*(u), infinite for infeasible tensions; relative error of each length.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from unbend.arrays import FloatArray

# Fraction of the step to the boundary.
TO_BOUNDARY = 0.995
# Least mean of slack times tension, relative to the mean tension, of the barrier.
LEAST_BARRIER = 1e-12
# The barrier is not lowered while other errors are this many times larger.
LAG = 1e3


def _reach(values: FloatArray, change: FloatArray) -> float:
    falling = change < 0
    if not falling.any():
        return 1.0
    return min(1.0, TO_BOUNDARY * float(np.min(-values[falling] / change[falling])))


@final
@dataclass(frozen=True)
class Inequality:
    """Upper bounds: φ is zero for c ≤ 0 and infinite beyond, by a barrier −μ log(−s).

    Examples
    --------
    >>> import numpy as np
    >>> Inequality().conjugate(np.array([0.5, 2.0]))
    0.0
    """

    def allowance(self, stretch: FloatArray, slack: float) -> FloatArray:
        """Stay below the bound by at least the slack."""
        return np.minimum(stretch, -slack)

    def barrier(self, allowance: FloatArray, tensions: FloatArray, error: float) -> float:
        """Lower the barrier unless other errors dominate."""
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

    def max_step(self, allowance: FloatArray, change: FloatArray) -> float:
        """Keep slacks positive."""
        return _reach(-allowance, -change)

    def dual_step(self, tensions: FloatArray, change: FloatArray, length: float) -> float:
        """Keep tensions positive."""
        return _reach(tensions, change)

    def update_allowance(self, allowance: FloatArray, stretch: FloatArray) -> FloatArray:
        """Increase slacks where the stretch allows."""
        # An edge shorter than its allowance increases its slack at no cost.
        return np.minimum(allowance, stretch)

    def imbalance(self, allowance: FloatArray, tensions: FloatArray) -> float:
        """Mean of slack times tension, over the mean tension."""
        return float(-allowance @ tensions / tensions.sum())

    def feasible(self, coordinates: FloatArray, stretch: FloatArray) -> tuple[FloatArray, float]:
        """Scale all coordinates until no edge is too long."""
        # A few units of rounding more, so that the scaled coordinates are feasible in floating
        # point.
        longest = max(1.0, (1.0 + float(stretch.max())) * (1.0 + 32.0 * np.finfo(float).eps))
        return coordinates / np.sqrt(longest), 0.0

    def conjugate(self, tensions: FloatArray) -> float:
        """Zero for non-negative tensions."""
        return 0.0 if np.all(tensions >= 0) else np.inf

    def residual(self, stretch: FloatArray) -> FloatArray:
        """Relative excess of each length."""
        return np.asarray(np.maximum(np.sqrt(1.0 + stretch) - 1.0, 0.0))


@final
@dataclass(frozen=True, eq=False)
class Soft:
    """Quadratic penalties φ(c) = ½ κ c² with a stiffness κ per edge.

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
        """Return zero: there is no barrier."""
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

    def max_step(self, allowance: FloatArray, change: FloatArray) -> float:
        """Return one: every step is feasible."""
        return 1.0

    def dual_step(self, tensions: FloatArray, change: FloatArray, length: float) -> float:
        """Return the step of the coordinates."""
        return length

    def update_allowance(self, allowance: FloatArray, stretch: FloatArray) -> FloatArray:
        """Return the stretch itself."""
        return stretch

    def imbalance(self, allowance: FloatArray, tensions: FloatArray) -> float:
        """Relative difference of tensions and κ s."""
        size = max(float(np.abs(tensions).max()), np.finfo(float).tiny)
        return float(np.abs(tensions - self.kappa * allowance).max()) / size

    def feasible(self, coordinates: FloatArray, stretch: FloatArray) -> tuple[FloatArray, float]:
        """Return all coordinates and their cost."""
        return coordinates, self.cost(stretch, 0.0)

    def conjugate(self, tensions: FloatArray) -> float:
        """½ Σ u²/κ."""
        return 0.5 * float(np.square(tensions) @ (1.0 / self.kappa))

    def residual(self, stretch: FloatArray) -> FloatArray:
        """Relative error of each length."""
        return np.asarray(np.abs(np.sqrt(1.0 + stretch) - 1.0))


Relaxation = Inequality | Soft
