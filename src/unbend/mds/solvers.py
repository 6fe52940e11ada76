"""Minimisers of stress: quasi-Newton, and majorisation that never goes up."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray
from unbend.mds.objective import Objective
from unbend.report import step

# Pairs of steps and gradient changes from which L-BFGS knows the curvature.
MEMORY = 10
# Share of the decrease that the slope promises which a step must keep, and halvings allowed.
ARMIJO, HALVINGS = 1e-4, 20


@dataclass(frozen=True, eq=False)
class Solution:
    """A configuration, its stress, that of every iteration, and whether it is a minimum."""

    coordinates: FloatArray
    value: float
    history: FloatArray
    converged: bool


def gradient_size(objective: Objective, coordinates: FloatArray, gradient: FloatArray) -> float:
    """Length of a Guttman step relative to the configuration, but for a factor near one."""
    size = float(np.linalg.norm(gradient) * np.linalg.norm(coordinates))
    return size / (2.0 * objective.size) if objective.size > 0 else 0.0


def quasi_newton(objective: Objective, start: FloatArray, tol: float, max_iter: int) -> Solution:
    """L-BFGS (Nocedal, 1980) with a line search for sufficient decrease.

    The first step is the size of Guttman's. It ends where the gradient is below `tol`, or where
    rounding leaves nothing to gain.
    """
    tol = max(tol, objective.rounding)
    x = start - start.mean(axis=0)
    value, gradient = objective(x)
    history, known = [value], deque[tuple[FloatArray, FloatArray, float]](maxlen=MEMORY)
    for iteration in range(max_iter):
        step(iteration, max_iter)
        if gradient_size(objective, x, gradient) <= tol:
            return Solution(x, value, np.array(history), True)
        direction = _direction(objective, x, gradient, known)
        found = _search(objective, x, value, gradient, direction)
        if found is None:
            if known:
                known.clear()
                continue
            return Solution(x, value, np.array(history), True)
        moved, new_value, new_gradient = found
        change, turn = moved - x, new_gradient - gradient
        product = float(np.vdot(change, turn))
        if product > objective.rounding * np.linalg.norm(change) * np.linalg.norm(turn):
            known.append((change, turn, product))
        x, value, gradient = moved, new_value, new_gradient
        history.append(value)
    return Solution(x, value, np.array(history), False)


def _direction(
    objective: Objective,
    x: FloatArray,
    gradient: FloatArray,
    known: deque[tuple[FloatArray, FloatArray, float]],
) -> FloatArray:
    """Minus the inverse Hessian times the gradient, by the two-loop recursion."""
    direction = -gradient
    if not known:
        preconditioned = objective.precondition(direction)
        size = float(np.linalg.norm(direction) / np.linalg.norm(preconditioned))
        return preconditioned * (size * float(np.vdot(x, x)) / (2.0 * objective.size))
    shares = []
    for change, turn, product in reversed(known):
        shares.append(float(np.vdot(change, direction)) / product)
        direction = direction - shares[-1] * turn
    _, turn, product = known[-1]
    direction = objective.precondition(direction)
    direction = direction * (product / float(np.vdot(turn, objective.precondition(turn))))
    for (change, turn, product), share in zip(known, reversed(shares), strict=True):
        direction = direction + (share - float(np.vdot(turn, direction)) / product) * change
    return np.asarray(direction)


def _search(
    objective: Objective,
    x: FloatArray,
    value: float,
    gradient: FloatArray,
    direction: FloatArray,
) -> tuple[FloatArray, float, FloatArray] | None:
    """Shorten the step until the stress falls enough; None if it never does."""
    slope = float(np.vdot(gradient, direction))
    # No step is longer than the configuration: stress-1 has no scale to hold it back.
    length = min(1.0, float(np.linalg.norm(x)) / max(float(np.linalg.norm(direction)), 1e-300))
    for _ in range(HALVINGS if slope < 0 else 0):
        moved = x + length * direction
        new_value, new_gradient = objective(moved)
        if new_value <= value + ARMIJO * length * slope and new_value < value:
            return moved, new_value, new_gradient
        # The parabola through both values and the slope, kept within a safe range.
        bend = new_value - value - length * slope
        best = -slope * length**2 / (2.0 * bend) if bend > 0 else length / 2
        length = min(max(best, 0.1 * length), 0.5 * length)
    return None


def majorise(objective: Objective, start: FloatArray, tol: float, max_iter: int) -> Solution:
    """SMACOF (de Leeuw, 1977): Guttman transforms, none of which raises the stress.

    It ends where a step is shorter than `tol` of the configuration.
    """
    tol = max(tol, objective.rounding)
    x = start - start.mean(axis=0)
    history: list[float] = []
    for iteration in range(max_iter):
        step(iteration, max_iter)
        value, moved = objective.majorised(x)
        history.append(value)
        change, size = np.linalg.norm(moved - x), np.linalg.norm(moved)
        x = moved
        if change <= tol * size:
            break
    value = objective(x)[0]
    return Solution(x, value, np.array([*history, value]), change <= tol * size)
