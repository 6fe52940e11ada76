"""The gate of the dimension estimators: what users pass becomes a `Space` of distinct rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from unbend._kernels import kernels
from unbend.arrays import TIED, BoolArray, FloatArray, IntArray, is_sparse
from unbend.graphs.given import refuse_graph
from unbend.neighbors import METRICS, DistanceSpace, GraphSpace, Metric, PointSpace, Space
from unbend.neighbors.metrics import EUCLIDEAN
from unbend.neighbors.metrics.norms import PNorm
from unbend.validation.threads import threads

MetricName: TypeAlias = str | Callable[[FloatArray, FloatArray], float]
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None

# Set apart from the streams that users draw their data from.
STREAM = 0x64696D
# Beyond these, squares leave double precision.
LARGEST, TINIEST, VANISHING = 1e60, 1e-60, 1e-150
# Features that differ by less than this share are equal up to rounding.
ROUNDING = 8 * float(np.finfo(np.float64).eps)
# A row is isolated whose neighbours are this many times farther than those of the median row, and
# also farther than this many deviations of their logarithms allow: where the density varies by
# itself, sparse regions are no outliers.
ISOLATED, DEVIATIONS, NEIGHBOR = 10.0, 8.0, 5


@dataclass(frozen=True, eq=False)
class Rows:
    """Distinct rows of the data: what is known of them, indexed by `copy`, is so of all rows."""

    space: Space
    # The distinct row that each row equals; all of them where there are no copies.
    copy: IntArray | slice

    @property
    def n(self) -> int:
        """Number of distinct rows."""
        return self.space.n


def opened(
    X: Any,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    *,
    least: int = 3,
) -> Rows:
    """Distinct rows of what the user gave; copies say nothing about dimension.

    As neighbours at distance zero they would even make it infinite.
    """
    if isinstance(X, Space):
        space, copy = X, _distinct(X)
    else:
        space, copy = _space(X, metric, metric_params or {}, threads(n_jobs))
    rows = Rows(space, slice(None)) if copy is None else Rows(space.take(_first(copy)), copy)
    if not _tells_all_apart(space):
        rows = _apart(rows)
    if rows.n < least:
        raise ValueError(
            f"an estimate of the dimension needs at least {least} distinct rows and X has {rows.n}"
        )
    return rows


def _tells_all_apart(space: Space) -> bool:
    """Whether different numbers are at a distance: not by angles, nor by what the user says."""
    return isinstance(space, PointSpace) and isinstance(space.metric.norm, PNorm)


def _apart(rows: Rows) -> Rows:
    """Put rows together that the metric does not tell apart, or by rounding only."""
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


def _distinct(space: Space) -> IntArray | None:
    """Which distinct row each row equals, in the order of their first rows; None if all differ."""
    if isinstance(space, GraphSpace):
        raise TypeError(
            "a sparse graph does not tell the distances that an estimate of the dimension needs: "
            "give points, or dense distances such as unbend.graphs.geodesics of the graph"
        )
    if isinstance(space, PointSpace):
        copy = np.empty(space.n, dtype=np.int64)
        features = np.ascontiguousarray(space.features, dtype=np.float64)
        return copy if kernels.distinct_rows(features, 0.0, copy)[-1] < space.n else None
    first, copied = space.distinct()
    return copied if len(first) < space.n else None


def _first(copy: IntArray) -> IntArray:
    """First row of each distinct one, of which the numbers ascend."""
    return np.flatnonzero(np.diff(np.maximum.accumulate(copy), prepend=-1))


def _space(
    X: Any, metric: MetricName, params: Mapping[str, Any], workers: int
) -> tuple[Space, IntArray | None]:
    """Space of a table, and which of its rows are copies, as `_distinct` tells it."""
    if not callable(metric) and metric not in METRICS and metric != "precomputed":
        names = ", ".join(repr(name) for name in METRICS)
        raise ValueError(
            f"metric={metric!r} is not allowed: it must be 'precomputed', a callable, or one of "
            f"{names}"
        )
    rows, copy = _numbers(X)
    if metric == "precomputed":
        _check_distances(rows)
        space: Space = DistanceSpace(rows)
        return space, _distinct(space)
    plain = metric == "euclidean" and not params
    fitted = EUCLIDEAN if plain else Metric(metric, params).fit(rows)
    if fitted.constants:
        space = PointSpace(rows, fitted, workers)
        return space, _distinct(space)
    return PointSpace(rows, fitted, workers), copy


def _numbers(X: Any) -> tuple[FloatArray, IntArray | None]:
    """Rows of finite numbers of any table that NumPy can read, and which of them are copies."""
    refuse_graph("X", X)
    if is_sparse(X):
        raise TypeError("X must be dense: pass X.toarray()")
    try:
        given = np.asarray(X)
        if given.dtype.kind not in "biufO":
            raise TypeError
        rows = np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError("X must be a table of real numbers") from None
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(f"X must have rows and columns, and its shape is {rows.shape}")
    copy = np.empty(len(rows), dtype=np.int64)
    finite, largest, vanishing, distinct = kernels.distinct_rows(rows, VANISHING, copy)
    if not finite:
        raise ValueError("X contains NaN or infinity: drop those rows, or fill them in")
    if largest > LARGEST or 0 < largest < TINIEST:
        raise ValueError(
            f"the largest magnitude in X is {largest:.1e} and its square leaves double precision: "
            "rescale X, for example divide it by that number"
        )
    if vanishing:
        # Rows that differ by less are at distance zero, and copies.
        rows = np.where(np.abs(rows) < VANISHING, 0.0, rows)
        _, _, _, distinct = kernels.distinct_rows(rows, VANISHING, copy)
    return rows, copy if distinct < len(rows) else None


def _check_distances(distances: FloatArray) -> None:
    if distances.shape[0] != distances.shape[1]:
        raise ValueError(
            f"metric='precomputed' needs a square matrix of distances and X is "
            f"{distances.shape[0]} x {distances.shape[1]}"
        )
    slack = 1e-6 * float(np.abs(distances).max())
    if float(distances.min()) < 0 or float(np.abs(distances.diagonal()).max()) > slack:
        raise ValueError("distances must not be negative, and zero on the diagonal")
    if float(np.abs(distances - distances.T).max()) > slack:
        raise ValueError(
            "the distance matrix is not symmetric: pass (X + X.T) / 2 if that is what you mean"
        )


def checked_count(name: str, value: Any, least: int, most: int) -> int:
    """Return a whole number between both bounds."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} must be an integer, but it is {value!r}")
    if not least <= value <= most:
        raise ValueError(f"{name} must lie between {least} and {most}, but it is {value}")
    return int(value)


def checked_share(name: str, value: Any) -> float:
    """Return a number from 0 to below 1."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise TypeError(f"{name} must be a number, but it is {value!r}")
    if not 0 <= value < 1:
        raise ValueError(f"{name} must be at least 0 and less than 1, but it is {value}")
    return float(value)


def neighbor_distances(rows: Rows, k: int) -> FloatArray:
    """Distances to the k nearest other rows, ascending (n, k)."""
    return rows.space.nearest(k).distances.reshape(rows.n, k)


def crowded(distances: FloatArray) -> BoolArray:
    """Tell the rows that have company from isolated ones, by distances to nearest rows (n, k)."""
    reach = np.log(distances[:, min(NEIGHBOR, distances.shape[1]) - 1])
    middle = np.median(reach)
    spread = 1.4826 * float(np.median(np.abs(reach - middle)))
    return np.asarray(reach <= middle + max(np.log(ISOLATED), DEVIATIONS * spread) + TIED)


def generator(random_state: RandomState) -> np.random.Generator:
    """Make a generator of a `random_state`; None is a fixed seed, so that estimates repeat."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng((STREAM, 0 if random_state is None else int(random_state)))
