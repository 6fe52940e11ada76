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


@dataclass(frozen=True, eq=False)
class RitzPairs:
    """Approximate eigenpairs and how good they are."""

    values: FloatArray
    vectors: FloatArray
    images: FloatArray
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
    ritz = _orthonormal(start, [problem.trivial_basis])
    image = problem.matrix @ ritz
    for number in range(passes):
        basis, images = [ritz], [image]
        for _ in range(depth):
            further = images[-1] if expand is None else expand(basis[-1])
            basis.append(_orthonormal(further, [problem.trivial_basis, *basis]))
            images.append(problem.matrix @ basis[-1])
            pairs = _rayleigh_ritz(problem.end, np.hstack(basis), np.hstack(images), ritz, count)
            ritz, image = pairs.vectors, pairs.images
            if finished(pairs):
                return pairs, True
        step(number + 1, passes)
    return pairs, False


def _rayleigh_ritz(
    end: str, space: FloatArray, image: FloatArray, previous: FloatArray, count: int
) -> RitzPairs:
    small = space.T @ image
    values, rotation = np.linalg.eigh((small + small.T) / 2)
    width, size = previous.shape[1], float(np.abs(values).max())
    pick = slice(None, width) if end == "bottom" else slice(None, -width - 1, -1)
    values, rotation = values[pick], rotation[:, pick]
    vectors, images = space @ rotation, image @ rotation
    residuals = np.linalg.norm(images - vectors * values, axis=0)
    wanted = vectors[:, :count]
    turned = np.linalg.norm(wanted - previous @ (previous.T @ wanted), 2)
    return RitzPairs(values, vectors, images, residuals, size, float(turned))


def _orthonormal(block: FloatArray, against: list[FloatArray]) -> FloatArray:
    """Orthonormal columns, orthogonal to earlier blocks; twice is enough (Kahan)."""
    for _ in range(2):
        for earlier in against:
            block = block - earlier @ (earlier.T @ block)
        block = np.linalg.qr(block)[0]
    return block
