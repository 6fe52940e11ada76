"""The neighbourhood graph of all rows of a Dask collection, solved on one worker."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed

from unbend.arrays import FloatArray
from unbend.estimators.search import NeighborLists
from unbend.memory import available_memory, check_fits
from unbend.neighbors import Neighbors
from unbend.report import note, stage
from unbend.scale.boxes import BoxNeighbors
from unbend.scale.collections import LazyRows
from unbend.scale.neighbors import find_neighbors, open_metric
from unbend.scale.spectral import BlockModel, fit_blocks
from unbend.scale.workers import (
    check_reachable,
    compute_all,
    current_client,
    fetch_result,
    keep_on_workers,
    ship,
)
from unbend.validation.scalars import is_integer

EXACT = ("auto", "exact", "kd_tree", "brute")
# Bytes of an edge: a 32-bit index and a distance; the kernel and its factor take several times it.
EDGE_BYTES, ROOM = 12, 8


@dataclass(frozen=True, eq=False)
class RemoteModel:
    """A fitted model on a worker, and a copy of it without rows in this process."""

    model: Any
    header: Any

    def fetch(self) -> Any:
        """Return the model, with all its rows."""
        return fetch_result(self.model)

    def collect(self, name: str, rows: LazyRows) -> da.Array:
        """Return a fitted attribute of all rows, lazily, in the partitions of the collection."""
        check_reachable(self.model)
        shape, dtype = getattr(self.header, name).shape[1:], getattr(self.header, name).dtype
        blocks = [
            da.from_delayed(
                delayed(_slice_of)(self.model, name, int(start), int(start) + length),
                (length, *shape),
                dtype,
            )
            for start, length in zip(rows.starts, rows.lengths, strict=False)
        ]
        return da.concatenate(blocks)


def fit_graph(local: Any, rows: LazyRows, solver: str = "auto") -> "RemoteModel | BlockModel":
    """Find the neighbours of all rows on all workers, and solve their graph on one or on all."""
    k = _neighbor_count(local)
    metric = open_metric(local.metric, local.metric_params)
    algorithm = "exact" if local.neighbors_algorithm in EXACT else local.neighbors_algorithm
    if algorithm not in ("exact", "approximate"):
        raise ValueError(
            f"neighbors_algorithm={local.neighbors_algorithm!r} searches one memory: use 'exact' "
            "or 'approximate'"
        )
    with stage("search"):
        found = find_neighbors(rows, k, metric, algorithm, distinct=True)
        note(tier="graph", rows=rows.n, edges=rows.n * k)
    size = rows.n * (ROOM * k * EDGE_BYTES + 24 * rows.columns)
    names = list(rows.collection.columns) if hasattr(rows.collection, "columns") else None
    recall = None if algorithm == "exact" else found.recall
    if solver == "distributed" or (solver == "auto" and size > worker_memory()):
        return fit_blocks(local, rows, found)
    with stage("solve"):
        task = delayed(solve_graph)(
            found.boxes, ship(local), k, str(rows.dtype), names, size, recall
        )
        model = keep_on_workers([task])[0]
        header = copy(local)
        vars(header).update(compute_all([delayed(facts_without_rows)(model)])[0])
    return RemoteModel(model, header)


def worker_memory() -> float:
    """Return the memory of the largest worker, in bytes; infinity where it is not limited."""
    client = current_client()
    if client is None:
        return available_memory() or np.inf
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return max((worker["memory_limit"] or np.inf for worker in workers), default=np.inf)


def _neighbor_count(local: Any) -> int:
    if not is_integer(local.n_neighbors):
        raise ValueError(
            f"n_neighbors={local.n_neighbors!r} needs all rows in one memory: give one number, or "
            "a sample"
        )
    return int(local.n_neighbors)


def solve_graph(
    boxes: Sequence[BoxNeighbors],
    local: Any,
    k: int,
    dtype: str,
    names: list[str] | None,
    size: int,
    recall: float | None,
) -> Any:
    """Fit an estimator to the rows of all boxes and their neighbours: those of one search."""
    check_fits(size, f"the graph of {sum(box.space.n for box in boxes)} rows", "give a sample")
    points, lists = gather_boxes(boxes, k)
    X: Any = points[lists.inverse].astype(dtype)
    if names is not None:
        import pandas as pd

        X = pd.DataFrame(X, columns=names)
    fitted = copy(local).fit(X, graph=lists)
    if recall is not None:
        fitted.report_.stage("neighbors").facts["recall"] = recall
    return fitted


def gather_boxes(boxes: Sequence[BoxNeighbors], k: int) -> tuple[FloatArray, NeighborLists]:
    """Put boxes together: distinct rows by number, and the neighbours of each by place."""
    numbers = np.concatenate([box.numbers for box in boxes])
    order = np.argsort(numbers)
    first = numbers[order]
    twins = np.concatenate([box.twins for box in boxes])
    inverse = np.empty(len(first) + len(twins), dtype=np.int64)
    inverse[first] = np.arange(len(first))
    inverse[twins[:, 0]] = np.searchsorted(first, twins[:, 1])
    distances = np.concatenate([box.distances for box in boxes])[order]
    indices = np.concatenate([box.indices for box in boxes])[order]
    known = np.isfinite(distances)
    # Distinct rows are their own places unless duplicates were left out.
    places = indices if not len(twins) else np.searchsorted(first, indices)
    if known.all():
        neighbors = Neighbors.rectangular(places, distances)
    else:
        offsets = np.concatenate(([0], np.cumsum(known.sum(axis=1)))).astype(np.int64)
        neighbors = Neighbors(offsets, places[known].astype(np.int32), distances[known])
    points = np.concatenate([box.space.points for box in boxes])[order]
    return points, NeighborLists(neighbors, k, first, inverse)


def facts_without_rows(model: Any) -> dict[str, Any]:
    """Return the fitted attributes of a model: names, types and numbers, but no rows."""
    by_row = ("embedding_", "labels_", "component_")
    return {
        name: value[:0] if name in by_row else value
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_")
    }


def _slice_of(model: Any, name: str, low: int, high: int) -> Any:
    return getattr(model, name)[low:high]
