"""Gradient descent on the Kullback–Leibler divergence of a layout."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.layout.repulsion import Repulsion, exact_repulsion
from unbend.progress import Cancelled
from unbend.report import step as report_step

# Momentum while clusters gather and afterwards (van der Maaten and Hinton 2008).
EARLY_MOMENTUM, MOMENTUM = 0.5, 0.8
# Longest step of a point, in units of the kernel.
LONGEST = 5.0
# Iterations between two looks at the divergence.
CHECK = 50
# Iterations after which points are sorted again: neighbours in the layout are then near in memory.
SORT = (25, 100, 250, 500)
# Significant bits of affinities, and bits of a start relative to its largest coordinate. A descent
# amplifies any difference: what rounding did to the data must not reach it.
WEIGHT_BITS, START_BITS = 18, 20
# Bits of a coordinate in Morton order.
BITS = {1: 30, 2: 16, 3: 10}

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
            converged = bool(last - value < schedule.tol * abs(last))
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
        self.offsets: IntArray = affinities.indptr.astype(np.int64)
        self.indices: IntArray = affinities.indices.astype(np.int32)
        self.weights = round_to_bits(affinities.data, WEIGHT_BITS).astype(np.float32)
        self.order = np.arange(len(start))
        self.repel = repel
        self.threads = repel.threads
        self.sort()

    def move(self, exaggeration: float, momentum: float) -> None:
        """Take one step with a learning rate that falls with the exaggeration.

        Belkina et al. (2019) take n / exaggeration. Four times as much lowers the divergence
        faster; with the larger momentum, exaggerated layouts would oscillate unless it falls
        faster, too.
        """
        kernels.attract(
            self.offsets, self.indices, self.weights, self.points, self.points, self.threads,
            self.attraction,
        )  # fmt: skip
        repulsion, normalizer = self.repel(self.points)
        power = 1.0 if momentum == EARLY_MOMENTUM else 1.5
        rate = 4.0 * len(self.points) / max(1.0, exaggeration) ** power
        kernels.descend(
            self.attraction, repulsion, rate * exaggeration, rate / normalizer,
            momentum, LONGEST, self.threads, self.velocity, self.gains, self.points,
        )  # fmt: skip
        self.points -= self.points.mean(axis=0, dtype=np.float64).astype(np.float32)

    def sort(self) -> None:
        """Sort the points in Morton order."""
        take = morton_order(self.points)
        self.offsets, self.indices, self.weights = _permute(
            self.offsets, self.indices, self.weights, take
        )
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
        pull = attractive_energy(self.offsets, self.indices, self.weights, self.points)
        return exaggeration * pull + float(np.log(self.repel(self.points)[1]))


def morton_order(points: FloatArray) -> IntArray:
    """Order of the points along a curve that visits every square of a grid before the next one.

    Examples
    --------
    >>> import numpy as np
    >>> morton_order(np.array([[3.0, 3.0], [0.0, 0.0], [3.0, 2.9], [0.0, 0.1]])).tolist()
    [1, 3, 2, 0]
    """
    d = points.shape[1]
    low, high = points.min(axis=0), points.max(axis=0)
    scale = (2 ** BITS[d] - 1) / max(float((high - low).max()), np.finfo(np.float32).tiny)
    cells = ((points - low).astype(np.float64) * scale).astype(np.uint64)
    code = np.zeros(len(points), dtype=np.uint64)
    for bit in range(BITS[d]):
        for axis in range(d):
            one = (cells[:, axis] >> np.uint64(bit)) & np.uint64(1)
            code |= one << np.uint64(bit * d + axis)
    return np.argsort(code, kind="stable")


def _permute(
    offsets: IntArray, indices: IntArray, weights: FloatArray, order: IntArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Rows and columns of a sparse matrix in another order, entries of a row by column.

    So sums over a row do not depend on the order of the data.
    """
    counts = np.diff(offsets)[order]
    permuted = np.concatenate(([0], np.cumsum(counts)))
    entries = np.arange(permuted[-1]) + np.repeat(offsets[order] - permuted[:-1], counts)
    inverse = np.empty(len(order), dtype=np.int32)
    inverse[order] = np.arange(len(order), dtype=np.int32)
    columns = inverse[indices[entries]]
    matrix = csr_array((weights[entries], columns, permuted), shape=(len(order), len(order)))
    matrix.has_sorted_indices = False
    matrix.sort_indices()
    return permuted, matrix.indices.astype(np.int32, copy=False), matrix.data


def round_start(start: FloatArray) -> FloatArray:
    """Round a start to bits of its largest coordinate."""
    unit = 2.0 ** (np.frexp(np.abs(start).max())[1] - START_BITS)
    return np.asarray(np.round(start / unit) * unit)


def round_to_bits(numbers: FloatArray, bits: int) -> FloatArray:
    """Round numbers to so many significant bits.

    Examples
    --------
    >>> import numpy as np
    >>> round_to_bits(np.array([1.0, 0.3, 0.0]), 4).tolist()
    [1.0, 0.3125, 0.0]
    """
    mantissa, exponent = np.frexp(numbers)
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits))


def attractive_energy(
    offsets: IntArray, indices: IntArray, weights: FloatArray, points: FloatArray
) -> float:
    """Σ p log(1 + |y_i − y_j|²)."""
    total = 0.0
    y = points.astype(np.float64)
    width = max(1, len(indices) // max(1, len(y)))
    for rows in row_chunks(len(y), 64 * width):
        entries = slice(offsets[rows.start], offsets[rows.stop])
        ends = np.repeat(
            np.arange(rows.start, rows.stop), np.diff(offsets[rows.start : rows.stop + 1])
        )
        away = y[ends] - y[indices[entries]]
        logarithms = np.log1p(np.einsum("ij,ij->i", away, away))
        total += float(np.sum(weights[entries] * logarithms))
    return total


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
    normalizer = exact_repulsion(y, threads)[1]
    p = affinities.data[affinities.data > 0]
    pull = attractive_energy(affinities.indptr, affinities.indices, affinities.data, y)
    return float(np.sum(p * np.log(p))) + pull + float(np.log(normalizer))
