"""Combining several dissimilarity matrices of the same objects (book section 4.1.2)."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from scipy.sparse import coo_array, csr_array

from unbend.arrays import BoolArray, FloatArray, IntArray, is_sparse
from unbend.graphs.readers import edges_of

Combination = Literal["weighted", "rank", "max", "min"]


def combine(
    matrices: Sequence[Any],
    how: Combination = "weighted",
    weights: Sequence[float] | None = None,
    *,
    scale: bool = True,
) -> Any:
    """Combine distance-type matrices of the same objects, such as mileage, price and time.

    Each pair is combined over the matrices that measured it; a pair that none measured stays
    missing. Missing is NaN in a dense matrix and not stored in a sparse one, where a stored zero
    is a distance of zero.

    Parameters
    ----------
    matrices : sequence of (n, n)
        All dense, or all sparse or graphs, of distance type: small means similar.
    how : {"weighted", "rank", "max", "min"}
        The weighted mean; the weighted mean of ranks, which asks nothing of the scales but their
        order (equal distances share a rank, and the largest pair of a matrix has rank one); the
        largest; or the smallest.
    weights : sequence of float, optional
        What each matrix counts in a mean; all the same if absent.
    scale : bool
        Divide each matrix first by the mean of its measured pairs, so that units do not matter.
        False where all have one unit, which the result then has too. Ranks need neither.

    Returns
    -------
    array or csr_array (n, n)
        Dense or sparse as the matrices were; symmetric if they were.

    Examples
    --------
    >>> import numpy as np
    >>> miles = np.array([[0.0, 300.0, 900.0], [300.0, 0.0, np.nan], [900.0, np.nan, 0.0]])
    >>> hours = np.array([[0.0, 1.0, np.nan], [1.0, 0.0, 3.0], [np.nan, 3.0, 0.0]])
    >>> combine([miles, hours])
    array([[0. , 0.5, 1.5],
           [0.5, 0. , 1.5],
           [1.5, 1.5, 0. ]])
    """
    matrices = [edges_of(matrix, "length") for matrix in matrices]
    values, n, keys = _align(matrices)
    counts = _weights(weights, len(values), how)
    apart = keys // n != keys % n
    measured = ~np.isnan(values)
    if how == "rank":
        values = _ranks(values, measured, apart)
    elif scale:
        values = values / _units(values, measured & apart)[:, None]
    combined = _combine_known(values, measured, counts, how)
    if not is_sparse(matrices[0]):
        return combined.reshape(n, n)
    return csr_array(coo_array((combined, (keys // n, keys % n)), shape=(n, n)))


def _align(matrices: Sequence[Any]) -> tuple[FloatArray, int, IntArray]:
    """Values (matrices, pairs), NaN where missing; n; and the number i·n + j of each pair."""
    if not len(matrices):
        raise ValueError("there is nothing to combine: give at least one matrix")
    if len({is_sparse(matrix) for matrix in matrices}) > 1:
        raise TypeError("the matrices must be all dense or all sparse: convert some of them")
    if not is_sparse(matrices[0]):
        matrices = [np.asarray(matrix, dtype=np.float64) for matrix in matrices]
    shapes = {matrix.shape for matrix in matrices}
    n = int(matrices[0].shape[0])
    if shapes != {(n, n)}:
        raise ValueError(f"the matrices must be square and of one size: they are {sorted(shapes)}")
    if is_sparse(matrices[0]):
        values, keys = _on_one_pattern([csr_array(matrix) for matrix in matrices], n)
    else:
        values, keys = np.stack(matrices).reshape(len(matrices), n * n), np.arange(n * n)
    if not np.all((values >= 0) & np.isfinite(values) | np.isnan(values)):
        raise ValueError(
            "distances must be finite and not negative: leave missing pairs out, or NaN in a dense "
            "matrix, and turn similarities into distances first"
        )
    return values, n, keys


def _on_one_pattern(matrices: list[csr_array], n: int) -> tuple[FloatArray, IntArray]:
    entries = []
    for matrix in matrices:
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        found = matrix.tocoo()
        entries.append((found.row.astype(np.int64) * n + found.col, found.data))
    keys: IntArray = np.unique(np.concatenate([key for key, _ in entries]))
    values = np.full((len(matrices), len(keys)), np.nan)
    for row, (key, data) in zip(values, entries, strict=True):
        row[np.searchsorted(keys, key)] = data
    return values, keys


def _weights(weights: Sequence[float] | None, count: int, how: Combination) -> FloatArray:
    if how not in ("weighted", "rank", "max", "min"):
        raise ValueError(f"how must be 'weighted', 'rank', 'max' or 'min', not {how!r}")
    if weights is None:
        return np.ones(count)
    if how in ("max", "min"):
        raise ValueError(f"how={how!r} takes no weights: use how='weighted' or 'rank'")
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (count,) or not np.all((given > 0) & np.isfinite(given)):
        raise ValueError(f"weights must be {count} positive numbers, one a matrix")
    return given


def _ranks(values: FloatArray, measured: BoolArray, apart: BoolArray) -> FloatArray:
    """Ranks in (0, 1] of the measured pairs of each matrix; the diagonal has rank zero."""
    ranks = np.where(measured, 0.0, np.nan)
    for rank, value, pairs in zip(ranks, values, measured & apart, strict=True):
        if pairs.any():
            _, place, count = np.unique(value[pairs], return_inverse=True, return_counts=True)
            shared = np.cumsum(count) - (count - 1) / 2
            rank[pairs] = shared[place] / shared[-1]
    return ranks


def _units(values: FloatArray, pairs: BoolArray) -> FloatArray:
    """Mean of the pairs of each matrix; one where there is nothing to scale by."""
    total = np.sum(np.where(pairs, values, 0.0), axis=1)
    mean = total / np.maximum(pairs.sum(axis=1), 1)
    return np.where(mean > 0, mean, 1.0)


def _combine_known(
    values: FloatArray, measured: BoolArray, weights: FloatArray, how: Combination
) -> FloatArray:
    if how in ("max", "min"):
        empty = -np.inf if how == "max" else np.inf
        pick = np.max if how == "max" else np.min
        best = pick(np.where(measured, values, empty), axis=0)
        return np.where(measured.any(axis=0), best, np.nan)
    shares = weights[:, None] * measured
    total = shares.sum(axis=0)
    mean = np.sum(shares * np.where(measured, values, 0.0), axis=0)
    return np.asarray(np.divide(mean, total, out=np.full_like(total, np.nan), where=total > 0))
