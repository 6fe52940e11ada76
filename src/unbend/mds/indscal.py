"""Individual differences scaling: one configuration, with axis weights for every matrix.

INDSCAL (Carroll and Chang, 1970): the scalar products B_k = −½ H D_k² H of matrix k are
X diag(w_k) X', with one X for all and weights w_k ≥ 0.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky
from scipy.optimize import nnls

from unbend.arrays import FloatArray
from unbend.eigen import fix_signs
from unbend.report import step

# Random mixtures of the matrices that are tried for the initial axes.
MIXTURES = 20


@dataclass(frozen=True, eq=False)
class IndscalSolution:
    """Group configuration (n, d) of unit variance along each axis, and weights (k, d) ≥ 0."""

    configuration: FloatArray
    weights: FloatArray
    accounted: FloatArray
    history: FloatArray
    converged: bool


def indscal(
    products: FloatArray, d: int, tol: float, max_iter: int, rng: np.random.Generator
) -> IndscalSolution:
    """Fit X and w to scalar products (k, n, n), each matrix normalised.

    Alternating least squares of the trilinear model Σ ‖B_k − X diag(w_k) Y'‖², in which X and Y
    agree at convergence since the B_k are symmetric; then Y = X and the weights are solved again.
    """
    norms = np.maximum(np.linalg.norm(products, axis=(1, 2)), 1e-300)
    unit = products / norms[:, None, None]
    left = _start(unit, d, rng)
    right, weights = left, _weights(unit, left, left)
    history: list[float] = []
    converged = False
    for iteration in range(max_iter):
        step(iteration, max_iter)
        left = _side(unit, right, weights)
        right = _side(unit, left, weights)
        weights = _weights(unit, left, right)
        history.append(_loss(unit, left, right, weights))
        if iteration and history[-2] - history[-1] <= tol * max(history[-1], tol):
            converged = True
            break
    x = _merge_sides(left, right)
    weights = _weights(unit, x, x)
    order = np.argsort(-(norms @ weights), kind="stable")
    x, weights = fix_signs(x[:, order]), weights[:, order]
    accounted = 1.0 - _losses(unit, x, x, weights)
    return IndscalSolution(x, weights * norms[:, None], accounted, np.array(history), converged)


def _start(unit: FloatArray, d: int, rng: np.random.Generator) -> FloatArray:
    """Axes in the principal subspace of the mean matrix that fit best among random mixtures."""
    values, vectors = np.linalg.eigh(unit.mean(axis=0))
    whole = vectors[:, ::-1][:, :d] * np.sqrt(np.maximum(values[::-1][:d], 1e-300))
    inverse = np.linalg.pinv(whole)
    small = inverse @ unit @ inverse.T
    best, least = whole, np.inf
    for _ in range(MIXTURES):
        # For exact data the axes are eigenvectors of every mixture of the whitened matrices.
        mixture = np.tensordot(rng.normal(size=len(small)), small, axes=1)
        turned = whole @ np.linalg.eigh(mixture)[1]
        loss = _loss(unit, turned, turned, _weights(unit, turned, turned))
        if loss < least:
            best, least = turned, loss
    return np.asarray(best)


def _side(unit: FloatArray, other: FloatArray, weights: FloatArray) -> FloatArray:
    """Best X for given Y and weights."""
    sums = np.einsum("kia,ka->ia", unit @ other, weights)
    normal = (other.T @ other) * (weights.T @ weights)
    return np.asarray(sums @ np.linalg.pinv(normal, hermitian=True))


def _weights(unit: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """Best non-negative weights for given X and Y, matrix by matrix."""
    normal = (left.T @ left) * (right.T @ right)
    sums = np.einsum("ia,kia->ka", left, unit @ right)
    jitter = 1e-14 * max(np.trace(normal), 1e-300)
    factor = cholesky(normal + jitter * np.eye(len(normal)), lower=False)
    # |B − ...|² is |Rw − R^-T s|² up to a constant.
    targets = np.linalg.solve(factor.T, sums.T).T
    return np.array([nnls(factor, target)[0] for target in targets])


def _losses(
    unit: FloatArray, left: FloatArray, right: FloatArray, weights: FloatArray
) -> FloatArray:
    modelled = np.einsum("ia,ka,ja->kij", left, weights, right, optimize=True)
    return np.asarray(np.square(unit - modelled).sum(axis=(1, 2)))


def _loss(unit: FloatArray, left: FloatArray, right: FloatArray, weights: FloatArray) -> float:
    return float(_losses(unit, left, right, weights).mean())


def _merge_sides(left: FloatArray, right: FloatArray) -> FloatArray:
    """Mean configuration of both sides, of unit variance along each axis."""
    signs = np.sign(np.einsum("ia,ia->a", left, right))
    mean = left / _lengths(left) + np.where(signs < 0, -1.0, 1.0) * right / _lengths(right)
    mean = mean - mean.mean(axis=0)
    return np.asarray(mean / _lengths(mean) * np.sqrt(len(mean)))


def _lengths(columns: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(np.linalg.norm(columns, axis=0), 1e-300))
