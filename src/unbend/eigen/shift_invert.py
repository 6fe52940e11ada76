"""The bottom end of a sparse positive semidefinite matrix, by factorising it once."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator

from unbend.arrays import FloatArray
from unbend.eigen.dense import Dense
from unbend.eigen.factor import Symbolic, analyse
from unbend.eigen.krylov import Apply, Iteration, RitzPairs, block_krylov
from unbend.eigen.problem import SpectralProblem
from unbend.report import note

# Relative to the norm of the matrix: residuals of exact vectors; values, and residuals, of vectors
# that any others of a null space may replace; errors of values of vectors that turn by `tol`.
EXACT = 1e-15
NULL = 1e-14
NULL_RESIDUAL = 1e-10
SLACK = 1e-13


@dataclass(frozen=True)
class ShiftInvert:
    """Inverse iteration on blocks with a sparse factorisation of A + shift·I.

    Alignment kernels crowd thousands of eigenvalues near zero: products with A cannot tell them
    apart, products with its inverse can.

    Parameters
    ----------
    tol : float
        Angle that the wanted vectors may still turn in one pass when they are accepted.
    shift : float, optional
        Shift relative to the mean diagonal entry; it only keeps the factorisation regular. None
        takes 1e-12 for alignment kernels, whose wanted eigenvalues may lie as low, else 1e-10.
    depth : int
        Inverse products in each pass.
    guard : int
        Vectors carried beyond those asked for.
    passes : int
        Passes before giving up, which is then reported.
    """

    tol: float = 1e-7
    shift: float | None = None
    depth: int = 2
    guard: int = 4
    passes: int = 60

    def eigenpairs(
        self,
        problem: SpectralProblem,
        count: int,
        rng: np.random.Generator,
        threads: int = 1,
        symbolic: Symbolic | None = None,
    ) -> tuple[FloatArray, FloatArray, bool]:
        """Return at least `count` eigenpairs, and whether the first `count` converged.

        `symbolic` is the analysis of the matrix, where it has been made before.
        """
        if problem.end != "bottom":
            raise ValueError(
                "ShiftInvert finds the bottom of the spectrum and this method needs the top: "
                "use eigen_solver='lanczos' or 'dense'"
            )
        if isinstance(problem.matrix, LinearOperator):
            raise ValueError(
                "ShiftInvert factorises a matrix and this problem gives only products: use "
                "eigen_solver='lanczos' or 'dense'"
            )
        width = count + self.guard
        if width * (self.depth + 2) + problem.trivial_basis.shape[1] > problem.n:
            return Dense().eigenpairs(problem, count, rng)
        apply = inverse(problem, symbolic or analyse(problem.matrix), threads, self.shift)
        size = problem.norm

        def finished(pairs: RitzPairs) -> bool:
            if pairs.turned <= self.tol:
                return True
            # In a null space wider than the block the best vectors change with the rounding.
            null = np.all(np.abs(pairs.values) <= NULL * size)
            return bool(np.all(pairs.residuals <= (NULL_RESIDUAL if null else EXACT) * size))

        iteration = Iteration(
            finished, self.depth, self.passes, passes_a_check=4, expand=apply, threads=threads
        )
        return block_krylov(problem, count, width, iteration, rng, slack=SLACK * size)


def inverse(
    problem: SpectralProblem, symbolic: Symbolic, threads: int, shift: float | None = None
) -> Apply:
    """Products with the inverse of the shifted matrix; the shift is relative to the diagonal."""
    mean = float(np.mean(np.abs(problem.matrix.diagonal())))
    shift = shift or (1e-12 if problem.nullity else 1e-10)
    factor = symbolic.factor(shift * (mean if mean > 0 else 1.0), threads)
    note(factor_entries=factor.entries, raised_pivots=factor.replaced)

    def apply(block: FloatArray) -> FloatArray:
        block = np.ascontiguousarray(block, dtype=np.float64)
        solution = np.empty_like(block)
        factor.solve(block, threads, solution)
        return solution

    return apply
