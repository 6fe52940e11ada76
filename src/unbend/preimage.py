"""Pre-images of kernel PCA: rows reconstructed from coordinates."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.spatial.distance import cdist

from unbend.arrays import FloatArray, row_products
from unbend.cached import cached_property
from unbend.memory import reserve
from unbend.report import warn

# Last step, relative to the extent of the data, from which a pre-image has not converged.
UNSETTLED = 1e-4


@dataclass(frozen=True, eq=False)
class Ridge:
    """Kernel ridge regression from coordinates to rows (Bakır, Weston and Schölkopf, 2004).

    Gaussian kernel in the coordinates, as wide as their spread.
    """

    embedding: FloatArray
    coefficients: FloatArray
    mean: FloatArray
    gamma: float

    @classmethod
    def fit(cls, embedding: FloatArray, points: FloatArray, alpha: float) -> "Ridge":
        """Learn the regression."""
        n = len(points)
        reserve(16 * n * n, f"{n} x {n} values of a regression", "use eigen_solver=Nystrom(500)")
        spread = 2.0 * float(embedding.var(axis=0).sum())
        gamma = 1.0 / spread if spread > 0 else 1.0
        mean = points.mean(axis=0)
        kernel = np.exp(-gamma * cdist(embedding, embedding, "sqeuclidean"))
        kernel.flat[:: n + 1] += alpha
        try:
            factor = cho_factor(kernel)
        except LinAlgError:
            raise ValueError(
                f"alpha={alpha:g} is too small for a regression from coordinates that nearly "
                "coincide: use a larger alpha"
            ) from None
        return cls(embedding, cho_solve(factor, points - mean), mean, gamma)

    def __call__(self, coordinates: FloatArray) -> FloatArray:
        """Reconstruct rows."""
        kernel = np.exp(-self.gamma * cdist(coordinates, self.embedding, "sqeuclidean"))
        return np.asarray(row_products(kernel, self.coefficients) + self.mean)


@dataclass(frozen=True, eq=False)
class LazyRidge:
    """`Ridge`, fitted on first use: it takes longer than the whole embedding."""

    embedding: FloatArray
    points: FloatArray
    alpha: float

    @cached_property
    def _ridge(self) -> Ridge:
        return Ridge.fit(self.embedding, self.points, self.alpha)

    def __getstate__(self) -> dict[str, object]:
        """Leave out the fit, which is computed again on first use."""
        return {"embedding": self.embedding, "points": self.points, "alpha": self.alpha}

    def __call__(self, coordinates: FloatArray) -> FloatArray:
        """Reconstruct rows."""
        return self._ridge(coordinates)


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """Rows whose images under a Gaussian kernel are nearest (Mika et al., 1999).

    z ← Σ γᵢ k(z, xᵢ) xᵢ / Σ γᵢ k(z, xᵢ), where the projection is Σ γᵢ φ(xᵢ); started from the
    regression, and a row that would leave the data keeps its start.
    """

    start: Ridge | LazyRidge
    points: FloatArray
    weights: FloatArray
    gamma: float
    steps: int = 200

    def __call__(self, coordinates: FloatArray) -> FloatArray:
        """Reconstruct rows."""
        rows = self.start(coordinates)
        expansion = row_products(coordinates, self.weights.T) + 1.0 / len(self.points)
        moving = np.arange(len(rows))
        for _ in range(self.steps):
            moved = self._move(rows[moving], expansion[moving])
            # Each row stops on its own: its pre-image does not depend on the others.
            far = ~np.isclose(moved, rows[moving], rtol=1e-10, atol=0.0).all(axis=1)
            moving = moving[far]
            if not len(moving):
                break
            off = np.abs(moved[far] - rows[moving]).max(axis=1)
            rows[moving] = moved[far]
        if len(moving):
            late = int(np.sum(off > UNSETTLED * np.ptp(self.points, axis=0).max()))
            if late:
                warn(
                    f"{late} pre-images did not converge in {self.steps} iterations. Use "
                    "preimage='ridge', or a smaller gamma."
                )
        return rows

    def _move(self, rows: FloatArray, expansion: FloatArray) -> FloatArray:
        kernel = expansion * np.exp(-self.gamma * cdist(rows, self.points, "sqeuclidean"))
        total = kernel.sum(axis=1, keepdims=True)
        usable = total > 1e-12 * np.abs(kernel).sum(axis=1, keepdims=True)
        means = row_products(kernel, self.points) / np.where(usable, total, 1.0)
        return np.where(usable, means, rows)
