"""URV decomposition A = U [R_d F; 0 G] V' that reveals a low rank d (book (15.6) to (15.8)).

A' = V L U' is a ULV decomposition of the transposed matrix, so R = L', F = H' and G = E'.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from unbend.arrays import FloatArray
from unbend.lowrank.inputs import real_matrix
from unbend.lowrank.ulv import ulv


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
