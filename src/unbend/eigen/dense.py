"""Dense eigensolver: LAPACK on the full matrix."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator

from unbend._kernels import kernels
from unbend.arrays import FloatArray, is_sparse
from unbend.eigen.problem import Eigenpairs, Formable, Matrix, SpectralProblem
from unbend.memory import reserve

# Share of the spectrum up to which LAPACK finds a part in less time than the whole: half of it for
# a few pairs of 100 to 1000 rows, all of it for a quarter.
PART = 1 / 8
# Rows up to which the compiled QL iteration takes less time than a call of LAPACK.
COMPILED_ROWS = 100


def to_dense(matrix: Matrix) -> FloatArray:
    """Return a dense copy in double precision."""
    n = matrix.shape[0]
    reserve(8 * n * n, f"{n} x {n} matrix entries", "use eigen_solver='lanczos' or 'shift_invert'")
    if isinstance(matrix, Formable):
        return matrix.toarray()
    if isinstance(matrix, LinearOperator):
        return np.asarray(matrix @ np.eye(n))
    if is_sparse(matrix):
        return np.asarray(matrix.toarray(), dtype=np.float64)
    return np.array(matrix, dtype=np.float64)


@dataclass(frozen=True)
class Dense:
    """LAPACK on the full matrix: exact, O(n³) time and n² memory; for n up to a few thousand.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.eigen import solve
    >>> from unbend.eigen.problem import SpectralProblem
    >>> solve(SpectralProblem(np.diag([3.0, 2.0, 1.0]), "top"), 2, Dense()).values
    array([3., 2.])
    """

    def eigenpairs(
        self, problem: SpectralProblem, count: int, rng: np.random.Generator, threads: int = 1
    ) -> Eigenpairs:
        """Return one eigenpair more than `count`, where there is one."""
        matrix = to_dense(problem.matrix)
        n, trivial = problem.n, problem.trivial_basis
        size = float(np.abs(matrix).sum(axis=1).max())
        if trivial.shape[1]:
            # Project the trivial vectors out and push them to the far end of the spectrum.
            far = (2.0 if problem.end == "bottom" else -2.0) * (size or 1.0)
            image = matrix @ trivial
            inner = trivial.T @ image + far * np.eye(trivial.shape[1])
            side = image - 0.5 * trivial @ inner
            matrix -= trivial @ side.T
            matrix -= side @ trivial.T
        asked = min(count + 1, n - trivial.shape[1])
        values, vectors = eigenpairs_at_end(matrix, asked, problem.end)
        # Of a matrix of zeros nothing is left but the rounding of what was pushed away.
        return Eigenpairs(values if size else np.zeros_like(values), vectors)


def eigenpairs_at_end(
    matrix: FloatArray, count: int, end: Literal["top", "bottom"]
) -> tuple[FloatArray, FloatArray]:
    """Return eigenpairs from one end inwards; part of a spectrum only where it saves time."""
    n = len(matrix)
    if count <= PART * n:
        ends = (0, count - 1) if end == "bottom" else (n - count, n - 1)
        values, vectors = eigh(matrix, subset_by_index=ends)
        # LAPACK's driver for parts returns fewer pairs than asked where eigenvalues are equal.
        if len(values) == count:
            # It orthogonalises only vectors of eigenvalues that are close.
            return _from_end(values, np.linalg.qr(vectors)[0], count, end)
    return _from_end(*all_eigenpairs(matrix), count, end)


def all_eigenpairs(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues of the mean of a matrix and its transpose, ascending, and orthonormal vectors.

    Divide and conquer is LAPACK's fastest driver, but of matrices with multiple eigenvalues its
    vectors were seen 5e-10 from orthogonal. Then the QR iteration does it again.
    """
    n = len(matrix)
    if n <= COMPILED_ROWS:
        values, vectors = np.empty(n), np.empty((n, n))
        if kernels.symmetric_eigenpairs(np.ascontiguousarray(matrix), values, vectors):
            return values, vectors.T
    matrix = (matrix + matrix.T) / 2
    # NumPy's driver is this one, with less to check.
    values, vectors = np.linalg.eigh(matrix)
    rounding = 8.0 * float(np.finfo(np.float64).eps) * n
    if np.abs(vectors.T @ vectors - np.eye(n)).max(initial=0.0) > rounding:
        values, vectors = eigh(matrix, driver="ev")
    return values, vectors


def _from_end(
    values: FloatArray, vectors: FloatArray, count: int, end: Literal["top", "bottom"]
) -> tuple[FloatArray, FloatArray]:
    order = slice(None, count) if end == "bottom" else slice(None, -count - 1, -1)
    return values[order], vectors[:, order]
