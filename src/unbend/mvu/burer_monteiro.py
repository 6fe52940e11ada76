"""Maximum variance unfolding of a kernel of low rank, K = YY', by a primal–dual Newton method.

Burer and Monteiro (2003) solve semidefinite programs through a factor of few columns. Theirs is an
augmented Lagrangian; here the optimality conditions in Y, the allowances and the tensions are
solved by damped Newton steps, with a barrier where edges must not grow. One step is one sparse
factorisation in the pattern of the graph, and some fifty steps give ten digits.
"""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from unbend.arrays import FloatArray
from unbend.mvu.curvature import Curvature, NewtonMatrix, centred
from unbend.mvu.edges import Edges
from unbend.mvu.relaxation import Relaxation
from unbend.report import step

MOST_STEPS = 300
# Optimality conditions, relative, at which the iteration ends.
TOLERANCE = 1e-10
# Below this error, steps that do not improve it show that rounding has been reached.
NEAR = 1e-6
# Shorter steps than this share of the possible are answered by a larger shift.
SHORT = 0.3
# Steps without descent, or without a smaller error far from rounding, before it gives up.
PATIENCE, LONG_PATIENCE = 8, 40
# Curvature of the wrong sign, and error of a point near to being stationary, that make a saddle.
SADDLE, SETTLED = 5e-3, 1e-3
# Slack of edges that a start stretches. With known tensions it is small: a strong barrier would
# push new columns back to zero.
COLD, WARM = 0.1, 1e-3
# Corrections of second order before a step is shortened, and how often it is halved.
CORRECTIONS, HALVINGS = 2, 20


class Lengths(Protocol):
    """Lengths as functions of coordinates: those of `Edges`, or of coordinates in some span."""

    @property
    def squares(self) -> FloatArray:
        """Squared lengths (m,) that the stretch is relative to."""

    def differences(self, coordinates: FloatArray) -> FloatArray:
        """Vectors between the ends of edges (m, r)."""

    def pull(self, tensions: FloatArray, differences: FloatArray) -> FloatArray:
        """Force of the tensions on the coordinates."""

    def centred(self, coordinates: FloatArray) -> FloatArray:
        """Coordinates without what no edge sees."""


class Convex(Protocol):
    """Factors of the curvature, shifted as little as makes it convex."""

    factors: int
    concave: float

    def factor(
        self, tensions: FloatArray, stiffness: FloatArray, differences: FloatArray, least: float
    ) -> tuple[Any, float]:
        """Return something that solves, and the shift that was needed."""


@dataclass(frozen=True, eq=False)
class State:
    """Coordinates, allowances and tensions, with what follows from the coordinates."""

    coordinates: FloatArray
    allowance: FloatArray
    tensions: FloatArray
    differences: FloatArray
    stretch: FloatArray

    @classmethod
    def at(
        cls, edges: Lengths, coordinates: FloatArray, allowance: FloatArray, tensions: FloatArray
    ) -> "State":
        """Evaluate the edges."""
        differences = edges.differences(coordinates)
        stretch = np.square(differences).sum(axis=1) / edges.squares - 1.0
        return cls(coordinates, allowance, tensions, differences, stretch)

    @property
    def excess(self) -> FloatArray:
        """Stretch beyond the allowance."""
        return np.asarray(self.stretch - self.allowance)


@dataclass(frozen=True, eq=False)
class Factored:
    """A stationary point of the problem of some rank, or as near as the iteration came.

    `error` is the largest of the relative residuals of the optimality conditions.
    """

    coordinates: FloatArray
    tensions: FloatArray
    error: float
    steps: int
    factors: int

    @property
    def converged(self) -> bool:
        """Whether the optimality conditions hold to tolerance."""
        return self.error <= TOLERANCE


def stationary(
    edges: Edges,
    relaxation: Relaxation,
    coordinates: FloatArray,
    tensions: FloatArray | None = None,
    most_steps: int = MOST_STEPS,
) -> Factored:
    """Find a stationary point of ‖Y‖² − Σ φ(stretch) over Y (n, r), from a start.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.mvu.relaxation import Inequality
    >>> path = Edges(3, np.array([0, 1]), np.array([1, 2]), np.array([1.0, 1.0]))
    >>> start = np.array([[-1.0, 0.1], [0.0, -0.2], [0.8, 0.1]])
    >>> found = stationary(path, Inequality(), start)
    >>> float(np.square(found.coordinates).sum().round(6))
    2.0
    >>> found.tensions.round(6)
    array([1., 1.])
    """
    matrix = NewtonMatrix(edges, coordinates.shape[1])
    matrix.reserve()
    return iterated(edges, Curvature(matrix), relaxation, coordinates, tensions, most_steps)


def iterated(
    edges: Lengths,
    curvature: Convex,
    relaxation: Relaxation,
    coordinates: FloatArray,
    tensions: FloatArray | None = None,
    most_steps: int = MOST_STEPS,
) -> Factored:
    """Iterate from a start, with or without tensions to begin with, on lengths of any kind."""
    start = edges.centred(np.asarray(coordinates, dtype=np.float64))
    cold = tensions is None
    if tensions is None:
        m = len(edges.squares)
        tensions = np.full(m, float(np.square(start).sum()) / m)
    state = State.at(edges, start, np.zeros_like(tensions), tensions)
    allowance = relaxation.allowance(state.stretch, COLD if cold else WARM)
    newton = _Newton(edges, relaxation, curvature)
    return newton.run(replace(state, allowance=allowance), most_steps)


@dataclass(frozen=True, eq=False)
class Direction:
    """A Newton step: changes of coordinates, allowances and tensions, and how it was found."""

    factor: Any
    stiffness: FloatArray
    move: FloatArray
    change: FloatArray
    tension_change: FloatArray
    longest: float


@dataclass
class _Newton:
    """The iteration, and what it remembers from step to step."""

    edges: Lengths
    relaxation: Relaxation
    curvature: Convex
    barrier: float = np.inf
    least_shift: float = 0.0
    failures: int = 0
    saddles: int = 0

    def run(self, state: State, most_steps: int) -> Factored:
        """Iterate until the conditions hold, and keep the best point seen."""
        best, best_error, steps, stale = state, self._error(state), 0, 0
        while best_error > TOLERANCE and steps < most_steps and self.failures < PATIENCE:
            if stale >= (PATIENCE if best_error < NEAR else LONG_PATIENCE):
                break
            self.barrier = self.relaxation.barrier(
                state.allowance, state.tensions, self._unmet(state)
            )
            try:
                state = self._next(state)
            except FloatingPointError:
                break
            error, steps, stale = self._error(state), steps + 1, stale + 1
            if error <= best_error:
                best, best_error, stale = state, error, 0
            if self._at_saddle(state):
                break
            step(min(steps, most_steps), most_steps)
        found = self.curvature.factors
        return Factored(best.coordinates, best.tensions, best_error, steps, found)

    def _solved(self, factor: Any, force: FloatArray) -> FloatArray:
        return self.edges.centred(factor.solve(force.ravel()).reshape(force.shape))

    def _at_saddle(self, state: State) -> bool:
        """Whether the point settles where the variance still grows in some direction.

        Only columns that are used up lead there; `solve` puts others in their place.
        """
        concave = self.curvature.concave > SADDLE
        self.saddles = self.saddles + 1 if concave and self._unmet(state) < SETTLED else 0
        return self.saddles >= PATIENCE // 2

    def _error(self, state: State) -> float:
        balance = self.relaxation.imbalance(state.allowance, state.tensions)
        worst = max(self._unmet(state), balance)
        return worst if np.isfinite(worst) else np.inf

    def _unmet(self, state: State) -> float:
        """Return the force that is not balanced, or the excess of stretch."""
        pull = self.edges.pull(state.tensions, state.differences) - state.coordinates
        size = max(float(np.linalg.norm(state.coordinates)), np.finfo(float).tiny)
        excess = float(np.abs(state.excess).max())
        return max(float(np.linalg.norm(self.edges.centred(pull))) / size, excess)

    def _next(self, state: State) -> State:
        edges, relaxation = self.edges, self.relaxation
        stiffness = relaxation.stiffness(state.allowance, state.tensions)
        factor, shift = self.curvature.factor(
            state.tensions, stiffness, state.differences, self.least_shift
        )
        aim = relaxation.slope(state.allowance, self.barrier) + stiffness * state.excess
        force = edges.centred(state.coordinates - edges.pull(aim, state.differences))
        move = self._solved(factor, force)
        lengthening = np.sum(state.differences * edges.differences(move), axis=1)
        growth = 2.0 * lengthening / edges.squares
        change = state.excess + growth
        tension_change = aim + stiffness * growth - state.tensions
        if not (np.all(np.isfinite(move)) and np.all(np.isfinite(tension_change))):
            raise FloatingPointError
        longest = relaxation.reach(state.allowance, change)
        direction = Direction(factor, stiffness, move, change, tension_change, longest)
        moved, length = self._along(state, direction)
        self._remember(shift, length / longest)
        dual = relaxation.dual_length(state.tensions, tension_change, length)
        return replace(moved, tensions=state.tensions + dual * tension_change)

    def _remember(self, shift: float, share: float) -> None:
        self.failures = self.failures + 1 if share < 1e-5 else 0
        if share < SHORT:
            self.least_shift = max(10.0 * self.least_shift, 10.0 * shift, 1e-6)
        else:
            self.least_shift /= 5.0

    def _along(self, state: State, way: "Direction") -> tuple[State, float]:
        """Go as far as the merit function falls: variance, price, and excess at a penalty."""
        ahead = np.abs(state.tensions + way.tension_change)
        # Edge by edge: a bridge may carry a thousand times the tension of the others.
        penalty = 2.0 * np.maximum(ahead, np.abs(state.tensions)) + 0.1 * float(ahead.mean())
        slope = self.relaxation.slope(state.allowance, self.barrier)
        before = self._merit(state, penalty)
        fall = -2.0 * float(np.sum(state.coordinates * way.move)) + float(slope @ way.change)
        fall = min(fall - float(penalty @ np.abs(state.excess)), 0.0)
        for length in way.longest * np.power(0.5, np.arange(1 + HALVINGS)):
            aim = state.allowance + length * way.change
            enough = before + 1e-4 * length * fall + 1e-12 * abs(before)
            coordinates = state.coordinates + length * way.move
            for _ in range(1 + CORRECTIONS):
                tried = State.at(self.edges, coordinates, aim, state.tensions)
                settled = self.relaxation.settled(aim, tried.stretch)
                tried = replace(tried, allowance=settled)
                if self._merit(tried, penalty) <= enough:
                    return tried, float(length)
                # What turning a stiff edge adds to its length, taken back (against the effect
                # that Maratos found): the factors serve again.
                surplus = way.stiffness * (tried.stretch - aim)
                back = self.edges.pull(surplus, state.differences)
                coordinates = coordinates - self._solved(way.factor, self.edges.centred(back))
        # No step lowers the merit: the shortest is taken, and counts as a failure.
        return tried, float(length)

    def _merit(self, state: State, penalty: FloatArray) -> float:
        price = self.relaxation.cost(state.allowance, self.barrier)
        excess = float(penalty @ np.abs(state.excess))
        return price + excess - float(np.square(state.coordinates).sum())


def principal(coordinates: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Turn coordinates to their principal axes; also the eigenvalues of YY'."""
    left, values, _ = np.linalg.svd(centred(coordinates), full_matrices=False)
    return np.asarray(left * values), np.square(values)
