"""Data and embedding as spaces; their neighbours, ranks and distances."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.blas import ssyrk
from scipy.spatial.distance import pdist, squareform

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.neighbors import GraphSpace, MetricName, PointSpace, Space, open_space
from unbend.neighbors.index.brute_force import Cloud
from unbend.neighbors.point_space import TREE_COLUMNS
from unbend.report import step
from unbend.validation.arrays import check_rows, check_same_rows, incomplete_distances

# Parameters that several measures share.
PARAMETERS = {
    "X": (
        "array_like of shape (n, D) or (n, n), data frame or Space\n"
        '    The data, or with ``metric="precomputed"`` their distances.'
    ),
    "embedding": "array_like of shape (n, d)\n    Its coordinates, in the same order.",
    "metric": (
        "str or callable\n"
        "    Distance between rows of X: any metric of `unbend.neighbors`, a function of two\n"
        '    rows, or "precomputed". On a curved surface geodesic distances define who is near.'
    ),
    "metric_params": "dict, optional\n    Parameters of the metric.",
    "max_rows": (
        "int, optional\n"
        "    Above this number of rows, evaluate that many only, sampled without replacement.\n"
        "    Their neighbours and ranks are those among all rows; `error` is the standard error."
    ),
    "random_state": "int\n    Seed of the sample of rows.",
    "threads": "int\n    Threads; the result does not depend on it.",
}
# Bytes of approximate squared distances held at once.
TILE_BYTES = 1 << 23
# Columns from which on all rows are multiplied at once, and columns multiplied at a time.
LONG_ROWS, PANEL = 1000, 128
# Seconds of counting between two calls of the progress callback.
SECONDS = 0.2


def check_points(name: str, values: ArrayLike, min_rows: int = 1) -> FloatArray:
    """Return rows of finite numbers in double precision."""
    return np.ascontiguousarray(check_rows(values, name, min_rows=min_rows), dtype=np.float64)


def check_pair(name: str, values: ArrayLike, embedding: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return two arrays of the same number of rows."""
    first, second = (
        check_points(name, values, min_rows=2),
        check_points("embedding", embedding, min_rows=2),
    )
    check_same_rows(**{name: first, "embedding": second})
    return first, second


def open_pair(
    X: Any,
    embedding: ArrayLike,
    metric: MetricName,
    metric_params: Mapping[str, Any] | None = None,
    threads: int = 1,
    min_rows: int = 2,
) -> tuple[Space, PointSpace]:
    """Return the spaces of data, by any metric, and of an embedding, by Euclidean distances."""
    points = check_points("embedding", embedding, min_rows)
    data = open_complete(X, metric, metric_params, threads, min_rows)
    check_same_rows(X=np.arange(data.n), embedding=points)
    return data, PointSpace(points, workers=threads)


def open_complete(
    X: Any,
    metric: MetricName,
    metric_params: Mapping[str, Any] | None = None,
    threads: int = 1,
    min_rows: int = 2,
) -> Space:
    """Return the space of data in which all distances are known."""
    space = open_space(X, metric, metric_params, threads, min_rows=min_rows)
    if isinstance(space, GraphSpace):
        raise incomplete_distances()
    return space


def nearest_others(space: Space, rows: IntArray, k: int) -> IntArray:
    """Find the k nearest other rows (m, k) of some rows, by (distance, index)."""
    if len(rows) == space.n:
        return np.asarray(space.nearest(k).indices).reshape(-1, k)
    indices, _ = space.nearest_of(space.rows(rows), k + 1)
    others = indices != rows[:, None]
    # Of many equal points the row itself may not be among the k + 1: then all k are others.
    others[others.all(axis=1), -1] = False
    return np.asarray(indices[others].reshape(len(rows), -1))


def distances_from(space: Space, rows: IntArray) -> FloatArray:
    """Distances (m, n) of some rows to all, −1 to themselves."""
    distances = np.array(space.distances_of(space.rows(rows)), dtype=np.float64)
    distances[np.arange(len(rows)), rows] = -1
    return distances


def pair_distances(space: Space, rows: IntArray) -> FloatArray:
    """Distances of all pairs of some rows, in SciPy's condensed order."""
    part = space.take(rows)
    if isinstance(part, PointSpace) and part.metric.name == "euclidean":
        return np.asarray(pdist(part.features))
    return np.asarray(squareform(part.distances_of(part.rows(np.arange(part.n))), checks=False))


def all_ranks(space: Space, rows: IntArray) -> IntArray:
    """Rank (m, n) of every row as seen from some: 0 is the row itself, 1 the nearest other."""
    distances = distances_from(space, rows)
    order = np.argsort(distances, axis=1)
    # A stable sort everywhere would be right too, but takes three times as long.
    ascending = np.take_along_axis(distances, order, axis=1)
    tied = (ascending[:, 1:] == ascending[:, :-1]).any(axis=1)
    order[tied] = np.argsort(distances[tied], axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(distances.shape[1])[None], axis=1)
    return ranks


def ranks_of(space: Space, rows: IntArray, targets: IntArray) -> IntArray:
    """Rank (m, k) of each target among all others as seen from its row; the nearest is 1.

    Rows are ordered by (distance, index). Where the metric grows with the Euclidean norm of its
    features nothing is sorted: rows that are nearer are counted.
    """
    if isinstance(space, PointSpace) and _grows_with_norm(space):
        features = np.ascontiguousarray(space.features, dtype=np.float64)
        return _count_nearer(features, rows, targets, space.workers)
    parts = row_chunks(len(rows), 64 * space.n)
    found = [np.take_along_axis(all_ranks(space, rows[p]), targets[p], axis=1) for p in parts]
    return np.concatenate(found)


def _grows_with_norm(space: PointSpace) -> bool:
    """Whether Euclidean distances of features order rows as the metric does."""
    norm = space.metric.norm
    return norm.p == 2 and norm.reliable == np.inf


def _count_nearer(points: FloatArray, rows: IntArray, targets: IntArray, threads: int) -> IntArray:
    cloud = Cloud.of(points)
    asked, wanted = rows.astype(np.int32), np.ascontiguousarray(targets, dtype=np.int32)
    ranks = np.empty(wanted.shape, dtype=np.int32)
    scale, squares, most = cloud.scale, _squares_of(cloud, rows), len(rows)
    if squares is None:
        points, scale = np.ascontiguousarray(points * scale), 1.0
    else:
        most = max(1, TILE_BYTES // (4 * len(points)))
    for part in _timed_slices(len(rows), most):
        count = part.stop - part.start
        about, slack = np.empty((count, 0), dtype=np.float32), np.zeros(count)
        if squares is not None:
            about, slack = squares(rows[part])
        kernels.count_nearer(
            points, scale, asked[part], about, slack, wanted[part], threads, ranks[part]
        )
        step(part.stop, len(rows))
    return ranks


def _squares_of(cloud: Cloud, rows: IntArray) -> "_Products | _LongProducts | None":
    """Approximate squared distances of some rows; None where exact ones take as long."""
    n, columns = cloud.points.shape
    if columns <= TREE_COLUMNS:
        return None
    # All at once, while they take less memory than the rows themselves.
    if columns >= LONG_ROWS and len(rows) == n <= 2 * columns:
        return _LongProducts(cloud)
    return _Products((cloud.points - cloud.center) * cloud.scale)


class _LongProducts:
    """The same of all rows, which are long: by one symmetric product, some columns at a time.

    That bounds the rounding of a sum by a panel's columns and the number of panels, not by all
    columns, and centred rows are held for one panel only.
    """

    def __init__(self, cloud: Cloud) -> None:
        n, columns = cloud.points.shape
        products = np.zeros((n, n), np.float32, order="F")
        self.norms = np.zeros(n)
        for first in range(0, columns, PANEL):
            panel = slice(first, first + PANEL)
            centred = (cloud.points[:, panel] - cloud.center[panel]) * cloud.scale
            self.norms += np.einsum("ij,ij->i", centred, centred)
            rounded = centred.astype(np.float32)
            products = ssyrk(-2.0, rounded.T, 1.0, products, trans=1, lower=1, overwrite_c=1)
            step(min(panel.stop, columns), columns)
        # The lower triangle of a matrix by columns is the upper one by rows.
        self.about = products.T
        self.about += np.triu(self.about, 1).T
        self.about += self.norms[:, None].astype(np.float32)
        self.about += self.norms.astype(np.float32)
        # As below, with sums of one panel and over all of them.
        sums = PANEL + -(-columns // PANEL)
        self.share = (sums + 16) * float(np.finfo(np.float32).eps)

    def __call__(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        return self.about[rows], self.share * (self.norms[rows] + self.norms.max())


class _Products:
    """Squared distances by |a|² + |b|² − 2ab in single precision, with a bound on their errors.

    Both squares are columns of the product: adding them would read the products twice again.
    """

    def __init__(self, centred: FloatArray) -> None:
        self.norms = np.einsum("ij,ij->i", centred, centred)
        one = np.ones(len(centred))
        self.columns = np.column_stack((centred, one, self.norms)).astype(np.float32)
        self.rows = np.column_stack((-2 * centred, self.norms, one)).astype(np.float32)
        # A sum of D + 2 products whose sizes add up to 2(|a|² + |b|²) at most, of rounded factors:
        # D + 6 of these, and room for the rounding of the distances themselves.
        self.share = (centred.shape[1] + 16) * float(np.finfo(np.float32).eps)

    def __call__(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        about = self.rows[rows] @ self.columns.T
        return about, self.share * (self.norms[rows] + self.norms.max())


def _timed_slices(total: int, most: int) -> Iterator[slice]:
    """Slices of 0..total that grow until each takes a fair time, up to `most` rows."""
    first, size = 0, min(256, most)
    while first < total:
        start = time.perf_counter()
        yield slice(first, min(first + size, total))
        first += size
        if time.perf_counter() - start < SECONDS / 2:
            size = min(2 * size, most)
