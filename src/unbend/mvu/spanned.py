"""Unfolding within a span: K = Q L Q' with a matrix Q of few columns (9.36).

With an orthonormal basis U of the centred columns of Q, K = U Z U' has the trace of Z, and an edge
sees Z through the difference of two rows of U. The problem is that of all rows, with p × p matrices
in place of n × n ones: the Newton matrix has dense factors, and a certificate takes the eigenvalues
of one small matrix.
"""

from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.mvu.certificate import EPS, Certificate, dual_value
from unbend.mvu.edges import Edges
from unbend.mvu.newton_matrix import MOST_SHIFT
from unbend.mvu.relaxation import Relaxation

# Directions of the centred basis below this share of the largest are rounding.
NULL = 1e-9


@dataclass(frozen=True, eq=False)
class Spanned:
    """Edges of coordinates U R: `vectors` (m, p) are the differences of rows of U.

    Examples
    --------
    >>> import numpy as np
    >>> path = Edges(3, np.array([0, 1]), np.array([1, 2]), np.ones(2))
    >>> straight = Spanned.of(path, np.array([[-1.0], [0.0], [1.0]]) / np.sqrt(2))
    >>> straight.laplacian(np.ones(2)).round(6)
    array([[1.]])
    """

    vectors: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, edges: Edges, basis: FloatArray) -> "Spanned":
        """Edges as orthonormal columns of sum zero see them."""
        return cls(edges.differences(basis), edges.squares)

    @property
    def p(self) -> int:
        """Number of basis vectors."""
        return int(self.vectors.shape[1])

    def take(self, rows: IntArray) -> "Spanned":
        """Restrict to some edges."""
        return Spanned(self.vectors[rows], self.squares[rows])

    def differences(self, coordinates: FloatArray) -> FloatArray:
        """Vectors yᵢ − yⱼ (m, r)."""
        return np.asarray(self.vectors @ coordinates)

    def stretch(self, coordinates: FloatArray) -> FloatArray:
        """|yᵢ − yⱼ|²/d² − 1 for each edge."""
        squares = np.square(self.differences(coordinates)).sum(axis=1)
        return np.asarray(squares / self.squares - 1.0)

    def laplacian(self, tensions: FloatArray) -> FloatArray:
        """U' L(u) U."""
        return np.asarray(self.vectors.T @ ((tensions / self.squares)[:, None] * self.vectors))

    def pull(self, tensions: FloatArray, differences: FloatArray) -> FloatArray:
        """U' L(u) Y, from the differences of Y."""
        return np.asarray(self.vectors.T @ ((tensions / self.squares)[:, None] * differences))

    def centred(self, coordinates: FloatArray) -> FloatArray:
        """Return coordinates as they are: the basis is centred."""
        return coordinates


@dataclass(frozen=True, eq=False)
class _Dense:
    factors: tuple[FloatArray, bool]

    def solve(self, force: FloatArray) -> FloatArray:
        return np.asarray(cho_solve(self.factors, force, check_finite=False))


@dataclass
class DenseCurvature:
    """Factors of L(u)⊗I − I + Σ q (v⊗δ)(v⊗δ)' over the edges, shifted until it is convex."""

    edges: Spanned
    shift: float = 1e-6
    factors: int = 0
    concave: float = 0.0

    def factor(
        self, tensions: FloatArray, stiffness: FloatArray, differences: FloatArray, least: float
    ) -> tuple[Any, float]:
        """Return the factors, and the shift that was needed."""
        matrix = self._assembled(tensions, stiffness, differences)
        if not np.all(np.isfinite(matrix)):
            raise FloatingPointError
        shift, self.concave = max(self.shift, least), 0.0
        while shift < MOST_SHIFT:
            self.factors += 1
            try:
                lifted = matrix + shift * np.eye(len(matrix))
                found = cho_factor(lifted, lower=True, overwrite_a=True, check_finite=False)
            except LinAlgError:
                self.concave, shift = shift, 6.0 * shift
                continue
            self.shift = max(shift / 4.0, 1e-11)
            return _Dense(found), shift
        raise FloatingPointError

    def _assembled(
        self, tensions: FloatArray, stiffness: FloatArray, differences: FloatArray
    ) -> FloatArray:
        edges, rank = self.edges, differences.shape[1]
        size = edges.p * rank
        roots = np.sqrt(2.0 * stiffness) / edges.squares
        matrix = np.kron(edges.laplacian(tensions) - np.eye(edges.p), np.eye(rank))
        for rows in row_chunks(len(roots), 8 * size, 1 << 25):
            scaled = roots[rows, None] * differences[rows]
            products = (edges.vectors[rows, :, None] * scaled[:, None, :]).reshape(-1, size)
            matrix += products.T @ products
        return matrix


def orthonormal(columns: FloatArray) -> FloatArray:
    """Orthonormal basis of the span of centred columns.

    Examples
    --------
    >>> import numpy as np
    >>> orthonormal(np.array([[1.0, 2.0], [1.0, 4.0], [1.0, 6.0]])).shape
    (3, 1)
    """
    left, values, _ = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
    return np.asarray(left[:, values > NULL * values.max(initial=0.0)])


def proved(
    edges: Spanned, relaxation: Relaxation, coordinates: FloatArray, tensions: FloatArray
) -> Certificate:
    """Bound the optimum of the span: tensions count once U' L(u) U ⪰ I holds, rounding included."""
    _, price = relaxation.permitted(coordinates, edges.stretch(coordinates))
    squares = fsum(np.square(coordinates).ravel())
    # A length is a sum of p products, whose errors the price of a stiff spring shows.
    lower = squares - price - 16.0 * EPS * edges.p * coordinates.shape[1] * (squares + price)
    if not np.isfinite(relaxation.conjugate(tensions)):
        tensions = np.maximum(tensions, 0.0)
    values = np.linalg.eigvalsh(edges.laplacian(tensions))
    # Entries are sums over all edges, in which tensions of both signs may cancel.
    sizes = np.abs(tensions) / edges.squares * np.square(edges.vectors).sum(axis=1)
    least = float(values[0]) - EPS * (len(tensions) + 4 * edges.p) * float(sizes.sum())
    if least <= 0:
        return Certificate(lower, np.inf)
    return Certificate(lower, dual_value(relaxation, tensions / least))
