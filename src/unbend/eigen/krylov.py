"""Restarted block Krylov iteration with Rayleigh–Ritz: the engine of both iterative solvers.

Blocks, not single vectors: a single-vector Krylov space holds only one direction of a multiple
eigenvalue, so closed curves, whose eigenvalues come in pairs, would lose every second coordinate.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray
from unbend.problem import SpectralProblem
from unbend.report import step

Apply = Callable[[FloatArray], FloatArray]

# Sine of the angle to the span of the other columns of a block from which on its Gram matrix
# tells them apart: errors are rounding divided by its square.
WELL_APART = 1e-2


@dataclass(frozen=True, eq=False)
class RitzPairs:
    """Approximate eigenpairs and how good they are."""

    values: FloatArray
    vectors: FloatArray
    residuals: FloatArray
    size: float
    """Largest magnitude of a Ritz value in the whole space: from below, the size of the matrix."""
    turned: float
    """Sine of the angle by which the wanted vectors still left the previous block."""


def block_krylov(
    problem: SpectralProblem,
    start: FloatArray,
    count: int,
    *,
    expand: Apply | None,
    depth: int,
    passes: int,
    finished: Callable[[RitzPairs], bool],
) -> tuple[RitzPairs, bool]:
    """Improve `start` until `finished`, or for `passes` restarts; also say whether it finished.

    Each pass builds the space spanned by X, TX, …, T^depth X with T = `expand` (A itself if
    None), block by block, and restarts from the best Ritz vectors of A in it. Because every pass
    begins from Ritz vectors of A, errors of an inexact T do not add up.
    """
    width, trivial = start.shape[1], problem.trivial_basis.shape[1]
    # One array for the trivial vectors and the whole space, so that every product with it is one.
    space = np.empty((problem.n, trivial + (depth + 1) * width))
    image = np.empty((problem.n, (depth + 1) * width))
    space[:, :trivial] = problem.trivial_basis
    ritz = _orthonormal(start, space[:, :trivial])
    product = problem.matrix @ ritz
    for number in range(passes):
        block, size = ritz, width
        space[:, trivial : trivial + size], image[:, :size] = ritz, product
        for _ in range(depth):
            further = image[:, size - width : size] if expand is None else expand(block)
            block = _orthonormal(further, space[:, : trivial + size])
            space[:, trivial + size : trivial + size + width] = block
            image[:, size : size + width] = problem.matrix @ block
            size += width
            pairs, product = _rayleigh_ritz(
                problem.end, space[:, trivial : trivial + size], image[:, :size], ritz, count
            )
            ritz = pairs.vectors
            if finished(pairs):
                return pairs, True
        step(number + 1, passes)
    return pairs, False


def _rayleigh_ritz(
    end: str, space: FloatArray, image: FloatArray, previous: FloatArray, count: int
) -> tuple[RitzPairs, FloatArray]:
    """Return the best pairs in a space and the products of their vectors with A."""
    small = space.T @ image
    values, rotation = np.linalg.eigh((small + small.T) / 2)
    width, size = previous.shape[1], float(np.abs(values).max())
    pick = slice(None, width) if end == "bottom" else slice(None, -width - 1, -1)
    values, rotation = values[pick], rotation[:, pick]
    vectors, product = space @ rotation, image @ rotation
    residuals = np.linalg.norm(product - vectors * values, axis=0)
    wanted = vectors[:, :count]
    left = wanted - previous @ (previous.T @ wanted)
    turned = np.sqrt(max(0.0, float(np.linalg.eigvalsh(left.T @ left)[-1])))
    return RitzPairs(values, vectors, residuals, size, turned), product


def _orthonormal(block: FloatArray, against: FloatArray) -> FloatArray:
    """Orthonormal columns, orthogonal to those of `against`; twice is enough (Kahan)."""
    for _ in range(2):
        block = _orthonormal_columns(block - against @ (against.T @ block))
    return block


def _orthonormal_columns(block: FloatArray) -> FloatArray:
    """Orthonormal basis of the columns: by their Gram matrix where they are well apart.

    That takes two products; what it lacks in accuracy a second time makes up for.
    """
    gram = block.T @ block
    length = np.sqrt(np.diag(gram))
    if np.all(length > 0):
        try:
            root = np.linalg.cholesky(gram / np.outer(length, length))
        except np.linalg.LinAlgError:
            root = np.zeros_like(gram)
        if np.diag(root).min() > WELL_APART:
            return np.asarray(block @ (np.linalg.inv(root).T / length[:, None]))
    return np.linalg.qr(block)[0]
