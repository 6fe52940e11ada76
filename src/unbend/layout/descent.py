"""Gradient descent on the Kullback–Leibler divergence of a layout."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from unbend._kernels import kernels
from unbend._kernels.parts import COPIED, map_parts
from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.layout.control import ControlledRepulsion
from unbend.layout.order import morton_order, renumber
from unbend.layout.repulsion import Repulsion, box_of
from unbend.progress import Cancelled
from unbend.report import step as report_step

# Momentum while clusters gather and afterwards (van der Maaten and Hinton 2008).
EARLY_MOMENTUM, MOMENTUM = 0.5, 0.8
# Learning rate at exaggeration 1, over the number of points, and the powers of the exaggeration by
# which it is divided with either momentum. Belkina et al. (2019) take n / exaggeration; these lower
# the divergence faster on data that judge nothing else (`python -m benchmarks.picture tuning`).
RATE, EARLY_POWER, POWER = 4.0, 1.0, 2.0
# Longest step of a point, in units of the kernel.
LONGEST = 5.0
# Iterations between two looks at the divergence.
CHECK = 50
# Iterations after which points are sorted again: neighbours in the layout are then near in memory.
SORT = (25, 100, 250, 500)
# Bits of a start relative to its largest coordinate. A descent amplifies any difference: what
# rounding did to the data must not reach it.
START_BITS = 20

Snapshot = Callable[[int, FloatArray], object]


@dataclass(frozen=True)
class Schedule:
    """Forces and length of a descent.

    Attributes
    ----------
    exaggeration : float
        Factor of the attraction: 1 is t-SNE, about 4 resembles UMAP.
    early : float
        Factor of the attraction in the first iterations, if it is larger.
    early_iterations : int
    max_iter : int
        Iterations after these, at most.
    tol : float
        The descent stops once the divergence falls by less than this share in `CHECK` iterations.
    error : float
        Error of the repulsion, relative to its size.
    """

    exaggeration: float
    early: float
    early_iterations: int
    max_iter: int
    tol: float
    error: float


@dataclass(frozen=True, eq=False)
class Layout:
    """A layout and its divergence.

    Attributes
    ----------
    points : array (n, d)
        In single precision.
    divergence : float
        Kullback–Leibler divergence with the exact normaliser.
    iterations : int
    converged : bool
        Whether the divergence fell by less than the tolerance.
    """

    points: FloatArray
    divergence: float
    iterations: int
    converged: bool


def minimize(
    affinities: csr_array,
    start: FloatArray,
    schedule: Schedule,
    threads: int = 1,
    callback: Snapshot | None = None,
) -> Layout:
    """Lay points out by momentum descent.

    Parameters
    ----------
    affinities : csr_array (n, n)
        Symmetric probabilities that sum to one.
    start : array (n, d)
        Small against the kernel's unit width, so that nothing is far apart by chance.
    schedule : Schedule
    threads : int
        The result does not depend on it.
    callback : callable, optional
        Called with the iteration and the layout; it cancels the descent by returning False.
    """
    state = _Descent(affinities, start, Repulsion(schedule.error, threads))
    total = schedule.early_iterations + schedule.max_iter
    early = max(schedule.early, schedule.exaggeration)
    last, converged, iteration = np.inf, False, 0
    for iteration in range(1, total + 1):
        first = iteration <= schedule.early_iterations
        state.move(early if first else schedule.exaggeration, EARLY_MOMENTUM if first else MOMENTUM)
        if iteration in SORT:
            state.sort()
        if callback is not None and callback(iteration, state.in_order()) is False:
            raise Cancelled(f"the callback cancelled the layout in iteration {iteration}")
        report_step(iteration, total)
        late = iteration - schedule.early_iterations
        if schedule.tol and late > 0 and late % CHECK == 0:
            value = state.objective(schedule.exaggeration)
            # A value that rises is no minimum, and NaN is neither.
            converged = bool(abs(last - value) < schedule.tol * abs(last))
            last = value
            if converged:
                break
    points = state.in_order()
    return Layout(points, divergence(affinities, points, threads), iteration, converged)


class _Descent:
    """Points with their velocities and gains, in an order in which neighbours are near."""

    def __init__(self, affinities: csr_array, start: FloatArray, repel: Repulsion) -> None:
        self.points = np.ascontiguousarray(round_start(start), dtype=np.float32)
        self.velocity = np.zeros_like(self.points)
        self.gains = np.ones_like(self.points)
        self.attraction = np.empty_like(self.points)
        self.box = box_of(self.points)
        self.affinities = affinities
        self.order = np.arange(len(start))
        self.repel = repel
        self.threads = repel.threads
        self.controlled = ControlledRepulsion(repel)
        self.sort()

    def move(self, exaggeration: float, momentum: float) -> None:
        """Take one step with a learning rate that falls with the exaggeration."""
        kernels.attract(
            self.offsets, self.indices, self.affinities.data, self.points, self.threads,
            self.attraction,
        )  # fmt: skip
        repulsion, normalizer = self.controlled(self.points, self.box)
        power = EARLY_POWER if momentum == EARLY_MOMENTUM else POWER
        rate = RATE * len(self.points) / max(1.0, exaggeration) ** power
        kernels.descend(
            self.attraction, repulsion, rate * exaggeration, rate / normalizer,
            momentum, LONGEST, self.threads, self.velocity, self.gains, self.points, self.box,
        )  # fmt: skip

    def sort(self) -> None:
        """Sort the points in Morton order."""
        take = morton_order(self.points)
        self.affinities = renumber(self.affinities, take, self.threads)
        self.offsets: IntArray = self.affinities.indptr.astype(np.int64, copy=False)
        self.indices: IntArray = self.affinities.indices.astype(np.int32, copy=False)
        self.order = self.order[take]
        for name in ("points", "velocity", "gains"):
            setattr(self, name, np.ascontiguousarray(getattr(self, name)[take]))

    def in_order(self) -> FloatArray:
        """Points in the order of the affinities, a copy."""
        points = np.empty_like(self.points)
        points[self.order] = self.points
        return points

    def objective(self, exaggeration: float) -> float:
        """Objective of the exaggerated problem, up to a constant."""
        pull = attractive_energy(self.affinities, self.points, self.threads)
        return exaggeration * pull + float(np.log(self.repel(self.points, self.box)[1]))


def round_start(start: FloatArray) -> FloatArray:
    """Round a start to bits of its largest coordinate."""
    unit = 2.0 ** (np.frexp(np.abs(start).max())[1] - START_BITS)
    return np.asarray(np.round(start / unit) * unit)


def attractive_energy(affinities: csr_array, points: FloatArray, threads: int = 1) -> float:
    """Σ p log(1 + |y_i − y_j|²)."""
    energies = np.empty(len(points))
    kernels.attractive_energy(
        affinities.indptr.astype(np.int64, copy=False),
        affinities.indices.astype(np.int32, copy=False),
        affinities.data.astype(np.float32, copy=False), points, threads, energies,
    )  # fmt: skip
    return float(energies.sum())


def divergence(affinities: csr_array, points: FloatArray, threads: int = 1) -> float:
    """Kullback–Leibler divergence of a layout, with the normaliser summed over all pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> pair = csr_array(np.array([[0.0, 0.5], [0.5, 0.0]]))
    >>> abs(divergence(pair, np.array([[0.0], [3.0]]))) < 1e-6
    True
    """
    y = np.ascontiguousarray(points, dtype=np.float32)
    normalizer = kernels.sum_weights(y, threads)
    pull = attractive_energy(affinities, y, threads)
    return _entropy_sum(affinities.data, threads) + pull + float(np.log(normalizer))


def _entropy_sum(data: FloatArray, threads: int) -> float:
    """Σ p log p, where zeros count nothing."""

    def part(some: slice) -> float:
        p = data[some][data[some] > 0].astype(np.float64)
        return float(np.sum(p * np.log(p)))

    return sum(map_parts(part, row_chunks(len(data), 8, COPIED), threads))
