"""The gate: what users pass becomes a `Space`, or one clear sentence."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from unbend.arrays import FloatArray, IntArray, is_sparse, row_chunks
from unbend.gram.kernels import check_digits
from unbend.graphs.given import is_graph, lengths_of
from unbend.neighbors import (
    DistanceSpace,
    GraphSpace,
    Metric,
    NeighborIndex,
    NNDescent,
    PointSpace,
    Space,
)
from unbend.neighbors.precomputed import measured

# Beyond these, products of squared distances leave the range of double precision; beyond FAR,
# which a single new row may reach, the squares themselves do.
LARGEST, TINIEST, FAR = 1e60, 1e-60, 1e150

# Rows and columns of a square that is compared with its mirror image in cache.
TILE = 256


def plain_input(estimator: BaseEstimator, X: Any) -> Any:
    """Return the sparse distances of a graph, where X is one; anything else as it is."""
    if not is_graph(X):
        return X
    if getattr(estimator, "metric", None) != "precomputed":
        name = type(estimator).__name__
        raise TypeError(
            f"X is a graph: pass metric='precomputed' to {name}"
            if "metric" in estimator.get_params(deep=False)
            else f"X is a graph and {name} takes rows of numbers: use Isomap(metric='precomputed')"
        )
    return lengths_of(X)


def rows_of_numbers(estimator: BaseEstimator, X: Any, *, reset: bool, sparse: bool = False) -> Any:
    """Check rows of finite numbers, dense or sparse; float32 stays float32."""
    X = plain_input(estimator, X)
    if not sparse:
        refuse_sparse(estimator, X)
    rows = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=[np.float64, np.float32],
        accept_sparse=("csr", "csc") if sparse else False,
        ensure_min_samples=2 if reset else 1,
    )
    values = rows.data if is_sparse(rows) else rows
    check_scale(largest_magnitude(values), fitting=reset)
    return rows


def largest_magnitude(values: FloatArray) -> float:
    """Largest magnitude of numbers, without an array of magnitudes."""
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))


def refuse_sparse(estimator: BaseEstimator, X: Any) -> None:
    """Refuse sparse rows."""
    if is_sparse(X):
        raise TypeError(
            f"{type(estimator).__name__} does not take sparse rows: pass X.toarray(), or reduce X "
            "first with PCA(svd_solver='arpack') (distances need metric='precomputed')"
        )


def check_scale(largest: float, fitting: bool) -> None:
    """Refuse numbers whose largest magnitude has no square in double precision."""
    # A new row may well lie near the origin; all rows together may not.
    if largest > (LARGEST if fitting else FAR) or (fitting and 0 < largest < TINIEST):
        raise ValueError(
            f"the largest magnitude in X is {largest:.1e} and its square leaves double precision: "
            "rescale X, for example divide it by that number"
        )


def open_space(
    estimator: BaseEstimator, X: Any, workers: int, index: NeighborIndex | str = "exact"
) -> tuple[Space, np.dtype[Any]]:
    """Space of the rows to fit, by the estimator's metric, and the dtype results should have."""
    if estimator.metric != "precomputed":
        rows = rows_of_numbers(estimator, X, reset=True)
        # A copy: what the caller does to X later must not move the fitted rows.
        points = np.array(rows, dtype=np.float64, order="C")
        metric = Metric(estimator.metric, estimator.metric_params or {}).fitted(points)
        return PointSpace(points, metric, workers, index), rows.dtype
    if index == "kd_tree" or not isinstance(index, str | NNDescent):
        raise ValueError(
            "metric='precomputed' leaves nothing to build an index on: use "
            "neighbors_algorithm='exact'"
        )
    distances = _distances(estimator, X, reset=True)
    n, columns = distances.shape
    if n != columns:
        raise ValueError(
            f"metric='precomputed' needs a square matrix of distances and X is {n} x {columns}"
        )
    if is_sparse(distances):
        check_both_ways(csr_array(distances))
        return GraphSpace(csr_array(distances, dtype=np.float64, copy=True)), distances.dtype
    check_distances(distances)
    return DistanceSpace(np.array(distances, dtype=np.float64)), distances.dtype


def square_similarities(
    estimator: BaseEstimator, X: Any, given: str, *, symmetric: bool = True
) -> tuple[FloatArray, np.dtype[Any]]:
    """Similarities of covariance type, checked to be symmetric unless that is to be mended."""
    kernel = rows_of_numbers(estimator, X, reset=True)
    if kernel.shape[0] != kernel.shape[1]:
        raise ValueError(
            f"{given} needs a square matrix and X is {kernel.shape[0]} x {kernel.shape[1]}"
        )
    if symmetric:
        _check_symmetric(kernel, "similarity matrix")
    _check_digits(kernel)
    return np.array(kernel, dtype=np.float64), kernel.dtype


def _check_digits(kernel: FloatArray) -> None:
    """Warn where the distances that similarities stand for have lost digits; refuse rounding."""
    diagonal = kernel.diagonal()
    squares = (
        float((diagonal[rows, None] + diagonal - 2.0 * kernel[rows]).max())
        for rows in row_chunks(len(kernel), 24 * len(kernel))
    )
    check_digits(largest_magnitude(kernel), max(squares), "X", kernel.dtype)


def _distances(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:
    distances = rows_of_numbers(estimator, X, reset=reset, sparse=True)
    check_not_negative(distances.data if is_sparse(distances) else distances)
    return distances


def check_not_negative(values: FloatArray) -> None:
    """Refuse distances below zero."""
    if values.size and values.min() < 0:
        raise ValueError(
            f"distances must not be negative and the smallest is {values.min():g}: "
            "if these are similarities, convert them to distances first"
        )


def _check_symmetric(matrix: FloatArray, what: str, remedy: str = "") -> float:
    """Raise where entries differ beyond rounding in their own precision; return that rounding."""
    slack = 100 * float(np.finfo(matrix.dtype).eps * largest_magnitude(matrix))
    asymmetry = _asymmetry(matrix)
    if asymmetry > slack:
        raise ValueError(
            f"the {what} is not symmetric (entries differ by up to {asymmetry:g}): pass "
            f"(X + X.T) / 2 if that is what you mean{remedy}"
        )
    return slack


def _asymmetry(matrix: FloatArray) -> float:
    """Largest |a_ij − a_ji|, by tiles: the transpose of the whole is read across its rows."""
    starts = range(0, len(matrix), TILE)
    tiles = [(slice(i, i + TILE), slice(j, j + TILE)) for i in starts for j in starts if i <= j]
    return max((largest_magnitude(matrix[r, c] - matrix[c, r].T) for r, c in tiles), default=0.0)


def check_both_ways(graph: csr_array) -> None:
    """Refuse edges that have another length in the other direction."""
    back = csr_array(graph.T)
    both = graph.astype(bool).multiply(back.astype(bool))
    difference = abs(graph - back).multiply(both)
    if difference.nnz and difference.max() > 1e-6 * float(abs(graph).max()):
        raise ValueError(
            "the sparse matrix has different distances for the two directions of an edge: pass "
            "(X + X.T) / 2 if that is what you mean"
        )


def check_distances(distances: FloatArray, remedy: str = "") -> None:
    """Refuse a square matrix that is not symmetric or has a diagonal that is not zero.

    The `remedy` ends the message, where the caller has one to offer.
    """
    slack = _check_symmetric(distances, "distance matrix", remedy and f"{remedy} so")
    if float(np.abs(distances.diagonal()).max(initial=0.0)) > slack:
        raise ValueError(
            "the distance matrix has a diagonal that is not zero: every point is at distance zero "
            f"from itself{remedy and remedy + ' away with it'}"
        )


def new_rows(estimator: BaseEstimator, X: Any, space: Space) -> FloatArray:
    """Give new rows the form that the fitted space takes."""
    if isinstance(space, PointSpace):
        rows = rows_of_numbers(estimator, X, reset=False)
        return np.ascontiguousarray(rows, dtype=np.float64)
    distances = _distances(estimator, X, reset=False)
    if isinstance(space, GraphSpace):
        rows = measured(csr_array(distances)) if is_sparse(distances) else distances
        if not np.isfinite(rows).any(axis=1).all():
            raise ValueError("a new row has no distance to any fitted row: give it at least one")
        return np.asarray(rows, dtype=np.float64)
    if is_sparse(distances):
        raise ValueError("new rows must be dense distances, as the fitted ones were")
    return np.asarray(distances, dtype=np.float64)


def class_numbers(y: Any, n: int) -> IntArray:
    """Give each class a number from 0; -1, NaN and None mean that a class is not known."""
    if y is None:
        return np.full(n, -1)
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"y must hold one class for each of {n} rows: its shape is {labels.shape}")
    if labels.dtype.kind == "f":
        known = ~np.isnan(labels) & (labels != -1)
    elif labels.dtype.kind == "O":
        known = np.array([label is not None and label == label for label in labels])
    else:
        known = np.ones(n, dtype=bool) if labels.dtype.kind in "US" else labels != -1
    numbers: IntArray = np.full(n, -1)
    numbers[known] = np.unique(labels[known], return_inverse=True)[1]
    return numbers
