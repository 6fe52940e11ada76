"""Regressions of the distances of all pairs, in compiled passes that threads share."""

from dataclasses import dataclass
from typing import final

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray
from unbend.mds.object_pairs import Precision
from unbend.mds.transformations import LineTransformation, Monotone, Replicated, Transformation


@final
@dataclass(frozen=True, eq=False)
class AscendingPairs:
    """Stress-1 of all pairs with monotone disparities, by passes in the order of dissimilarities.

    The arrays are those of the pairs, sorted, and space for distances, and for sums and first pairs
    of blocks: memory that is new with every call costs more than the arithmetic.
    """

    first: IntArray
    second: IntArray
    ties: IntArray
    space: tuple[FloatArray, FloatArray, IntArray]
    threads: int

    @classmethod
    def of(cls, transformation: Transformation, threads: int) -> "AscendingPairs | None":
        """Sort the pairs, where each has a disparity of its own."""
        kind = transformation
        if not isinstance(kind, Monotone) or kind.equal_ties or kind.weights is not None:
            return None
        pairs, order = kind.pairs, kind.order
        objects = np.arange(pairs.n, dtype=np.int32)
        rows = np.repeat(objects, objects[::-1])[order]
        columns = (order - pairs.starts()[rows] + rows + 1).astype(np.int32)
        space = np.empty(len(order)), np.empty(len(order)), np.empty(len(order), dtype=np.int64)
        return cls(rows, columns, kind.tied_ranges, space, threads)

    def __call__(self, coordinates: FloatArray) -> tuple[float, FloatArray]:
        """Value and gradient at a configuration (n, d)."""
        gradient = np.empty(coordinates.shape)
        places = np.ascontiguousarray(coordinates, dtype=np.float64)
        residual, size, _ = kernels.monotone_stress(
            self.first, self.second, self.ties, places, self.threads, *self.space, gradient
        )
        return (residual / size if size > 0 else 0.0), gradient


@final
@dataclass(frozen=True, eq=False)
class LinePairs:
    """Stress-1 of all pairs with disparities on lines, one for each of several matrices."""

    parts: tuple[LineTransformation, ...]
    weights: list[FloatArray]
    targets: FloatArray
    threads: int

    @classmethod
    def of(
        cls, transformation: Transformation, precision: Precision, threads: int
    ) -> "LinePairs | None":
        """Take the matrices, where all have lines and one precision."""
        kinds = transformation.parts if isinstance(transformation, Replicated) else [transformation]
        parts = tuple(kind for kind in kinds if isinstance(kind, LineTransformation))
        if len(parts) < len(kinds) or any(one.pairs.precision is not precision for one in parts):
            return None
        weights: list[FloatArray] = [
            np.empty(0, precision) if one.weights is None else one.weights.astype(precision)
            for one in parts
        ]
        count = len(parts[0].pairs.dissimilarities)
        return cls(parts, weights, np.empty(count, precision), threads)

    def __call__(self, coordinates: FloatArray) -> tuple[float, float, FloatArray]:
        """Value, mean of Σ w d² over the matrices, and mean disparities, until the next call."""
        given = [one.pairs.dissimilarities for one in self.parts]
        places = np.ascontiguousarray(coordinates, dtype=np.float64)
        centers = np.array([one.center for one in self.parts])
        sums, residuals = np.empty((len(given), 3)), np.empty(len(given))
        kernels.line_sums(given, self.weights, centers, places, self.threads, sums)
        found = zip(self.parts, sums, strict=True)
        lines = np.array([part.line_of(total, product) for part, (total, product, _) in found])
        kernels.line_residuals(
            given, self.weights, lines, places, self.threads, self.targets, residuals
        )
        size = float(sums[:, 2].mean())
        return (float(residuals.mean()) / size if size > 0 else 0.0), size, self.targets
