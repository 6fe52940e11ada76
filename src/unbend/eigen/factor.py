"""Cholesky factorisation of sparse symmetric matrices, and what it will take."""

from dataclasses import dataclass
from math import inf

import numpy as np
from scipy.sparse import csr_array

from unbend._kernels import kernels
from unbend._kernels.reference import Analysis, Factor
from unbend.arrays import FloatArray, IntArray
from unbend.eigen.problem import Matrix
from unbend.memory import reserve


class NotPositiveDefinite(ValueError):
    """A matrix has a negative eigenvalue, and with it no Cholesky factor."""


@dataclass(frozen=True, eq=False)
class Symbolic:
    """A sparse symmetric matrix, ordered and ready to be factorised."""

    row: IntArray
    column: IntArray
    values: FloatArray
    analysis: Analysis

    @property
    def bytes(self) -> int:
        """Memory of the factor."""
        return 8 * self.analysis.stored

    def factor(self, shift: float, threads: int = 1) -> Factor:
        """Factorise A + shift·I."""
        reserve(
            self.bytes, f"{self.analysis.stored} entries of a factor", "use eigen_solver='lanczos'"
        )
        try:
            return kernels.factor(self.analysis, self.row, self.column, self.values, shift, threads)
        except ValueError as error:
            raise NotPositiveDefinite(f"{error}: use eigen_solver='lanczos' or 'dense'") from error


def analyse(matrix: Matrix, most_flops: float = inf) -> Symbolic:
    """Order a matrix and predict its factor; give up where it takes more than `most_flops`.

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
    rows: Matrix = csr_array(matrix, dtype=np.float64)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    try:
        return _analyse(rows, most_flops)
    except ValueError:
        # A product may hold a zero on one side of the diagonal that rounding spared on the other.
        return _analyse(csr_array((rows + rows.T) / 2), most_flops)


def _analyse(rows: Matrix, most_flops: float) -> Symbolic:
    row, column = rows.indptr.astype(np.int64), rows.indices.astype(np.int32, copy=False)
    return Symbolic(row, column, rows.data, kernels.analyse(row, column, most_flops))
