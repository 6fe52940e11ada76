"""Symmetric rank-revealing decomposition A = V S V' with S = [S₁₁ S₁₂; S₂₁ S₂₂] (book (15.14)).

The low-rank algorithm of Hansen and Yalamov (SIAM J. Matrix Anal. Appl. 23, 2001): estimate the
eigenvalue of largest modulus of S₂₂ and its vector, turn that to the front, deflate. S itself is
carried along, which takes O(n²) a step and serves definite and indefinite matrices alike; the
triangular form S = L Ω L' is made when asked for.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from unbend.arrays import FloatArray
from unbend.lowrank.inputs import settled, symmetric_matrix
from unbend.lowrank.primitives import (
    largest_eigenvalue,
    reflect_columns,
    reflect_rows,
    reflector,
    reflectors,
)

# Each refinement shrinks S₁₂ by |λ_{d+1}/λ_d|: where that is not enough, there is no gap.
REFINEMENTS = 8


@dataclass(frozen=True, eq=False)
class SignedTriangle:
    """S = lower @ signature @ lower.T, lower triangular, signature symmetric and orthogonal."""

    lower: FloatArray
    signature: FloatArray

    @property
    def inertia(self) -> tuple[int, int]:
        """Numbers of eigenvalues 1 and −1 of Ω: by Sylvester's law those > 0 and < 0 of S."""
        n, trace = len(self.signature), round(float(np.trace(self.signature)))
        return (n + trace) // 2, (n - trace) // 2


@dataclass(frozen=True, eq=False)
class VSV:
    """A = v @ middle @ v.T.

    Attributes
    ----------
    v : array (n, n)
        Orthogonal; its first `rank` columns span nearly the dominant eigenvectors.
    middle : array (n, n)
        S, symmetric, small beyond the leading block.
    rank : int
        Order d of S₁₁.
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
        left = self.middle.copy()
        left[: self.rank, : self.rank] = 0
        return float(np.linalg.norm(left, 2))

    def matrix(self) -> FloatArray:
        """Approximation of rank d."""
        first = self.v[:, : self.rank]
        return np.asarray(first @ self.leading @ first.T)

    def triangular(self) -> SignedTriangle:
        """S₁₁ = L Ω L', by the factorisation of Bunch and Kaufman, its 2 × 2 pivots diagonalised.

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
        Rank at most; less where the matrix has no more.
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
    most, tol = settled(middle, rank, tol)
    v, d, threshold = np.eye(len(middle), dtype=middle.dtype), 0, 0.0
    while d < most:
        estimate = largest_eigenvalue(middle[d:, d:])
        threshold = threshold or tol * abs(estimate.value)
        if abs(estimate.value) <= threshold:
            break
        _turn(v, middle, d, reflector(estimate.vector))
        d += 1
    for _ in range(REFINEMENTS):
        if np.linalg.norm(middle[d:, :d]) <= np.linalg.norm(middle[d:, d:]):
            break
        # Orthogonal iteration: the first d columns of S are made the leading axes.
        for i, w in reflectors(middle[:, :d]):
            _turn(v, middle, i, w)
    return VSV(v, (middle + middle.T) * (scale / 2), d)


def _turn(v: FloatArray, middle: FloatArray, first: int, w: FloatArray) -> None:
    """Reflect the coordinates from `first` on, on both sides of S."""
    reflect_rows(middle[first:], w)
    reflect_columns(middle[:, first:], w)
    reflect_columns(v[:, first:], w)
