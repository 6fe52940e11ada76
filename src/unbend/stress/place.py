"""Placing new objects: each minimises its own stress to the fitted ones."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray, row_chunks
from unbend.report import step

# Newton steps, and halvings of each, that an object may take.
ITERATIONS, HALVINGS = 60, 30


@dataclass(frozen=True, eq=False)
class OwnStress:
    """New rows to coordinates: the nearest minimum of each row's stress to the fitted objects.

    `distances` makes dissimilarities (m, n) of new rows, NaN where not known; `curve` makes
    distances of the fitted coordinates' scale of them. A row at distance zero of a fitted object
    joins it.
    """

    coordinates: FloatArray
    distances: Callable[[FloatArray], FloatArray]
    loss: str
    curve: Callable[[FloatArray], FloatArray]

    def __call__(self, new: FloatArray) -> FloatArray:
        """Place new rows."""
        n, d = self.coordinates.shape
        placed = np.empty((len(new), d))
        for rows in row_chunks(len(new), 8 * n * (2 * d + 6)):
            placed[rows] = self._place(self.distances(new[rows]))
            step(rows.stop, len(new))
        return placed

    def _place(self, dissimilarities: FloatArray) -> FloatArray:
        filled = np.where(np.isnan(dissimilarities), np.inf, dissimilarities)
        nearest = filled.argmin(axis=1)
        apart = filled[np.arange(len(filled)), nearest] > 0
        placed = self.coordinates[nearest].astype(np.float64)
        if apart.any():
            placed[apart] = self._minimised(dissimilarities[apart])
        return placed

    def _minimised(self, dissimilarities: FloatArray) -> FloatArray:
        targets = self.curve(dissimilarities)
        known = ~np.isnan(targets)
        targets = np.where(known, targets, 0.0)
        # Rows far away are brought to the scale of the fitted ones' squares by hand.
        scale = max(float(np.abs(self.coordinates).max()), float(targets.max()), 1e-300)
        rows = _Rows(self.coordinates / scale, targets / scale, known.astype(np.float64), self.loss)
        return rows.minimise(rows.start()) * scale


def same(dissimilarities: FloatArray) -> FloatArray:
    """Return dissimilarities that are distances as they are."""
    return dissimilarities


@dataclass(frozen=True, eq=False)
class Stretched:
    """Another extension, times a factor."""

    extension: Callable[[FloatArray], FloatArray]
    factor: float

    def __call__(self, new: FloatArray) -> FloatArray:
        """Place new rows."""
        return self.factor * self.extension(new)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Stresses of several new objects, each on its own: targets and weights are (m, n)."""

    fitted: FloatArray
    targets: FloatArray
    weights: FloatArray
    loss: str

    def take(self, rows: FloatArray) -> "_Rows":
        return _Rows(self.fitted, self.targets[rows], self.weights[rows], self.loss)

    def start(self) -> FloatArray:
        """Take the better of two: by squared distances, which is linear, and by the nearest."""
        mean = np.average(self.targets**2, axis=1, weights=self.weights)
        centre = self.fitted.mean(axis=0)
        centred = self.fitted - centre
        lengths = np.einsum("ij,ij->i", centred, centred)
        right = np.where(
            self.weights > 0, lengths - self.targets**2 - lengths.mean() + mean[:, None], 0.0
        )
        linear = centre + 0.5 * right @ np.linalg.pinv(centred).T
        near = np.argsort(np.where(self.weights > 0, self.targets, np.inf), axis=1)[:, :3]
        mixed = self.fitted[near].mean(axis=1)
        better = self.values(linear) <= self.values(mixed)
        return np.where(better[:, None], linear, mixed)

    def _parts(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        away = y[:, None] - self.fitted
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
        """Steps that go down even where the stress is not convex, and the slopes along them."""
        away, distance = self._parts(y)
        d = y.shape[1]
        if self.loss == "sstress":
            pull = 2.0 * self.weights * (distance**2 - self.targets**2)
            along = 4.0 * self.weights
        else:
            safe = np.where(distance > 0, distance, 1.0)
            pull = self._weights() * (distance - self.targets) / safe
            along = np.where(distance > 0, self._weights() * self.targets / safe**3, 0.0)
        gradient = np.einsum("ij,ijk->ik", pull, away)
        hessian = np.einsum("ij,ijk,ijl->ikl", along, away, away)
        hessian += pull.sum(axis=1)[:, None, None] * np.eye(d)
        values, vectors = np.linalg.eigh(hessian)
        size = np.abs(values)
        size = np.maximum(size, 1e-6 * size.max(axis=1, keepdims=True) + 1e-300)
        turned = np.einsum("ikl,ik->il", vectors, gradient) / size
        move = -np.einsum("ikl,il->ik", vectors, turned)
        return move, 2.0 * np.einsum("ik,ik->i", gradient, move)

    def minimise(self, y: FloatArray) -> FloatArray:
        """Newton's method for all objects at once; each stops on its own."""
        y = y.copy()
        active = np.arange(len(y))
        for _ in range(ITERATIONS):
            rows = self.take(active)
            move, slope = rows.newton(y[active])
            y[active], length = rows.search(y[active], move, slope)
            small = length * np.linalg.norm(move, axis=1) <= 1e-14
            active = active[~small]
            if not len(active):
                break
        return y

    def search(
        self, y: FloatArray, move: FloatArray, slope: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Halve each step until it lowers the object's stress; zero if none does."""
        value, length = self.values(y), np.ones(len(y))
        for _ in range(HALVINGS):
            after = self.values(y + length[:, None] * move)
            worse = (after > value + 1e-4 * length * slope) & (length > 0)
            if not worse.any():
                break
            length = np.where(worse, length / 2, length)
        length = np.where(worse, 0.0, length)
        return y + length[:, None] * move, length
