"""All of a small matrix at once."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator

from unbend.arrays import FloatArray, is_sparse
from unbend.memory import reserve
from unbend.problem import Matrix, SpectralProblem

# Up to here all eigenpairs take no longer than some.
WHOLE_ROWS = 600


def to_dense(matrix: Matrix) -> FloatArray:
    """Return a dense copy in double precision."""
    n = matrix.shape[0]
    reserve(8 * n * n, f"{n} x {n} matrix entries", "use eigen_solver='lanczos' or 'shift_invert'")
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
    >>> from unbend.problem import SpectralProblem
    >>> solve(SpectralProblem(np.diag([3.0, 2.0, 1.0]), "top"), 2, Dense()).values
    array([3., 2.])
    """

    def eigenpairs(
        self, problem: SpectralProblem, count: int, rng: np.random.Generator, threads: int = 1
    ) -> tuple[FloatArray, FloatArray, bool]:
        """Return one eigenpair more than `count`, where there is one, and True."""
        matrix = to_dense(problem.matrix)
        n, trivial = problem.n, problem.trivial_basis
        if trivial.shape[1]:
            # Project the trivial vectors out and push them to the far end of the spectrum.
            size = float(np.abs(matrix).sum(axis=1).max()) or 1.0
            matrix -= trivial @ (trivial.T @ matrix)
            matrix -= (matrix @ trivial) @ trivial.T
            matrix += (2.0 if problem.end == "bottom" else -2.0) * size * trivial @ trivial.T
        asked = min(count + 1, n - trivial.shape[1])
        if problem.end == "top":
            values, vectors = _bottom(-matrix, asked)
            return -values, vectors, True
        return *_bottom(matrix, asked), True


def _bottom(matrix: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the smallest eigenpairs; part of a spectrum only where it saves time."""
    if len(matrix) > WHOLE_ROWS:
        values, vectors = eigh(matrix, subset_by_index=(0, count - 1))
        # LAPACK's driver for parts returns fewer pairs than asked where eigenvalues are equal.
        if len(values) == count:
            return values, vectors
    values, vectors = eigh(matrix, driver="evd")
    return values[:count], vectors[:, :count]
