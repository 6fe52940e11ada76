"""Dissimilarities of pairs of objects, each pair stored once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unbend._kernels import kernels
from unbend._kernels.parts import map_parts
from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.neighbors import PointSpace
from unbend.neighbors.metrics.norms import PNorm
from unbend.report import step

# Machine epsilon of single precision over that of double precision.
COARSER = float(np.finfo(np.float32).eps / np.finfo(np.float64).eps)
# Fraction of close pairs beyond which a whole block is computed by differences.
FEW = 0.01
# Columns from which on distances come from products in double precision too: those of 400 rows of
# 10 304 columns took four times as long as all of SMACOF. Squares below this share of those of the
# rows about their mean would lose more than two digits.
WIDE, CLOSE = 1000, 0.01
# Columns from which on products are faster than differences for distances in single precision.
NARROW = 48
# Largest dissimilarities whose fourth powers are far from the limits of single precision.
COMMON = (2.0**-10, 2.0**10)
# Bytes of a block of pairs that stays in cache.
CACHED = 1 << 18

Precision = type[np.float32] | type[np.float64]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Dissimilarities of the pairs i < j of n objects, row after row, and their weights if any.

    A pair of weight zero is unknown. Where few pairs are known, `ends` (2, m) lists them, and only
    these have an entry.

    Examples
    --------
    >>> import numpy as np
    >>> unknown = np.nan
    >>> pairs = Pairs.from_matrix(np.array([[0, 1, unknown], [1, 0, 2], [unknown, 2, 0]]))
    >>> pairs.dissimilarities, pairs.weights
    (array([1., 0., 2.]), array([1., 0., 1.]))
    """

    n: int
    dissimilarities: FloatArray
    weights: FloatArray | None = None
    ends: IntArray | None = None

    @classmethod
    def from_matrix(
        cls,
        square: FloatArray,
        weights: FloatArray | None = None,
        dtype: Precision = np.float64,
    ) -> "Pairs":
        """Read the pairs of a symmetric matrix, NaN where unknown, with weights (n, n)."""
        n = len(square)
        values = upper_triangle(n, dtype, lambda rows: square[rows, rows.start :])
        given = None
        if weights is not None:
            given = upper_triangle(n, dtype, lambda rows: weights[rows, rows.start :])
        unknown = np.isnan(values)
        if unknown.any():
            given = np.ones_like(values) if given is None else given
            given[unknown], values[unknown] = 0.0, 0.0
        return cls(n, values, given)

    @classmethod
    def from_points(
        cls, space: PointSpace, dtype: Precision = np.float64, threads: int = 1
    ) -> "Pairs":
        """Compute the distances of all pairs of points."""
        features = np.asarray(space.features, dtype=np.float64)
        columns, euclidean = features.shape[1], euclidean_features(space) is not None
        if euclidean and columns < (NARROW if dtype == np.float32 else WIDE):
            return cls(space.n, all_distances(features, dtype, threads))

        def by_differences(rows: slice) -> FloatArray:
            return space.metric.norm.between(features[rows], features[rows.start :])

        rows_of: Callable[[slice], FloatArray] = by_differences
        if euclidean:
            close = (columns + 4) / COARSER if dtype == np.float32 else CLOSE
            rows_of = _by_products(features, by_differences, close)
        return cls(space.n, upper_triangle(space.n, dtype, rows_of))

    @property
    def precision(self) -> Precision:
        """Floating-point type of the dissimilarities."""
        return np.float32 if self.dissimilarities.dtype == np.float32 else np.float64

    def square(self) -> FloatArray:
        """Return the full matrix, NaN where unknown."""
        if self.ends is not None:
            full = np.full((self.n, self.n), np.nan)
            rows, columns = self.ends
            full[rows, columns] = full[columns, rows] = self.dissimilarities
            np.fill_diagonal(full, 0.0)
            return full
        full = np.zeros((self.n, self.n), dtype=self.dissimilarities.dtype)
        values = self.dissimilarities
        if self.weights is not None:
            values = np.where(self.weights > 0, values, np.nan)
        for i, start in enumerate(self.starts()):
            row = values[start : start + self.n - 1 - i]
            full[i, i + 1 :] = row
            full[i + 1 :, i] = row
        return full

    def distances(self, coordinates: FloatArray, threads: int = 1) -> FloatArray:
        """Distances of the pairs in a configuration."""
        if self.ends is None:
            return all_distances(coordinates, np.float64, threads)
        return np.asarray(np.linalg.norm(np.subtract(*coordinates[self.ends]), axis=1))

    def all_ends(self) -> IntArray:
        """Objects of every pair, (2, m)."""
        return np.stack(np.triu_indices(self.n, 1)) if self.ends is None else self.ends

    def starts(self) -> IntArray:
        """Index of the first pair of each row."""
        i = np.arange(self.n, dtype=np.int64)
        return i * self.n - i * (i + 1) // 2

    def index(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Return the indices of pairs of different objects."""
        low, high = np.minimum(rows, columns), np.maximum(rows, columns)
        return np.asarray(self.starts()[low] + high - low - 1)

    def normalize(self) -> tuple["Pairs", float]:
        """Divide by a power of two, also returned, so that squares do not overflow.

        Dissimilarities of common sizes stay as they are: a copy takes as long as an iteration.
        """
        largest = float(self.dissimilarities.max(initial=0.0))
        if largest == 0 or COMMON[0] <= largest <= COMMON[1]:
            return self, 1.0
        scale = float(2.0 ** np.ceil(np.log2(largest)))
        return replace(self, dissimilarities=self.dissimilarities / self._exact(scale)), scale

    def _exact(self, scale: float) -> FloatArray:
        return np.asarray(scale, dtype=self.dissimilarities.dtype)

    def shuffle(self, rng: np.random.Generator) -> "Pairs":
        """Permute dissimilarities and weights over the known pairs; unknown pairs stay unknown."""
        order = np.arange(len(self.dissimilarities))
        known = order if self.weights is None else order[self.weights > 0]
        order[known] = rng.permutation(known)
        weights = None if self.weights is None else self.weights[order]
        return replace(self, dissimilarities=self.dissimilarities[order], weights=weights)

    @property
    def known(self) -> float:
        """Sum of the weights."""
        if self.weights is None:
            return float(len(self.dissimilarities))
        return float(self.weights.sum(dtype=np.float64))

    def sum(self, values: FloatArray) -> float:
        """Weighted sum of one number per pair, in double precision."""
        if self.weights is None:
            return float(np.sum(values, dtype=np.float64))
        return float(np.einsum("i,i->", values, self.weights, dtype=np.float64))


def all_distances(rows: FloatArray, dtype: Precision, threads: int) -> FloatArray:
    """Euclidean distances of the pairs i < j of rows."""
    distances = np.empty(len(rows) * (len(rows) - 1) // 2, dtype)
    kernels.pair_distances(np.ascontiguousarray(rows, dtype=np.float64), threads, distances)
    return distances


def sum_of_squares(values: FloatArray, weights: FloatArray | None) -> float:
    """Weighted sum of squares of one number per pair, in double precision."""
    values = values.astype(np.float64, copy=False)
    return float(values @ values if weights is None else (values * weights) @ values)


def euclidean_features(space: PointSpace) -> FloatArray | None:
    """Rows whose Euclidean distances are those of the space, or None."""
    norm = space.metric.norm
    if not isinstance(norm, PNorm) or norm.p != 2:
        return None
    return np.asarray(space.features, dtype=np.float64)


def upper_triangle(n: int, dtype: type, rows_of: Callable[[slice], FloatArray]) -> FloatArray:
    """Gather the upper triangle from blocks of rows; a block starts at its first diagonal entry."""
    values: FloatArray = np.empty(n * (n - 1) // 2, dtype=dtype)
    place = 0
    for rows in row_chunks(n, 24 * n, 1 << 24):
        pieces = [row[i:] for i, row in enumerate(rows_of(rows), 1)]
        size = sum(map(len, pieces))
        np.concatenate(pieces, out=values[place : place + size], casting="same_kind")
        place += size
        step(rows.stop, n)
    return values


def _by_products(
    points: FloatArray, by_differences: Callable[[slice], FloatArray], close: float
) -> Callable[[slice], FloatArray]:
    """Distances by |x|² + |y|² − 2xy; by differences where their square is below a share of these.

    Squared norms carry the rounding of D double-precision terms. Pairs so close that cancellation
    would exceed single precision, or two digits of double precision, are computed by differences.
    """
    # The mean by BLAS, which reads wide rows faster than column sums do.
    centered = points - np.full(len(points), 1.0 / len(points)) @ points
    squares = np.einsum("ij,ij->i", centered, centered)

    def rows_of(rows: slice) -> FloatArray:
        sizes = squares[rows, None] + squares[rows.start :]
        # Of all rows at once this is a symmetric product, which takes half as long.
        block = centered[rows] @ centered[rows.start :].T
        block *= -2.0
        block += sizes
        sizes *= close
        # No pair: differences of wide rows from themselves would take longer than all the rest.
        np.fill_diagonal(block, np.inf)
        near = block < sizes
        # Mostly there are none, and to look for their places takes longer than to see that.
        if near.any():
            first, second = np.nonzero(near)
            if len(first) > FEW * block.size:
                return by_differences(rows)
            differences = points[rows.start + first] - points[rows.start + second]
            block[first, second] = np.einsum("ij,ij->i", differences, differences)
        return np.asarray(np.sqrt(block, out=block))

    return rows_of


def mean_pairs(several: Sequence[Pairs], threads: int = 1) -> Pairs:
    """Mean dissimilarity of each pair over matrices rescaled to the same root mean square."""
    count = len(several[0].dissimilarities)
    sizes = [
        float(np.sqrt(sum_of_squares(one.dissimilarities, one.weights) / max(one.known, 1e-300)))
        for one in several
    ]
    values, total, mean = np.empty(count), np.empty(count), float(np.mean(sizes))

    def fill(some: slice) -> None:
        values[some] = total[some] = 0.0
        for one, size in zip(several, sizes, strict=True):
            weights = 1.0 if one.weights is None else one.weights[some]
            values[some] += one.dissimilarities[some] * (weights * (mean / max(size, 1e-300)))
            total[some] += weights
        np.divide(values[some], total[some], out=values[some], where=total[some] > 0)

    map_parts(fill, row_chunks(count, 8, CACHED), threads)
    whole = all(pairs.weights is None for pairs in several)
    return Pairs(several[0].n, values, None if whole else total)
