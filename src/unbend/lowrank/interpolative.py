"""Interpolative decomposition A ≈ B P: B some columns of A, P the identity in them.

Deterministic by a strong QR factorisation: |P| ≤ f, ‖P‖ ≤ c and ‖A − BP‖ ≤ c σₖ₊₁ with
c = √(1 + f² k(n − k)), which is Theorem 15.1 for f = 1 and (15.27) for f = 2. Randomised: the same
for a few random combinations GA of the rows (Martinsson, Rokhlin and Tygert, 2006; book 15.2.2).
SciPy's decomposition stops pivoting at k, which is faster, but guarantees no bound of P: it is used
where it passes the same test as our exchanges.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.interpolative import interp_decomp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from unbend.arrays import FloatArray, IntArray, is_sparse
from unbend.lowrank.inputs import adjoint_product, as_operand, rank_and_tolerance, real_matrix
from unbend.lowrank.rank_revealing import strong_qr
from unbend.validation.scalars import check_integer, check_real


@dataclass(frozen=True, eq=False)
class Interpolative:
    """A ≈ basis @ interpolation.

    Attributes
    ----------
    columns : array (k,)
        Columns of A in the basis.
    basis : array (m, k)
        A[:, columns].
    interpolation : array (k, n)
        P, the identity in these columns.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import interpolative
    >>> matrix = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 7.0]])
    >>> found = interpolative(matrix, rank=2)
    >>> bool(np.allclose(found.basis @ found.interpolation, matrix))
    True
    """

    columns: IntArray
    basis: FloatArray
    interpolation: FloatArray

    @property
    def rank(self) -> int:
        """Number of columns."""
        return len(self.columns)

    def matrix(self) -> FloatArray:
        """Approximation of rank k, equal to A in the selected columns."""
        return np.asarray(self.basis @ self.interpolation)

    def error(self, matrix: FloatArray) -> float:
        """Return ‖A − matrix()‖, spectral, for the dense A."""
        return float(np.linalg.norm(np.asarray(matrix) - self.matrix(), 2))


def interpolative(
    matrix: Any, rank: int | None = None, tol: float | None = None, f: float = 2.0
) -> Interpolative:
    """Interpolative decomposition with bounded interpolation.

    Parameters
    ----------
    matrix : array (m, n)
        Real numbers.
    rank, tol, f
        As for `strong_qr`; f = 1 gives Theorem 15.1.

    Returns
    -------
    Interpolative

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import interpolative
    >>> found = interpolative([[1.0, 2.0, 3.0], [2.0, 4.0, 7.0]], rank=2)
    >>> sorted(found.columns.tolist()), np.abs(found.interpolation).max().round(9).item()
    ([1, 2], 1.0)
    """
    array, scale = real_matrix(matrix)
    most, tol = rank_and_tolerance(array, rank, tol)
    f = check_real("f", f, 1)
    chosen = None
    if 4 * most < min(array.shape):
        chosen = _scipy_columns(array, most, tol, f)
    if chosen is None:
        found = strong_qr(array, most, tol, f)
        chosen = found.columns, found.interpolation()
    columns, weights = chosen
    return Interpolative(columns, array[:, columns] * scale, weights)


def _scipy_columns(
    array: FloatArray, k: int, tol: float, f: float
) -> tuple[IntArray, FloatArray] | None:
    """SciPy's columns and interpolation, if no exchange would increase their volume f times.

    See `unbend.lowrank.rank_revealing` for the test; columns of the residual have the norms of
    those of R₂₂.
    """
    # The stubs do not distinguish a rank from a precision, which returns three values.
    pair = interp_decomp(array.astype(np.float64), k, rand=False)
    order, inner = pair[-2], np.asarray(pair[-1], dtype=array.dtype)
    columns, others = order[:k], order[k:]
    triangle = np.linalg.qr(array[:, columns], mode="r")
    if np.abs(np.diagonal(triangle)).min() <= tol * np.linalg.norm(array, axis=0).max():
        return None
    inverse = solve_triangular(triangle, np.eye(k, dtype=array.dtype))
    rest = np.linalg.norm(array[:, others] - array[:, columns] @ inner, axis=0)
    if np.hypot(inner, rest * np.linalg.norm(inverse, axis=1)[:, None]).max() > f:
        return None
    weights = np.zeros((k, len(order)), array.dtype)
    weights[:, columns], weights[:, others] = np.eye(k), inner
    return columns.astype(np.intp), weights


def randomized_interpolative(
    matrix: Any, rank: int, rng: np.random.Generator, oversampling: int = 20, f: float = 2.0
) -> Interpolative:
    """Interpolative decomposition from one product with a few random rows.

    Takes that product and O(n(k + oversampling)²); Theorems 15.5 and 15.6 and Corollary 15.1 bound
    the error (`unbend.lowrank.bounds`).

    Parameters
    ----------
    matrix : array, sparse array or LinearOperator (m, n)
        Real numbers; only products with it are needed.
    rank : int
        Largest number of columns.
    rng : numpy.random.Generator
        Generator of the Gaussian matrix.
    oversampling : int
        Random combinations of rows beyond the rank, l − k.
    f : float
        As for `strong_qr`.

    Returns
    -------
    Interpolative

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import randomized_interpolative
    >>> x = np.linspace(0, 1, 500)
    >>> A = 1 / (1 + np.add.outer(x, x))
    >>> found = randomized_interpolative(A, 12, np.random.default_rng(0))
    >>> bool(found.error(A) < 1e-9 * np.linalg.norm(A, 2))
    True
    """
    f = check_real("f", f, 1)
    if not (is_sparse(matrix) or isinstance(matrix, LinearOperator)):
        matrix, scale = real_matrix(matrix)
    else:
        matrix, scale = as_operand(matrix), 1.0
    operator = aslinearoperator(matrix)
    m, n = operator.shape
    k = check_integer("rank", rank, 1, min(m, n))
    extra = check_integer("oversampling", oversampling, 1, np.iinfo(np.int64).max)
    gaussian = rng.standard_normal((m, min(k + extra, m))).astype(operator.dtype)
    sketch = adjoint_product(operator, gaussian).T
    found = strong_qr(sketch, k, None, f)
    chosen = np.zeros((n, found.rank), operator.dtype)
    chosen[found.columns, np.arange(found.rank)] = 1
    # B = A[:, J], not AP' as in the book's Step 3, which combines all columns.
    basis = np.asarray(operator.matmat(chosen))
    return Interpolative(found.columns, basis * scale, found.interpolation())
