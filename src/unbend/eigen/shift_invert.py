"""The bottom end of a sparse positive semidefinite matrix, by factorising it once."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, eye_array
from scipy.sparse.linalg import LinearOperator, SuperLU, splu

from unbend.arrays import FloatArray
from unbend.eigen.dense import Dense
from unbend.eigen.krylov import RitzPairs, block_krylov
from unbend.problem import SpectralProblem
from unbend.report import note, note_bytes


@dataclass(frozen=True)
class ShiftInvert:
    """Inverse iteration on blocks with a sparse factorisation of A + shift·I.

    Alignment kernels crowd thousands of eigenvalues near zero: products with A cannot tell them
    apart, products with its inverse can.

    Parameters
    ----------
    tol : float
        Angle that the wanted vectors may still turn in one pass when they are accepted.
    shift : float
        Shift relative to the mean diagonal entry; it only keeps the factorisation regular.
    depth : int
        Inverse products in each pass.
    guard : int
        Vectors carried beyond those asked for.
    passes : int
        Passes before giving up, which is then reported.
    """

    tol: float = 1e-7
    shift: float = 1e-10
    depth: int = 2
    guard: int = 4
    passes: int = 60

    def eigenpairs(
        self, problem: SpectralProblem, count: int, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray, bool]:
        """Return at least `count` eigenpairs, and whether the first `count` converged."""
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
        factor = self._factor(problem)
        floor = 1e-15 * problem.norm

        def finished(pairs: RitzPairs) -> bool:
            exact = np.all(pairs.residuals[:count] <= floor)
            return bool(exact) or pairs.turned <= self.tol

        start = problem.first_vectors(width, rng)
        pairs, converged = block_krylov(
            problem,
            start,
            count,
            expand=factor.solve,
            depth=self.depth,
            passes=self.passes,
            finished=finished,
        )
        return pairs.values, pairs.vectors, converged

    def _factor(self, problem: SpectralProblem) -> SuperLU:
        matrix = csc_array(problem.matrix, dtype=np.float64)
        mean = float(np.mean(np.abs(matrix.diagonal())))
        shift = self.shift * (mean if mean > 0 else 1.0)
        shifted = csc_array(matrix + shift * eye_array(problem.n))
        # Symmetric mode without pivoting: the matrix is positive definite, and this keeps the
        # fill of a Cholesky factorisation.
        factor = splu(
            shifted,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        note(factor_entries=factor.nnz)
        note_bytes(12 * factor.nnz)
        return factor
