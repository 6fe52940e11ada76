"""Lanczos on the inverse of a sparse matrix, for bottom ends that lie apart from zero."""

from collections.abc import Callable
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from unbend.arrays import FloatArray
from unbend.eigen.krylov import (
    LITTLE,
    SHORT,
    TALL,
    Apply,
    Iteration,
    RitzPairs,
    iterate,
    products,
)
from unbend.eigen.problem import Eigenpairs, Formable, SpectralProblem
from unbend.lowrank.rank_revealing import WELL_APART

if TYPE_CHECKING:
    from unbend._kernels.reference import Factor

# Blocks added before a restart.
DEPTH = 8
# Narrow blocks that count as a pass of `ShiftInvert`, which has three wide ones.
BLOCKS_A_PASS = 2
# Restarts before it is left to the other iteration.
PASSES = 20
# Residuals of random vectors over the gap behind the wanted eigenvalues.
UNKNOWN = 100.0
# Blocks from which on the tolerance may have been reached, and vectors of a block, at most.
FEWEST_BLOCKS = 4
BLOCK = 4
# Largest ratio of wanted eigenvalues: rounding of the largest of the inverse hides smaller ones.
SPREAD = 1e5
# Least share of an eigenvalue of the inverse that counts as the gap to the next one.
LEAST_GAP = 1e-3


def inverse_lanczos(
    problem: SpectralProblem,
    factor: "Factor",
    apply: Apply,
    count: int,
    width: int,
    tol: float,
    rng: np.random.Generator,
    threads: int,
) -> tuple[Eigenpairs, int] | None:
    """Find eigenpairs at the bottom from products with the inverse alone, and count the passes.

    Those are about as many as `ShiftInvert` would need, of three blocks each.

    Products with the matrix are not needed, and a restart keeps what was found: about half the work
    of an iteration whose vectors are those of the matrix. But eigenvalues near zero are infinite
    for the inverse, and others are lost beside these: None where it cannot be trusted, or is not
    worth its memory.
    """
    trivial = problem.trivial_basis
    if problem.nullity or problem.n > TALL or width * (DEPTH + 2) + trivial.shape[1] > problem.n:
        return None

    blocks = 0
    # Many vectors by narrower blocks, and more of them: the space then holds higher powers.
    narrow = min(width, BLOCK)
    least_blocks = max(FEWEST_BLOCKS, ceil(width / narrow) + 1)

    def beside(block: FloatArray) -> FloatArray:
        nonlocal blocks
        blocks += 1
        # The inverse blows the rounding of trivial parts up.
        image = apply(block)
        return np.asarray(image - trivial @ (trivial.T @ image))

    def grow(
        basis: FloatArray,
        known: int,
        size: int,
        images: FloatArray,
        small: FloatArray,
        block: FloatArray,
        most: int,
    ) -> int:
        nonlocal blocks
        added = factor.grow_blocks(
            basis, known, size, images, small, block, most, WELL_APART, LITTLE, threads,
            count, least_blocks, tol, SPREAD, LEAST_GAP,
        )  # fmt: skip
        blocks += added
        return added

    operator = Formable(problem.n, beside, lambda: beside(np.eye(problem.n)))
    inverted = SpectralProblem(operator, "top", trivial)
    iteration = Iteration(
        _stopping_rule(count, tol),
        ceil((DEPTH + 1) * width / narrow) - 1,
        PASSES,
        0,
        checked_from=least_blocks,
        threads=threads,
        refine=True,
        best=width,
        estimated=True,
        begin=UNKNOWN / tol,
        grow=grow if problem.n < SHORT else None,
    )
    pairs, vectors, passes = iterate(inverted, problem.first_vectors(narrow, rng), count, iteration)
    if not passes or not _trusted(pairs.values, count):
        return None
    images = products(problem.matrix, threads)(vectors)
    values = np.einsum("ij,ij->j", vectors, images)
    return Eigenpairs(values, vectors), ceil(blocks / BLOCKS_A_PASS)


def _trusted(values: FloatArray, count: int) -> bool:
    """Whether the wanted eigenvalues of the inverse are positive, and of similar size."""
    return bool(0.0 < values[0] <= SPREAD * values[count - 1])


def _stopping_rule(count: int, tol: float) -> Callable[[RitzPairs], float]:
    """Accept vectors whose images lie within the angle `tol` of an invariant subspace.

    The angle of the vectors is at most the residual over the gap to the next eigenvalue, and that
    of their images smaller by the ratio of the two eigenvalues at the gap.
    """

    def excess(pairs: RitzPairs) -> float:
        values = pairs.values
        if not _trusted(values, count):
            # Given up: it is judged again.
            return 0.0
        last, beyond = float(values[count - 1]), abs(float(values[count]))
        gap = max(last - beyond, LEAST_GAP * last)
        return float(np.linalg.norm(pairs.residuals)) / (tol * gap) * min(1.0, beyond / last)

    return excess
