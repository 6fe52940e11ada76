"""Pivoted Cholesky factorisation: a positive semidefinite matrix from a few of its columns.

Each step selects the column with the largest residual diagonal, so only the diagonal and the k
selected columns are read: O(nk) entries and O(nk²) operations. The residual is positive
semidefinite, hence its trace bounds every norm of it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.lowrank.inputs import rank_and_tolerance, symmetric_matrix


@dataclass(frozen=True, eq=False)
class Columnwise:
    """A symmetric matrix known by its diagonal and by a function that computes one column.

    Attributes
    ----------
    diagonal : array (n,)
        The diagonal.
    column : callable
        From an index to that column, an array (n,).

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import Columnwise, pivoted_cholesky
    >>> x = np.linspace(0, 1, 1000)
    >>> kernel = Columnwise(np.ones(1000), lambda j: np.exp(-((x - x[j]) ** 2)))
    >>> pivoted_cholesky(kernel, rank=3).factor.shape
    (1000, 3)
    """

    diagonal: FloatArray
    column: Callable[[int], FloatArray]


@dataclass(frozen=True, eq=False)
class PivotedCholesky:
    """A ≈ factor @ factor.T, equal to A in the rows and columns `pivots`.

    Attributes
    ----------
    factor : array (n, k)
        Lower triangular in the rows `pivots`.
    pivots : array (k,)
        Columns of A, in the order of selection.
    residual : array (n,)
        Diagonal of A − factor @ factor.T.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import pivoted_cholesky
    >>> matrix = np.array([[4.0, 2.0], [2.0, 1.0]])
    >>> found = pivoted_cholesky(matrix)
    >>> bool(np.allclose(found.factor @ found.factor.T, matrix)), found.rank
    (True, 1)
    """

    factor: FloatArray
    pivots: IntArray
    residual: FloatArray

    @property
    def rank(self) -> int:
        """Number of selected columns."""
        return len(self.pivots)

    @property
    def error(self) -> float:
        """Trace of the residual: its nuclear norm, which bounds the others."""
        return float(self.residual.sum(dtype=np.float64))

    def matrix(self) -> FloatArray:
        """Approximation of rank k."""
        return np.asarray(self.factor @ self.factor.T)


def pivoted_cholesky(
    matrix: Any, rank: int | None = None, tol: float | None = None
) -> PivotedCholesky:
    """Partial Cholesky factorisation with diagonal pivoting.

    Parameters
    ----------
    matrix : array (n, n) or Columnwise
        Positive semidefinite; `Columnwise` if it should not be formed.
    rank : int, optional
        Largest number of columns.
    tol : float, optional
        Stops when the trace of the residual is at most tol times the trace; n eps by default.

    Returns
    -------
    PivotedCholesky

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import Columnwise, pivoted_cholesky
    >>> x = np.linspace(0, 1, 10_000)
    >>> kernel = Columnwise(np.ones(10_000), lambda j: np.exp(-((x - x[j]) ** 2)))
    >>> found = pivoted_cholesky(kernel, tol=1e-10)
    >>> found.rank, bool(found.error <= 1e-10 * 10_000)
    (8, True)
    """
    source, scale = _read_columns(matrix)
    left = source.diagonal.copy()
    n, rounding = len(left), _rounding(left)
    most, tol = rank_and_tolerance(np.broadcast_to(left, (n, n)), rank, tol)
    total = left.sum(dtype=np.float64)
    factor = np.zeros((min(most, 32), n), left.dtype)
    pivots: list[int] = []
    while len(pivots) < most and left.sum(dtype=np.float64) > tol * total:
        k, pivot = len(pivots), int(np.argmax(left))
        if k == len(factor):
            factor = np.concatenate((factor, np.zeros_like(factor)))[:most]
        column = _check_column(source.column(pivot), left) - factor[:k, pivot] @ factor[:k]
        column[pivots] = 0
        # In a positive semidefinite matrix |aᵢⱼ|² ≤ aᵢᵢaⱼⱼ, also in the residual.
        if np.any(column**2 > left[pivot] * (left + rounding)):
            raise ValueError(NOT_SEMIDEFINITE)
        factor[k] = column / np.sqrt(left[pivot])
        left = np.maximum(left - factor[k] ** 2, 0)
        left[pivot] = 0
        pivots.append(pivot)
    found = np.ascontiguousarray(factor[: len(pivots)].T)
    return PivotedCholesky(found * float(np.sqrt(scale)), np.array(pivots, np.intp), left * scale)


NOT_SEMIDEFINITE = "the matrix is not positive semidefinite: use vsv for indefinite matrices"


def _read_columns(matrix: Any) -> tuple[Columnwise, float]:
    """Diagonal and columns of either kind of input, and the power of two of the scaling."""
    if isinstance(matrix, Columnwise):
        diagonal, scale = np.asarray(matrix.diagonal), 1.0
        if diagonal.dtype not in (np.float32, np.float64):
            diagonal = diagonal.astype(np.float64)
        if diagonal.ndim != 1 or not len(diagonal) or not np.all(np.isfinite(diagonal)):
            raise ValueError("diagonal must be a vector of finite numbers")
        column = matrix.column
    else:
        array, scale = symmetric_matrix(matrix)
        diagonal, column = np.diagonal(array), lambda j: array[:, j]
        # All entries are checked, also those of columns that are never selected.
        bound = np.maximum(diagonal, 0) + _rounding(diagonal)
        if np.any(array**2 > np.outer(bound, bound)):
            raise ValueError(NOT_SEMIDEFINITE)
    if diagonal.min() < -_rounding(diagonal):
        raise ValueError(NOT_SEMIDEFINITE)
    return Columnwise(np.maximum(diagonal, 0), column), scale


def _rounding(diagonal: FloatArray) -> float:
    """Bound of the rounding in entries of products with this diagonal."""
    return float(100 * len(diagonal) * np.finfo(diagonal.dtype).eps * diagonal.max(initial=0))


def _check_column(column: FloatArray, left: FloatArray) -> FloatArray:
    column = np.asarray(column, dtype=left.dtype)
    if column.shape != left.shape or not np.all(np.isfinite(column)):
        raise ValueError(f"every column must be a vector of {len(left)} finite numbers")
    return column
