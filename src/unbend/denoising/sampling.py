"""Samples of the rows that depend on what rows contain and not on their order."""

import numpy as np

from unbend.arrays import FloatArray, IntArray, row_chunks

# Constants of SplitMix64 (Steele, Lea and Flood, 2014).
_STEP, _FIRST, _SECOND = (
    np.uint64(value) for value in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


def shuffle_distinct(points: FloatArray, seed: int = 0) -> IntArray:
    """Shuffle the distinct rows: any part of the result from the front is a sample.

    Rows are ordered by a hash of their numbers, so another order of the rows gives the same
    sample, and duplicate rows count once.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    >>> rows[shuffle_distinct(rows)].tolist() == rows[::-1][shuffle_distinct(rows[::-1])].tolist()
    True
    >>> len(shuffle_distinct(rows))
    2
    """
    hashes = np.empty(len(points), dtype=np.uint64)
    with np.errstate(over="ignore"):
        start = np.uint64(seed) * _STEP
        for some in row_chunks(len(points), 32 * points.shape[1]):
            # The sum with zero makes both zeros one.
            bits = np.ascontiguousarray(points[some] + 0.0, dtype=np.float64).view(np.uint64)
            state = np.full(len(bits), start)
            for column in bits.T:
                state = _mix(state * _FIRST + column)
            hashes[some] = state
    return np.unique(hashes, return_index=True)[1]


def _mix(
    state: np.ndarray[tuple[int], np.dtype[np.uint64]],
) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Spread every bit over all others."""
    state = state + _STEP
    state = (state ^ (state >> np.uint64(30))) * _FIRST
    state = (state ^ (state >> np.uint64(27))) * _SECOND
    return state ^ (state >> np.uint64(31))
