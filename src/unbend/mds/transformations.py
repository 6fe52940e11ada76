"""Optimal scaling: disparities as ratio, interval or monotone functions of dissimilarities.

A transformation maps the distances of a configuration to the nearest admissible disparities, in
weighted least squares. Admissible sets are cones, so the residual Σ w (d − d̂)² has the gradient
that it would have with d̂ fixed.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from scipy.optimize import isotonic_regression

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray, first_of_distinct
from unbend.cached import cached_property
from unbend.mds.object_pairs import Pairs, sum_of_squares


@final
@dataclass(frozen=True)
class Line:
    """d̂ = max(a + b δ, 0)."""

    intercept: float
    slope: float

    def __call__(self, dissimilarities: FloatArray) -> FloatArray:
        """Disparities of dissimilarities."""
        return np.asarray(np.maximum(self.intercept + self.slope * dissimilarities, 0.0))

    def times(self, factor: float) -> "Line":
        """Return a multiple of the line."""
        return Line(factor * self.intercept, factor * self.slope)

    def rescale_given(self, scale: float) -> "Line":
        """Return the same disparities for dissimilarities `scale` times as large."""
        return Line(self.intercept, self.slope / scale)


@final
@dataclass(frozen=True, eq=False)
class Steps:
    """Disparities at ascending dissimilarities: linear between them, proportional beyond."""

    given: FloatArray
    fitted: FloatArray

    def __call__(self, dissimilarities: FloatArray) -> FloatArray:
        """Disparities of dissimilarities."""
        last = self.given[-1]
        beyond = self.fitted[-1] * dissimilarities / (last if last > 0 else 1.0)
        within = np.interp(dissimilarities, self.given, self.fitted)
        return np.where(dissimilarities > last, beyond, within)

    def invert(self) -> "Steps":
        """Return the inverse function: of equal values the mean."""
        values, place = np.unique(self.fitted, return_inverse=True)
        return Steps(values, np.bincount(place, self.given) / np.bincount(place))

    def times(self, factor: float) -> "Steps":
        """Return a multiple of the curve."""
        return Steps(self.given, factor * self.fitted)

    def rescale_given(self, scale: float) -> "Steps":
        """Return the same disparities for dissimilarities `scale` times as large."""
        return Steps(scale * self.given, self.fitted)


Curve = Line | Steps


def rescale_disparities(curve: Curve, value: float) -> Curve:
    """Rescale disparities, which regression shrinks, so that fitted objects are stationary.

    At a minimum f of Σ w (d − d̂)² / Σ w d² objects are stationary for the targets d̂/(1 − f).
    """
    return curve.times(1.0 / (1.0 - value)) if value < 1 else curve


class Disparities(NamedTuple):
    """Target distance of each pair, and the residual sum of squares."""

    targets: FloatArray
    residual: float


@dataclass(frozen=True, eq=False)
class PairTransformation:
    """Common part of the transformations of one matrix."""

    pairs: Pairs

    @property
    def weights(self) -> FloatArray | None:
        """Weight of each pair."""
        return self.pairs.weights

    def _result(self, distances: FloatArray, targets: FloatArray) -> Disparities:
        """Targets with their residual."""
        return Disparities(targets, sum_of_squares(distances - targets, self.weights))


class LineTransformation(PairTransformation):
    """Disparities max(a + b δ, 0) on a line, determined by Σ w d and Σ w (δ − center) d."""

    @property
    @abstractmethod
    def center(self) -> float:
        """Dissimilarity from which those of the second sum are measured."""

    @abstractmethod
    def line_of(self, total: float, product: float) -> tuple[float, float]:
        """Intercept and slope of the line for the two sums."""

    def __call__(self, distances: FloatArray) -> Disparities:
        """Regress distances on dissimilarities."""
        return self._result(distances, self.curve(distances)(self._given))

    def curve(self, distances: FloatArray, found: Disparities | None = None) -> Line:
        """Return the line."""
        product = self.pairs.sum((self._given - self.center) * distances)
        return Line(*self.line_of(self.pairs.sum(distances), product))

    @property
    def _given(self) -> FloatArray:
        return self.pairs.dissimilarities.astype(np.float64, copy=False)

    @cached_property
    def _spread(self) -> float:
        """Σ w (δ − center)²."""
        return sum_of_squares(self._given - self.center, self.weights)


@final
@dataclass(frozen=True, eq=False)
class Ratio(LineTransformation):
    """d̂ = b δ.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend import mds
    >>> pairs = mds.Pairs(3, np.array([1.0, 2.0, 3.0]))
    >>> mds.Ratio(pairs)(np.array([2.0, 4.0, 6.0])).targets.round(6)  # d = 2 δ
    array([2., 4., 6.])
    """

    @property
    def center(self) -> float:
        """Zero."""
        return 0.0

    def line_of(self, total: float, product: float) -> tuple[float, float]:
        """Line through the origin."""
        return 0.0, product / self._spread if self._spread > 0 else 0.0


@final
@dataclass(frozen=True, eq=False)
class Interval(LineTransformation):
    """d̂ = a + b δ with b ≥ 0, non-negative at the least δ.

    Majorisation needs non-negative disparities to decrease the stress.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend import mds
    >>> pairs = mds.Pairs(3, np.array([1.0, 2.0, 3.0]))
    >>> mds.Interval(pairs)(np.array([2.0, 3.0, 4.0])).targets.round(6)  # d = 1 + δ
    array([2., 3., 4.])
    """

    @cached_property
    def center(self) -> float:
        """Mean dissimilarity."""
        return self.pairs.sum(self._given) / self.pairs.known

    def line_of(self, total: float, product: float) -> tuple[float, float]:
        """Non-decreasing line."""
        mean, below = total / self.pairs.known, self.center - self._least
        slope = max(product / self._spread, 0.0) if self._spread > 0 else 0.0
        if mean - slope * below >= 0:
            return mean - slope * self.center, slope
        # The line through zero at the least δ: the other edge of the cone.
        square = self._spread + self.pairs.known * below * below
        slope = (product + below * total) / square
        return -slope * self._least, slope

    @cached_property
    def _least(self) -> float:
        """Least dissimilarity of a known pair."""
        known = True if self.weights is None else self.weights > 0
        return float(self.pairs.dissimilarities.min(where=known, initial=np.inf))


@final
@dataclass(frozen=True, eq=False)
class Monotone(PairTransformation):
    """d̂ = f(δ), f non-decreasing (Kruskal, 1964).

    Pairs with equal dissimilarities may get different disparities (primary approach to ties), or
    one for all (``equal_ties``, the secondary approach).

    Examples
    --------
    >>> import numpy as np
    >>> pairs = Pairs(3, np.array([1.0, 2.0, 2.0]))
    >>> Monotone(pairs)(np.array([3.0, 1.0, 4.0])).targets
    array([2., 2., 4.])
    >>> Monotone(pairs, equal_ties=True)(np.array([3.0, 1.0, 4.0])).targets.round(3)
    array([2.667, 2.667, 2.667])
    """

    pairs: Pairs
    equal_ties: bool = False
    threads: int = 1

    @cached_property
    def order(self) -> IntArray:
        """Pairs in ascending order of their dissimilarities, unknown ones last."""
        given = self.pairs.dissimilarities
        if self.weights is not None:
            given = np.where(self.weights > 0, given, np.inf).astype(given.dtype)
        order = np.empty(len(given), dtype=np.int64)
        kernels.sorted_order(given, self.threads, order)
        return order

    @cached_property
    def _starts(self) -> IntArray:
        """First pair, in that order, of each distinct dissimilarity; unknown ones are the last."""
        known = len(self.order) if self.weights is None else np.count_nonzero(self.weights > 0)
        ascending = self.pairs.dissimilarities[self.order[:known]]
        starts = np.flatnonzero(first_of_distinct(ascending))
        return starts if known == len(self.order) else np.append(starts, known)

    @cached_property
    def _sizes(self) -> IntArray:
        """Number of pairs of each distinct dissimilarity."""
        return np.diff(self._starts, append=len(self.order))

    @cached_property
    def _group(self) -> IntArray:
        """Rank of each pair's dissimilarity among the distinct ones of known pairs."""
        group = np.empty(len(self.order), dtype=np.intp)
        group[self.order] = np.repeat(np.arange(len(self._sizes)), self._sizes)
        return group

    @cached_property
    def _counts(self) -> FloatArray:
        """Weight of each distinct dissimilarity."""
        return np.asarray(np.bincount(self._group, self.weights), dtype=np.float64)

    @cached_property
    def tied_ranges(self) -> IntArray:
        """Begin and end, in that order, of each set of tied pairs."""
        ranges = np.column_stack((self._starts, self._starts + self._sizes)).astype(np.int64)
        return np.ascontiguousarray(ranges[self._sizes > 1])

    @cached_property
    def _tied_positions(self) -> IntArray:
        """Positions of tied pairs in the order."""
        return np.flatnonzero(np.repeat(self._sizes > 1, self._sizes))

    def __call__(self, distances: FloatArray) -> Disparities:
        """Regress distances monotonically."""
        fitted = self._by_groups(distances) if self.equal_ties else self._by_pairs(distances)
        return self._result(distances, fitted)

    def _by_groups(self, distances: FloatArray) -> FloatArray:
        weights, count = self.weights, self._counts
        known = count > 0
        product = distances if weights is None else distances * weights
        sums = np.bincount(self._group, product)
        fitted = np.zeros(len(count))
        means = sums[known] / count[known]
        fitted[known] = isotonic_regression(means, weights=count[known]).x
        return np.asarray(fitted[self._group])

    def _by_pairs(self, distances: FloatArray) -> FloatArray:
        order, tied = self.order, self._tied_positions
        if len(tied):
            # Within ties any order is admissible: ascending distances cost nothing.
            among = order[tied]
            order = order.copy()
            order[tied] = among[np.lexsort((distances[among], self._group[among]))]
        weights = self.weights
        known = order if weights is None else order[weights[order] > 0]
        fitted = np.zeros(len(distances))
        ascending = isotonic_regression(
            distances[known].astype(np.float64), weights=None if weights is None else weights[known]
        )
        fitted[known] = ascending.x
        return fitted

    def curve(self, distances: FloatArray, found: Disparities | None = None) -> Curve:
        """Return the mean disparity at each dissimilarity, interpolated linearly."""
        targets = (self(distances) if found is None else found).targets
        known = slice(None)
        if self.weights is not None and not np.all(self.weights > 0):
            # Unknown pairs are the last set.
            known = slice(-1)
        given = self.pairs.dissimilarities[self.order[self._starts[known]]]
        means = np.add.reduceat(targets[self.order], self._starts) / self._sizes
        return Steps(given.astype(np.float64), means[known])


@final
@dataclass(frozen=True, eq=False)
class Replicated:
    """Several matrices of the same objects, each with a transformation of its own.

    Σ_k w_k (d − d̂_k)² = w (d − d̂)² + a term independent of d, with w = Σ w_k and d̂ the mean of
    the d̂_k by their weights: one target serves all matrices. Sums over k are divided by their
    number.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend import mds
    >>> pairs = mds.Pairs(3, np.array([1.0, 2.0, 3.0]))
    >>> doubled = mds.Pairs(3, np.array([2.0, 4.0, 6.0]))
    >>> both = mds.Replicated([mds.Ratio(pairs), mds.Ratio(doubled)])
    >>> stress = mds.Stress1(3, both)
    >>> round(stress(np.array([[0.0], [1.0], [3.0]]))[0], 6) >= 0
    True
    """

    parts: Sequence["Transformation"]

    @cached_property
    def weights(self) -> FloatArray | None:
        """Mean of the weights of all matrices."""
        given = [part.weights for part in self.parts]
        if all(weights is None for weights in given):
            return None
        length = max(len(weights) for weights in given if weights is not None)
        total = sum(np.ones(length) if weights is None else weights for weights in given)
        return np.asarray(total / len(given))

    def __call__(self, distances: FloatArray) -> Disparities:
        """Regress distances on each matrix; the residual is the mean over the matrices."""
        found = [part(distances) for part in self.parts]
        weighed = sum(
            one.targets if part.weights is None else part.weights * one.targets
            for part, one in zip(self.parts, found, strict=True)
        )
        mean = np.asarray(weighed) / len(found)
        if self.weights is not None:
            known = self.weights > 0
            mean = np.divide(mean, self.weights, out=np.zeros(len(distances)), where=known)
        return Disparities(mean, sum(one.residual for one in found) / len(found))

    def curve(self, distances: FloatArray, found: Disparities | None = None) -> Curve:
        """Raise: each matrix has its own curve."""
        raise TypeError("each matrix has its own curve: call curve of one of the parts")


Transformation = Ratio | Interval | Monotone | Replicated
