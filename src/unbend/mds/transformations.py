"""Optimal scaling: disparities as ratio, interval or monotone functions of dissimilarities.

A transformation maps the distances of a configuration to the nearest admissible disparities, in
weighted least squares. Admissible sets are cones, so the residual Σ w (d − d̂)² has the gradient
that it would have with d̂ fixed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from scipy.optimize import isotonic_regression

from unbend.arrays import FloatArray, IntArray, distinct_values
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


@final
@dataclass(frozen=True, eq=False)
class Ratio(PairTransformation):
    """d̂ = b δ.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend import mds
    >>> pairs = mds.Pairs(3, np.array([1.0, 2.0, 3.0]))
    >>> mds.Ratio(pairs)(np.array([2.0, 4.0, 6.0])).targets.round(6)  # d = 2 δ
    array([2., 4., 6.])
    """

    def __call__(self, distances: FloatArray) -> Disparities:
        """Regress distances on dissimilarities, through the origin."""
        return self._result(distances, self.slope(distances) * self.pairs.dissimilarities)

    def slope(self, distances: FloatArray) -> float:
        """Least-squares slope through the origin."""
        given = self.pairs.dissimilarities
        square = self.pairs.sum(given * given)
        return self.pairs.sum(distances * given) / square if square > 0 else 0.0

    def curve(self, distances: FloatArray) -> Curve:
        """Return the line."""
        return Line(0.0, self.slope(distances))


@final
@dataclass(frozen=True, eq=False)
class Interval(PairTransformation):
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

    def __call__(self, distances: FloatArray) -> Disparities:
        """Regress distances on dissimilarities by a non-decreasing line."""
        intercept, slope = self.line(distances)
        line = intercept + slope * self.pairs.dissimilarities.astype(np.float64)
        return self._result(distances, np.maximum(line, 0.0))

    def line(self, distances: FloatArray) -> tuple[float, float]:
        """Intercept and slope."""
        given, pairs = self.pairs.dissimilarities.astype(np.float64), self.pairs
        count = pairs.sum(np.ones(len(given)))
        center, mean = pairs.sum(given) / count, pairs.sum(distances) / count
        spread = pairs.sum(np.square(given - center))
        product = pairs.sum((given - center) * (distances - mean))
        slope = max(product / spread, 0.0) if spread > 0 else 0.0
        if mean + slope * (self._least - center) >= 0:
            return mean - slope * center, slope
        # The line through zero at the least δ: the other edge of the cone.
        above = given - self._least
        slope = pairs.sum(above * distances) / pairs.sum(above * above)
        return -slope * self._least, slope

    @cached_property
    def _least(self) -> float:
        """Least dissimilarity of a known pair."""
        known = True if self.weights is None else self.weights > 0
        return float(self.pairs.dissimilarities.min(where=known, initial=np.inf))

    def curve(self, distances: FloatArray) -> Curve:
        """Return the line."""
        return Line(*self.line(distances))


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

    @cached_property
    def _group(self) -> IntArray:
        """Rank of each pair's dissimilarity among the distinct ones of known pairs."""
        given = self.pairs.dissimilarities
        if self.weights is not None:
            # Unknown pairs are last, with zero weight.
            given = np.where(self.weights > 0, given, np.inf)
        return distinct_values(given)[1]

    @cached_property
    def _counts(self) -> FloatArray:
        """Weight of each distinct dissimilarity."""
        return np.asarray(np.bincount(self._group, self.weights), dtype=np.float64)

    @cached_property
    def order(self) -> IntArray:
        """Pairs in ascending order of their dissimilarities."""
        return np.argsort(self._group, kind="stable")

    @cached_property
    def tied_ranges(self) -> IntArray:
        """Begin and end, in that order, of each set of tied pairs."""
        ends = np.cumsum(np.bincount(self._group))
        ranges = np.column_stack((np.append(0, ends[:-1]), ends)).astype(np.int64)
        return np.ascontiguousarray(ranges[ranges[:, 1] - ranges[:, 0] > 1])

    @cached_property
    def _tied_positions(self) -> IntArray:
        """Positions of tied pairs in the order."""
        return np.flatnonzero((np.bincount(self._group) > 1)[self._group[self.order]])

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

    def curve(self, distances: FloatArray) -> Curve:
        """Return the mean disparity at each dissimilarity, interpolated linearly."""
        known = slice(None) if self.weights is None else self.weights > 0
        given, group = distinct_values(self.pairs.dissimilarities[known])
        fitted = np.bincount(group, self(distances).targets[known]) / np.bincount(group)
        return Steps(given.astype(np.float64), fitted)


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

    def curve(self, distances: FloatArray) -> Curve:
        """Raise: each matrix has its own curve."""
        raise TypeError("each matrix has its own curve: call curve of one of the parts")


Transformation = Ratio | Interval | Monotone | Replicated
