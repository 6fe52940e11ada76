"""How well an estimator places rows it has not seen."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from unbend.arrays import FloatArray, is_sparse
from unbend.graphs.given import is_graph
from unbend.neighbors import PointSpace, Space
from unbend.neighbors.space import smallest
from unbend.quality.ranks import agreement

# Neighbours that are looked for, or as many as fewer rows allow.
NEIGHBORS = 10


def kept_neighbors(estimator: Any, X: Any) -> float:
    """Share of neighbours kept beyond chance: R_NX at ten neighbours."""
    check_is_fitted(estimator)
    metric = getattr(estimator, "metric", "euclidean")
    if metric == "kernel":
        raise ValueError("score needs points or distances, and a kernel has neither: pass points")
    if metric == "precomputed" and (is_sparse(X) or is_graph(X)):
        raise ValueError(
            "score needs all distances to the fitted rows and a graph has those of some: pass a "
            "dense matrix, such as unbend.graphs.geodesics of the graph"
        )
    placed = np.asarray(estimator.transform(X), dtype=np.float64)
    if metric == "precomputed":
        return _to_fitted(np.asarray(X, dtype=np.float64), placed, estimator.embedding_)
    rows = np.array(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64, order="C")
    if len(rows) < 3:
        raise ValueError(f"score compares neighbours among at least 3 rows, but X has {len(rows)}")
    k = min(NEIGHBORS, len(rows) - 2)
    before = _space(estimator, rows).nearest(k).indices.reshape(-1, k)
    after = PointSpace(placed).nearest(k).indices.reshape(-1, k)
    return float(agreement(before, after, len(rows) - 1).mean())


def _to_fitted(distances: FloatArray, placed: FloatArray, fitted: FloatArray) -> float:
    k = min(NEIGHBORS, len(fitted) - 1)
    before, _ = smallest(np.ascontiguousarray(distances), k)
    after, _ = PointSpace(np.asarray(fitted, dtype=np.float64)).nearest_of(placed, k)
    return float(agreement(before, after, len(fitted)).mean())


def _space(estimator: BaseEstimator, rows: FloatArray) -> Space:
    """Rows under the metric that the estimator was fitted with."""
    found = estimator.__dict__.get("_found")
    space = None if found is None else found.space
    return PointSpace(rows, space.metric) if isinstance(space, PointSpace) else PointSpace(rows)
