"""Array types, row-wise products that are bitwise reproducible, and small helpers."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

FloatArray = NDArray[np.floating[Any]]
IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]

# Whether a matrix is one of SciPy's sparse types, without narrowing its static type.
is_sparse: Callable[[object], bool] = issparse

# Distances whose ratio differs from one by less than this are tied: rounding of coordinates
# moves distances by about 1e-16 times the ratio of coordinates to distances.
TIED = 1e-10

# Block of rows, and multiple of columns, of a matrix product. BLAS may sum incomplete blocks in
# another order; with complete ones the result of a row does not depend on its position.
BLOCK_ROWS, BLOCK_COLUMNS = 64, 8
# Bytes of rows and their products that stay in the second cache.
CACHED = 1 << 19


def row_chunks(n: int, bytes_per_row: int, budget: int = 1 << 26, multiple: int = 1) -> list[slice]:
    """Slices of 0..n with a working set of about `budget` bytes, multiples of `multiple` rows."""
    step = max(1, budget // max(1, multiple * bytes_per_row)) * multiple
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def distinct_values(values: FloatArray) -> tuple[FloatArray, IntArray]:
    """Distinct values, ascending, and the inverse indices; tied values are equal.

    Like `numpy.unique` with its inverse, but rounding does not decide which of two values is the
    larger. In single precision only equal values are tied.

    Examples
    --------
    >>> distinct, place = distinct_values(np.array([2.0, 1.0 + 1e-14, 1.0]))
    >>> distinct.tolist(), place.tolist()
    ([1.0, 2.0], [1, 0, 0])
    """
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    first = first_of_distinct(ascending)
    place = np.empty(len(values), dtype=np.intp)
    place[order] = np.cumsum(first) - 1
    return ascending[first], place


def first_of_distinct(ascending: FloatArray) -> BoolArray:
    """Whether each of some ascending values is the first of those tied with it.

    Examples
    --------
    >>> first_of_distinct(np.array([1.0, 1.0 + 1e-14, 2.0])).tolist()
    [True, False, True]
    """
    first = np.ones(len(ascending), dtype=np.bool_)
    first[1:] = ascending[1:] * (1 - TIED) > ascending[:-1]
    return first


def with_short_indices(matrix: csr_array) -> csr_array:
    """Return a sparse matrix with 32-bit indices, which csgraph needs before SciPy 1.15."""
    indices, offsets = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return csr_array((matrix.data, indices, offsets), shape=matrix.shape)


def compressed_rows(values: FloatArray, columns: IntArray, offsets: IntArray) -> csr_array:
    """Square sparse matrix of its rows, without copies where 32-bit offsets are enough.

    SciPy converts all indices to 64 bits if those of either kind have as many.

    Examples
    --------
    >>> import numpy as np
    >>> columns = np.array([1, 0], dtype=np.int32)
    >>> compressed_rows(np.array([2.0, 3.0]), columns, np.array([0, 1, 2])).toarray()
    array([[0., 2.],
           [3., 0.]])
    """
    n = len(offsets) - 1
    if columns.dtype == np.int32 and offsets[-1] <= np.iinfo(np.int32).max:
        offsets = offsets.astype(np.int32)
    return csr_array((values, columns, offsets), shape=(n, n))


def sorted_rows(offsets: IntArray, columns: IntArray, values: FloatArray) -> csr_array:
    """Square sparse matrix of rows whose columns are sorted, none of them twice.

    Examples
    --------
    >>> import numpy as np
    >>> columns = np.array([0, 1], dtype=np.int32)
    >>> sorted_rows(np.array([0, 2, 2]), columns, np.ones(2)).has_canonical_format
    True
    """
    matrix = compressed_rows(values, columns, offsets)
    matrix.has_canonical_format = True
    return matrix


def column_norms(columns: FloatArray) -> FloatArray:
    """Length of each column, summed along contiguous copies: NumPy walks short rows one by one.

    Examples
    --------
    >>> column_norms(np.array([[3.0, 0.0], [4.0, 2.0]]))
    array([5., 2.])
    """
    rows = np.ascontiguousarray(columns.T)
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)))


def add_to_pairs(matrix: FloatArray, values: FloatArray) -> None:
    """Add values[i] + values[j] to entry ij, in place; a symmetric matrix stays exactly symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> matrix = np.zeros((2, 2))
    >>> add_to_pairs(matrix, np.array([1.0, 3.0]))
    >>> matrix
    array([[2., 4.],
           [4., 6.]])
    """
    for rows in row_chunks(len(matrix), 16 * len(values), budget=1 << 20):
        matrix[rows] += values[rows, None] + values


def pad_blocks(rows: FloatArray) -> FloatArray:
    """Rows as blocks (b, `BLOCK_ROWS`, columns), the last one padded with copies of a row."""
    copies = np.repeat(rows[-1:], -len(rows) % BLOCK_ROWS, axis=0)
    filled = np.concatenate((rows, copies)) if len(copies) else rows
    return filled.reshape(-1, BLOCK_ROWS, rows.shape[1])


def row_products(
    rows: FloatArray, matrix: FloatArray, center: FloatArray | None = None
) -> FloatArray:
    """Multiply rows, less a center, by a matrix; each product is independent of the other rows.

    Independent to the last bit.

    Examples
    --------
    >>> import numpy as np
    >>> row_products(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0], [10.0]]))
    array([[21.],
           [43.]])
    """
    columns = matrix.shape[1]
    # Always copied: products with a transposed matrix round differently.
    padded = np.zeros((len(matrix), columns + -columns % BLOCK_COLUMNS))
    padded[:, :columns] = matrix
    products = np.empty((len(rows), columns))
    whole = len(rows) - len(rows) % BLOCK_ROWS
    chunks = row_chunks(whole, 8 * sum(padded.shape), CACHED, BLOCK_ROWS)
    # One small array for all chunks: memory that is new with every chunk costs page faults.
    height = max((some.stop - some.start for some in chunks), default=0) // BLOCK_ROWS
    space = np.empty((height, BLOCK_ROWS, padded.shape[1]))

    def blocks_of(some: slice) -> FloatArray:
        chosen = rows[some] if center is None else rows[some] - center
        return pad_blocks(np.asarray(chosen, dtype=np.float64))

    for some in chunks:
        blocks = blocks_of(some)
        found = np.matmul(blocks, padded, out=space[: len(blocks)])
        products[some] = found.reshape(-1, padded.shape[1])[:, :columns]
    if whole < len(rows):
        last = blocks_of(slice(whole, None)) @ padded
        products[whole:] = last[0, : len(rows) - whole, :columns]
    return products
