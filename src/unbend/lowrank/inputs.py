"""Checks of a factorisation's matrix, rank and tolerance."""

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from unbend.arrays import FloatArray, is_sparse
from unbend.validation.arrays import check_finite, check_shape, real_array
from unbend.validation.distances import check_square, check_symmetric
from unbend.validation.scalars import check_integer, check_real


def as_operand(matrix: Any) -> Any:
    """Return what products are taken of: sparse arrays and operators as they are, else an array."""
    if isinstance(matrix, LinearOperator) and (matrix.dtype is None or matrix.dtype.kind in "fiub"):
        return matrix
    if not is_sparse(matrix):
        matrix = real_array(matrix, "matrix")
    elif matrix.dtype.kind not in "fiub":
        real_array(matrix, "matrix", sparse=True)
    check_shape(matrix, "matrix")
    check_finite(matrix, "matrix")
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


def check_product(image: FloatArray) -> FloatArray:
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
    is kept; integers become double precision.
    """
    if is_sparse(matrix) or isinstance(matrix, LinearOperator):
        raise TypeError(
            "this factorisation changes all entries: give a dense array (matrix.toarray()), "
            "or use pivoted_cholesky or randomized_interpolative, which only read"
        )
    # A copy, since factorisations work in place.
    array = np.array(real_array(matrix, "matrix"))
    check_shape(array, "matrix")
    largest, dtype = check_finite(array, "matrix"), array.dtype
    if largest > np.finfo(dtype).max / sum(array.shape):
        raise ValueError(f"entries as large as {largest:.2g} overflow in products: divide them")
    exponent = int(np.frexp(largest)[1]) - 1
    return np.ldexp(array, -exponent), float(np.ldexp(1.0, exponent))


def symmetric_matrix(matrix: Any) -> tuple[FloatArray, float]:
    """Return a symmetric matrix as `real_matrix` does; rounding apart, it must be symmetric."""
    array, scale = real_matrix(matrix)
    check_square(array, "matrix", "symmetric matrix")
    check_symmetric(array)
    return (array + array.T) / 2, scale


def rank_and_tolerance(array: FloatArray, rank: int | None, tol: float | None) -> tuple[int, float]:
    """Largest rank that may be found, and the tolerance relative to the norm of the matrix."""
    most = min(array.shape)
    if rank is not None:
        most = check_integer("rank", rank, 1, most)
    if tol is None:
        tol = max(array.shape) * float(np.finfo(array.dtype).eps)
    return most, check_real("tol", tol, 0, 1, closed="low")
