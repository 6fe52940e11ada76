"""Maximum variance unfolding of a low-rank kernel K = YY' by a primal–dual Newton method.

Burer and Monteiro (2003) solve semidefinite programs through a factor of few columns. Theirs is an
augmented Lagrangian; here damped Newton steps solve the optimality conditions in Y, the allowances
and the tensions, with a barrier for upper bounds. A step is one sparse factorisation in the pattern
of the graph; some fifty steps give ten digits.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.mvu.curvature import Curvature, DenseCurvature, NewtonMatrix
from unbend.mvu.edges import Edges, SubspaceEdges
from unbend.mvu.relaxation import Relaxation
from unbend.report import ask, step

MAX_STEPS = 300
# Relative tolerance of the optimality conditions.
TOLERANCE = 1e-10
# Error below which lack of progress means that rounding has been reached.
NEAR = 1e-6
# Steps shorter than this fraction of the longest increase the shift.
SHORT = 0.3
# Steps without progress before the iteration stops, near to and far from rounding.
PATIENCE, LONG_PATIENCE = 8, 40
# Negative curvature, and error of a nearly stationary point, of a saddle.
SADDLE, NEARLY_STATIONARY = 5e-3, 1e-3
# Initial slack of stretched edges, without and with known tensions: with them it is small, since
# a strong barrier would push new columns back to zero.
COLD, WARM = 0.1, 1e-3
# Second-order corrections before a step is halved, and the number of halvings.
CORRECTIONS, HALVINGS = 2, 20


@dataclass(frozen=True, eq=False)
class State:
    """Coordinates, allowances and tensions, with the differences and stretch of the edges."""

    coordinates: FloatArray
    allowance: FloatArray
    tensions: FloatArray
    differences: FloatArray
    stretch: FloatArray

    @classmethod
    def at(
        cls,
        edges: Edges | SubspaceEdges,
        coordinates: FloatArray,
        allowance: FloatArray,
        tensions: FloatArray,
    ) -> "State":
        """Evaluate the edges at some coordinates."""
        differences = edges.differences(coordinates)
        stretch = np.square(differences).sum(axis=1) / edges.squares - 1.0
        return cls(coordinates, allowance, tensions, differences, stretch)

    @property
    def excess(self) -> FloatArray:
        """Stretch beyond the allowance."""
        return np.asarray(self.stretch - self.allowance)


@dataclass(frozen=True, eq=False)
class StationaryPoint:
    """Stationary point of the problem of some rank, or the best iterate.

    `error` is the largest relative residual of the optimality conditions.
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


def stationary_point(
    edges: Edges,
    relaxation: Relaxation,
    coordinates: FloatArray,
    tensions: FloatArray | None = None,
    threads: int = 1,
) -> StationaryPoint:
    """Find a stationary point of ‖Y‖² − Σ φ(stretch) over Y (n, r), from initial coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.mvu.relaxation import Inequality
    >>> path = Edges(3, np.array([0, 1]), np.array([1, 2]), np.array([1.0, 1.0]))
    >>> start = np.array([[-1.0, 0.1], [0.0, -0.2], [0.8, 0.1]])
    >>> found = stationary_point(path, Inequality(), start)
    >>> float(np.square(found.coordinates).sum().round(6))
    2.0
    >>> found.tensions.round(6)
    array([1., 1.])
    """
    matrix = NewtonMatrix(edges, coordinates.shape[1], threads)
    matrix.reserve()
    return newton_iteration(edges, Curvature(matrix), relaxation, coordinates, tensions)


def newton_iteration(
    edges: Edges | SubspaceEdges,
    curvature: Curvature | DenseCurvature,
    relaxation: Relaxation,
    coordinates: FloatArray,
    tensions: FloatArray | None = None,
    max_steps: int = MAX_STEPS,
) -> StationaryPoint:
    """Newton iteration on edges of either kind, from coordinates and, optionally, tensions."""
    start = edges.center(np.asarray(coordinates, dtype=np.float64))
    cold = tensions is None
    if tensions is None:
        m = len(edges.squares)
        tensions = np.full(m, float(np.square(start).sum()) / m)
    state = State.at(edges, start, np.zeros_like(tensions), tensions)
    allowance = relaxation.allowance(state.stretch, COLD if cold else WARM)
    newton = _Newton(edges, relaxation, curvature)
    return newton.run(replace(state, allowance=allowance), max_steps)


@dataclass(frozen=True, eq=False)
class Direction:
    """A Newton step: factors, changes of coordinates, allowances and tensions, longest step."""

    factor: Any
    stiffness: FloatArray
    move: FloatArray
    change: FloatArray
    tension_change: FloatArray
    longest: float


@dataclass
class _Newton:
    """State of the iteration between steps."""

    edges: Edges | SubspaceEdges
    relaxation: Relaxation
    curvature: Curvature | DenseCurvature
    barrier: float = np.inf
    least_shift: float = 0.0
    failures: int = 0
    saddles: int = 0

    def run(self, state: State, max_steps: int) -> StationaryPoint:
        """Iterate to tolerance and return the best iterate."""
        best, best_error, steps, stale = state, self._error(state), 0, 0
        while best_error > TOLERANCE and steps < max_steps and self.failures < PATIENCE:
            if stale >= (PATIENCE if best_error < NEAR else LONG_PATIENCE):
                break
            self.barrier = self.relaxation.barrier(
                state.allowance, state.tensions, self._residual(state)
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
            step(min(steps, max_steps), max_steps)
        found = self.curvature.factors
        return StationaryPoint(best.coordinates, best.tensions, best_error, steps, found)

    def _solve(self, factor: Any, force: FloatArray) -> FloatArray:
        return self.edges.center(factor.solve(force.ravel()).reshape(force.shape))

    def _at_saddle(self, state: State) -> bool:
        """Whether the iteration converges to a saddle.

        Unused columns cause this; the caller replaces them by directions of growth.
        """
        concave = self.curvature.concave > SADDLE
        self.saddles = (
            self.saddles + 1 if concave and self._residual(state) < NEARLY_STATIONARY else 0
        )
        return self.saddles >= PATIENCE // 2

    def _error(self, state: State) -> float:
        balance = self.relaxation.imbalance(state.allowance, state.tensions)
        worst = max(self._residual(state), balance)
        return worst if np.isfinite(worst) else np.inf

    def _residual(self, state: State) -> float:
        """Return the relative residual of the gradient, or of the stretch if larger."""
        pull = self.edges.pull(state.tensions, state.differences) - state.coordinates
        size = max(float(np.linalg.norm(state.coordinates)), np.finfo(float).tiny)
        excess = float(np.abs(state.excess).max())
        return max(float(np.linalg.norm(self.edges.center(pull))) / size, excess)

    def _next(self, state: State) -> State:
        edges, relaxation = self.edges, self.relaxation
        stiffness = relaxation.stiffness(state.allowance, state.tensions)
        factor, shift = self.curvature.factor(
            state.tensions, stiffness, state.differences, self.least_shift
        )
        aim = relaxation.slope(state.allowance, self.barrier) + stiffness * state.excess
        force = edges.center(state.coordinates - edges.pull(aim, state.differences))
        move = self._solve(factor, force)
        lengthening = np.sum(state.differences * edges.differences(move), axis=1)
        growth = 2.0 * lengthening / edges.squares
        change = state.excess + growth
        tension_change = aim + stiffness * growth - state.tensions
        if not (np.all(np.isfinite(move)) and np.all(np.isfinite(tension_change))):
            raise FloatingPointError
        longest = relaxation.max_step(state.allowance, change)
        direction = Direction(factor, stiffness, move, change, tension_change, longest)
        moved, length = self._along(state, direction)
        self._remember(shift, length / longest)
        dual = relaxation.dual_step(state.tensions, tension_change, length)
        return replace(moved, tensions=state.tensions + dual * tension_change)

    def _remember(self, shift: float, share: float) -> None:
        self.failures = self.failures + 1 if share < 1e-5 else 0
        if share < SHORT:
            self.least_shift = max(10.0 * self.least_shift, 10.0 * shift, 1e-6)
        else:
            self.least_shift /= 5.0

    def _along(self, state: State, way: "Direction") -> tuple[State, float]:
        """Backtrack on the merit function: variance, cost, and penalised excess."""
        ahead = np.abs(state.tensions + way.tension_change)
        # Per edge: a bridge may carry a thousand times the tension of the others.
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
                ask()
                tried = State.at(self.edges, coordinates, aim, state.tensions)
                allowance = self.relaxation.update_allowance(aim, tried.stretch)
                tried = replace(tried, allowance=allowance)
                if self._merit(tried, penalty) <= enough:
                    return tried, float(length)
                # Second-order correction with the same factors: rotating a stiff edge lengthens
                # it (Maratos effect).
                surplus = way.stiffness * (tried.stretch - aim)
                back = self.edges.pull(surplus, state.differences)
                coordinates = coordinates - self._solve(way.factor, self.edges.center(back))
        # No step decreases the merit: the shortest is taken and counted as a failure.
        return tried, float(length)

    def _merit(self, state: State, penalty: FloatArray) -> float:
        price = self.relaxation.cost(state.allowance, self.barrier)
        excess = float(penalty @ np.abs(state.excess))
        return price + excess - float(np.square(state.coordinates).sum())


def principal_axes(coordinates: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rotate coordinates to their principal axes about the origin; also the eigenvalues of YY'."""
    left, values, _ = np.linalg.svd(coordinates, full_matrices=False)
    return np.asarray(left * values), np.square(values)
