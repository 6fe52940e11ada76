"""What advice is about: points, distances or a graph, checked, scaled and sampled."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import FloatArray, IntArray, is_sparse
from unbend.cached import cached_property
from unbend.denoising.reduction import MOST, ROUNDING, reduce_columns
from unbend.graphs import components, geodesics, undirected
from unbend.graphs.readers import lengths_of
from unbend.io.table import Frame
from unbend.neighbors import GraphSpace, MetricName, Space, make_space
from unbend.neighbors.opening import check_metric
from unbend.prepare import Prepare, decide_scale
from unbend.prepare.frames import SCALED
from unbend.quality.measure import sample_rows
from unbend.registry import CLUSTERINGS, METHODS, find_entry
from unbend.validation.arrays import check_rows, column_names
from unbend.validation.distances import check_distances, refuse_distances
from unbend.validation.parameters import check_parameters
from unbend.validation.scalars import check_choice, refusal

Kind: TypeAlias = Literal["points", "distances", "graph"]

# Kinds of columns whose features are the numbers themselves, unless they are scaled.
PLAIN = {"numeric", "boolean", "constant"}
# Distances between connected components, as a multiple of the longest within one.
APART = 2.0
# Parameters that several functions of this package share.
PARAMETERS = {
    "X": (
        "array (n, D), data frame, mapping of columns, array (n, n) or graph\n"
        "    Points, or a table, which `unbend.Prepare` turns into points; with\n"
        '    ``metric="precomputed"`` distances, or a graph: a sparse matrix of lengths, or a\n'
        "    graph of networkx or igraph."
    ),
    "metric": (
        "str or callable, optional\n"
        "    As of estimators. None means Euclidean, and refuses a matrix that looks like\n"
        '    distances; ``"euclidean"`` accepts it as points.'
    ),
    "scale": (
        '{"auto", "none", "standard", "robust", "range", "log", "gower"}\n'
        "    Scaling of the columns, as of `unbend.Prepare`. By default they are standardised if\n"
        "    their units differ, and the result says so."
    ),
    "missing": (
        '{"error", "drop", "mean", "median", "most_frequent", "indicator"}\n'
        "    Missing values of a table, as of `unbend.Prepare`."
    ),
}


@dataclass(frozen=True, eq=False)
class Sample:
    """Distinct rows to measure: points, or all distances between the rows.

    `complete` says whether no others are left out; of a graph they are never complete, since
    neighbours among all distances are not its edges.
    """

    values: FloatArray
    metric: str
    complete: bool = True

    @cached_property
    def space(self) -> Space:
        """The rows as a space."""
        return make_space(self.values, self.metric)

    @property
    def columns(self) -> float:
        """Number of columns, which bounds the dimension; infinite for distances."""
        return np.inf if self.metric == "precomputed" else self.values.shape[1]

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def spanned(self) -> "Sample":
        """The same rows along the directions in which they differ at all.

        Repeated columns and linear combinations of others are no further directions: along them
        every neighbourhood is flat, as if the others were filled.
        """
        n, columns = self.values.shape
        if self.metric == "precomputed" or columns > MOST or n < 2 * columns:
            return self
        # Relative to one of the rows, which lies in their span, and all at the same distance:
        # next to the variance of an outlier that of others is rounding.
        middle = np.linalg.norm(self.values - np.median(self.values, axis=0), axis=1).argmin()
        away = self.values - self.values[middle]
        lengths = np.linalg.norm(away, axis=1, keepdims=True)
        even = away / np.maximum(lengths, np.finfo(float).tiny)
        variances, axes = np.linalg.eigh(even.T @ even)
        along = axes[:, variances > ROUNDING * variances[-1]]
        if along.shape[1] == columns:
            return self
        return replace(self, values=np.ascontiguousarray(away @ along[:, ::-1]))

    def fit(self, method: str, **parameters: Any) -> Any:
        """Fit a method to the rows."""
        return make_method(method, metric=self.metric, **parameters).fit(self.values)


@dataclass(frozen=True, eq=False)
class Data:
    """Checked input of a function that gives advice.

    Attributes
    ----------
    rows : array (n, D), array (n, n) or csr_array (n, n)
        What estimators are fitted to: points, distances, or the lengths of edges.
    metric : str or callable
        The metric of these estimators.
    scaling : str
        How columns were scaled and why, in one line; empty if they were not.
    preparation : Prepare or None
        The step in front of an estimator that is fitted to X itself; not fitted.
    kept : array (n,) or None
        Rows of X that are used; None for all.
    """

    rows: Any
    metric: MetricName = "euclidean"
    scaling: str = ""
    preparation: Prepare | None = None
    kept: IntArray | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.rows.shape[0])

    @property
    def kind(self) -> Kind:
        """What the rows are."""
        if is_sparse(self.rows):
            return "graph"
        return "distances" if self.metric == "precomputed" else "points"

    @cached_property
    def lengths(self) -> csr_array:
        """Lengths of the edges of a graph, in both directions."""
        return undirected(GraphSpace(self.rows).all_neighbors()).lengths

    @cached_property
    def complete(self) -> Space:
        """A space in which all distances are known: those of a graph are along its edges."""
        if self.kind != "graph":
            return make_space(self.rows, self.metric)
        ways = geodesics(self.lengths, instead="pass a smaller graph")
        reached = np.isfinite(ways)
        ways[~reached] = APART * ways[reached].max()
        return make_space(ways, "precomputed")

    def sample(self, max_rows: int, random_state: int) -> Sample:
        """Return distinct rows, at most so many; of a graph those of its largest component.

        Of points without constant columns, which would count as directions without noise.
        """
        if self.kind == "points" and self.metric == "euclidean":
            # In order, so that the sample does not depend on the order of the rows.
            points = np.unique(_without_constants(self.rows), axis=0)
            drawn = points[sample_rows(len(points), max_rows, random_state)]
            return Sample(drawn, "euclidean", len(drawn) == len(points))
        if self.kind == "graph":
            largest = np.flatnonzero(components(self.lengths) == 0)
            rows = largest[sample_rows(len(largest), max_rows, random_state)]
            distances = geodesics(self.lengths, sources=rows)[:, rows]
        else:
            part = self.complete.take(sample_rows(self.n, max_rows, random_state))
            distances = part.distances_of(part.rows(np.arange(part.n)))
        # Both directions of a path are sums in another order.
        distances = np.ascontiguousarray((distances + distances.T) / 2)
        np.fill_diagonal(distances, 0.0)
        first, _ = make_space(distances, "precomputed").distinct()
        complete = self.kind != "graph" and len(distances) == self.n
        distinct = np.ascontiguousarray(distances[np.ix_(first, first)])
        return Sample(distinct, "precomputed", complete)

    def take(self, values: Any) -> Any:
        """Return those of one value for each row of X whose rows are used."""
        return values if self.kept is None or values is None else np.asarray(values)[self.kept]


def _without_constants(points: FloatArray) -> FloatArray:
    """Leave out columns that do not vary, unless none does."""
    varies = points.min(axis=0) < points.max(axis=0)
    if varies.all() or not varies.any():
        return points
    return np.ascontiguousarray(points[:, varies])


def check_connected(data: Data) -> None:
    """Refuse a graph of several components, between which no lengths are known."""
    count = 1 if data.kind != "graph" else int(components(data.lengths).max()) + 1
    if count > 1:
        raise ValueError(
            f"The graph has {count} components, and lengths between them are not known. Pass one "
            "component at a time, or points or all distances."
        )


def open_data(
    X: Any,
    metric: MetricName | None = None,
    scale: str = "auto",
    missing: str = "error",
    *,
    min_rows: int = 8,
) -> Data:
    """Check points, a table, distances or a graph; scale columns whose units differ."""
    if metric is not None:
        check_metric(metric)
    if metric == "precomputed":
        rows = check_rows(lengths_of(X), min_rows=min_rows, sparse=True)
        check_distances(rows)
        stored = csr_array(rows, dtype=np.float64) if is_sparse(rows) else _doubles(rows)
        return Data(stored, "precomputed")
    preparation = _step(scale, missing)
    check_parameters(preparation)
    known = "euclidean" if metric is None else metric
    if isinstance(X, Mapping | Frame) or column_names(X):
        return _of_table(X, preparation, known, min_rows)
    points = check_points(X, min_rows)
    if metric is None:
        refuse_distances(points)
    names = [f"x{place}" for place in range(points.shape[1])]
    if scale == "none" or (scale == "auto" and decide_scale(points, names).scale == "none"):
        return Data(points, known)
    if scale == "auto" and _has_equal_noise(points):
        return Data(points, known)
    return _prepare(points, preparation, known)


def _has_equal_noise(points: FloatArray) -> bool:
    """Whether columns of different deviation have noise of the same: then they are of one unit.

    A surface that is turned varies much along some columns and little along others. Standardised
    ones would have unequal noise.
    """
    rows = np.unique(points, axis=0)
    with np.errstate(over="ignore"):
        reduction = reduce_columns(rows, 0)
    if reduction is None:
        return False
    away = rows - reduction.center
    across = away - reduction.narrow(rows) @ reduction.axes.T
    return float(np.square(across).sum()) > ROUNDING * float(np.square(away).sum())


def _of_table(X: Any, preparation: Prepare, metric: MetricName, min_rows: int) -> Data:
    data = _prepare(X, preparation, metric)
    check_rows(data.rows, min_rows=min_rows)
    return data


def _prepare(X: Any, preparation: Prepare, metric: MetricName) -> Data:
    """Turn the columns of a table into features, unless they are features already."""
    fitted = preparation.fit(X)
    kinds = {column.kind for column in fitted.columns_}
    scale, reason = fitted.scale_, fitted.scale_reason_
    gaps = any(column.missing for column in fitted.columns_)
    if scale == "none" and kinds <= PLAIN and not gaps and not isinstance(X, Mapping | Frame):
        return Data(check_points(X, 1), metric)
    used = sum(column.features > 0 for column in fitted.columns_)
    columns = f"{used} column{'' if used == 1 else 's'}"
    scaling = "" if scale == "none" else f"{SCALED[scale]} {columns}: {reason}"
    step = _step(scale, preparation.missing)
    return Data(_doubles(fitted.transform(X)), metric, scaling, step, fitted.kept_rows_)


def _step(scale: str, missing: str) -> Prepare:
    return Prepare(scale=scale, missing=missing, categories="onehot", kinds=None, weights=None)


def _doubles(values: Any) -> FloatArray:
    return np.ascontiguousarray(values, dtype=np.float64)


def check_points(X: Any, min_rows: int = 8) -> FloatArray:
    """Return rows of finite numbers in double precision, enough to base a choice on."""
    return _doubles(check_rows(X, min_rows=min_rows))


def check_estimator(name: str, value: Any) -> Any:
    """Return an estimator, not its class."""
    if isinstance(value, type) or not hasattr(value, "get_params"):
        raise TypeError(refusal(name, value, "an estimator, such as unbend.Isomap()"))
    return value


def make_method(name: str, **parameters: Any) -> Any:
    """Make an estimator; `name` is that of its class or of its module."""
    by_name = {entry.class_name: entry for entry in (*METHODS, *CLUSTERINGS)}
    entry = find_entry(name, METHODS) if isinstance(name, str) else None
    known = check_choice("method", name if entry is None else entry.class_name, by_name)
    return by_name[known].load()(**parameters)


def set_metric(estimator: Any, data: Data) -> Any:
    """Give an estimator the metric of the data; refuse one that takes points only."""
    if data.metric == "euclidean":
        return estimator
    if "metric" not in estimator.get_params():
        name = type(estimator).__name__
        raise ValueError(f"{name} has no metric: it takes points with Euclidean distances")
    return estimator.set_params(metric=data.metric)
