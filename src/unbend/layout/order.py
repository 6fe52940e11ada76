"""Orders of rows: one that does not depend on the data's own, and one that follows a layout."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unbend._kernels import kernels
from unbend._kernels.parts import COPIED, map_parts
from unbend.arrays import FloatArray, IntArray, compressed_rows, row_chunks

# Bits of a coordinate in Morton order.
BITS = {1: 30, 2: 16, 3: 10}
# Significant bits of affinities, and of those that are hashed: a descent amplifies any difference,
# so what rounding did to the data must not reach it.
WEIGHT_BITS, HASHED_BITS = 18, 12
# Times that hashes are passed on to neighbours, at most; rows of data differ after one to three.
ROUNDS = 32
# Increment of splitmix64.
STEP = np.uint64(0x9E3779B97F4A7C15)


def morton_order(points: FloatArray) -> IntArray:
    """Order of the points along a curve that visits every square of a grid before the next one.

    Examples
    --------
    >>> import numpy as np
    >>> morton_order(np.array([[3.0, 3.0], [0.0, 0.0], [3.0, 2.9], [0.0, 0.1]])).tolist()
    [1, 3, 2, 0]
    """
    d = points.shape[1]
    low, high = points.min(axis=0), points.max(axis=0)
    scale = (2 ** BITS[d] - 1) / max(float((high - low).max()), np.finfo(np.float32).tiny)
    cells = ((points - low).astype(np.float64) * scale).astype(np.uint64)
    code = np.zeros(len(points), dtype=np.uint64)
    for bit in range(BITS[d]):
        for axis in range(d):
            one = (cells[:, axis] >> np.uint64(bit)) & np.uint64(1)
            code |= one << np.uint64(bit * d + axis)
    return np.argsort(code, kind="stable")


def canonical_order(affinities: csr_array, threads: int = 1) -> IntArray:
    """Order of the rows that depends on their affinities and not on the order of the data.

    Rows are sorted by a hash of their affinities, of those of their neighbours, and so on until no
    two are equal (Weisfeiler and Leman's refinement, 1968). Where it ends before that, as on a ring
    or with equal components, one of the equal rows is marked, and it goes on from there: which one
    is chosen makes no difference to a layout if a symmetry of the graph exchanges them.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> path = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> order, swap = canonical_order(csr_array(path)), [2, 0, 1]
    >>> swapped = canonical_order(csr_array(path[np.ix_(swap, swap)]))
    >>> np.array(swap)[swapped].tolist() == order.tolist()
    True
    """
    offsets = affinities.indptr.astype(np.int64, copy=False)
    indices = affinities.indices.astype(np.int32, copy=False)
    weights = affinities.data.astype(np.float64, copy=False)
    state = np.zeros(len(offsets) - 1, dtype=np.uint64)
    classes = 1
    for _ in range(ROUNDS):
        before = state.copy()
        kernels.hash_neighbors(offsets, indices, weights, HASHED_BITS, before, threads, state)
        values, first, counts = np.unique(state, return_index=True, return_counts=True)
        if len(values) == len(state):
            break
        if len(values) == classes:
            state[first[counts > 1][:1]] += STEP
        classes = len(values)
    return np.argsort(state, kind="stable")


def canonical_form(affinities: csr_array, threads: int = 1) -> tuple[csr_array, IntArray]:
    """Affinities, rounded, in their canonical order, and that order."""
    order = canonical_order(affinities, threads)
    # As many bits as single precision has, or fewer.
    weights = np.empty(len(affinities.data), dtype=np.float32)

    def round_entries(some: slice) -> None:
        weights[some] = round_to_bits(affinities.data[some], WEIGHT_BITS)

    map_parts(round_entries, row_chunks(len(weights), 8, COPIED), threads)
    rounded = compressed_rows(weights, affinities.indices, affinities.indptr)
    return renumber(rounded, order, threads), order


def sample_rows(points: FloatArray, most: int, threads: int = 1) -> FloatArray:
    """At most so many of the rows, chosen and sorted by a hash of their numbers."""
    n, columns = points.shape
    if n <= most:
        return points
    factors = mix(STEP * np.arange(1, columns + 1, dtype=np.uint64)) | np.uint64(1)
    points, hashes = np.ascontiguousarray(points, dtype=np.float64), np.empty(n, dtype=np.uint64)
    kernels.hash_rows(points, factors, threads, hashes)
    chosen = np.argsort(hashes, kind="stable")[:most]
    sample = np.empty((most, columns))

    def take(some: slice) -> None:
        np.take(points, chosen[some], axis=0, out=sample[some], mode="clip")

    map_parts(take, row_chunks(most, 8 * columns, COPIED), threads)
    return sample


def mix(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of numbers as splitmix64 does."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def round_to_bits(numbers: FloatArray, bits: int) -> FloatArray:
    """Round numbers that are not negative to so many significant bits.

    Examples
    --------
    >>> import numpy as np
    >>> round_to_bits(np.array([1.0, 0.3, 0.0]), 4).tolist()
    [1.0, 0.3125, 0.0]
    """
    # A mantissa has 53 bits, the first of which is not stored; a carry reaches the exponent.
    dropped = np.uint64(53 - bits)
    half = np.uint64(1) << (dropped - np.uint64(1))
    words = (numbers.view(np.uint64) + half) >> dropped << dropped
    return words.view(np.float64)


def renumber(matrix: csr_array, order: IntArray, threads: int = 1) -> csr_array:
    """Rows and columns of a sparse matrix in another order, entries of a row by column.

    So sums over a row do not depend on the order of the data. Entries are in single precision.
    """
    offsets = matrix.indptr.astype(np.int64, copy=False)
    starts = np.concatenate(([0], np.cumsum(np.diff(offsets)[order])))
    inverse = np.empty(len(order), dtype=np.int32)
    inverse[order] = np.arange(len(order), dtype=np.int32)
    columns = np.empty(len(matrix.indices), dtype=np.int32)
    weights = np.empty(len(columns), dtype=np.float32)
    kernels.renumber(
        offsets, matrix.indices.astype(np.int32, copy=False),
        matrix.data.astype(np.float32, copy=False), order, inverse, starts, threads, columns,
        weights,
    )  # fmt: skip
    return compressed_rows(weights, columns, starts)
