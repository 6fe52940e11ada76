"""Input of estimators: feature names, and rows, distances or similarities as a `Space`."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from unbend._kernels.parts import copy_rows
from unbend.arrays import FloatArray, is_sparse, row_chunks
from unbend.estimators.peak_memory import check_peak
from unbend.graphs.readers import edges_of, is_graph, lengths_of
from unbend.neighbors import (
    AffinitySpace,
    GraphSpace,
    NeighborIndex,
    PointSpace,
    Space,
    make_space,
)
from unbend.neighbors.opening import space_type
from unbend.neighbors.precomputed import dense_distances
from unbend.report import warn
from unbend.units import ScaleWarning, find_dominant_column
from unbend.validation.arrays import check_and_measure_rows, column_deviations, largest_magnitude
from unbend.validation.conditioning import check_digits, check_rounding
from unbend.validation.distances import (
    check_distances,
    check_nonnegative,
    check_square,
    check_symmetric,
    largest_entry,
    refuse_asymmetry,
)

# Share of the variance below which columns have lost digits in squared distances.
REPORTED = 1e-6
# Metrics that compare columns as they are; others weigh them, or are for columns of one unit.
UNWEIGHTED = (
    "euclidean",
    "manhattan",
    "cityblock",
    "chebyshev",
    "minkowski",
    "cosine",
    "correlation",
    "angular",
)


def graph_lengths(estimator: BaseEstimator, X: Any) -> Any:
    """Return the sparse distances of a graph, where X is one; anything else as it is."""
    if not is_graph(X):
        return X
    if getattr(estimator, "metric", None) == "affinity":
        return edges_of(X, "similarity")
    if getattr(estimator, "metric", None) != "precomputed":
        name = type(estimator).__name__
        raise TypeError(
            f"X is a graph: pass metric='precomputed' to {name}"
            if "metric" in estimator.get_params(deep=False)
            else f"X is a graph and {name} takes rows of numbers: use Isomap(metric='precomputed')"
        )
    return lengths_of(X)


def check_input(
    estimator: BaseEstimator, X: Any, *, reset: bool, sparse: bool = False, **checks: Any
) -> Any:
    """Check rows of finite numbers, dense or sparse, and the names and number of their columns."""
    X = graph_lengths(estimator, X)
    checks = {"min_rows": 2 if reset else 1, "sparse": sparse, "new": not reset} | checks
    rows, largest = check_and_measure_rows(X, **checks)
    if reset and not is_sparse(rows) and checks.get("scale", True):
        check_peak(estimator, rows)
    # The names come from the frame itself; lists have no shape that scikit-learn would read.
    if reset and type(X) is np.ndarray:
        # What scikit-learn finds, too, after it has looked for names that arrays do not have.
        vars(estimator).pop("feature_names_in_", None)
        estimator.n_features_in_ = rows.shape[1]
    else:
        named = X if hasattr(X, "shape") else rows
        validate_data(estimator, named, reset=reset, skip_check_array=True)
    if reset and not is_sparse(rows) and _compares_columns(estimator):
        names, deviations = feature_names(estimator), column_deviations(rows)
        if checks.get("scale", True):  # of batches all together are judged
            check_rounding(rows, names, largest=largest, deviations=deviations)
        check_units(rows, names, deviations)
    return rows


def feature_names(estimator: BaseEstimator) -> list[str]:
    """Names of the columns that the estimator is fitted to, if they have any."""
    return [str(name) for name in getattr(estimator, "feature_names_in_", ())]


def _compares_columns(estimator: BaseEstimator) -> bool:
    """Whether rows are points whose columns are compared as they are."""
    if (kernel := getattr(estimator, "kernel", None)) is not None:
        return isinstance(kernel, str) and kernel != "precomputed"
    metric = getattr(estimator, "metric", "euclidean")
    weighted = "w" in (getattr(estimator, "metric_params", None) or {})
    return isinstance(metric, str) and metric in UNWEIGHTED and not weighted


def check_units(rows: FloatArray, names: list[str], deviations: FloatArray) -> None:
    """Warn of a column that holds nearly all of the variance because its unit differs."""
    dominant = find_dominant_column(rows, names, deviations)
    if dominant is None:
        return
    column, share = dominant
    name = repr(names[column]) if names else column
    # What the others add to squared distances is below this share of them.
    unit = float(np.finfo(rows.dtype).eps)
    others, digits = max(1.0 - share, unit), -np.log10(unit)
    lost = ""
    if others < REPORTED:
        lost = (
            f", and squared distances lose {-np.log10(others):.0f} of {digits:.0f} digits of them"
        )
    warn(
        f"Column {name} holds {_percent(share)} % of the variance of X, so the others hardly "
        f"count{lost}. Standardise them by make_pipeline(unbend.Prepare(), …), or ignore "
        "unbend.ScaleWarning if they share one unit.",
        ScaleWarning,
    )


def _percent(share: float) -> str:
    """Write a share with as many digits as differ from 100 %, at most four, rounded down."""
    digits = next((d for d in range(4) if 100 * (1 - share) >= 10.0**-d), 4)
    return f"{np.floor(share * 10 ** (2 + digits)) / 10**digits:.{digits}f}"


def open_space(
    estimator: BaseEstimator, X: Any, workers: int, index: NeighborIndex | str = "exact"
) -> tuple[Space, np.dtype[Any]]:
    """Space of the rows to fit, by the estimator's metric, and the dtype results should have."""
    if estimator.metric == "affinity":
        return _affinity_space(estimator, X)
    precomputed = estimator.metric == "precomputed"
    rows = check_input(estimator, X, reset=True, sparse=precomputed)
    if precomputed:
        check_distances(rows)
    # A copy: what the caller does to X later must not move the fitted rows.
    own: Any = (
        csr_array(rows, dtype=np.float64, copy=True)
        if is_sparse(rows)
        else copy_rows(rows, workers, space_type(rows, estimator.metric, estimator.metric_params))
    )
    if precomputed and not is_sparse(own):
        # Duplicates are as far from each other as from themselves.
        np.fill_diagonal(own, 0.0)
    space = make_space(own, estimator.metric, estimator.metric_params, workers, index)
    return space, rows.dtype


def _affinity_space(estimator: BaseEstimator, X: Any) -> tuple[Space, np.dtype[Any]]:
    """Space of a symmetric matrix of affinities that are not negative, dense or sparse."""
    affinities = check_input(estimator, X, reset=True, sparse=True)
    check_square(affinities, what="matrix of affinities")
    check_nonnegative(affinities, what="Affinities")
    weights = csr_array(affinities, dtype=np.float64)
    asymmetry = abs(weights - weights.T)
    largest = float(asymmetry.max()) if asymmetry.nnz else 0.0
    refuse_asymmetry(largest, largest_entry(weights), affinities.dtype, "affinity matrix", "")
    weights = csr_array((weights + weights.T) / 2)
    return AffinitySpace.from_affinities(weights), affinities.dtype


def square_similarities(
    estimator: BaseEstimator, X: Any, *, symmetric: bool = True
) -> tuple[FloatArray, np.dtype[Any]]:
    """Similarities of covariance type, checked to be symmetric unless that is to be repaired."""
    kernel = check_input(estimator, X, reset=True)
    check_square(kernel, what="precomputed similarity matrix")
    if symmetric:
        check_symmetric(kernel, "similarity matrix")
    _check_digits(kernel)
    values = np.array(kernel, dtype=np.float64)
    # Halves may differ in the last digit, which is all that is left where the others cancel.
    return (values + values.T) / 2 if symmetric else values, kernel.dtype


def _check_digits(kernel: FloatArray) -> None:
    """Warn where the distances that similarities stand for have lost digits; refuse rounding."""
    diagonal = kernel.diagonal()
    squares = (
        float((diagonal[rows, None] + diagonal - 2.0 * kernel[rows]).max())
        for rows in row_chunks(len(kernel), 24 * len(kernel))
    )
    check_digits(largest_magnitude(kernel), max(squares), "X", kernel.dtype)


def new_rows(estimator: BaseEstimator, X: Any, space: Space) -> FloatArray:
    """Give new samples the form that the fitted space takes."""
    if isinstance(space, PointSpace):
        rows = check_input(estimator, X, reset=False)
        return np.ascontiguousarray(rows, dtype=np.float64)
    distances = check_input(estimator, X, reset=False, sparse=True)
    if isinstance(space, AffinitySpace):
        return _lengths_of_affinities(distances)
    check_nonnegative(distances)
    if isinstance(space, GraphSpace):
        rows = dense_distances(csr_array(distances)) if is_sparse(distances) else distances
        if not np.isfinite(rows).any(axis=1).all():
            raise ValueError(
                "A new sample has no distance to any fitted sample. Pass at least one."
            )
        return np.asarray(rows, dtype=np.float64)
    if is_sparse(distances):
        raise ValueError("New samples must be dense distances, as the fitted ones were.")
    return np.asarray(distances, dtype=np.float64)


def _lengths_of_affinities(affinities: Any) -> FloatArray:
    """Lengths 1/w of new samples to the fitted ones, infinite where the affinity is zero."""
    check_nonnegative(affinities, what="Affinities")
    dense = affinities.toarray() if is_sparse(affinities) else affinities
    if not (dense > 0).any(axis=1).all():
        raise ValueError("A new sample has no affinity to any fitted sample. Pass at least one.")
    lengths = np.full(dense.shape, np.inf)
    np.divide(1.0, dense, out=lengths, where=dense > 0)
    return lengths
