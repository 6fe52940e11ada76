"""Training examples in a subspace, the discriminant inside it, and distances of samples to them."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.linalg import eigh

from unbend.arrays import FloatArray, IntArray, row_chunks, row_products
from unbend.eigen import fix_signs
from unbend.extension import Linear, LinearInverse, subspace_distances
from unbend.neighbors import PointSpace
from unbend.neighbors.metrics import EUCLIDEAN
from unbend.neighbors.opening import make_space
from unbend.report import step

# Distances of samples to all examples that are held at a time.
HELD_BYTES = 1 << 26


@final
@dataclass(frozen=True, eq=False)
class Examples:
    """Training examples in the subspace: coordinates, classes, and the spread of each class.

    `turn` is the discriminant, as columns, which follows the projection to the subspace. `space`
    has the coordinates and the metric of the search, `subspace` those of the projection alone.
    """

    projection: Linear
    inverse: LinearInverse
    turn: FloatArray | None
    space: PointSpace
    subspace: PointSpace
    codes: IntArray
    spread: FloatArray

    def coordinates(self, rows: FloatArray) -> FloatArray:
        """Project rows to the subspace, or to the discriminant coordinates inside it."""
        return _coordinates(self.projection, self.turn, rows)

    def subspace_distance(self, rows: FloatArray) -> FloatArray:
        """Distance of rows to the subspace."""
        return subspace_distances(rows, self.projection(rows), self.inverse)

    def within_distance(self, rows: FloatArray) -> FloatArray:
        """Euclidean distance in the subspace to the nearest example."""
        return self.subspace.nearest_of(self.projection(rows), 1)[1][:, 0]

    def search(self, rows: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
        """Find the nearest example: its number, distance and relative distance.

        With d the distance to the nearest example, e that to the nearest one of another class and
        s the spread of the class of the former, the relative distance is (d/s)(d/e).
        """
        m = len(rows)
        nearest, distance, other = np.empty(m, dtype=np.intp), np.empty(m), np.empty(m)
        placed = self.coordinates(rows)
        for some in row_chunks(m, 24 * self.space.n, HELD_BYTES):
            distances = self.space.distances_of(placed[some])
            nearest[some] = distances.argmin(axis=1)
            distance[some] = distances.min(axis=1)
            own = self.codes[nearest[some], None] == self.codes
            other[some] = np.where(own, np.inf, distances).min(axis=1)
            step(some.stop, m)
        # One class has no other; duplicates of two classes are as near to the one as to the other.
        ratio = np.ones(m)
        np.divide(distance, other, out=ratio, where=np.isfinite(other) & (other > 0))
        return nearest, distance, distance / self.spread[self.codes[nearest]] * ratio


def place_examples(
    projection: Linear,
    rows: FloatArray,
    codes: IntArray,
    *,
    shrinkage: float | None,
    discriminant: bool,
    metric: Any,
    metric_params: dict[str, Any] | None,
) -> Examples:
    """Make examples of rows in a subspace; `codes` number the classes without gaps."""
    turn = discriminant_directions(projection(rows), codes, shrinkage) if discriminant else None
    if metric is None:
        metric = "angular" if discriminant else "euclidean"
        metric_params = {"measure": "chord"} if discriminant else None
    space = make_space(_coordinates(projection, turn, rows), metric, metric_params)
    assert isinstance(space, PointSpace)
    plain = turn is None and space.metric is EUCLIDEAN
    subspace = space if plain else PointSpace(projection(rows))
    squares = np.square(projection.axes).sum(axis=1, keepdims=True)
    # One example spans no axis: its direction is zero, and so is its reconstruction.
    squares[squares == 0] = 1.0
    inverse = LinearInverse(projection.mean, projection.axes / squares)
    return Examples(projection, inverse, turn, space, subspace, codes, class_spread(space, codes))


def _coordinates(projection: Linear, turn: FloatArray | None, rows: FloatArray) -> FloatArray:
    placed = projection(rows)
    return placed if turn is None else row_products(placed, turn)


def discriminant_directions(
    rows: FloatArray, codes: IntArray, shrinkage: float | None
) -> FloatArray:
    """Fisher's directions, as columns with unit variance within classes, best first.

    They maximise the variance of the class means over the variance within classes, of which a share
    is replaced by its mean over all directions (Friedman, 1989); None estimates the share.
    """
    n, k = rows.shape
    counts = np.bincount(codes)
    means = np.zeros((len(counts), k))
    np.add.at(means, codes, rows)
    means /= counts[:, None]
    within = rows - means[codes]
    # Classes of one example each do not vary.
    covariance = within.T @ within / max(n - len(counts), 1)
    level = np.trace(covariance) / k
    share = least_error_shrinkage(within) if shrinkage is None else shrinkage
    # A level of zero, of classes that do not vary, leaves every direction as good as any other.
    ridge = max(share, 1e-10) * (level if level > 0 else 1.0)
    covariance = (1 - share) * covariance + ridge * np.eye(k)
    centered = means - means.mean(axis=0)
    count = min(len(counts) - 1, k)
    _, vectors = eigh(centered.T @ centered, covariance, subset_by_index=[k - count, k - 1])
    return fix_signs(vectors[:, ::-1])


def least_error_shrinkage(centered: FloatArray) -> float:
    """Share of the identity that makes the expected error of a covariance least.

    Ledoit and Wolf, J. Multivariate Analysis 88 (2004).
    """
    n, k = centered.shape
    squares = np.square(centered)
    level = float(squares.sum()) / (n * k)
    size = float(np.square(centered.T @ centered).sum()) / n**2
    spread = size - k * level**2
    noise = (float(np.square(squares.sum(axis=1)).sum()) / n - size) / n
    return min(max(noise, 0.0) / spread, 1.0) if spread > 0 else 0.0


def class_spread(space: PointSpace, codes: IntArray) -> FloatArray:
    """Mean distance to the nearest other example of a class, averaged with that of all classes.

    A class of one example has that of all classes, which is one where no class has two.
    """
    n = space.n
    nearest = np.empty(n)
    for some in row_chunks(n, 24 * n, HELD_BYTES):
        distances = space.distances_of(space.rows(np.arange(n)[some]))
        excluded = codes[some, None] != codes
        excluded[np.arange(len(distances)), np.arange(n)[some]] = True
        nearest[some] = np.where(excluded, np.inf, distances).min(axis=1)
        step(some.stop, n)
    several = np.bincount(codes) > 1
    sums = np.bincount(codes, weights=np.where(several[codes], nearest, 0.0))
    own = sums / np.bincount(codes)
    overall = float(own[several].mean()) if several.any() else 0.0
    if overall == 0:
        return np.ones(len(own))
    return np.asarray((np.where(several, own, overall) + overall) / 2)
