"""The choice of a solver, and the reason for it."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import reverse_cuthill_mckee

from unbend.arrays import FloatArray, is_sparse
from unbend.eigen.dense import Dense
from unbend.eigen.lanczos import Lanczos
from unbend.eigen.shift_invert import ShiftInvert
from unbend.problem import SpectralProblem
from unbend.report import note

# Up to here LAPACK takes well under a second and nothing can go wrong.
DENSE_ROWS = 600
# A factor fills roughly the profile; beyond this share of the full triangle it costs more than
# the products it saves.
WIDE_PROFILE = 0.12


@dataclass(frozen=True)
class Auto:
    """Choose by size, end and the shape of the matrix; `choose` tells what and why.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.problem import SpectralProblem
    >>> Auto().choose(SpectralProblem(np.eye(5), "top"), 2)
    (Dense(), '5 rows: small enough for LAPACK')
    """

    def choose(
        self, problem: SpectralProblem, count: int
    ) -> tuple[Dense | Lanczos | ShiftInvert, str]:
        """Return a solver for `count` eigenpairs of a problem and the reason for it."""
        n = problem.n
        if n <= DENSE_ROWS or 10 * count > n:
            return Dense(), f"{n} rows: small enough for LAPACK"
        if problem.end == "top":
            return Lanczos(), "top end: products with the matrix are enough"
        if not is_sparse(problem.matrix):
            return Dense(), "bottom end of a matrix that is not sparse"
        share = _profile(problem) if problem.nullity == 0 else 0.0
        if share > WIDE_PROFILE:
            return Lanczos(), f"a factorisation would fill about {share:.0%} of the triangle"
        return ShiftInvert(), "bottom end of a sparse matrix that factorises"

    def eigenpairs(
        self, problem: SpectralProblem, count: int, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray, bool]:
        """Return `count` eigenpairs by the chosen solver, noting the choice."""
        solver, reason = self.choose(problem, count)
        note(solver=type(solver).__name__, because=reason)
        return solver.eigenpairs(problem, count, rng)


def _profile(problem: SpectralProblem) -> float:
    """Share of the lower triangle inside the profile after reverse Cuthill–McKee ordering.

    Thin for graphs of low-dimensional data; nearly one for graphs of high-dimensional data, which
    have no small separators and would fill up completely.
    """
    matrix = problem.matrix
    order = reverse_cuthill_mckee(matrix, symmetric_mode=True)
    position = np.empty(problem.n, dtype=np.int64)
    position[order] = np.arange(problem.n)
    first = position.copy()
    filled = np.flatnonzero(np.diff(matrix.indptr))
    least = (
        np.minimum.reduceat(position[matrix.indices], matrix.indptr[filled]) if len(filled) else 0
    )
    first[filled] = np.minimum(first[filled], least)
    widths = position - first
    return float(2.0 * widths.sum() / problem.n**2)
