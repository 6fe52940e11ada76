"""Out-of-sample extension: each new object minimises its stress to the fitted ones."""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray, IntArray, row_chunks, row_products
from unbend.mds.transformations import Line, Steps
from unbend.neighbors import PointSpace
from unbend.report import step, warn

# Largest number of Newton steps of an object, and of halvings of each step.
ITERATIONS, HALVINGS = 60, 30
ROUNDING = 1e-13
# Last step, in units of the dissimilarities, from which an object has not converged.
UNSETTLED = 1e-4


@dataclass(frozen=True, eq=False)
class StressExtension:
    """Coordinates of new samples that minimise each sample's own stress to the fitted objects.

    New samples are points of the `space` or, without a space, dissimilarities (m, n), NaN where
    unknown. The `curve`, if any, maps them to disparities. A sample at distance zero of a fitted
    object gets its coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> points = np.random.default_rng(0).normal(size=(40, 2))
    >>> model = unbend.MetricMDS().fit(points)
    >>> placed = model.transform(points[:3])  # each sample by its own stress
    >>> bool(np.abs(placed - model.embedding_[:3]).max() < 0.01)
    True
    """

    coordinates: FloatArray
    space: PointSpace | None
    loss: str
    curve: Line | Steps | None = None

    def __call__(self, new: FloatArray) -> FloatArray:
        """Embed new samples."""
        n, d = self.coordinates.shape
        placed = np.empty((len(new), d))
        for rows in row_chunks(len(new), 8 * n * (2 * d + 6)):
            placed[rows] = self._place(
                new[rows] if self.space is None else self.space.distances_of(new[rows])
            )
            step(rows.stop, len(new))
        return placed

    def _place(self, dissimilarities: FloatArray) -> FloatArray:
        filled = np.where(np.isnan(dissimilarities), np.inf, dissimilarities)
        nearest = filled.argmin(axis=1)
        apart = filled[np.arange(len(filled)), nearest] > 0
        placed = self.coordinates[nearest].astype(np.float64)
        if apart.any():
            placed[apart] = self._minimize(dissimilarities[apart])
        return np.asarray(placed)

    def _minimize(self, dissimilarities: FloatArray) -> FloatArray:
        targets = dissimilarities if self.curve is None else self.curve(dissimilarities)
        known = ~np.isnan(targets)
        targets = np.where(known, targets, 0.0)
        # Each row has its own scale, so that powers of large distances do not overflow.
        size = max(float(np.abs(self.coordinates).max()), 1e-300)
        scale = np.maximum(targets.max(axis=1, keepdims=True), size)
        weights = known.astype(np.float64)
        rows = _Rows(self.coordinates, scale, targets / scale, weights, self.loss)
        return np.asarray(rows.minimise(rows.start()) * scale)


@dataclass(frozen=True, eq=False)
class ScaledExtension:
    """Another extension, times a constant factor."""

    extension: StressExtension
    factor: float

    def __call__(self, new: FloatArray) -> FloatArray:
        """Embed new samples."""
        return np.asarray(self.factor * self.extension(new))


@dataclass(frozen=True, eq=False)
class MeanDisparityExtension:
    """Embed new samples (k, m, n) by the mean disparity over the k matrices."""

    curves: list[Line | Steps]
    own: StressExtension

    def __call__(self, new: FloatArray) -> FloatArray:
        """Embed new samples."""
        targets = np.stack([curve(rows) for curve, rows in zip(self.curves, new, strict=True)])
        known = ~np.isnan(targets)
        mean = np.where(known, targets, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        # Objects at distance zero in every matrix coincide.
        one = known.any(axis=0) & np.all((new == 0) | np.isnan(new), axis=0)
        mean = np.where(one, 0.0, mean)
        return self.own(np.where(known.any(axis=0), mean, np.nan))


@dataclass(frozen=True, eq=False)
class _Rows:
    """Independent stresses of several new objects: targets and weights are (m, n).

    All but the fitted coordinates are in units of each row's scale (m, 1).
    """

    fitted: FloatArray
    scale: FloatArray
    targets: FloatArray
    weights: FloatArray
    loss: str

    def take(self, rows: IntArray) -> "_Rows":
        """Restrict to a subset of the objects."""
        parts = (self.scale[rows], self.targets[rows], self.weights[rows])
        return _Rows(self.fitted, *parts, self.loss)

    def start(self) -> FloatArray:
        """Return the better of linear trilateration and the mean of the nearest objects."""
        center = self.fitted.mean(axis=0)
        centered = self.fitted - center
        lengths = np.einsum("ij,ij->i", centered, centered) / self.scale**2
        known, count = self.weights > 0, self.weights.sum(axis=1, keepdims=True)
        right = np.where(known, lengths - self.targets**2, 0.0)
        right = np.where(known, right - right.sum(axis=1, keepdims=True) / count, 0.0)
        linear = 0.5 * row_products(right, np.linalg.pinv(centered).T) * self.scale
        linear += center / self.scale
        # The distance from the centre is at most the mean target plus the fitted objects' radius.
        reach = np.sqrt(lengths.max(axis=1, keepdims=True))
        farthest = self.targets.sum(axis=1, keepdims=True) / count + reach
        away = linear - center / self.scale
        length = np.linalg.norm(away, axis=1, keepdims=True)
        linear = center / self.scale + away * (farthest / np.maximum(length, farthest))
        near = np.argsort(np.where(known, self.targets, np.inf), axis=1)[:, :3]
        mixed = self.fitted[near].mean(axis=1) / self.scale
        better = self.values(linear) <= self.values(mixed)
        return np.asarray(np.where(better[:, None], linear, mixed))

    def _parts(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        away = y[:, None] - self.fitted / self.scale[:, None]
        return away, np.sqrt(np.einsum("ijk,ijk->ij", away, away))

    def _weights(self) -> FloatArray:
        if self.loss != "sammon":
            return self.weights
        positive = self.targets > 0
        return np.where(positive, self.weights / np.where(positive, self.targets, 1.0), 0.0)

    def values(self, y: FloatArray) -> FloatArray:
        """Stress of each object."""
        _, distance = self._parts(y)
        if self.loss == "sstress":
            return np.asarray((self.weights * (distance**2 - self.targets**2) ** 2).sum(axis=1))
        return np.asarray((self._weights() * (distance - self.targets) ** 2).sum(axis=1))

    def newton(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return modified Newton directions, descent also where not convex, and slopes."""
        away, distance = self._parts(y)
        d = y.shape[1]
        if self.loss == "sstress":
            pull = 2.0 * self.weights * (distance**2 - self.targets**2)
            along = 4.0 * self.weights
        else:
            safe = np.where(distance > 0, distance, 1.0)
            pull = self._weights() * (distance - self.targets) / safe
            # With unit vectors: the cube of a small distance may underflow.
            along = np.where(distance > 0, self._weights() * self.targets / safe, 0.0)
        gradient = np.einsum("ij,ijk->ik", pull, away)
        if self.loss != "sstress":
            away = away / safe[:, :, None]
        hessian = np.einsum("ij,ijk,ijl->ikl", along, away, away)
        hessian += pull.sum(axis=1)[:, None, None] * np.eye(d)
        values, vectors = np.linalg.eigh(hessian)
        size = np.abs(values)
        size = np.maximum(size, 1e-6 * size.max(axis=1, keepdims=True) + 1e-300)
        turned = np.einsum("ikl,ik->il", vectors, gradient) / size
        move = -np.einsum("ikl,il->ik", vectors, turned)
        return move, 2.0 * np.einsum("ik,ik->i", gradient, move)

    def minimise(self, y: FloatArray) -> FloatArray:
        """Newton's method for all objects at once; each converges separately."""
        y = y.copy()
        active = np.arange(len(y))
        for _ in range(ITERATIONS):
            rows = self.take(active)
            move, slope = rows.newton(y[active])
            y[active], length = rows.search(y[active], move, slope)
            small = length * np.linalg.norm(move, axis=1) <= 1e-14
            late = int(np.sum(length * np.linalg.norm(move, axis=1) > UNSETTLED))
            active = active[~small]
            if not len(active):
                break
        if len(active) and late:
            warn(
                f"The coordinates of {late} new samples did not converge in {ITERATIONS} "
                "iterations: no position fits their dissimilarities well. Check them."
            )
        return y

    def search(
        self, y: FloatArray, move: FloatArray, slope: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Halve each step until it decreases the object's stress; zero if none does."""
        value, length = self.values(y), np.ones(len(y))
        for _ in range(HALVINGS):
            after = self.values(y + length[:, None] * move)
            # Near the minimum rounding hides the decrease: the step is accepted.
            worse = after > value * (1 + ROUNDING) + 1e-4 * length * slope
            if not worse.any():
                break
            length = np.where(worse, length / 2, length)
        length = np.where(worse, 0.0, length)
        return y + length[:, None] * move, length
