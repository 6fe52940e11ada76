"""What every factorisation asks of its matrix, its rank and its tolerance."""

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from unbend.arrays import FloatArray, is_sparse

# Two roundings of one entry, and the sums that lead to it, may differ by this many ulps.
ASYMMETRY = 1000


def multiplied(matrix: Any) -> Any:
    """Return what products are taken of: sparse arrays and operators as they are, else an array."""
    if not (is_sparse(matrix) or isinstance(matrix, LinearOperator)):
        matrix = np.asarray(matrix)
    if matrix.dtype is not None and matrix.dtype.kind not in "fiub":
        raise TypeError(f"the matrix must hold real numbers, and its type is {matrix.dtype}")
    if len(matrix.shape) != 2 or 0 in matrix.shape:
        raise ValueError(f"give a matrix with rows and columns, not an array {matrix.shape}")
    return matrix


def adjoint_product(matrix: Any, vectors: FloatArray) -> FloatArray:
    """Return A'·vectors; an operator must know its adjoint."""
    try:
        # A transpose that is a view multiplies as fast; conjugates are never needed.
        return np.asarray(matrix.T @ vectors)
    except (TypeError, NotImplementedError) as error:
        if not isinstance(matrix, LinearOperator):
            raise
        raise TypeError(
            "products with the adjoint are needed: give the LinearOperator rmatvec or rmatmat"
        ) from error


def finite(image: FloatArray) -> FloatArray:
    """Return a product, which shows NaN and infinity of the matrix, if it has none."""
    if not np.all(np.isfinite(image)):
        raise ValueError(
            "products with the matrix are not finite: replace or drop NaN and infinite entries, "
            "and divide those that are too large"
        )
    return image


def real_matrix(matrix: Any) -> tuple[FloatArray, float]:
    """Return the matrix divided by a power of two near its largest entry, and that power.

    Squares of its entries then neither overflow nor vanish, and no bit is lost. Single precision
    is kept; whole numbers become double precision.
    """
    if is_sparse(matrix) or isinstance(matrix, LinearOperator):
        raise TypeError(
            "this factorisation changes all entries: give a dense array (matrix.toarray()), "
            "or use pivoted_cholesky or randomized_interpolative, which only read"
        )
    array = np.asarray(matrix)
    if np.iscomplexobj(array) or array.dtype.kind not in "fiub":
        raise TypeError(f"the matrix must hold real numbers, and its type is {array.dtype}")
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"give a matrix with rows and columns, not an array {array.shape}")
    dtype = np.float32 if array.dtype in (np.float16, np.float32) else np.float64
    array = array.astype(dtype)
    largest = float(np.abs(array).max())
    if not np.isfinite(largest):
        raise ValueError("the matrix holds NaN or infinity: replace or drop those entries")
    if largest > np.finfo(dtype).max / sum(array.shape):
        raise ValueError(f"entries as large as {largest:.2g} overflow in products: divide them")
    exponent = int(np.frexp(largest)[1]) - 1
    return np.ldexp(array, -exponent), float(np.ldexp(1.0, exponent))


def symmetric_matrix(matrix: Any) -> tuple[FloatArray, float]:
    """Return a symmetric matrix as `real_matrix` does; rounding apart, it must be symmetric."""
    array, scale = real_matrix(matrix)
    if array.shape[0] != array.shape[1]:
        raise ValueError(f"the matrix must be square and symmetric, and it is {array.shape}")
    if np.abs(array - array.T).max() > ASYMMETRY * np.finfo(array.dtype).eps:
        raise ValueError("the matrix is not symmetric: use (A + A.T) / 2 if it should be")
    return (array + array.T) / 2, scale


def settled(array: FloatArray, rank: int | None, tol: float | None) -> tuple[int, float]:
    """Largest rank that may be found, and the tolerance relative to the norm of the matrix."""
    most = min(array.shape)
    if rank is not None:
        most = whole_number("rank", rank, most)
    if tol is None:
        tol = max(array.shape) * float(np.finfo(array.dtype).eps)
    if not 0 <= tol < 1:
        raise ValueError(f"tol is relative to the norm of the matrix: 0 ≤ tol < 1, not {tol!r}")
    return most, float(tol)


def whole_number(name: str, value: Any, most: int) -> int:
    """Return a number that must lie between 1 and `most`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if not 1 <= value <= most:
        raise ValueError(f"{name} must lie between 1 and {most}, and it is {value}")
    return int(value)


def at_least(name: str, value: Any, low: int) -> int:
    """Return a whole number that must not be smaller than `low`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if value < low:
        raise ValueError(f"{name}={value} is not allowed: it must be at least {low}")
    return int(value)


def growth_limit(f: float) -> float:
    """Return f of a strong factorisation, which must be at least one."""
    if not 1 <= f < np.inf:
        raise ValueError(f"f bounds the entries of the interpolation: 1 or more, not {f!r}")
    return float(f)
