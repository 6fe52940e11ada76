"""Shift-invert eigensolver: the smallest eigenvalues of a sparse matrix, by one factorisation."""

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray
from unbend.eigen.dense import Dense
from unbend.eigen.inverse_lanczos import inverse_lanczos
from unbend.eigen.krylov import Apply, Iteration, RitzPairs, block_krylov, find_missed
from unbend.eigen.problem import Eigenpairs, Matrix, SpectralProblem
from unbend.memory import reserve
from unbend.report import note, step

if TYPE_CHECKING:
    from unbend._kernels.reference import Analysis, Factor

# Relative to the norm of the matrix: residuals of exact vectors; values, and residuals, of vectors
# that any others of a null space may replace; errors of values of vectors that turn by `tol`.
EXACT = 1e-15
NULL = 1e-14
NULL_RESIDUAL = 1e-10
SLACK = 1e-13


class NotPositiveDefinite(ValueError):
    """A matrix has a negative eigenvalue, and with it no Cholesky factor."""


@dataclass(frozen=True, eq=False)
class Symbolic:
    """A sparse symmetric matrix, ordered and ready to be factorised."""

    row: IntArray
    column: IntArray
    values: FloatArray
    analysis: "Analysis"

    @property
    def bytes(self) -> int:
        """Memory of the factor."""
        return 8 * self.analysis.stored

    def factor(self, shift: float, threads: int = 1) -> "Factor":
        """Factorise A + shift·I."""
        reserve(
            self.bytes, f"{self.analysis.stored} entries of a factor", "use eigen_solver='lanczos'"
        )
        try:
            return kernels.factor(self.analysis, self.row, self.column, self.values, shift, threads)
        except ValueError as error:
            raise NotPositiveDefinite(f"{error}: use eigen_solver='lanczos' or 'dense'") from error


def analyse(matrix: Matrix, most_flops: float = inf, threads: int = 1) -> Symbolic:
    """Order a matrix and predict its factor; give up where it takes more than `most_flops`.

    The order does not depend on the number of threads.

    Examples
    --------
    >>> import numpy as np
    >>> symbolic = analyse(np.array([[2.0, -1, 0], [-1, 2, -1], [0, -1, 2]]))
    >>> symbolic.analysis.entries
    5
    >>> solved = np.empty((3, 1))
    >>> symbolic.factor(shift=0.0).solve(np.array([[1.0], [0.0], [1.0]]), 1, solved)
    >>> solved.round(6).ravel()
    array([1., 1., 1.])
    """
    ready = isinstance(matrix, csr_array) and matrix.dtype == np.float64
    rows: Matrix = matrix if ready else csr_array(matrix, dtype=np.float64)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    try:
        return _analyse(rows, most_flops, threads)
    except ValueError:
        # A product may hold a zero on one side of the diagonal that rounding spared on the other.
        return _analyse(csr_array((rows + rows.T) / 2), most_flops, threads)


def _analyse(rows: Matrix, most_flops: float, threads: int) -> Symbolic:
    row, column = rows.indptr.astype(np.int64), rows.indices.astype(np.int32, copy=False)
    return Symbolic(row, column, rows.data, kernels.analyse(row, column, most_flops, threads))


@dataclass(frozen=True)
class ShiftInvert:
    """Inverse iteration on blocks with a sparse factorisation of A + shift·I.

    Alignment kernels crowd thousands of eigenvalues near zero: products with A cannot separate
    them, products with its inverse can.

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

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(500, random_state=0).points
    >>> ltsa = unbend.LTSA(n_neighbors=8, eigen_solver=unbend.eigen.ShiftInvert()).fit(roll)
    >>> ltsa.report_.stage("spectrum").facts["converged"]
    True
    """

    tol: float = 1e-7
    shift: float | None = None
    depth: int = 2
    guard: int = 4
    passes: int = 60

    def eigenpairs(
        self, problem: SpectralProblem, count: int, rng: np.random.Generator, threads: int = 1
    ) -> Eigenpairs:
        """Return at least `count` eigenpairs."""
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
        return self.iterate(problem, analyse(problem.matrix, threads=threads), count, rng, threads)

    def iterate(
        self,
        problem: SpectralProblem,
        symbolic: Symbolic,
        count: int,
        rng: np.random.Generator,
        threads: int = 1,
    ) -> Eigenpairs:
        """Return at least `count` eigenpairs of a matrix that has been analysed."""
        width = count + self.guard
        if width * (self.depth + 2) + problem.trivial_basis.shape[1] > problem.n:
            return Dense().eigenpairs(problem, count, rng, threads)
        # The analysis and the factorisation are long: between them the fit can be cancelled.
        step(0, self.passes)
        factor = factorise(problem, symbolic, threads, self.shift)
        apply = solver_of(factor, threads)
        step(0, self.passes)
        size = problem.norm

        def excess(pairs: RitzPairs) -> float:
            if pairs.subspace_sine <= self.tol:
                return 0.0
            # In a null space wider than the block the best vectors change with the rounding.
            null = np.all(np.abs(pairs.values) <= NULL * size)
            exact = np.all(pairs.residuals <= (NULL_RESIDUAL if null else EXACT) * size)
            return 0.0 if exact else inf

        iteration = Iteration(
            excess, self.depth, self.passes, passes_a_check=4, expand=apply, threads=threads
        )
        slack, start = SLACK * size, None
        found = inverse_lanczos(problem, factor, apply, count, width, self.tol, rng, threads)
        if found is not None:
            pairs, passes = found
            wanted = pairs.vectors[:, :count]
            missed = find_missed(problem, pairs.values, wanted, iteration, passes, rng, slack)
            if missed is None:
                return pairs
            start = np.hstack([missed, pairs.vectors])[:, :width]
        return block_krylov(problem, count, width, iteration, rng, slack, start)


def inverse(
    problem: SpectralProblem, symbolic: Symbolic, threads: int, shift: float | None = None
) -> Apply:
    """Products with the inverse of the shifted matrix; the shift is relative to the diagonal."""
    return solver_of(factorise(problem, symbolic, threads, shift), threads)


def factorise(
    problem: SpectralProblem, symbolic: Symbolic, threads: int, shift: float | None = None
) -> "Factor":
    """Factorise the shifted matrix; the shift is relative to the diagonal."""
    mean = float(np.abs(problem.matrix.diagonal()).sum()) / problem.n
    shift = shift or (1e-12 if problem.nullity else 1e-10)
    factor = symbolic.factor(shift * (mean if mean > 0 else 1.0), threads)
    note(factor_entries=factor.entries, raised_pivots=factor.replaced)
    return factor


def solver_of(factor: "Factor", threads: int) -> Apply:
    """Products with the inverse of a factorised matrix."""

    def apply(block: FloatArray) -> FloatArray:
        block = np.ascontiguousarray(block, dtype=np.float64)
        solution = np.empty_like(block)
        factor.solve(block, threads, solution)
        return solution

    return apply
