"""Input of scaling methods: points, distances or similarities as weighted pairs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator

from unbend.arrays import FloatArray, IntArray, is_sparse
from unbend.estimators.inputs import (
    check_input,
    graph_lengths,
    open_space,
    square_similarities,
)
from unbend.mds import Pairs
from unbend.mds.initialization import DOUBLE_OBJECTS, count_components, pair_precision
from unbend.memory import reserve
from unbend.neighbors import DistanceSpace, PointSpace, Space
from unbend.report import note
from unbend.validation.distances import (
    check_diagonal,
    check_distances,
    check_nonnegative,
    check_square,
    largest_entry,
    refuse_asymmetry,
)

# Ends messages about what the parameter mends.
CLEAN = " Or pass repair='clean'."


@dataclass(frozen=True, eq=False)
class DistanceInput:
    """Objects to scale: their pairs, unless only drawn, and the points they are, if they are."""

    pairs: Pairs
    points: PointSpace | None
    dtype: np.dtype[Any]


def read_input(
    estimator: BaseEstimator,
    X: Any,
    weights: Any,
    mask: Any,
    threads: int,
    *,
    listed: bool = False,
) -> DistanceInput:
    """Check what the user passed and make pairs of it, `listed` if it is sparse and that is asked.

    A caller that cannot work with a list gets all pairs.
    """
    X = graph_lengths(estimator, X)
    if listed and estimator.metric == "precomputed" and is_sparse(X):
        return _read_listed(estimator, X, weights, mask)
    points: PointSpace | None = None
    square: FloatArray = np.empty((0, 0))
    if estimator.metric == "precomputed":
        square, dtype = square_distances(estimator, X)
    elif estimator.metric == "kernel":
        square, dtype = _from_similarities(estimator, X)
    else:
        space, dtype = open_space(estimator, X, threads)
        points = space if isinstance(space, PointSpace) else None
    n = len(square) if points is None else points.n
    checked = _weights(weights, mask, n)

    def between(some: IntArray) -> FloatArray:
        if points is None:
            return np.asarray(square[np.ix_(some, some)], dtype=np.float64)
        few = points.take(some)
        return few.distances_of(few.rows(np.arange(few.n)))

    dtype_of_pairs = pair_precision(n, between, estimator.n_components)
    reserve(
        np.dtype(dtype_of_pairs).itemsize * n * (n - 1) // 2 * (1 if checked is None else 2),
        f"the dissimilarities of {n} objects",
        "use MetricMDS(solver='sgd') on points, which never holds them, or PCA",
    )
    with np.errstate(over="ignore"):
        pairs = (
            Pairs.from_matrix(square, dtype=dtype_of_pairs)
            if points is None
            else Pairs.from_points(points, dtype_of_pairs, threads)
        )
    if checked is not None:
        both = Pairs.from_matrix(checked, dtype=dtype_of_pairs).dissimilarities
        both = both if pairs.weights is None else both * pairs.weights
        pairs = Pairs(n, pairs.dissimilarities, both)
    note(
        rows=n,
        pairs=len(pairs.dissimilarities),
        unknown=count_missing(pairs),
        precision=np.dtype(dtype_of_pairs).name,
    )
    _check_single_precision(pairs)
    return DistanceInput(pairs, points, dtype)


def _read_listed(estimator: BaseEstimator, X: Any, weights: Any, mask: Any) -> DistanceInput:
    distances = distance_rows(estimator, X, reset=True)
    n = distances.shape[0]
    pairs = known_pairs(distances, estimator.repair == "clean")
    checked = _weights(weights, mask, n)
    if checked is not None and pairs.ends is not None:
        weighed = checked[tuple(pairs.ends)]
        known = weighed > 0
        pairs = Pairs(n, pairs.dissimilarities[known], weighed[known], pairs.ends[:, known])
    stored = len(pairs.dissimilarities)
    note(rows=n, pairs=stored, unknown=n * (n - 1) // 2 - stored)
    return DistanceInput(pairs, None, distances.dtype)


def known_pairs(sparse: Any, clean: bool) -> Pairs:
    """List the stored pairs, in either direction; a stored zero is a distance of zero.

    Invalid distances are refused, or repaired where `clean`, as in a dense matrix.
    """
    rows = csr_array(sparse, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    largest, diagonal = largest_entry(rows), rows.diagonal()
    entries = rows.tocoo()
    off = entries.row != entries.col
    ends = np.sort(np.stack([entries.row[off], entries.col[off]]).astype(np.int64), axis=0)
    order = np.lexsort(ends[::-1])
    ends, values = ends[:, order], entries.data[off][order]
    first = np.flatnonzero(np.r_[True, np.any(np.diff(ends, axis=1) != 0, axis=0)][: len(values)])
    both = np.diff(np.r_[first, len(values)])
    there, back = values[first], values[first + both - 1]
    asymmetry = float(np.abs(there - back).max(initial=0.0))
    # Halves before the sum: two equal numbers give themselves.
    mean = there / 2 + back / 2
    if clean:
        note(
            diagonal=float(np.abs(diagonal).max(initial=0.0)),
            asymmetry=asymmetry,
            negative=int(np.sum(mean < 0)),
        )
        mean = np.maximum(mean, 0.0)
    else:
        check_diagonal(diagonal, largest, sparse.dtype, CLEAN)
        refuse_asymmetry(asymmetry, largest, sparse.dtype, "distance matrix", CLEAN)
    return Pairs(rows.shape[0], mean, None, np.ascontiguousarray(ends[:, first]))


def count_missing(pairs: Pairs) -> int:
    """Count the pairs that weigh nothing."""
    return 0 if pairs.weights is None else int(np.sum(pairs.weights == 0))


def _check_single_precision(pairs: Pairs) -> None:
    """Refuse dissimilarities of many objects whose squares single precision cannot hold."""
    largest = float(pairs.dissimilarities.max(initial=0.0))
    if pairs.dissimilarities.dtype == np.float32 and not 1e-15 < (largest or 1.0) < 1e15:
        raise ValueError(
            f"more than {DOUBLE_OBJECTS} objects are kept in single precision and their largest "
            f"distance, {largest:.1e}, leaves it: rescale X to about one"
        )


def check_connected(pairs: Pairs) -> None:
    """Refuse groups of objects between which no distance is known."""
    count = count_components(pairs)
    if count > 1:
        raise ValueError(
            f"the known pairs leave {count} groups of objects between which no distance is known: "
            "give at least one distance between any two groups, or scale each group alone"
        )


def square_distances(estimator: BaseEstimator, X: Any) -> tuple[FloatArray, np.dtype[Any]]:
    """Symmetric distances, NaN where missing; the estimator's `repair` says what is repaired."""
    distances = distance_rows(estimator, X, reset=True)
    if is_sparse(distances):
        n = distances.shape[0]
        reserve(8 * n**2, f"{n} x {n} distances, of which few are known", "use MetricMDS")
        return known_pairs(distances, estimator.repair == "clean").square(), distances.dtype
    if estimator.repair == "clean":
        return repair_distances(distances), distances.dtype
    check_distances(distances, missing=True, remedy=CLEAN)
    return distances, distances.dtype


def complete_space(estimator: BaseEstimator, X: Any, threads: int) -> tuple[Space, np.dtype[Any]]:
    """Points, or distances all of which are known."""
    X = graph_lengths(estimator, X)
    if not is_sparse(X):
        if estimator.metric != "precomputed":
            return open_space(estimator, X, threads)
        square, dtype = square_distances(estimator, X)
        if not np.isnan(square).any():
            return DistanceSpace(np.array(square, dtype=np.float64)), dtype
    raise ValueError("solver='sgd' needs points or all distances: use solver='lbfgs'")


def distance_rows(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """Rows of distances, NaN where missing, none negative unless that is to be repaired."""
    distances = check_input(estimator, X, reset=reset, sparse=True, missing=not is_sparse(X))
    if reset:
        check_square(distances)
    if not (reset and estimator.repair == "clean"):
        check_nonnegative(distances, remedy=CLEAN if reset else "")
    return distances


def repair_distances(distances: FloatArray) -> FloatArray:
    """Average both directions where both are known, and raise what is negative to zero."""
    there, back = distances, distances.T
    mean = np.where(np.isnan(there), back, np.where(np.isnan(back), there, (there + back) / 2))
    with np.errstate(invalid="ignore"):
        note(
            asymmetry=float(np.nanmax(np.abs(there - back), initial=0.0)),
            negative=int(np.sum(mean < 0)),
            diagonal=float(np.nanmax(np.abs(distances.diagonal()), initial=0.0)),
        )
        mean = np.where(mean < 0, 0.0, mean)
    np.fill_diagonal(mean, 0.0)
    return np.asarray(mean)


def _from_similarities(estimator: BaseEstimator, X: Any) -> tuple[FloatArray, np.dtype[Any]]:
    """Convert similarities of covariance type: d² = s_ii + s_jj − 2 s_ij."""
    clean = estimator.repair == "clean"
    kernel, dtype = square_similarities(estimator, X, symmetric=not clean)
    if clean:
        note(asymmetry=float(np.abs(kernel - kernel.T).max()))
        kernel = (kernel + kernel.T) / 2
    diagonal = kernel.diagonal()
    squares = diagonal + diagonal[:, None] - 2.0 * kernel
    lowest, size = float(squares.min()), float(np.abs(kernel).max())
    if lowest < -1e-10 * size and not clean:
        raise ValueError(
            "metric='kernel' needs similarities of covariance type, s_ii + s_jj >= 2 s_ij, and "
            f"that is off by {-lowest:g}: convert the similarities to distances yourself; "
            "repair='clean' takes such pairs for equal"
        )
    note(conversion="d² = s_ii + s_jj − 2 s_ij")
    return np.sqrt(np.maximum(squares, 0.0)), dtype


def _weights(weights: Any, mask: Any, n: int) -> FloatArray | None:
    """Weights of all pairs (n, n), zero where the mask says that a pair is not known."""
    checked = None
    for name, given in (("weights", weights), ("mask", mask)):
        if given is None:
            continue
        if is_sparse(given):
            reserve(8 * n**2, f"{name} of {n} x {n} pairs", "leave them out")
        array = np.asarray(given.toarray() if is_sparse(given) else given)
        if array.shape != (n, n) or array.dtype.kind not in "bifu":
            raise ValueError(
                f"{name} must be an array of numbers, one for each pair, {n} x {n}: its shape is "
                f"{array.shape}"
            )
        array = array.astype(np.float64)
        if not np.isfinite(array).all() or array.min() < 0:
            raise ValueError(f"{name} must be finite numbers that are not negative")
        _check_range(array, name)
        if not np.array_equal(array, array.T):
            raise ValueError(f"{name} must be symmetric: pass (W + W.T) / 2 if that is meant")
        array = (array != 0).astype(np.float64) if name == "mask" else array
        checked = array if checked is None else checked * array
    return checked


def _check_range(weights: FloatArray, name: str) -> None:
    """Refuse weights whose sums of squares, or whose size in single precision, are lost."""
    positive = weights[weights > 0]
    low, high = (1e-30, 1e30) if len(weights) > DOUBLE_OBJECTS else (1e-100, 1e100)
    if len(positive) and (positive.min() < low or positive.max() > high):
        raise ValueError(
            f"{name} from {positive.min():.0e} to {positive.max():.0e} leave the range of {low:g} "
            f"to {high:g} in which sums keep their digits: divide them by their largest, and set "
            "those that do not count to 0"
        )


def new_distances(estimator: BaseEstimator, X: Any, points: PointSpace | None) -> FloatArray:
    """Check new samples: points, or distances to the fitted objects."""
    X = graph_lengths(estimator, X)
    if points is not None:
        rows = check_input(estimator, X, reset=False)
        return np.ascontiguousarray(rows, dtype=np.float64)
    if is_sparse(X):
        raise ValueError("New samples must be dense distances, with NaN for missing ones.")
    rows = np.asarray(distance_rows(estimator, X, reset=False), dtype=np.float64)
    if np.isnan(rows).all(axis=1).any():
        raise ValueError("A new sample has no distance to any fitted object. Pass at least one.")
    return rows
