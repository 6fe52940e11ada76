"""Automatic choice of an eigensolver, with the reason."""

from dataclasses import dataclass
from math import inf

import numpy as np

from unbend.arrays import is_sparse
from unbend.eigen.dense import Dense
from unbend.eigen.lanczos import Lanczos
from unbend.eigen.problem import (
    DENSE_FEW_ROWS,
    DENSE_ROWS,
    DENSE_TOP_ROWS,
    Eigenpairs,
    SpectralProblem,
)
from unbend.eigen.shift_invert import NotPositiveDefinite, ShiftInvert, Symbolic, analyse
from unbend.memory import fits
from unbend.report import note

# Block products that Lanczos takes for a bottom end, and how many operations of a factorisation,
# which runs in registers and cache, take the time of one of a product, which waits for memory.
LANCZOS_PRODUCTS = 100
SPEED_OF_FACTORS = 2.4
# Share of the spectrum, one in so many, from which on blocks are so wide that LAPACK is faster.
MANY_PAIRS = 20
# Share of the triangle from which on a factor is no longer sparse.
FULL_FACTOR = 0.5


@dataclass(frozen=True)
class Auto:
    """Choose by size, end and the cost of a factorisation; `choose` returns solver and reason.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.eigen.problem import SpectralProblem
    >>> Auto().choose(SpectralProblem(np.eye(5), "top"), 2)
    (Dense(), '5 rows: small enough for LAPACK')
    """

    def choose(
        self, problem: SpectralProblem, count: int
    ) -> tuple[Dense | Lanczos | ShiftInvert, str]:
        """Return a solver for `count` eigenpairs of a problem and the reason for it."""
        return self._choose(problem, count)[:2]

    def _choose(
        self, problem: SpectralProblem, count: int, threads: int = 1
    ) -> tuple[Dense | Lanczos | ShiftInvert, str, Symbolic | None]:
        n = problem.n
        # Kernels with a null space wait for more rows: LAPACK cannot go wrong in it.
        sparse = is_sparse(problem.matrix) and not problem.nullity
        bottom = DENSE_FEW_ROWS if sparse else DENSE_ROWS
        few = DENSE_TOP_ROWS if problem.end == "top" else bottom
        many = MANY_PAIRS * count > n and n <= DENSE_ROWS
        if n <= few or 10 * count > n or many:
            return Dense(), f"{n} rows: small enough for LAPACK", None
        if problem.end == "top":
            return Lanczos(), "top end: products with the matrix are enough", None
        if not is_sparse(problem.matrix):
            return Dense(), "bottom end of a matrix that is not sparse", None
        # Eigenvalues of alignment kernels crowd at zero, where products cannot separate them.
        most = inf if problem.nullity else worth_factorising(problem, count)
        symbolic = analyse(problem.matrix, most, threads)
        wide = not problem.nullity and symbolic.analysis.entries > FULL_FACTOR * n**2 / 2
        if n <= DENSE_ROWS and (wide or not symbolic.analysis.complete):
            return Dense(), f"{n} rows: small enough for LAPACK", None
        if not symbolic.analysis.complete:
            return Lanczos(), f"a factorisation would take over {most:.1e} operations", None
        if wide:
            return (
                Lanczos(),
                "a factor would be full: the matrix is sparse only by its format",
                None,
            )
        if not problem.nullity and not fits(symbolic.bytes):
            return Lanczos(), f"a factor of {symbolic.analysis.stored} numbers does not fit", None
        reason = f"bottom end, a factor of {symbolic.analysis.entries} entries"
        return ShiftInvert(), reason, symbolic

    def eigenpairs(
        self, problem: SpectralProblem, count: int, rng: np.random.Generator, threads: int = 1
    ) -> Eigenpairs:
        """Return `count` eigenpairs by the chosen solver, and record the choice."""
        solver, reason, symbolic = self._choose(problem, count, threads)
        note(solver=type(solver).__name__, because=reason)
        if not isinstance(solver, ShiftInvert) or symbolic is None:
            return solver.eigenpairs(problem, count, rng, threads)
        try:
            return solver.iterate(problem, symbolic, count, rng, threads)
        except NotPositiveDefinite:
            note(solver="Lanczos", because="the matrix has negative eigenvalues")
            return Lanczos().eigenpairs(problem, count, rng, threads)


def worth_factorising(problem: SpectralProblem, count: int) -> float:
    """Operations of a factorisation that take as long as block Lanczos would."""
    width = count + Lanczos().guard
    product = width * (2.0 * float(problem.matrix.nnz) + 4.0 * Lanczos().depth * width * problem.n)
    return SPEED_OF_FACTORS * LANCZOS_PRODUCTS * product
