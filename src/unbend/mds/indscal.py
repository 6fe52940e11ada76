"""Individual differences scaling: one configuration, with axis weights for every matrix.

INDSCAL (Carroll and Chang, 1970): the scalar products B_k = −½ H D_k² H of matrix k are
X diag(w_k) X', with one X for all and weights w_k ≥ 0.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cholesky
from scipy.optimize import nnls

from unbend.arrays import FloatArray, row_chunks
from unbend.eigen import SpectralProblem, fix_signs, solve
from unbend.report import step

# Random mixtures of the matrices that are tried for the initial axes.
MIXTURES = 20
# Bytes of a block of rows.
BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class IndscalSolution:
    """Group configuration (n, d) of unit variance along each axis, and weights (k, d) ≥ 0."""

    configuration: FloatArray
    weights: FloatArray
    accounted: FloatArray
    history: FloatArray
    converged: bool


@dataclass(frozen=True, eq=False)
class ScalarProducts:
    """Symmetric matrices B (k, n, n), in blocks of rows that stay in cache.

    Not by threads: one already reads them as fast as memory gives them.
    """

    matrices: FloatArray

    def _over_blocks(self, function: Callable[[int, slice], Any]) -> list[list[Any]]:
        """Results of function(k, rows) for the blocks of each matrix."""
        count, n = self.matrices.shape[:2]
        blocks = row_chunks(n, 8 * n, BLOCK)
        return [[function(k, rows) for rows in blocks] for k in range(count)]

    def times(self, vectors: FloatArray) -> FloatArray:
        """B_k Y (k, n, d)."""
        found = self._over_blocks(lambda k, rows: self.matrices[k, rows] @ vectors)
        return np.array([np.concatenate(blocks) for blocks in found])

    def losses(self, left: FloatArray, right: FloatArray, weights: FloatArray) -> FloatArray:
        """Σ (B_k − X diag(w_k) Y')² of each matrix."""

        def square(k: int, rows: slice) -> float:
            off = (left[rows] * weights[k]) @ right.T
            off -= self.matrices[k, rows]
            return float(np.vdot(off, off))

        return np.array([sum(blocks) for blocks in self._over_blocks(square)])

    def mean(self) -> FloatArray:
        """Mean matrix."""
        return np.asarray(self.matrices.mean(axis=0))

    def normalize(self) -> tuple["ScalarProducts", FloatArray]:
        """Divide each matrix by its norm, also returned."""
        found = self._over_blocks(lambda k, rows: np.vdot(*2 * [self.matrices[k, rows]]))
        norms = np.maximum(np.sqrt([sum(blocks) for blocks in found]), 1e-300)
        unit = np.empty_like(self.matrices)
        self._over_blocks(
            lambda k, rows: np.divide(self.matrices[k, rows], norms[k], out=unit[k, rows])
        )
        return ScalarProducts(unit), norms


def indscal(
    products: ScalarProducts, d: int, tol: float, max_iter: int, rng: np.random.Generator
) -> IndscalSolution:
    """Fit X and w to scalar products, each matrix normalised.

    Alternating least squares of the trilinear model Σ ‖B_k − X diag(w_k) Y'‖², in which X and Y
    agree at convergence since the B_k are symmetric; then Y = X and the weights are solved again.
    """
    unit, norms = products.normalize()
    left = _start(unit, d, rng)
    right, weights = left, _weights(unit.times(left), left, left)
    history: list[float] = []
    converged = False
    for iteration in range(max_iter):
        step(iteration, max_iter)
        left = _side(unit.times(right), right, weights)
        images = unit.times(left)
        right = _side(images, left, weights)
        weights = _weights(images, left, right)
        history.append(float(unit.losses(left, right, weights).mean()))
        if iteration and history[-2] - history[-1] <= tol * max(history[-1], tol):
            converged = True
            break
    x = _merge_sides(left, right)
    weights = _weights(unit.times(x), x, x)
    order = np.argsort(-(norms @ weights), kind="stable")
    x, weights = fix_signs(x[:, order]), weights[:, order]
    accounted = 1.0 - unit.losses(x, x, weights)
    return IndscalSolution(x, weights * norms[:, None], accounted, np.array(history), converged)


def _start(unit: ScalarProducts, d: int, rng: np.random.Generator) -> FloatArray:
    """Axes in the principal subspace of the mean matrix that fit best among random mixtures.

    Within the subspace V the loss of axes V A is that of A for the small matrices V' B_k V, up to a
    constant.
    """
    found = solve(SpectralProblem(unit.mean(), "top"), d)
    lengths = np.sqrt(np.maximum(found.values, 1e-300))
    core = ScalarProducts(found.vectors.T @ unit.times(found.vectors))
    whitened = core.matrices / np.multiply.outer(lengths, lengths)
    best, least = np.diag(lengths), np.inf
    for _ in range(MIXTURES):
        # For exact data the axes are eigenvectors of every mixture of the whitened matrices.
        mixture = np.tensordot(rng.normal(size=len(whitened)), whitened, axes=1)
        turned = lengths[:, None] * np.linalg.eigh(mixture)[1]
        weights = _weights(core.times(turned), turned, turned)
        loss = float(core.losses(turned, turned, weights).sum())
        if loss < least:
            best, least = turned, loss
    return np.asarray(found.vectors @ best)


def _side(images: FloatArray, other: FloatArray, weights: FloatArray) -> FloatArray:
    """Best X for given Y and weights, from the products B_k Y."""
    sums = np.einsum("kia,ka->ia", images, weights)
    normal = (other.T @ other) * (weights.T @ weights)
    return np.asarray(sums @ np.linalg.pinv(normal, hermitian=True))


def _weights(images: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """Best non-negative weights for given X and Y, matrix by matrix, from the products B_k X."""
    normal = (left.T @ left) * (right.T @ right)
    sums = np.einsum("ia,kia->ka", right, images)
    jitter = 1e-14 * max(np.trace(normal), 1e-300)
    factor = cholesky(normal + jitter * np.eye(len(normal)), lower=False)
    # |B − ...|² is |Rw − R^-T s|² up to a constant.
    targets = np.linalg.solve(factor.T, sums.T).T
    return np.array([nnls(factor, target)[0] for target in targets])


def _merge_sides(left: FloatArray, right: FloatArray) -> FloatArray:
    """Mean configuration of both sides, of unit variance along each axis."""
    signs = np.sign(np.einsum("ia,ia->a", left, right))
    mean = left / _lengths(left) + np.where(signs < 0, -1.0, 1.0) * right / _lengths(right)
    mean = mean - mean.mean(axis=0)
    return np.asarray(mean / _lengths(mean) * np.sqrt(len(mean)))


def _lengths(columns: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(np.linalg.norm(columns, axis=0), 1e-300))
