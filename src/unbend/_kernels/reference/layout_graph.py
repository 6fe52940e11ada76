"""The graph of a neighbour embedding, and products with its Laplacian and with long vectors."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unbend.arrays import FloatArray, IntArray


def transpose(
    offsets: IntArray,
    indices: IntArray,
    weights: FloatArray,
    threads: int,
    new_offsets: IntArray,
    new_indices: IntArray,
    new_weights: FloatArray,
) -> None:
    """Fill the transpose of a square matrix in compressed rows, the entries of each by column."""
    order = np.argsort(indices, kind="stable")
    new_offsets[0] = 0
    np.cumsum(np.bincount(indices, minlength=len(offsets) - 1), out=new_offsets[1:])
    new_indices[:] = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[order]
    new_weights[:] = weights[order]


def count_sums(
    offsets: IntArray,
    indices: IntArray,
    other_offsets: IntArray,
    other_indices: IntArray,
    threads: int,
    counts: IntArray,
) -> None:
    """Fill how many entries each row of the sum of two matrices has; no row has a column twice."""
    n = len(counts)
    places = [
        np.repeat(np.arange(n), np.diff(starts)) * n + columns
        for starts, columns in ((offsets, indices), (other_offsets, other_indices))
    ]
    counts[:] = np.bincount(np.union1d(*places) // n, minlength=n)


def add_rows(
    offsets: IntArray,
    indices: IntArray,
    weights: FloatArray,
    other_offsets: IntArray,
    other_indices: IntArray,
    other_weights: FloatArray,
    new_offsets: IntArray,
    threads: int,
    new_indices: IntArray,
    new_weights: FloatArray,
) -> None:
    """Fill the sum of two matrices, whose rows begin at `new_offsets`; they are not sorted."""
    shape = (len(offsets) - 1,) * 2
    total = csr_array(
        csr_array((weights, indices, offsets), shape=shape)
        + csr_array((other_weights, other_indices, other_offsets), shape=shape)
    )
    new_indices[:], new_weights[:] = total.indices, total.data


def laplacian_product(
    offsets: IntArray,
    indices: IntArray,
    weights: FloatArray,
    diagonal: FloatArray,
    scale: FloatArray,
    block: FloatArray,
    threads: int,
    image: FloatArray,
) -> None:
    """Fill diagonal · block − scale · W (scale · block) with W in single precision."""
    n = len(diagonal)
    matrix = csr_array((weights.astype(np.float64), indices, offsets), shape=(n, n))
    scaled = np.asarray(matrix @ (scale[:, None] * block))
    image[:] = diagonal[:, None] * block - scale[:, None] * scaled


def inner_products(
    basis: FloatArray, block: FloatArray, threads: int, products: FloatArray
) -> None:
    """Fill the inner products (m, w) of vectors (m, n) with the columns of a block (n, w)."""
    products[:] = basis @ block


def add_combinations(
    basis: FloatArray, coefficients: FloatArray, threads: int, block: FloatArray
) -> None:
    """Add to a block (n, w) combinations of vectors (m, n), by coefficients (m, w)."""
    block += basis.T @ coefficients


def gram(block: FloatArray, threads: int, products: FloatArray) -> None:
    """Fill the inner products (w, w) of the columns of a block (n, w)."""
    products[:] = block.T @ block


def store_columns(block: FloatArray, threads: int, vectors: FloatArray) -> None:
    """Fill the columns of a block (n, w) as vectors (w, n)."""
    vectors[:] = block.T


def turn_rows(block: FloatArray, turn: FloatArray, threads: int, turned: FloatArray) -> None:
    """Fill a block (n, w) times a small matrix (w, w)."""
    turned[:] = block @ turn


def _mix(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of numbers as splitmix64 does."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def hash_rows(
    points: FloatArray, factors: NDArray[np.uint64], threads: int, hashes: NDArray[np.uint64]
) -> None:
    """Fill a hash of each row of numbers, by odd factors of its columns."""
    # Minus zero is zero.
    bits = (points + 0.0).view(np.uint64)
    # Numbers of few digits have them in their highest bits, which products lose.
    bits ^= bits >> np.uint64(32)
    hashes[:] = _mix((bits * factors).sum(axis=1, dtype=np.uint64))


def hash_neighbors(
    offsets: IntArray,
    indices: IntArray,
    weights: FloatArray,
    bits: int,
    state: NDArray[np.uint64],
    threads: int,
    hashes: NDArray[np.uint64],
) -> None:
    """Fill a hash of each row's state and of the weights, to some bits, and states of its entries.

    Entries are summed modulo 2⁶⁴, which has no order.
    """
    dropped = np.uint64(53 - bits)
    half = np.uint64(1) << (dropped - np.uint64(1))
    words = (weights.view(np.uint64) + half) >> dropped << dropped
    sums = np.zeros(len(indices) + 1, dtype=np.uint64)
    np.cumsum(_mix(_mix(words) + state[indices]), out=sums[1:])
    step = np.uint64(0x9E3779B97F4A7C15)
    hashes[:] = _mix(step + state + sums[offsets[1:]] - sums[offsets[:-1]])
