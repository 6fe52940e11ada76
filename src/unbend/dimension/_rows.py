"""Distinct rows: user input as the `Space` that estimators of the dimension work on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from unbend._kernels import kernels
from unbend.arrays import TIED, BoolArray, FloatArray, IntArray
from unbend.neighbors import GraphSpace, MetricName, PointSpace, Space, make_space, open_space
from unbend.neighbors.metrics.norms import PNorm
from unbend.neighbors.opening import check_metric
from unbend.validation.arrays import (
    check_distinct,
    check_finite,
    check_scale,
    check_shape,
    column_names,
    incomplete_distances,
    real_array,
)
from unbend.validation.random_state import DIMENSIONS, RandomState
from unbend.validation.random_state import generator as generator_of
from unbend.validation.threads import threads

# Numbers below this have no square in double precision.
VANISHING = 1e-150
# Features that differ by less than this share are equal up to rounding.
ROUNDING = 8 * float(np.finfo(np.float64).eps)
# A row is isolated whose neighbours are this many times farther than those of the median row, and
# also farther than this many deviations of their logarithms allow: where the density varies by
# itself, sparse regions are no outliers.
ISOLATED, DEVIATIONS, NEIGHBOR = 10.0, 8.0, 5


@dataclass(frozen=True, eq=False)
class Rows:
    """Distinct rows of the data; values for them, indexed by `copy`, are values for all rows."""

    space: Space
    # The distinct row that each row equals; all of them where there are no duplicates.
    copy: IntArray | slice

    @property
    def n(self) -> int:
        """Number of distinct rows."""
        return self.space.n


def distinct_rows(
    X: Any,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    *,
    min_rows: int = 3,
) -> Rows:
    """Check user input and leave out duplicate rows, which carry no information on dimension.

    As neighbours at distance zero they would even make it infinite.
    """
    workers = threads(n_jobs)
    check_metric(metric)
    if isinstance(X, Space) or metric == "precomputed":
        space = open_space(X, metric, metric_params, workers)
        copy = _copies(space)
    else:
        points, copy = _points(X)
        space = make_space(points, metric, metric_params, workers)
        if isinstance(space, PointSpace) and space.metric.constants:
            copy = _copies(space)
    rows = Rows(space, slice(None)) if copy is None else Rows(space.take(_first(copy)), copy)
    if not _separates_all(space):
        rows = _merge_equal(rows)
    check_distinct(rows.n, min_rows)
    return rows


def _points(X: Any) -> tuple[FloatArray, IntArray | None]:
    """Rows of finite numbers, and which distinct row each equals; None if all differ.

    One pass over the numbers finds the largest magnitude and the duplicates.
    """
    rows = np.ascontiguousarray(real_array(X), dtype=np.float64)
    check_shape(rows, min_rows=2)
    copy = np.empty(len(rows), dtype=np.int64)
    finite, largest, vanishing, distinct = kernels.distinct_rows(rows, VANISHING, copy)
    if not finite:
        check_finite(rows, columns=column_names(X))
    check_scale(largest)
    if vanishing:
        # Rows that differ by less are at distance zero: duplicates.
        rows = np.where(np.abs(rows) < VANISHING, 0.0, rows)
        _, _, _, distinct = kernels.distinct_rows(rows, VANISHING, copy)
    return rows, copy if distinct < len(rows) else None


def _copies(space: Space) -> IntArray | None:
    """Which distinct row each row equals, in the order of their first rows; None if all differ."""
    if isinstance(space, GraphSpace):
        raise incomplete_distances()
    if isinstance(space, PointSpace):
        copy = np.empty(space.n, dtype=np.int64)
        features = np.ascontiguousarray(space.features, dtype=np.float64)
        return copy if kernels.distinct_rows(features, 0.0, copy)[-1] < space.n else None
    first, copied = space.distinct()
    return copied if len(first) < space.n else None


def _first(copy: IntArray) -> IntArray:
    """First row of each distinct one, of which the numbers ascend."""
    return np.flatnonzero(np.diff(np.maximum.accumulate(copy), prepend=-1))


def _separates_all(space: Space) -> bool:
    """Whether different rows have a distance above zero; angles and callables do not ensure it."""
    return isinstance(space, PointSpace) and isinstance(space.metric.norm, PNorm)


def _merge_equal(rows: Rows) -> Rows:
    """Merge rows at distance zero, or at a distance that is rounding."""
    while rows.n > 1:
        nearest = rows.space.nearest(1)
        partner, same = nearest.indices.ravel(), nearest.distances.ravel() == 0
        if isinstance(rows.space, PointSpace):
            features = np.asarray(rows.space.features, dtype=np.float64)
            gaps = np.linalg.norm(features - features[partner], axis=1)
            same |= gaps <= ROUNDING * np.linalg.norm(features, axis=1)
        if not same.any():
            break
        joined = np.flatnonzero(same)
        edges = csr_array((np.ones(len(joined)), (joined, partner[joined])), shape=(rows.n,) * 2)
        group = connected_components(edges, directed=False)[1]
        # Groups are numbered in the order of their first rows.
        first = np.unique(group, return_index=True)[1]
        rows = Rows(rows.space.take(first), np.asarray(group, dtype=np.intp)[rows.copy])
    return rows


def neighbor_distances(rows: Rows, k: int) -> FloatArray:
    """Distances to the k nearest other rows, ascending (n, k)."""
    return rows.space.nearest(k).distances.reshape(rows.n, k)


def not_isolated(distances: FloatArray) -> BoolArray:
    """Whether rows are not isolated, by the distances to their nearest rows (n, k)."""
    reach = np.log(distances[:, min(NEIGHBOR, distances.shape[1]) - 1])
    middle = np.median(reach)
    spread = 1.4826 * float(np.median(np.abs(reach - middle)))
    return np.asarray(reach <= middle + max(np.log(ISOLATED), DEVIATIONS * spread) + TIED)


def generator(random_state: RandomState) -> np.random.Generator:
    """Make a generator of the stream of this package."""
    return generator_of(random_state, DIMENSIONS)
