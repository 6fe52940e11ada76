"""Neighbours of all rows of a Dask collection: exact by boxes, or approximate by cells."""

from dataclasses import dataclass
from itertools import pairwise
from operator import getitem
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from sklearn.cluster import MiniBatchKMeans

from unbend.arrays import FloatArray, IntArray
from unbend.neighbors.metrics import EUCLIDEAN, Metric
from unbend.report import note
from unbend.scale.blocks import sample_numbers
from unbend.scale.boxes import (
    BoxNeighbors,
    BoxRows,
    answer_box,
    ask_box,
    merge_answers,
    merge_cells,
    nearest_in_part,
    nearest_of_both,
    order_rows,
    rows_between,
    search_box,
    split_boxes,
    split_cells,
    split_part,
    take_home,
)
from unbend.scale.collections import LazyRows, open_collection
from unbend.scale.workers import compute_all, keep_on_workers, ship
from unbend.validation.scalars import check_choice, check_count, check_integer
from unbend.validation.threads import in_new_thread

# Metrics of rows as they are, so that a box bounds distances.
METRICS = ("euclidean", "manhattan", "cityblock", "chebyshev", "minkowski")
ALGORITHMS = ("exact", "approximate")
# Bytes of a box or cell with its neighbours, and rows of the sample for each of them.
BOX_BYTES, SAMPLED = 1 << 26, 256
# Rows of a cell: all pairs in it are compared.
CELL_ROWS = 20_000
# Cells that a row is in, rows whose exact neighbours give the recall, and seed of these choices.
OVERLAP, MEASURED, SEED = 3, 1000, 0


@dataclass(frozen=True, eq=False)
class LazyNeighbors:
    """Neighbours of all rows, box by box, on the workers; `recall` is estimated if approximate."""

    rows: LazyRows
    k: int
    boxes: list[Any]
    recall: float = 1.0
    recall_error: float = 0.0

    def arrays(self) -> tuple[da.Array, da.Array]:
        """Row numbers and distances, (n, k) each, with the partitions of the rows."""
        lengths, starts = self.rows.lengths, [int(start) for start in self.rows.starts]
        tasks = [
            delayed(order_rows, nout=2)(
                [delayed(rows_between)(box, low, high) for box in self.boxes]
            )
            for low, high in pairwise(starts)
        ]

        def gather(place: int, dtype: Any) -> da.Array:
            blocks = [
                da.from_delayed(task[place], (length, self.k), dtype)
                for task, length in zip(tasks, lengths, strict=True)
            ]
            return da.concatenate(blocks)

        return gather(0, np.int64), gather(1, np.float64)


def nearest_neighbors(
    X: Any,
    n_neighbors: int = 10,
    *,
    algorithm: str = "exact",
    metric: str = "euclidean",
    metric_params: dict[str, Any] | None = None,
) -> tuple[da.Array, da.Array]:
    """Find the nearest other rows of every row of a Dask collection.

    Exact neighbours are those of `unbend.neighbors.PointSpace` on all rows, to the last bit, for
    any partitioning. They are affordable up to about eight intrinsic dimensions: beyond, balls
    reach most boxes.

    Parameters
    ----------
    X : Dask array or data frame, or path of a folder of Parquet or Zarr
        Rows.
    n_neighbors : int
        Number of neighbours.
    algorithm : {"exact", "approximate"}
        'approximate' searches cells of k-means, three for each row: for many columns.
    metric : {"euclidean", "manhattan", "cityblock", "chebyshev", "minkowski"}
        Distance.
    metric_params : dict, optional
        Parameters of the metric.

    Returns
    -------
    indices, distances : Dask array (n_samples, n_neighbors)
        Row numbers and distances, nearest first and ties by row number, in the partitions of X.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> line = da.from_array(np.array([[0.0], [1.0], [3.0], [7.0]]), chunks=2)
    >>> indices, distances = nearest_neighbors(line, 1)
    >>> indices.compute().ravel(), distances.chunks
    (array([1, 0, 1, 2]), ((2, 2), (1,)))
    """
    check_choice("algorithm", algorithm, ALGORITHMS)
    check_integer("n_neighbors", n_neighbors, 1)
    rows = LazyRows(open_collection(X))
    found = find_neighbors(rows, n_neighbors, open_metric(metric, metric_params), algorithm)
    return found.arrays()


def open_metric(metric: Any, metric_params: dict[str, Any] | None) -> Metric:
    """Return a metric whose distances a box bounds, or refuse it."""
    if metric == "euclidean" and not metric_params:
        return EUCLIDEAN
    if metric not in METRICS or "w" in (metric_params or {}):
        raise ValueError(
            f"metric={metric!r} is not searched by boxes: use one of "
            f"{', '.join(repr(name) for name in METRICS)} without weights, or a sample of the rows"
        )
    return Metric(metric, metric_params or {}).fit(np.zeros((1, 1)))


def find_neighbors(
    rows: LazyRows, k: int, metric: Metric, algorithm: str, *, distinct: bool = False
) -> LazyNeighbors:
    """Find the neighbours of all rows; with `distinct` duplicates are searched once."""
    check_count(k, rows.n - 1)
    size = 8 * rows.columns + 20 * k
    count = max(1, -(-rows.n * size // BOX_BYTES))
    if algorithm == "exact":
        return _by_boxes(rows, k, metric, 1 << (count - 1).bit_length(), distinct)
    cells = max(OVERLAP * count, -(-OVERLAP * rows.n // CELL_ROWS))
    return _by_cells(rows, k, metric, 1 if rows.n <= CELL_ROWS else cells, distinct)


def _sample(rows: LazyRows, count: int) -> FloatArray:
    numbers = sample_numbers(rows.n, min(rows.n, count), SEED)
    return rows.take(np.sort(numbers)).astype(np.float64)


def _by_boxes(rows: LazyRows, k: int, metric: Metric, count: int, distinct: bool) -> LazyNeighbors:
    boxes = split_boxes(_sample(rows, SAMPLED * count), count)
    split = [delayed(part) for part in rows.map_parts(split_part, ship(boxes))]
    pairs = [
        delayed(BoxNeighbors.separate, nout=2)(
            delayed(search_box)([part[b] for part in split], k, metric, distinct)
        )
        for b in range(count)
    ]
    kept = keep_on_workers([task for pair in pairs for task in pair])
    # A box is asked until its last neighbour has been; its lists are freed when they are merged.
    asked, lists = kept[::2], kept[1::2]
    bounds = compute_all([delayed(BoxRows.measure_bounds)(box) for box in asked])
    whole = [
        delayed(merge_answers)(asked[b], lists[b], *_ask_others(asked, bounds, b, k))
        for b in range(count)
    ]
    note(search="boxes", boxes=count)
    return LazyNeighbors(rows, k, keep_on_workers(whole, kept, asked, lists))


def _ask_others(boxes: list[Any], bounds: list[Any], b: int, k: int) -> tuple[list[Any], list[Any]]:
    """Questions of a box to those that its widest ball may reach, and their answers."""
    low, high, reach = bounds[b]
    questions, answers = [], []
    for other, (lowest, highest, _) in enumerate(bounds):
        gap = np.maximum(0.0, np.maximum(lowest - high, low - highest))
        # The largest difference in a column is at most any distance.
        if other != b and np.isfinite(lowest).all() and gap.max() <= reach * (1 + 1e-12):
            questions.append(delayed(ask_box)(boxes[b], lowest, highest))
            answers.append(delayed(answer_box)(boxes[other], questions[-1], k))
    return questions, answers


def _by_cells(rows: LazyRows, k: int, metric: Metric, count: int, distinct: bool) -> LazyNeighbors:
    """Search the cells of k-means of a sample, of which every row is in several."""
    means = MiniBatchKMeans(count, n_init=1, random_state=SEED)
    sample = _sample(rows, SAMPLED * count)
    in_new_thread(lambda: means.fit(sample))
    centers = ship(np.unique(means.cluster_centers_, axis=0))
    split = [delayed(part) for part in rows.map_parts(split_cells, centers, OVERLAP)]
    cells = [
        delayed(take_home)(
            delayed(search_box)([part[c] for part in split], k, metric, distinct), centers
        )
        for c in range(count)
    ]
    cells = keep_on_workers(cells)
    homes = compute_all([delayed(sorted)(cell) for cell in cells])
    whole = [
        delayed(merge_cells)(
            delayed(getitem)(cells[home], home),
            [
                delayed(getitem)(cells[c], home)
                for c in range(count)
                if c != home and home in homes[c]
            ],
        )
        for home in range(count)
        if home in homes[home]
    ]
    found = keep_on_workers(whole, cells)
    recall, error = _measure_recall(rows, found, k, metric)
    note(search="cells", cells=count, overlap=OVERLAP, recall=recall, recall_error=error)
    return LazyNeighbors(rows, k, found, recall, error)


def _measure_recall(
    rows: LazyRows, boxes: list[Any], k: int, metric: Metric
) -> tuple[float, float]:
    """Share of the exact neighbours of some rows that were found, and its standard error."""
    numbers = np.sort(sample_numbers(rows.n, min(rows.n, MEASURED), SEED))
    _, exact = exact_neighbors(rows, numbers, k + 1, metric)
    found = compute_all([delayed(distances_of)(box, numbers) for box in boxes])
    places = np.concatenate([place for place, _ in found])
    distances = np.concatenate([lengths for _, lengths in found])
    # Each row is the nearest to itself, and its k-th neighbour the next.
    shares = np.mean(distances <= exact[places, k, None] * (1 + 1e-12), axis=1)
    return float(shares.mean()), float(shares.std() / np.sqrt(len(shares)))


def distances_of(box: Any, numbers: IntArray) -> tuple[IntArray, FloatArray]:
    """Places among the numbers of those that a box has, and the distances of their neighbours."""
    places = np.flatnonzero(np.isin(numbers, box.numbers))
    return places, box.distances[np.searchsorted(box.numbers, numbers[places])]


def exact_neighbors(
    rows: LazyRows, numbers: IntArray, k: int, metric: Metric = EUCLIDEAN
) -> tuple[IntArray, FloatArray]:
    """Find the k rows nearest to some rows among all, each row itself included, by partitions."""
    queries = rows.take(numbers).astype(np.float64)
    tree = rows.map_parts(nearest_in_part, ship(queries), k, metric)
    while len(tree) > 1:
        pairs = [tree[i : i + 2] for i in range(0, len(tree), 2)]
        tree = [delayed(nearest_of_both)(*pair) if len(pair) > 1 else pair[0] for pair in pairs]
    (nearest,) = compute_all(tree)
    indices, distances = nearest
    return indices, distances
