"""Stress as a function of a configuration: value and gradient, and Guttman's transform.

MetricStress compares distances with the dissimilarities themselves, FittedStress with the best
transformation of them. Both are problems as values: a solver takes them and a start.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol, final

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray
from unbend.mds.pairs import Pairs, Precision, sum_of_squares
from unbend.mds.sparse_pairs import factored, iterated, listed_stress
from unbend.mds.transformations import Transformation

LOSSES = ("raw", "sstress", "sammon")
NOTHING = np.empty(0)
# Up to here the matrix of the weights is factorised to precondition quasi-Newton steps.
FACTORED_OBJECTS = 2000


class Objective(Protocol):
    """A stress to be minimised."""

    @property
    def size(self) -> float:
        """Stress of all objects in one place: what values and gradients are relative to."""

    @property
    def rounding(self) -> float:
        """Relative size of the numbers' last digit."""

    def __call__(self, coordinates: FloatArray) -> tuple[float, FloatArray]:
        """Value and gradient at a configuration (n, d)."""

    def majorised(self, coordinates: FloatArray) -> tuple[float, FloatArray]:
        """Value at a configuration, and its Guttman transform, which is never worse."""

    def precondition(self, vectors: FloatArray) -> FloatArray:
        """Multiply by about the inverse Hessian, up to a factor: that of the weights."""

    def spread(self, coordinates: FloatArray) -> FloatArray:
        """Share of each object in the value: half of each of its pairs."""


class Fit(NamedTuple):
    """Stress-1 of a configuration at its best scale, and the factor to the scale of least."""

    stress1: float
    stretch: float


@final
@dataclass(frozen=True, eq=False)
class MetricStress:
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
        """Stress of all objects in one place."""
        return self(np.zeros((self.pairs.n, 2)))[0]

    @property
    def rounding(self) -> float:
        """Relative size of the numbers' last digit."""
        return float(np.finfo(self.pairs.dissimilarities.dtype).eps)

    def __call__(self, coordinates: FloatArray) -> tuple[float, FloatArray]:
        """Value and gradient."""
        return _stress(self.pairs, LOSSES.index(self.loss), coordinates, self.threads)

    def fit_of(self, coordinates: FloatArray) -> Fit:
        """Judge a configuration, for the raw loss, whatever its scale.

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

    def majorised(self, coordinates: FloatArray) -> tuple[float, FloatArray]:
        """Value and Guttman transform."""
        value, gradient = self(coordinates)
        return value, coordinates - self._inverse(gradient) / 2.0

    def precondition(self, vectors: FloatArray) -> FloatArray:
        """Multiply by V⁺ where that takes no longer than the stress itself."""
        return self._quick(vectors)

    @cached_property
    def _quick(self) -> Callable[[FloatArray], FloatArray]:
        return quick_inverse(self._weighed)

    @cached_property
    def _inverse(self) -> Callable[[FloatArray], FloatArray]:
        return inverse_weights(self._weighed)

    @cached_property
    def _weighed(self) -> Pairs:
        """Pairs by whose weights the squared errors of distances count."""
        if self.loss != "sammon":
            return self.pairs
        given = self.pairs.dissimilarities
        weights = np.divide(
            1.0 if self.pairs.weights is None else self.pairs.weights,
            given,
            out=np.zeros_like(given),
            where=given > 0,
        )
        return replace(self.pairs, weights=weights)

    def spread(self, coordinates: FloatArray) -> FloatArray:
        """Share of each object."""
        found = np.empty(len(coordinates))
        _stress(self.pairs, LOSSES.index(self.loss), coordinates, self.threads, found)
        return found / 2.0


@final
@dataclass(frozen=True, eq=False)
class FittedStress:
    """Kruskal's stress-1, squared: Σ w (d − d̂)² / Σ w d², d̂ the best transformation.

    Dividing by the distances' own size rules out the solution in which all objects coincide.
    """

    n: int
    transformation: Transformation
    threads: int = 1
    size: float = 1.0
    ends: IntArray | None = None
    precision: Precision = np.float64

    @property
    def rounding(self) -> float:
        """Relative size of the numbers' last digit."""
        return float(np.finfo(self.precision).eps)

    @cached_property
    def _weights(self) -> FloatArray | None:
        weights = self.transformation.weights
        return None if weights is None else weights.astype(self.precision, copy=False)

    def _pairs(self, targets: FloatArray) -> Pairs:
        targets = targets.astype(self.precision, copy=False)
        return Pairs(self.n, targets, self._weights, self.ends)

    def _regressed(self, coordinates: FloatArray) -> tuple[float, float, FloatArray]:
        """Value, Σ w d², and the disparities."""
        distances = self._pairs(np.empty(0)).distances(coordinates)
        found = self.transformation(distances)
        size = sum_of_squares(distances, self._weights)
        return (found.residual / size if size > 0 else 0.0), size, found.targets

    def __call__(self, coordinates: FloatArray) -> tuple[float, FloatArray]:
        """Value and gradient.

        With value f, ∇f = Σ 2w (d − d̂ − f d) ∇d / Σ w d²: the gradient of raw stress with targets
        d̂/(1 − f), times (1 − f).
        """
        value, size, targets = self._regressed(coordinates)
        if size == 0 or value >= 1:
            return value, np.zeros_like(coordinates)
        _, gradient = _stress(self._pairs(targets / (1 - value)), 0, coordinates, self.threads)
        return value, gradient * ((1 - value) / size)

    def majorised(self, coordinates: FloatArray) -> tuple[float, FloatArray]:
        """Value and Guttman transform."""
        value, _, targets = self._regressed(coordinates)
        if value >= 1:
            return value, coordinates
        # With disparities of the distances' size a minimum is a fixed point.
        _, gradient = _stress(self._pairs(targets / (1 - value)), 0, coordinates, self.threads)
        return value, coordinates - self._inverse(gradient) / 2.0

    def precondition(self, vectors: FloatArray) -> FloatArray:
        """Multiply by V⁺ where that takes no longer than the stress itself."""
        return self._quick(vectors)

    @cached_property
    def _quick(self) -> Callable[[FloatArray], FloatArray]:
        return quick_inverse(self._pairs(np.empty(0)))

    @cached_property
    def _inverse(self) -> Callable[[FloatArray], FloatArray]:
        return inverse_weights(self._pairs(np.empty(0)))

    def spread(self, coordinates: FloatArray) -> FloatArray:
        """Share of each object."""
        _, size, targets = self._regressed(coordinates)
        found = np.empty(len(coordinates))
        _stress(self._pairs(targets), 0, coordinates, self.threads, found)
        return found / (2.0 * size) if size > 0 else found


def _stress(
    pairs: Pairs,
    loss: int,
    coordinates: FloatArray,
    threads: int,
    spread: FloatArray = NOTHING,
) -> tuple[float, FloatArray]:
    if pairs.ends is not None:
        return listed_stress(pairs, loss, coordinates, spread)
    gradient = np.empty(coordinates.shape)
    weights = pairs.dissimilarities[:0] if pairs.weights is None else pairs.weights
    places = np.ascontiguousarray(coordinates, dtype=np.float64)
    value = kernels.stress(pairs.dissimilarities, weights, loss, places, threads, gradient, spread)
    return value, gradient


def quick_inverse(pairs: Pairs) -> Callable[[FloatArray], FloatArray]:
    """V⁺ where it takes no longer than the stress itself, else the identity."""
    if pairs.ends is not None:
        return factored(pairs) or (lambda vectors: vectors)
    return inverse_weights(pairs) if pairs.n <= FACTORED_OBJECTS else (lambda vectors: vectors)


def inverse_weights(pairs: Pairs) -> Callable[[FloatArray], FloatArray]:
    """Return V⁺ as a function of centred vectors, V = diag(Σ_j w_ij) − W."""
    if pairs.ends is not None:
        return factored(pairs) or iterated(pairs)
    if pairs.weights is None:
        return lambda vectors: vectors / pairs.n
    matrix = -Pairs(pairs.n, pairs.weights).square().astype(np.float64)
    matrix -= np.diag(matrix.sum(axis=1))
    # The constant vector is all that V does not see; any multiple of 11' makes it definite.
    factor = cho_factor(matrix + np.trace(matrix) / pairs.n**2)
    return lambda vectors: np.asarray(cho_solve(factor, vectors))
