"""Plain twins of the kernels that offer products of matrices to lists of the nearest."""

import numpy as np

from unbend.arrays import FloatArray, IntArray

FREE = np.iinfo(np.int32).max


def offer_pairs(
    panels: FloatArray,
    squares: FloatArray,
    pairs: IntArray,
    tile: int,
    threads: int,
    keys: FloatArray,
    bounds: FloatArray,
    indices: IntArray,
    sizes: IntArray,
    length: int,
) -> None:
    """Offer keys a_i + a_j − 2 x_i·x_j of pairs of tiles to the shortlists of both.

    Rows lie in panels of 96 bytes side by side (panel, coordinate, row of the panel).
    A tile paired with itself starts its lists, which must be empty; no row is offered to
    itself, and no tile may be in two pairs.
    """
    rows, numbers = _unpacked(panels), np.arange(len(squares))
    for i, j in pairs:
        first, second = (numbers[t * tile : (t + 1) * tile] for t in (i, j))
        products = rows[first] @ rows[second].T
        offered = (squares[first, None] + squares[second]) - 2 * products
        if i == j:
            np.fill_diagonal(offered, np.nan)
        _offer(offered, first, second, keys, bounds, indices, sizes, length)
        if i != j:
            _offer(offered.T, second, first, keys, bounds, indices, sizes, length)


def offer_columns(
    rows: FloatArray,
    row_squares: FloatArray,
    columns: FloatArray,
    column_squares: FloatArray,
    tile: int,
    threads: int,
    keys: FloatArray,
    bounds: FloatArray,
    indices: IntArray,
    sizes: IntArray,
    length: int,
) -> None:
    """Offer keys a_i + b_j − 2 x_i·y_j of panels to the empty shortlists of the rows."""
    everyone, numbers = np.arange(len(row_squares)), np.arange(len(column_squares))
    left, right = _unpacked(rows), _unpacked(columns)
    for first in range(0, len(numbers), tile):
        some = numbers[first : first + tile]
        offered = (row_squares[:, None] + column_squares[some]) - 2 * (left @ right[some].T)
        _offer(offered, everyone, some, keys, bounds, indices, sizes, length)


def _unpacked(panels: FloatArray) -> FloatArray:
    """Rows one after the other."""
    return panels.transpose(0, 2, 1).reshape(-1, panels.shape[1])


def _offer(
    offered: FloatArray,
    own: IntArray,
    others: IntArray,
    keys: FloatArray,
    bounds: FloatArray,
    indices: IntArray,
    sizes: IntArray,
    length: int,
) -> None:
    """Keep the smallest of what the lists of `own` have and of what is offered."""
    taken = np.arange(keys.shape[1]) < sizes[own, None]
    every = np.hstack((np.where(taken, keys[own], np.inf), np.nan_to_num(offered, nan=np.inf)))
    at = np.hstack((indices[own], np.broadcast_to(others, offered.shape)))
    at = np.where(np.isinf(every), FREE, at)
    order = np.lexsort((at, every), axis=1)[:, :length]
    kept = np.take_along_axis(every, order, axis=1)
    width = kept.shape[1]
    keys[own, :width], indices[own, :width] = kept, np.take_along_axis(at, order, axis=1)
    sizes[own] = np.sum(np.isfinite(kept), axis=1)
    bounds[own] = kept[:, -1] if width == length else np.inf


def sort_shortlists(
    keys: FloatArray,
    bounds: FloatArray,
    indices: IntArray,
    sizes: IntArray,
    length: int,
    threads: int,
    sorted_keys: FloatArray,
    sorted_indices: IntArray,
) -> None:
    """Fill (m, length) arrays with the smallest of each list, sorted by (key, index).

    Here the lists are sorted already.
    """
    count = len(sorted_keys)
    taken = np.arange(length) < sizes[:count, None]
    sorted_keys[...] = np.where(taken, keys[:count, :length], np.inf)
    sorted_indices[...] = np.where(taken, indices[:count, :length], FREE)
