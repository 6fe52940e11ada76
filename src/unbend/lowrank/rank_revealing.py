"""Rank-revealing QR and LU factorisations, strong in the sense of Gu and Eisenstat.

With A Π = Q [R₁₁ R₁₂; 0 R₂₂], R₁₁ of order k, and c = √(1 + f² k(n − k)):

    σᵢ(R₁₁) ≥ σᵢ(A)/c,    σⱼ(R₂₂) ≤ c σₖ₊ⱼ(A),    |(R₁₁⁻¹R₁₂)ᵢⱼ| ≤ f.

Column pivoting alone (LAPACK) guarantees only c = O(2ᵏ), which Kahan's matrices attain.

LU: the columns J of a strong QR factorisation of A and the rows I of one of A[:, J]' give, with
c = √(1 + f² k(n − k)) √(1 + f² k(m − k)) and S the Schur complement of A[I, J],

    σᵢ(A[I, J]) ≥ σᵢ(A)/c,    σⱼ(S) ≤ c σₖ₊ⱼ(A),

for f = 1 and m = n the bounds of Pan (Linear Algebra Appl. 316, 2000).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg
from scipy.linalg.lapack import dpotrf, dtrtri

from unbend.arrays import FloatArray, IntArray
from unbend.lowrank.inputs import rank_and_tolerance, real_matrix
from unbend.lowrank.primitives import reflect_columns, reflect_rows, reflector
from unbend.validation.scalars import check_real

# Least sine of the angle of a column to the span of the others for which a Gram matrix is accurate:
# errors are rounding divided by its square.
WELL_APART = 1e-2


@dataclass(frozen=True, eq=False)
class RankRevealingQR:
    """A[:, order] = q @ r with r upper triangular; the first `rank` columns span most of A.

    Attributes
    ----------
    q : array (m, p)
        Orthonormal columns, p = min(m, n).
    r : array (p, n)
        Upper triangular.
    order : array (n,)
        Columns of A in the order of those of r.
    rank : int
        Order k of the leading block.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import strong_qr
    >>> matrix = np.array([[1.0, 1.0, 2.0], [2.0, 2.0, 4.0], [0.0, 5.0, 5.0]])
    >>> found = strong_qr(matrix, rank=2)
    >>> bool(np.allclose(found.q @ found.r, matrix[:, found.order]))
    True
    """

    q: FloatArray
    r: FloatArray
    order: IntArray
    rank: int

    @property
    def columns(self) -> IntArray:
        """The k columns of A that span the approximation."""
        return self.order[: self.rank]

    @property
    def error(self) -> float:
        """‖A − matrix()‖ = ‖R₂₂‖, spectral."""
        trailing = self.r[self.rank :, self.rank :]
        return float(np.linalg.norm(trailing, 2)) if trailing.size else 0.0

    def matrix(self) -> FloatArray:
        """Approximation of rank k: the projection of A on the chosen columns."""
        found = np.empty((len(self.q), len(self.order)), self.r.dtype)
        found[:, self.order] = self.q[:, : self.rank] @ self.r[: self.rank]
        return found

    def interpolation(self) -> FloatArray:
        """P with matrix() = A[:, columns] P: the identity in these columns, else R₁₁⁻¹R₁₂."""
        k = self.rank
        weights = np.zeros((k, len(self.order)), self.r.dtype)
        weights[:, self.order[:k]] = np.eye(k, dtype=self.r.dtype)
        weights[:, self.order[k:]] = linalg.solve_triangular(self.r[:k, :k], self.r[:k, k:])
        return weights


def strong_qr(
    matrix: Any, rank: int | None = None, tol: float | None = None, f: float = 2.0
) -> RankRevealingQR:
    """Rank-revealing QR factorisation with bounded interpolation.

    Column pivoting; then pairs are exchanged as long as an exchange increases det R₁₁ more than
    f times (Gu and Eisenstat, SIAM J. Sci. Comput. 17, 1996). Costs O(mn min(m,
    n)) and O((m + n)k² + mn) for each exchange, of which there are few.

    Parameters
    ----------
    matrix : array (m, n)
        Real numbers.
    rank : int, optional
        Largest rank of the approximation.
    tol : float, optional
        Directions below tol·‖A‖ count as zero; max(m, n) roundings by default.
    f : float
        Bound of the interpolation's entries, at least 1; smaller values take longer.

    Returns
    -------
    RankRevealingQR

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import strong_qr
    >>> found = strong_qr(np.outer([1.0, 2.0, 3.0], [1.0, 4.0]))
    >>> found.rank, found.columns.tolist(), bool(found.error < 1e-14)
    (1, [1], True)
    """
    f = check_real("f", f, 1)
    array, scale = real_matrix(matrix)
    most, tol = rank_and_tolerance(array, rank, tol)
    # For smaller values squares of the inverse overflow.
    tol = max(tol, float(np.finfo(array.dtype).tiny) ** 0.25)
    q, r, order = linalg.qr(array, mode="economic", pivoting=True)
    order = order.astype(np.intp)
    norm = np.abs(r[0, 0])
    k = min(most, int(np.sum(np.abs(np.diagonal(r)) > tol * norm)))
    while k:
        omega = _exchange_all(q, r, order, k, f)
        weakest = int(np.argmin(omega))
        if omega[weakest] > tol * norm:
            break
        # Pivots missed a small singular value: remove its column and continue.
        k -= 1
        if weakest < k:
            _exchange(q, r, order, weakest, k, k)
    _triangulate(q, r, order, k)
    return RankRevealingQR(q, r * scale, order, k)


def _exchange_all(q: FloatArray, r: FloatArray, order: IntArray, k: int, f: float) -> FloatArray:
    """Exchange columns until none would raise |det R₁₁| by more than f; return 1/‖rows of R₁₁⁻¹‖.

    Exchanging i and k + j multiplies it by √((R₁₁⁻¹R₁₂)²ᵢⱼ + (γⱼ/ωᵢ)²), γⱼ the norm of a column of
    R₂₂. With f = 1 rounding could cycle, so the determinant must increase strictly.
    """
    slack = 1 + np.sqrt(np.finfo(r.dtype).eps)
    volume = -np.inf
    while True:
        inverse = linalg.solve_triangular(r[:k, :k], np.eye(k, dtype=r.dtype))
        omega = 1 / np.linalg.norm(inverse, axis=1)
        grown = np.sum(np.log(np.abs(np.diagonal(r)[:k])), dtype=np.float64)
        if k == r.shape[1] or grown <= volume:
            return np.asarray(omega)
        volume = grown
        gamma = np.linalg.norm(r[k:, k:], axis=0)
        growth = np.hypot(inverse @ r[:k, k:], gamma / omega[:, None])
        i, j = np.unravel_index(np.argmax(growth), growth.shape)
        if growth[i, j] <= f * slack:
            return np.asarray(omega)
        _exchange(q, r, order, int(i), k + int(j), k)


def _exchange(q: FloatArray, r: FloatArray, order: IntArray, i: int, j: int, k: int) -> None:
    """Exchange columns i < k and j ≥ k, and restore the triangular form of the leading columns."""
    for array in (r.T, order):
        array[[j, k]] = array[[k, j]]
    if k < len(r):
        w = reflector(r[k:, k])
        reflect_rows(r[k:, k:], w)
        reflect_columns(q[:, k:], w)
        r[k + 1 :, k] = 0
    for array in (r.T, order):
        array[[i, k]] = array[[k, i]]
    size = min(k + 1, len(r))
    turn, r[:size, :size] = np.linalg.qr(r[:size, :size])
    r[:size, size:] = turn.T @ r[:size, size:]
    q[:, :size] = q[:, :size] @ turn


def _triangulate(q: FloatArray, r: FloatArray, order: IntArray, k: int) -> None:
    """Restore the triangular form of R₂₂ with pivoting, after reflections have filled it."""
    if np.array_equal(np.tril(r[k:, k:], -1), np.zeros_like(r[k:, k:])):
        return
    turn, r[k:, k:], pivots = linalg.qr(r[k:, k:], mode="economic", pivoting=True)
    r[:k, k:] = r[:k, k:][:, pivots]
    order[k:] = order[k:][pivots]
    q[:, k:] = q[:, k:] @ turn


def orthonormal_columns(block: FloatArray) -> FloatArray:
    """Orthonormal basis of the columns: by their Gram matrix where they are well conditioned.

    That takes two products, and applying it twice gives full accuracy.
    """
    if block.dtype != np.float64 or not block.size:
        # Squares of single precision keep too few digits.
        return np.linalg.qr(block)[0]
    # Overflow is detected on the diagonal; off it sums may cancel to NaN.
    with np.errstate(over="ignore", invalid="ignore"):
        turn = orthonormal_turn(block.T @ block)
    return np.linalg.qr(block)[0] if turn is None else np.asarray(block @ turn)


def orthonormal_turn(gram: FloatArray) -> FloatArray | None:
    """Matrix that makes columns with these inner products orthonormal; None if they are not apart.

    Examples
    --------
    >>> import numpy as np
    >>> columns = np.array([[3.0, 1.0], [0.0, 2.0], [4.0, 0.0]])
    >>> turned = columns @ orthonormal_turn(columns.T @ columns)
    >>> bool(np.allclose(turned.T @ turned, np.eye(2)))
    True
    """
    length = np.sqrt(gram.diagonal())
    if length.min(initial=np.inf) > 0 and np.isfinite(length.max(initial=0.0)):
        # LAPACK itself, since blocks are many and small: the checks would take longer.
        root, failed = dpotrf(gram / length / length[:, None], lower=1, clean=1)
        if not failed and root.diagonal().min() > WELL_APART:
            inverse = dtrtri(root, lower=1, overwrite_c=1)[0]
            return np.asarray(inverse.T / length[:, None])
    return None


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

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import rank_revealing_lu
    >>> matrix = np.array([[1.0, 1.0, 2.0], [2.0, 2.0, 4.0], [0.0, 5.0, 5.0]])
    >>> found = rank_revealing_lu(matrix)
    >>> bool(np.allclose(found.lower @ found.upper, matrix[found.rows][:, found.columns]))
    True
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

    Two strong QR factorisations select columns and rows; O(mn min(m, n)) in all. The factors
    result from elimination only.

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
    most, tol = rank_and_tolerance(array, rank, tol)
    # Below rounding the leading block would be singular.
    tol = max(tol, rank_and_tolerance(array, rank, None)[1])
    chosen = strong_qr(array, most, tol, f)
    k, columns = chosen.rank, chosen.order
    rows = strong_qr(array[:, columns[:k]].T, k, 0.0, f).order if k else np.arange(len(array))
    array = array[np.ix_(rows, columns)]
    p = min(array.shape)
    lower, upper = np.zeros((len(array), p), array.dtype), np.zeros((p, len(columns)), array.dtype)
    order, lower[:k, :k], upper[:k, :k] = _eliminate(array[:k, :k])
    rows[:k], array[:k] = rows[:k][order], array[:k][order]
    upper[:k, k:] = linalg.solve_triangular(
        lower[:k, :k], array[:k, k:], lower=True, unit_diagonal=True
    )
    left = linalg.solve_triangular(upper[:k, :k], array[k:, :k].T, trans="T").T
    order, lower[k:, k:], upper[k:, k:] = _eliminate(array[k:, k:] - left @ upper[:k, k:])
    rows[k:], lower[k:, :k] = rows[k:][order], left[order]
    return RankRevealingLU(lower, upper * scale, rows, columns, k)


def _eliminate(block: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Order of the rows, L and U of Gaussian elimination with partial pivoting."""
    if not block.size:
        m, n = block.shape
        p = min(m, n)
        return np.arange(m), np.zeros((m, p), block.dtype), np.zeros((p, n), block.dtype)
    inverse, lower, upper = linalg.lu(block, p_indices=True)
    return np.argsort(inverse), lower, upper
