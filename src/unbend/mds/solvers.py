"""Minimisers of stress: L-BFGS, SMACOF, and stochastic gradients for many objects.

A random matching holds every object once, so that all its pairs are updated together and nothing of
size n² is allocated (after Zheng, Pawar and Goodman, 2019).
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.mds.duplicates import Duplicates, JoinedStress
from unbend.mds.objective import MetricStress, Objective, Stress1
from unbend.report import step

# Pairs of steps and gradient changes that L-BFGS keeps.
MEMORY = 10
# Armijo constant of sufficient decrease, and the largest number of step reductions.
ARMIJO, HALVINGS = 1e-4, 20
# Share of the value below which rounding hides a decrease.
UNSEEN = 4 * float(np.finfo(np.float64).eps)

Minimised = Objective | JoinedStress


@dataclass(frozen=True, eq=False)
class Solution:
    """A configuration, its stress, the history of the stress, and whether the solver converged.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend import mds
    >>> stress = mds.MetricStress(mds.Pairs(2, np.array([3.0])))
    >>> found = mds.smacof(stress, np.array([[0.0], [1.0]]), tol=1e-12, max_iter=50)
    >>> bool(found.converged), round(float(abs(np.diff(found.coordinates, axis=0))[0, 0]), 6)
    (True, 3.0)
    """

    coordinates: FloatArray
    value: float
    history: FloatArray
    converged: bool


def gradient_size(objective: Minimised, coordinates: FloatArray, gradient: FloatArray) -> float:
    """Length of a Guttman step relative to the configuration, up to a factor near one."""
    size = float(np.linalg.norm(gradient) * np.linalg.norm(coordinates))
    return size / (2.0 * objective.size) if objective.size > 0 else 0.0


def quasi_newton(objective: Minimised, start: FloatArray, tol: float, max_iter: int) -> Solution:
    """L-BFGS (Nocedal, 1980) with a line search for sufficient decrease.

    The first step has the length of a Guttman step. Converges when the relative gradient is below
    `tol`, when rounding prevents any decrease, or when `MEMORY` iterations decrease the value by
    less than the resolution of the objective.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend import mds
    >>> stress = mds.MetricStress(mds.Pairs(2, np.array([3.0])))
    >>> found = mds.quasi_newton(stress, np.array([[0.0], [1.0]]), tol=1e-12, max_iter=50)
    >>> round(found.value, 9)
    0.0
    """
    tol = max(tol, objective.rounding)
    x = start - start.mean(axis=0)
    value, gradient = objective(x)
    history, known = [value], deque[tuple[FloatArray, FloatArray, float]](maxlen=MEMORY)
    for iteration in range(max_iter):
        step(iteration, max_iter)
        stalled = history[-MEMORY - 1 :][0] - value <= objective.resolution * value
        if gradient_size(objective, x, gradient) <= tol or (iteration > MEMORY and stalled):
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
    objective: Minimised,
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
    objective: Minimised,
    x: FloatArray,
    value: float,
    gradient: FloatArray,
    direction: FloatArray,
) -> tuple[FloatArray, float, FloatArray] | None:
    """Backtrack until the decrease is sufficient; None if it never is."""
    slope = float(np.vdot(gradient, direction))
    # No step is longer than the configuration: stress-1 does not determine its scale.
    length = min(1.0, float(np.linalg.norm(x)) / max(float(np.linalg.norm(direction)), 1e-300))
    for _ in range(HALVINGS if slope < 0 else 0):
        if -length * slope <= UNSEEN * value:
            break
        moved = x + length * direction
        new_value, new_gradient = objective(moved)
        if new_value <= value + ARMIJO * length * slope and new_value < value:
            return moved, new_value, new_gradient
        # Minimum of the interpolating parabola, safeguarded.
        bend = new_value - value - length * slope
        best = -slope * length**2 / (2.0 * bend) if bend > 0 else length / 2
        length = min(max(best, 0.1 * length), 0.5 * length)
    return None


def smacof(
    objective: MetricStress | Stress1 | JoinedStress, start: FloatArray, tol: float, max_iter: int
) -> Solution:
    """SMACOF (de Leeuw, 1977): Guttman transforms, none of which increases the stress.

    Converges when a step is shorter than `tol` times the configuration.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend import mds
    >>> stress = mds.MetricStress(mds.Pairs(2, np.array([3.0])))
    >>> found = mds.smacof(stress, np.array([[0.0], [1.0]]), tol=1e-12, max_iter=50)
    >>> bool((np.diff(found.history) <= 1e-12).all()), round(found.value, 9)
    (True, 0.0)
    """
    tol = max(tol, objective.rounding)
    x = start - start.mean(axis=0)
    history: list[float] = []
    for iteration in range(max_iter):
        step(iteration, max_iter)
        value, moved = objective.guttman_transform(x)
        history.append(value)
        change, size = np.linalg.norm(moved - x), np.linalg.norm(moved)
        x = moved
        if change <= tol * size:
            break
    value = objective(x)[0]
    return Solution(x, value, np.array([*history, value]), change <= tol * size)


Lengths = Callable[[IntArray, IntArray], FloatArray]
# First and last learning rate: the fraction of a pair's error that a step corrects.
FIRST, LAST = 0.2, 2e-3
# Pairs from which the stress is estimated.
SAMPLE = 200_000


def stochastic_gradient(
    lengths: Lengths,
    start: FloatArray,
    matchings: int,
    rng: np.random.Generator,
    copy: IntArray | None = None,
) -> FloatArray:
    """Minimise raw stress by random matchings of the objects.

    Parameters
    ----------
    lengths : callable
        Dissimilarities of pairs (rows[i], columns[i]), NaN where unknown.
    start : array (n, d)
        Initial coordinates.
    matchings : int
        Number of matchings.
    rng : Generator
        Source of the matchings.
    copy : array (n,), optional
        Number of the distinct object that each object equals. Duplicates move together, by the
        mean of their steps, which is a step of the same stress as a function of distinct objects.

    Returns
    -------
    array (n, d)
        Centered coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend import mds
    >>> points = np.random.default_rng(0).normal(size=(30, 2))
    >>> def lengths(first, second):
    ...     return np.linalg.norm(points[first] - points[second], axis=1)
    >>> start = np.random.default_rng(1).normal(size=(30, 2))
    >>> found = mds.stochastic_gradient(lengths, start, 3000, np.random.default_rng(0))
    >>> rng = np.random.default_rng(2)
    >>> mds.estimate_stress(lengths, found, rng) < 0.1 * mds.estimate_stress(lengths, start, rng)
    True
    """
    together = Duplicates(np.arange(len(start)) if copy is None else copy)
    x = start.copy()
    n = len(x)
    half = n // 2
    rates = np.geomspace(FIRST, LAST, matchings)
    for number, rate in enumerate(rates):
        order = rng.permutation(n)
        rows, columns = order[:half], order[half : 2 * half]
        targets = np.nan_to_num(lengths(rows, columns), nan=-1.0)
        away = x[rows] - x[columns]
        distance = np.sqrt(np.einsum("ij,ij->i", away, away))
        safe = np.where(distance > 0, distance, 1.0)
        share = np.where(targets >= 0, rate * (distance - targets) / (2.0 * safe), 0.0)
        x[rows] -= share[:, None] * away
        x[columns] += share[:, None] * away
        together.average(x)
        step(number, matchings)
    return np.asarray(x - x.mean(axis=0))


def estimate_stress(lengths: Lengths, coordinates: FloatArray, rng: np.random.Generator) -> float:
    """Estimate the raw stress over all pairs from a random sample.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend import mds
    >>> points = np.random.default_rng(0).normal(size=(30, 2))
    >>> def lengths(first, second):
    ...     return np.linalg.norm(points[first] - points[second], axis=1)
    >>> mds.estimate_stress(lengths, points, np.random.default_rng(0)) < 1e-12
    True
    """
    n = len(coordinates)
    rows = rng.integers(n, size=SAMPLE)
    columns = (rows + rng.integers(1, n, size=SAMPLE)) % n
    off = np.linalg.norm(coordinates[rows] - coordinates[columns], axis=1)
    off -= lengths(rows, columns)
    return float(np.nanmean(off**2) * (n * (n - 1) / 2))
