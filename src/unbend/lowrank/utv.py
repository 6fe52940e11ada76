"""Rank-revealing UTV decompositions: ULV, URV, and VSV of symmetric matrices (book (15.6)–(15.14)).

A = U [L_d 0; H E] V' by both algorithms of Fierro and Hansen (Numer. Algorithms 15, 1997): estimate
the largest singular value of the trailing block and its left vector, rotate that vector to the
front, deflate. If the estimate is exact, the column of H is zero; refinement makes it so where d is
followed by a gap. URV is the ULV decomposition of A'.

A = V S V' by Hansen and Yalamov (SIAM J. Matrix Anal. Appl. 23, 2001), with eigenvalues of largest
modulus. S itself is updated, in O(n²) per step, for definite and indefinite matrices alike; the
triangular form S = L Ω L' is computed on request.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from scipy import linalg

from unbend.arrays import FloatArray
from unbend.lowrank.inputs import rank_and_tolerance, real_matrix, symmetric_matrix
from unbend.lowrank.primitives import (
    bring_to_front,
    largest_eigenvalue,
    largest_singular,
    reflect_columns,
    reflect_rows,
    reflector,
    reflectors,
)
from unbend.validation.scalars import check_choice

# Each refinement shrinks H by (‖E‖/σ_d)²; if that does not suffice, there is no gap.
REFINEMENTS = 4
# Each refinement shrinks S₁₂ by |λ_{d+1}/λ_d|; if that does not suffice, there is no gap.
SYMMETRIC_REFINEMENTS = 8


class _Decomposition(ABC):
    """A = u @ middle @ v.T with a leading block of order `rank`."""

    u: FloatArray
    v: FloatArray
    rank: int

    @property
    @abstractmethod
    def middle(self) -> FloatArray:
        """Middle factor."""

    @property
    def leading(self) -> FloatArray:
        """Leading block; its singular values approximate the d largest of A, from below."""
        return self.middle[: self.rank, : self.rank]

    @property
    def trailing(self) -> FloatArray:
        """Trailing block, of the order of the next singular value."""
        return self.middle[self.rank :, self.rank :]

    def matrix(self) -> FloatArray:
        """Approximation of rank d (15.8), (15.11)."""
        d = self.rank
        return np.asarray(self.u[:, :d] @ self.leading @ self.v[:, :d].T)


@final
@dataclass(frozen=True, eq=False)
class ULV(_Decomposition):
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

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import ulv
    >>> matrix = np.outer([3.0, 4.0], [1.0, 0.0, 0.0])
    >>> found = ulv(matrix)
    >>> bool(np.allclose(found.u @ found.lower @ found.v.T, matrix)), found.rank
    (True, 1)
    """

    u: FloatArray
    lower: FloatArray
    v: FloatArray
    rank: int

    @property
    def middle(self) -> FloatArray:
        """Return [L_d 0; H E]."""
        return self.lower

    @property
    def coupling(self) -> FloatArray:
        """H, zero if the spaces are exact."""
        return self.lower[self.rank :, : self.rank]

    @property
    def error(self) -> float:
        """‖A − matrix()‖ = ‖[H E]‖, spectral."""
        return spectral_norm(self.lower[self.rank :])


@final
@dataclass(frozen=True, eq=False)
class URV(_Decomposition):
    """A = u @ upper @ v.T, with zeros below the leading block of order `rank`.

    Attributes
    ----------
    u, v, rank
        As for `ULV`.
    upper : array (p, q)
        [R_d F; 0 G], R_d upper triangular.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import urv
    >>> matrix = np.outer([3.0, 4.0], [1.0, 0.0, 0.0])
    >>> found = urv(matrix)
    >>> bool(np.allclose(found.u @ found.upper @ found.v.T, matrix)), found.rank
    (True, 1)
    """

    u: FloatArray
    upper: FloatArray
    v: FloatArray
    rank: int

    @property
    def middle(self) -> FloatArray:
        """Return [R_d F; 0 G]."""
        return self.upper

    @property
    def coupling(self) -> FloatArray:
        """F, zero if the spaces are exact."""
        return self.upper[: self.rank, self.rank :]

    @property
    def error(self) -> float:
        """‖A − matrix()‖ = ‖[F; G]‖, spectral."""
        return spectral_norm(self.upper[:, self.rank :])


def spectral_norm(block: FloatArray) -> float:
    """Spectral norm of a block, zero if it is empty."""
    return float(np.linalg.norm(block, 2)) if block.size else 0.0


def ulv(
    matrix: Any,
    rank: int | None = None,
    tol: float | None = None,
    algorithm: Literal["L", "A"] = "L",
) -> ULV:
    """ULV decomposition that reveals a low rank.

    Costs O(mn min(m, n)) once for "L" and O(mnd) for the rest; efficient for low ranks only.

    Parameters
    ----------
    matrix : array (m, n)
        Real numbers.
    rank : int, optional
        Largest rank.
    tol : float, optional
        Singular values below tol·‖A‖ count as zero; max(m, n) roundings by default.
    algorithm : {"L", "A"}
        "L" starts with a triangular factorisation and preserves it by plane rotations; "A" starts
        with the matrix and uses reflections: no first factorisation, square U and V.

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
    most, tol = rank_and_tolerance(array, rank, tol)
    check_choice("algorithm", algorithm, ("L", "A"))
    if algorithm == "L":
        u, lower, v = _triangular_start(array)
    else:
        m, n = array.shape
        u, lower, v = np.eye(m, dtype=array.dtype), array.copy(), np.eye(n, dtype=array.dtype)
    d, threshold = 0, 0.0
    while d < most:
        estimate = largest_singular(lower[d:, d:])
        threshold = threshold or tol * estimate.value
        if estimate.value <= threshold:
            break
        if algorithm == "L":
            bring_to_front(estimate.left, lower[d:], u[:, d:], v[:, d:])
        else:
            _deflate_by_reflections(u, lower, v, d, estimate.left)
        d += 1
    for _ in range(REFINEMENTS):
        if np.linalg.norm(lower[d:, :d]) <= np.linalg.norm(lower[d:, d:]):
            break
        _refine(u, lower, v, d)
    return ULV(u, lower * scale, v, d)


def _triangular_start(array: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return A = U L of a tall matrix with V = I, or A = L V' of a wide one with U = I."""
    m, n = array.shape
    if m < n:
        q, r = np.linalg.qr(array.T)
        return np.eye(m, dtype=array.dtype), np.ascontiguousarray(r.T), q
    q, r = np.linalg.qr(array[:, ::-1])
    return q[:, ::-1].copy(), r[::-1, ::-1].copy(), np.eye(n, dtype=array.dtype)


def _deflate_by_reflections(
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


@dataclass(frozen=True, eq=False)
class SignedTriangle:
    """S = lower @ signature @ lower.T, lower triangular, signature symmetric and orthogonal.

    Examples
    --------
    >>> from unbend.lowrank import vsv
    >>> vsv([[0.0, 2.0], [2.0, 0.0]]).triangular().inertia
    (1, 1)
    """

    lower: FloatArray
    signature: FloatArray

    @property
    def inertia(self) -> tuple[int, int]:
        """Numbers of eigenvalues 1 and −1 of Ω: by Sylvester's law those > 0 and < 0 of S."""
        n, trace = len(self.signature), round(float(np.trace(self.signature)))
        return (n + trace) // 2, (n - trace) // 2


@final
@dataclass(frozen=True, eq=False)
class VSV:
    """A = v @ middle @ v.T.

    Attributes
    ----------
    v : array (n, n)
        Orthogonal; its first `rank` columns nearly span the dominant eigenvectors.
    middle : array (n, n)
        S, symmetric, small outside the leading block.
    rank : int
        Order d of S₁₁.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import vsv
    >>> matrix = np.array([[0.0, 2.0], [2.0, 0.0]])
    >>> found = vsv(matrix)
    >>> bool(np.allclose(found.v @ found.middle @ found.v.T, matrix)), found.rank
    (True, 2)
    """

    v: FloatArray
    middle: FloatArray
    rank: int

    @property
    def leading(self) -> FloatArray:
        """S₁₁, whose eigenvalues approximate those of A of largest modulus, with signs."""
        return self.middle[: self.rank, : self.rank]

    @property
    def error(self) -> float:
        """‖A − matrix()‖, spectral."""
        rest = self.middle.copy()
        rest[: self.rank, : self.rank] = 0
        return float(np.linalg.norm(rest, 2))

    def matrix(self) -> FloatArray:
        """Approximation of rank d."""
        first = self.v[:, : self.rank]
        return np.asarray(first @ self.leading @ first.T)

    def triangular(self) -> SignedTriangle:
        """S₁₁ = L Ω L', by Bunch–Kaufman factorisation with diagonalised 2 × 2 pivots.

        Ω is the identity if S₁₁ is positive definite.
        """
        outer, blocks, _ = linalg.ldl(self.leading)
        values, vectors = np.linalg.eigh(blocks)
        root = outer @ (vectors * np.sqrt(np.abs(values)))
        # root = L Q, hence root Ω root' = L (Q Ω Q') L'.
        q, r = np.linalg.qr(root.T)
        omega = q.T @ (np.where(values < 0, -1, 1)[:, None] * q)
        return SignedTriangle(r.T, omega.astype(r.dtype))


def vsv(matrix: Any, rank: int | None = None, tol: float | None = None) -> VSV:
    """Symmetric rank-revealing decomposition of a definite or indefinite matrix, in O(n²d).

    Parameters
    ----------
    matrix : array (n, n)
        Real and symmetric.
    rank : int, optional
        Largest rank.
    tol : float, optional
        Eigenvalues of modulus below tol·‖A‖ count as zero; n roundings by default.

    Returns
    -------
    VSV

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import vsv
    >>> found = vsv([[0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> found.rank, np.linalg.eigvalsh(found.leading).round(9).tolist()
    (2, [-2.0, 2.0])
    >>> found.triangular().inertia
    (1, 1)
    """
    middle, scale = symmetric_matrix(matrix)
    most, tol = rank_and_tolerance(middle, rank, tol)
    v, d, threshold = np.eye(len(middle), dtype=middle.dtype), 0, 0.0
    while d < most:
        estimate = largest_eigenvalue(middle[d:, d:])
        threshold = threshold or tol * abs(estimate.value)
        if abs(estimate.value) <= threshold:
            break
        _turn(v, middle, d, reflector(estimate.vector))
        d += 1
    for _ in range(SYMMETRIC_REFINEMENTS):
        if np.linalg.norm(middle[d:, :d]) <= np.linalg.norm(middle[d:, d:]):
            break
        # Orthogonal iteration: the first d columns of S become the leading axes.
        for i, w in reflectors(middle[:, :d]):
            _turn(v, middle, i, w)
    return VSV(v, (middle + middle.T) * (scale / 2), d)


def _turn(v: FloatArray, middle: FloatArray, first: int, w: FloatArray) -> None:
    """Reflect the coordinates from `first` on, on both sides of S."""
    reflect_rows(middle[first:], w)
    reflect_columns(middle[:, first:], w)
    reflect_columns(v[:, first:], w)
