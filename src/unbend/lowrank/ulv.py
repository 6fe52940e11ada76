"""ULV decomposition A = U [L_d 0; H E] V' that reveals a low rank d (book (15.9) to (15.11)).

Fierro and Hansen (Numer. Algorithms 15, 1997), both algorithms: estimate the largest singular
value and its left vector of what is left, turn that vector to the front, deflate. If the estimate
is exact, the column of H is zero; refinement makes it so where d is followed by a gap.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from unbend.arrays import FloatArray
from unbend.lowrank.inputs import real_matrix, settled
from unbend.lowrank.primitives import (
    bring_to_front,
    largest_singular,
    reflect_columns,
    reflect_rows,
    reflector,
    reflectors,
)

# Each refinement shrinks H by (‖E‖/σ_d)²: where that is not enough, there is no gap.
REFINEMENTS = 4


@dataclass(frozen=True, eq=False)
class ULV:
    """A = u @ lower @ v.T, with zeros right of the leading block of order `rank`.

    Attributes
    ----------
    u : array (m, p)
        Orthonormal columns; p = min(m, n) with algorithm "L", m with "A".
    lower : array (p, q)
        [L_d 0; H E], L_d lower triangular.
    v : array (n, q)
        Orthonormal columns; q = min(m, n) with algorithm "L", n with "A".
    rank : int
        Order d of L_d.
    """

    u: FloatArray
    lower: FloatArray
    v: FloatArray
    rank: int

    @property
    def leading(self) -> FloatArray:
        """L_d; its singular values approximate the d largest of A, from below."""
        return self.lower[: self.rank, : self.rank]

    @property
    def coupling(self) -> FloatArray:
        """H, zero if the spaces are exact."""
        return self.lower[self.rank :, : self.rank]

    @property
    def trailing(self) -> FloatArray:
        """E, as small as the next singular value."""
        return self.lower[self.rank :, self.rank :]

    @property
    def error(self) -> float:
        """‖A − matrix()‖ = ‖[H E]‖, spectral."""
        below = self.lower[self.rank :]
        return float(np.linalg.norm(below, 2)) if below.size else 0.0

    def matrix(self) -> FloatArray:
        """Approximation of rank d (15.11)."""
        d = self.rank
        return np.asarray(self.u[:, :d] @ self.leading @ self.v[:, :d].T)


def ulv(
    matrix: Any,
    rank: int | None = None,
    tol: float | None = None,
    algorithm: Literal["L", "A"] = "L",
) -> ULV:
    """ULV decomposition that reveals a low rank.

    Costs O(mn min(m, n)) once for "L" and O(mnd) for the rest; worth it for low ranks only.

    Parameters
    ----------
    matrix : array (m, n)
        Real numbers.
    rank : int, optional
        Rank at most; less where the matrix has no more.
    tol : float, optional
        Singular values below tol·‖A‖ count as zero; max(m, n) roundings by default.
    algorithm : {"L", "A"}
        "L" begins with a triangular factorisation and keeps it by plane rotations; "A" begins
        with the matrix itself and uses reflections: no first factorisation, square U and V.

    Returns
    -------
    ULV

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import ulv
    >>> found = ulv(np.outer([3.0, 4.0], [1.0, 0.0, 0.0]))
    >>> found.rank, float(np.abs(found.leading[0, 0]).round(12))
    (1, 5.0)
    """
    array, scale = real_matrix(matrix)
    most, tol = settled(array, rank, tol)
    if algorithm not in ("L", "A"):
        raise ValueError(f"algorithm must be 'L' or 'A', not {algorithm!r}")
    begin, deflate = (_warm, _by_rotations) if algorithm == "L" else (_cold, _by_reflections)
    u, lower, v = begin(array)
    d, threshold = 0, 0.0
    while d < most:
        estimate = largest_singular(lower[d:, d:])
        threshold = threshold or tol * estimate.value
        if estimate.value <= threshold:
            break
        deflate(u, lower, v, d, estimate.left)
        d += 1
    for _ in range(REFINEMENTS):
        if np.linalg.norm(lower[d:, :d]) <= np.linalg.norm(lower[d:, d:]):
            break
        _refine(u, lower, v, d)
    return ULV(u, lower * scale, v, d)


def _warm(array: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return A = U L of a tall matrix with V = I, or A = L V' of a wide one with U = I."""
    m, n = array.shape
    if m < n:
        q, r = np.linalg.qr(array.T)
        return np.eye(m, dtype=array.dtype), np.ascontiguousarray(r.T), q
    q, r = np.linalg.qr(array[:, ::-1])
    return q[:, ::-1].copy(), r[::-1, ::-1].copy(), np.eye(n, dtype=array.dtype)


def _cold(array: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    m, n = array.shape
    return np.eye(m, dtype=array.dtype), array.copy(), np.eye(n, dtype=array.dtype)


def _by_rotations(
    u: FloatArray, lower: FloatArray, v: FloatArray, d: int, vector: FloatArray
) -> None:
    bring_to_front(vector, lower[d:], u[:, d:], v[:, d:])


def _by_reflections(
    u: FloatArray, lower: FloatArray, v: FloatArray, d: int, vector: FloatArray
) -> None:
    w = reflector(vector)
    reflect_rows(lower[d:], w)
    reflect_columns(u[:, d:], w)
    w = reflector(lower[d, d:])
    reflect_columns(lower[d:, d:], w)
    reflect_columns(v[:, d:], w)
    lower[d, d + 1 :] = 0


def _refine(u: FloatArray, lower: FloatArray, v: FloatArray, d: int) -> None:
    """One step of block QR iteration: to [R F; 0 G] by rows, and back by columns.

    ‖F‖ ≤ ‖H‖‖E‖/σ_d(R) and likewise back (Mathias and Stewart, Linear Algebra Appl. 182, 1993).
    """
    for i, w in reflectors(lower[:, :d]):
        reflect_rows(lower[i:], w)
        reflect_columns(u[:, i:], w)
    for i, w in reflectors(lower[:d].T):
        reflect_columns(lower[:, i:], w)
        reflect_columns(v[:, i:], w)
    lower[:d] = np.tril(lower[:d])


@dataclass(frozen=True, eq=False)
class URV:
    """A = u @ upper @ v.T, with zeros below the leading block of order `rank`.

    Attributes
    ----------
    u : array (m, p)
        Orthonormal columns; p = min(m, n) with algorithm "L", m with "A".
    upper : array (p, q)
        [R_d F; 0 G], R_d upper triangular.
    v : array (n, q)
        Orthonormal columns; q = min(m, n) with algorithm "L", n with "A".
    rank : int
        Order d of R_d.
    """

    u: FloatArray
    upper: FloatArray
    v: FloatArray
    rank: int

    @property
    def leading(self) -> FloatArray:
        """R_d; its singular values approximate the d largest of A, from below."""
        return self.upper[: self.rank, : self.rank]

    @property
    def coupling(self) -> FloatArray:
        """F, zero if the spaces are exact."""
        return self.upper[: self.rank, self.rank :]

    @property
    def trailing(self) -> FloatArray:
        """G, as small as the next singular value."""
        return self.upper[self.rank :, self.rank :]

    @property
    def error(self) -> float:
        """‖A − matrix()‖ = ‖[F; G]‖, spectral."""
        right = self.upper[:, self.rank :]
        return float(np.linalg.norm(right, 2)) if right.size else 0.0

    def matrix(self) -> FloatArray:
        """Approximation of rank d (15.8)."""
        d = self.rank
        return np.asarray(self.u[:, :d] @ self.leading @ self.v[:, :d].T)


def urv(
    matrix: Any,
    rank: int | None = None,
    tol: float | None = None,
    algorithm: Literal["L", "A"] = "L",
) -> URV:
    """URV decomposition that reveals a low rank; right spaces suffer from F, left ones hardly.

    Parameters
    ----------
    matrix : array (m, n)
        Real numbers.
    rank, tol, algorithm
        As for `ulv`, of the transposed matrix.

    Returns
    -------
    URV

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import urv
    >>> found = urv(np.outer([3.0, 4.0], [1.0, 0.0, 0.0]))
    >>> found.rank, float(np.abs(found.leading[0, 0]).round(12))
    (1, 5.0)
    """
    array, scale = real_matrix(matrix)
    found = ulv(array.T, rank, tol, algorithm)
    return URV(found.v, found.lower.T * scale, found.u, found.rank)
