"""User input as a `Space`."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import FloatArray, is_sparse
from unbend.neighbors.index import AutoIndex, NeighborIndex, NNDescent
from unbend.neighbors.metrics import EUCLIDEAN, METRICS, Metric
from unbend.neighbors.point_space import PointSpace
from unbend.neighbors.precomputed import DistanceSpace, GraphSpace
from unbend.neighbors.space import Space
from unbend.validation.arrays import check_rows, stored_type
from unbend.validation.distances import check_distances
from unbend.validation.scalars import refusal

MetricName: TypeAlias = str | Callable[[FloatArray, FloatArray], float]
# Metrics that, without parameters, compare rows as they are.
UNMAPPED = ("euclidean", "manhattan", "cityblock", "chebyshev", "minkowski", "template")


def open_space(
    X: Any,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    threads: int = 1,
    index: NeighborIndex | str = "exact",
    *,
    name: str = "X",
    min_rows: int = 2,
) -> Space:
    """Check user input and return the space of its rows; a `Space` is returned as it is.

    Parameters
    ----------
    X : array_like, data frame, sparse matrix or Space
        Rows of numbers, or with ``metric="precomputed"`` their distances: a square matrix, or a
        sparse one of the distances along the edges of a graph.
    metric : str or callable
        A name of `METRICS`, "precomputed", or a function of two rows.
    metric_params : dict, optional
        Parameters of the metric.
    threads : int
        Threads of neighbour searches.
    index : str or NeighborIndex
        Search structure, as of `PointSpace`.
    name : str
        Name of the argument, for messages.
    min_rows : int
        Fewest rows.

    Examples
    --------
    >>> open_space([[0.0, 1.0], [1.0, 0.0]], "precomputed").nearest(1).distances
    array([1., 1.])
    """
    if isinstance(X, Space):
        return X
    check_metric(metric)
    precomputed = metric == "precomputed"
    rows = check_rows(X, name, min_rows=min_rows, sparse=precomputed)
    if precomputed:
        check_distances(rows, name)
        rows = csr_array(rows, dtype=np.float64) if is_sparse(rows) else rows
    if not is_sparse(rows):
        rows = np.ascontiguousarray(rows, dtype=space_type(rows, metric, metric_params))
    return make_space(rows, metric, metric_params, threads, index)


def make_space(
    rows: Any,
    metric: MetricName,
    metric_params: Mapping[str, Any] | None = None,
    threads: int = 1,
    index: NeighborIndex | str = "exact",
) -> Space:
    """Return the space of rows of type `space_type`, or of distances, that were checked before.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.neighbors import make_space
    >>> make_space(np.array([[0.0], [1.0], [3.0]]), "euclidean").nearest(1).distances
    array([1., 1., 2.])
    """
    if not isinstance(metric_params, Mapping | None):
        raise TypeError(refusal("metric_params", metric_params, "a dict or None"))
    if metric == "precomputed":
        if index == "kd_tree" or not isinstance(index, str | AutoIndex | NNDescent):
            raise ValueError(
                "metric='precomputed' leaves nothing to build an index on: use "
                "neighbors_algorithm='exact'"
            )
        return GraphSpace(rows) if is_sparse(rows) else DistanceSpace(rows)
    plain = metric == "euclidean" and not metric_params
    fitted = EUCLIDEAN if plain else Metric(metric, metric_params or {}).fit(rows)
    return PointSpace(rows, fitted, threads, index)


def space_type(rows: Any, metric: MetricName, params: Mapping[str, Any] | None) -> Any:
    """Return the type in which the rows of a space are stored.

    Where a metric compares rows as they are it is `stored_type`. Other metrics compute features,
    which are doubles, and functions get rows of doubles.
    """
    compares_rows = isinstance(metric, str) and metric in UNMAPPED and not params
    return stored_type(rows) if compares_rows else np.float64


def check_metric(metric: object) -> None:
    """Refuse what is neither the name of a metric nor a function."""
    if callable(metric) or (isinstance(metric, str) and metric in (*METRICS, "precomputed")):
        return
    names = ", ".join(repr(name) for name in ("precomputed", *METRICS))
    error = ValueError if isinstance(metric, str) else TypeError
    raise error(refusal("metric", metric, f"one of {names}, or a callable"))
