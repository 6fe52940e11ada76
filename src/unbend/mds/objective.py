"""Stress as a function of a configuration: value and gradient, and the Guttman transform.

`MetricStress` compares distances with the dissimilarities themselves, `Stress1` with the best
transformation of them, `InverseStress` the dissimilarities with the best transformation of the
distances. All are problems as values: a solver takes one and an initial
configuration. Stress of listed pairs takes time and memory in proportion to their number.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, final

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import cg

from unbend._kernels import kernels
from unbend._kernels.reference.stress import pair_stress
from unbend.arrays import FloatArray, IntArray
from unbend.cached import cached_property
from unbend.eigen.shift_invert import analyse
from unbend.mds.object_pairs import Pairs, Precision, sum_of_squares
from unbend.mds.regressions import AscendingPairs, LinePairs
from unbend.mds.transformations import Disparities, Monotone, Steps, Transformation

LOSSES = ("raw", "sstress", "sammon")
NO_OUTPUT = np.empty(0)
# Largest number of objects for which the dense weight matrix is factorised as a preconditioner.
FACTORED_OBJECTS = 2000
# Groups of pairs by which an increasing function is drawn as a line, and the fewest pairs of one.
GROUPS, GROUP_PAIRS = 50, 4
TINY = float(np.finfo(np.float64).tiny)


class Fit(NamedTuple):
    """Stress-1 of a configuration at its optimal scale, and the factor to that scale."""

    stress1: float
    factor: float


class _WeightedStress(ABC):
    """Steps scaled by the pseudo-inverse V⁺ of the weight matrix V = diag(Σ_j w_ij) − W."""

    # Relative decrease of several iterations together below which they end.
    resolution: ClassVar[float] = 0.0

    @abstractmethod
    def _weighting(self) -> Pairs:
        """Pairs whose weights multiply the squared errors of distances."""

    def precondition(self, vectors: FloatArray) -> FloatArray:
        """Multiply by V⁺, about the inverse Hessian, where that is no dearer than the stress."""
        return self._preconditioner(vectors)

    @cached_property
    def _preconditioner(self) -> Callable[[FloatArray], FloatArray]:
        pairs = self._weighting()
        if pairs.ends is not None:
            return factor_solver(pairs) or _identity
        return inverse_weights(pairs) if pairs.n <= FACTORED_OBJECTS else _identity

    @cached_property
    def _inverse(self) -> Callable[[FloatArray], FloatArray]:
        return inverse_weights(self._weighting())


@final
@dataclass(frozen=True, eq=False)
class MetricStress(_WeightedStress):
    """Σ w (d − δ)² ("raw"), Σ w (d² − δ²)² ("sstress") or Σ w (d − δ)²/δ ("sammon").

    Examples
    --------
    >>> import numpy as np
    >>> stress = MetricStress(Pairs(2, np.array([3.0])))
    >>> value, gradient = stress(np.array([[0.0], [1.0]]))
    >>> value, gradient.ravel()
    (4.0, array([ 4., -4.]))
    """

    pairs: Pairs
    loss: str = "raw"
    threads: int = 1

    @cached_property
    def size(self) -> float:
        """Stress of coincident objects: the unit of values and gradients."""
        return self(np.zeros((self.pairs.n, 2)))[0]

    @property
    def rounding(self) -> float:
        """Machine epsilon of the dissimilarities."""
        return float(np.finfo(self.pairs.dissimilarities.dtype).eps)

    def __call__(self, coordinates: FloatArray) -> tuple[float, FloatArray]:
        """Value and gradient at a configuration (n, d)."""
        return _stress(self.pairs, LOSSES.index(self.loss), coordinates, self.threads)

    def best_scale(self, coordinates: FloatArray) -> Fit:
        """Stress-1 of a configuration at its optimal scale, for the raw loss.

        Stress-1 of s·X is least, √(1 − (Σ wδd)² / Σ wδ² Σ wd²), at s = Σ wδ² / Σ wδd.
        """
        value, gradient = self(coordinates)
        # Along X the gradient is Σ 2w (d − δ) d, which gives both sums without another pass.
        along = float(np.vdot(coordinates, gradient)) / 2.0
        product = self.size - value + along
        square = product + along
        if self.size == 0 or product <= 0 or square <= 0:
            return Fit(0.0 if self.size == 0 else 1.0, 1.0)
        cosine = product / np.sqrt(self.size * square)
        return Fit(float(np.sqrt(max(1.0 - cosine**2, 0.0))), self.size / product)

    def guttman_transform(self, coordinates: FloatArray) -> tuple[float, FloatArray]:
        """Value at a configuration, and its Guttman transform, which is never worse."""
        value, gradient = self(coordinates)
        return value, coordinates - self._inverse(gradient) / 2.0

    def _weighting(self) -> Pairs:
        if self.loss != "sammon":
            return self.pairs
        given = self.pairs.dissimilarities
        ones = 1.0 if self.pairs.weights is None else self.pairs.weights
        weights = np.divide(ones, given, out=np.zeros_like(given), where=given > 0)
        return replace(self.pairs, weights=weights)

    def per_object(self, coordinates: FloatArray) -> FloatArray:
        """Contribution of each object to the value: half of each of its pairs."""
        contributions = np.empty(len(coordinates))
        _stress(self.pairs, LOSSES.index(self.loss), coordinates, self.threads, contributions)
        return contributions / 2.0


@final
@dataclass(frozen=True, eq=False)
class Stress1(_WeightedStress):
    """Kruskal's stress-1, squared: Σ w (d − d̂)² / Σ w d², d̂ the best transformation.

    Normalising by Σ w d² rules out the degenerate solution in which all objects coincide.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend import mds
    >>> pairs = mds.Pairs(3, np.array([1.0, 2.0, 3.0]))
    >>> line = np.array([[0.0], [1.0], [2.0]])  # distances 1, 2, 1
    >>> value, gradient = mds.Stress1(3, mds.Ratio(mds.Pairs(3, np.array([1.0, 2.0, 1.0]))))(line)
    >>> round(value, 12)
    0.0
    """

    n: int
    transformation: Transformation
    threads: int = 1
    size: float = 1.0
    ends: IntArray | None = None
    precision: Precision = np.float64

    @property
    def rounding(self) -> float:
        """Machine epsilon of the disparities."""
        return float(np.finfo(self.precision).eps)

    @cached_property
    def _weights(self) -> FloatArray | None:
        weights = self.transformation.weights
        return None if weights is None else weights.astype(self.precision, copy=False)

    def _pairs(self, targets: FloatArray) -> Pairs:
        targets = targets.astype(self.precision, copy=False)
        return Pairs(self.n, targets, self._weights, self.ends)

    def _weighting(self) -> Pairs:
        return self._pairs(np.empty(0))

    def _regress(self, coordinates: FloatArray) -> tuple[float, float, FloatArray]:
        """Value, Σ w d², and the disparities."""
        if self._lines is not None:
            return self._lines(coordinates)
        distances = self._weighting().distances(coordinates, self.threads)
        found = self.transformation(distances)
        size = sum_of_squares(distances, self._weights)
        return (found.residual / size if size > 0 else 0.0), size, found.targets

    def __call__(self, coordinates: FloatArray) -> tuple[float, FloatArray]:
        """Value and gradient at a configuration (n, d).

        With value f, ∇f = Σ 2w ((1 − f) d − d̂) ∇d / Σ w d²: the gradient of raw stress with targets
        d̂ at the configuration times 1 − f.
        """
        if self._ascending is not None and np.isfinite(coordinates).all():
            return self._ascending(coordinates)
        value, size, targets = self._regress(coordinates)
        if size == 0 or value >= 1:
            return value, np.zeros_like(coordinates)
        _, gradient = _stress(self._pairs(targets), 0, (1 - value) * coordinates, self.threads)
        return value, gradient / size

    @cached_property
    def _ascending(self) -> AscendingPairs | None:
        return AscendingPairs.of(self.transformation, self.threads) if self.ends is None else None

    @cached_property
    def _lines(self) -> LinePairs | None:
        if self.ends is not None:
            return None
        return LinePairs.of(self.transformation, self.precision, self.threads)

    def guttman_transform(self, coordinates: FloatArray) -> tuple[float, FloatArray]:
        """Value at a configuration, and its Guttman transform, which is never worse."""
        value, _, targets = self._regress(coordinates)
        if value >= 1:
            return value, coordinates
        # With disparities d̂/(1 − f), of the distances' size, a minimum is a fixed point.
        _, gradient = _stress(self._pairs(targets), 0, (1 - value) * coordinates, self.threads)
        return value, coordinates - self._inverse(gradient) / (2.0 * (1 - value))

    def per_object(self, coordinates: FloatArray) -> FloatArray:
        """Contribution of each object to the value: half of each of its pairs."""
        _, size, targets = self._regress(coordinates)
        contributions = np.empty(len(coordinates))
        _stress(self._pairs(targets), 0, coordinates, self.threads, contributions)
        return contributions / (2.0 * size) if size > 0 else contributions


@final
@dataclass(frozen=True, eq=False)
class InverseStress(_WeightedStress):
    """Σ w (δ − f(d))² / Σ w δ², f the best increasing function of the distances (notes (21)).

    The value depends on the order of the distances alone: it is constant between configurations at
    which two of them are equal, and its derivative is zero. Descent directions are those of f
    drawn as a line through the means of groups of pairs with nearly equal distances, and a solver
    that takes no step without a decrease of the value itself ends where they do not help any
    more. `before` is a stress with derivatives, whose minimum is a start.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend import mds
    >>> pairs = mds.Pairs(3, np.array([1.0, 2.0, 3.0]))
    >>> plain = mds.Stress1(3, mds.Monotone(pairs))
    >>> value, gradient = mds.InverseStress(pairs, plain)(np.array([[0.0], [1.0], [3.0]]))
    >>> value >= 0, gradient.shape
    (True, (3, 1))
    """

    resolution: ClassVar[float] = 1e-3
    pairs: Pairs
    before: Stress1
    threads: int = 1
    size: float = 1.0

    @property
    def rounding(self) -> float:
        """Machine epsilon of the dissimilarities."""
        return float(np.finfo(self.pairs.dissimilarities.dtype).eps)

    def _weighting(self) -> Pairs:
        return self.pairs

    def regress(self, distances: FloatArray) -> Disparities:
        """Return f(d) of all pairs, and the residual sum of squares."""
        by_distance = Monotone(replace(self.pairs, dissimilarities=distances), threads=self.threads)
        return by_distance(self.pairs.dissimilarities.astype(np.float64))

    def curve(self, distances: FloatArray, targets: FloatArray | None = None) -> Steps:
        """Return f as a line through the means of groups of pairs of ascending distances."""
        known = slice(None) if self.pairs.weights is None else self.pairs.weights > 0
        targets = self.regress(distances).targets if targets is None else targets
        values, fitted = distances[known], targets[known]
        order = np.argsort(values)
        count = max(min(2, len(order)), min(GROUPS, len(order) // GROUP_PAIRS))
        groups = np.array_split(order, count)
        means = np.array([(values[group].mean(), fitted[group].mean()) for group in groups])
        return Steps(*means.T)

    def __call__(self, coordinates: FloatArray) -> tuple[float, FloatArray]:
        """Value at a configuration (n, d), and the gradient for f fixed and continuous."""
        pairs = self.pairs
        distances = pairs.distances(coordinates, self.threads)
        given = pairs.dissimilarities.astype(np.float64)
        size = sum_of_squares(given, pairs.weights)
        if size == 0:
            return 0.0, np.zeros_like(coordinates)
        found = self.regress(distances)
        if found.residual == 0:
            # Also where there is one pair, through which no line goes.
            return 0.0, np.zeros_like(coordinates)
        line = self.curve(distances, found.targets)
        slopes = np.diff(line.fitted) / np.maximum(np.diff(line.given), TINY)
        part = np.clip(np.searchsorted(line.given, distances) - 1, 0, len(slopes) - 1)
        predicted = line.fitted[part] + slopes[part] * (distances - line.given[part])
        # Raw stress with these targets has the gradient −2 Σ w (δ − f) f' ∇d.
        targets = distances + (given - predicted) * slopes[part]
        moved = replace(pairs, dissimilarities=targets.astype(pairs.precision))
        _, gradient = _stress(moved, 0, coordinates, self.threads)
        return found.residual / size, gradient / size

    def per_object(self, coordinates: FloatArray) -> FloatArray:
        """Contribution of each object to the value: half of each of its pairs."""
        given = self.pairs.dissimilarities.astype(np.float64)
        size = sum_of_squares(given, self.pairs.weights)
        if size == 0:
            return np.zeros(self.pairs.n)
        fitted = self.regress(self.pairs.distances(coordinates, self.threads)).targets
        weights = 1.0 if self.pairs.weights is None else self.pairs.weights
        shares = weights * np.square(given - fitted) / size
        ends = self.pairs.all_ends()
        return np.asarray(sum(np.bincount(end, shares, self.pairs.n) for end in ends) / 2.0)


Objective = MetricStress | Stress1 | InverseStress


def _identity(vectors: FloatArray) -> FloatArray:
    return vectors


def inverse_weights(pairs: Pairs) -> Callable[[FloatArray], FloatArray]:
    """Return V⁺ as a function of centred vectors, V = diag(Σ_j w_ij) − W."""
    if pairs.ends is not None:
        return factor_solver(pairs) or cg_solver(pairs)
    if pairs.weights is None:
        return lambda vectors: vectors / pairs.n
    matrix = -Pairs(pairs.n, pairs.weights).square().astype(np.float64)
    matrix -= np.diag(matrix.sum(axis=1))
    # The constant vector spans the null space of V; any multiple of 11' makes it definite.
    factor = cho_factor(matrix + np.trace(matrix) / pairs.n**2)
    return lambda vectors: np.asarray(cho_solve(factor, vectors))


def _stress(
    pairs: Pairs,
    loss: int,
    coordinates: FloatArray,
    threads: int,
    per_object: FloatArray = NO_OUTPUT,
) -> tuple[float, FloatArray]:
    if pairs.ends is not None:
        return sparse_stress(pairs, loss, coordinates, per_object)
    gradient = np.empty(coordinates.shape)
    weights = pairs.dissimilarities[:0] if pairs.weights is None else pairs.weights
    places = np.ascontiguousarray(coordinates, dtype=np.float64)
    value = kernels.stress(
        pairs.dissimilarities, weights, loss, places, threads, gradient, per_object
    )
    return value, gradient


# Sparse factorisations of the weights beyond this many operations are replaced by CG.
FACTOR_FLOPS = 2e9


def sparse_stress(
    pairs: Pairs, loss: int, coordinates: FloatArray, per_object: FloatArray
) -> tuple[float, FloatArray]:
    """Value and gradient of a loss over listed pairs; fills `per_object` unless it is empty."""
    assert pairs.ends is not None
    rows, columns = pairs.ends
    away = coordinates[rows] - coordinates[columns]
    square = np.einsum("ij,ij->i", away, away)
    weight = np.ones(len(rows)) if pairs.weights is None else pairs.weights
    share, pull = pair_stress(square, pairs.dissimilarities, weight, loss)
    n, moves = len(coordinates), 2.0 * pull[:, None] * away
    gradient = np.empty(coordinates.shape)
    for axis, move in enumerate(moves.T):
        gradient[:, axis] = np.bincount(rows, move, n) - np.bincount(columns, move, n)
    if len(per_object):
        per_object[:] = np.bincount(rows, share, n) + np.bincount(columns, share, n)
    return float(share.sum()), gradient


def laplacian(pairs: Pairs) -> csr_array:
    """V = diag(Σ_j w_ij) − W of listed pairs."""
    assert pairs.ends is not None
    rows, columns = pairs.ends
    weights = np.ones(len(rows)) if pairs.weights is None else pairs.weights
    ends = (np.r_[rows, columns], np.r_[columns, rows])
    joined = csr_array((np.r_[weights, weights], ends), shape=(pairs.n, pairs.n))
    return csr_array(diags_array(np.asarray(joined.sum(axis=1))) - joined)


def factor_solver(pairs: Pairs) -> Callable[[FloatArray], FloatArray] | None:
    """V⁺ by a sparse Cholesky factor, for centred vectors; None if that is too expensive."""
    # Without its last object V is definite; solutions are determined up to a shift.
    symbolic = analyse(laplacian(pairs)[:-1, :-1], FACTOR_FLOPS)
    if not symbolic.analysis.complete:
        return None
    factor = symbolic.factor(shift=0.0)

    def solve(vectors: FloatArray) -> FloatArray:
        found = np.zeros(vectors.shape)
        factor.solve(np.ascontiguousarray(vectors[:-1]), 1, found[:-1])
        return np.asarray(found - found.mean(axis=0))

    return solve


def cg_solver(pairs: Pairs) -> Callable[[FloatArray], FloatArray]:
    """V⁺ by conjugate gradients, where a factor would have too much fill."""
    matrix = laplacian(pairs)
    scale = diags_array(1.0 / matrix.diagonal())

    def solve(vectors: FloatArray) -> FloatArray:
        found = [cg(matrix, column, rtol=1e-10, M=scale)[0] for column in vectors.T]
        return np.asarray(np.stack(found, axis=1) - np.mean(found, axis=1))

    return solve
