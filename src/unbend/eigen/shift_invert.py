"""The bottom end of a sparse positive semidefinite matrix, by factorising it once."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator

from unbend.arrays import FloatArray
from unbend.eigen.dense import Dense
from unbend.eigen.factor import Symbolic, analyse
from unbend.eigen.krylov import Apply, RitzPairs, block_krylov
from unbend.problem import SpectralProblem
from unbend.report import note


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
        if width * (self.depth + 2) > problem.n:
            return Dense().eigenpairs(problem, count, rng)
        apply = inverse(problem, symbolic or analyse(problem.matrix), threads, self.shift)
        floor = 1e-15 * problem.norm

        def finished(pairs: RitzPairs) -> bool:
            exact = np.all(pairs.residuals <= floor)
            return bool(exact) or pairs.turned <= self.tol

        start = problem.first_vectors(width, rng)
        return block_krylov(
            problem,
            start,
            count,
            expand=apply,
            depth=self.depth,
            passes=self.passes,
            finished=finished,
            threads=threads,
        )


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
