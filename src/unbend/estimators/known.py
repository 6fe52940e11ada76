"""A sparse matrix of distances as a list of known pairs."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import FloatArray
from unbend.mds import Pairs
from unbend.report import note


def known_pairs(sparse: Any, clean: bool) -> Pairs:
    """List the stored pairs, in either direction; a stored zero is a distance of zero.

    What is no distance is refused, or mended where `clean`, as in a dense matrix.
    """
    rows = csr_array(sparse, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    entries = rows.tocoo()
    _check_diagonal(rows.diagonal(), clean)
    off = entries.row != entries.col
    ends = np.sort(np.stack([entries.row[off], entries.col[off]]).astype(np.int64), axis=0)
    order = np.lexsort(ends[::-1])
    ends, values = ends[:, order], entries.data[off][order]
    first = np.flatnonzero(np.r_[True, np.any(np.diff(ends, axis=1) != 0, axis=0)][: len(values)])
    both = np.diff(np.r_[first, len(values)])
    there, back = values[first], values[first + both - 1]
    _check_directions(there, back, clean)
    # Halves before the sum: two equal numbers give themselves.
    mean = there / 2 + back / 2
    if clean:
        note(negative=int(np.sum(mean < 0)))
        mean = np.maximum(mean, 0.0)
    return Pairs(rows.shape[0], mean, None, np.ascontiguousarray(ends[:, first]))


def _check_diagonal(diagonal: FloatArray, clean: bool) -> None:
    largest = float(np.abs(diagonal).max(initial=0.0))
    if clean:
        note(diagonal=largest)
    elif largest > 0:
        raise ValueError(
            "the distance matrix has a diagonal that is not zero: every point is at distance zero "
            "from itself; repair='clean' does away with it"
        )


def _check_directions(there: FloatArray, back: FloatArray, clean: bool) -> None:
    asymmetry = float(np.abs(there - back).max(initial=0.0))
    if clean:
        note(asymmetry=asymmetry)
    elif asymmetry > 1e-6 * float(there.max(initial=0.0)):
        raise ValueError(
            "the sparse matrix has different distances for the two directions of an edge: pass "
            "(X + X.T) / 2 if that is what you mean; repair='clean' does so"
        )
