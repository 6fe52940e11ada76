"""Rank-revealing LU factorisation: a square block of A from which the rest is interpolated.

The columns J of a strong QR factorisation of A and the rows I of one of A[:, J]' give, with
c = √(1 + f² k(n − k)) √(1 + f² k(m − k)) and S the Schur complement of A[I, J],

    σᵢ(A[I, J]) ≥ σᵢ(A)/c,    σⱼ(S) ≤ c σₖ₊ⱼ(A),

for f = 1 and m = n the bounds of Pan (Linear Algebra Appl. 316, 2000).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from unbend.arrays import FloatArray, IntArray
from unbend.lowrank.inputs import real_matrix, settled
from unbend.lowrank.qr import strong_qr


@dataclass(frozen=True, eq=False)
class RankRevealingLU:
    """A[rows][:, columns] = lower @ upper, both triangular, lower with unit diagonal.

    Attributes
    ----------
    lower : array (m, p)
        Unit lower triangular, p = min(m, n).
    upper : array (p, n)
        Upper triangular.
    rows, columns : arrays (m,), (n,)
        Rows and columns of A in the order of the factors.
    rank : int
        Order k of the leading block.
    """

    lower: FloatArray
    upper: FloatArray
    rows: IntArray
    columns: IntArray
    rank: int

    @property
    def error(self) -> float:
        """‖A − matrix()‖ = ‖L₂₂U₂₂‖, spectral."""
        trailing = self.lower[self.rank :, self.rank :] @ self.upper[self.rank :, self.rank :]
        return float(np.linalg.norm(trailing, 2)) if trailing.size else 0.0

    def matrix(self) -> FloatArray:
        """Approximation of rank k, equal to A in the k chosen rows and columns."""
        found = np.empty((len(self.rows), len(self.columns)), self.upper.dtype)
        product = self.lower[:, : self.rank] @ self.upper[: self.rank]
        found[np.ix_(self.rows, self.columns)] = product
        return found


def rank_revealing_lu(
    matrix: Any, rank: int | None = None, tol: float | None = None, f: float = 2.0
) -> RankRevealingLU:
    """Rank-revealing LU factorisation.

    Two strong QR factorisations choose columns and rows; O(mn min(m, n)) in all. The factors are
    entries of A and quotients of them: nothing is mixed but by elimination.

    Parameters
    ----------
    matrix : array (m, n)
        Real numbers.
    rank, tol, f
        As for `strong_qr`; a tol below the default has no effect.

    Returns
    -------
    RankRevealingLU

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import rank_revealing_lu
    >>> found = rank_revealing_lu([[1.0, 1.0, 2.0], [2.0, 2.0, 4.0], [0.0, 5.0, 5.0]])
    >>> found.rank, bool(found.error < 1e-14)
    (2, True)
    """
    array, scale = real_matrix(matrix)
    most, tol = settled(array, rank, tol)
    # Elimination takes rounding for zero, and then the leading block would be singular.
    tol = max(tol, settled(array, rank, None)[1])
    chosen = strong_qr(array, most, tol, f)
    k, columns = chosen.rank, chosen.order
    rows = strong_qr(array[:, columns[:k]].T, k, 0.0, f).order if k else np.arange(len(array))
    array = array[np.ix_(rows, columns)]
    p = min(array.shape)
    lower, upper = np.zeros((len(array), p), array.dtype), np.zeros((p, len(columns)), array.dtype)
    order, lower[:k, :k], upper[:k, :k] = _eliminated(array[:k, :k])
    rows[:k], array[:k] = rows[:k][order], array[:k][order]
    upper[:k, k:] = linalg.solve_triangular(
        lower[:k, :k], array[:k, k:], lower=True, unit_diagonal=True
    )
    left = linalg.solve_triangular(upper[:k, :k], array[k:, :k].T, trans="T").T
    order, lower[k:, k:], upper[k:, k:] = _eliminated(array[k:, k:] - left @ upper[:k, k:])
    rows[k:], lower[k:, :k] = rows[k:][order], left[order]
    return RankRevealingLU(lower, upper * scale, rows, columns, k)


def _eliminated(block: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Order of the rows, L and U of Gaussian elimination with partial pivoting."""
    if not block.size:
        m, n = block.shape
        p = min(m, n)
        return np.arange(m), np.zeros((m, p), block.dtype), np.zeros((p, n), block.dtype)
    inverse, lower, upper = linalg.lu(block, p_indices=True)
    return np.argsort(inverse), lower, upper
