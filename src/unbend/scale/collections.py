"""Dask collections in and out: blocks of numbers, row numbers, and row-wise methods of models."""

import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha1
from pathlib import Path
from typing import Any

import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.base import get_scheduler
from dask.callbacks import Callback
from dask.delayed import Delayed, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from unbend.arrays import FloatArray, IntArray
from unbend.files import folder_format
from unbend.lazy import describe_size, is_dask
from unbend.report import step
from unbend.scale.blocks import Scatter
from unbend.validation.arrays import check_labels, check_rows, check_scale

# Methods that return one number for each row.
ONE_COLUMN = ("predict", "outlyingness", "subspace_distances", "score_samples")
# Coordinates, and the outlyingness as one more column: `transform(return_outlyingness=True)`.
BOTH = "transform_and_score"


def is_frame(X: Any) -> bool:
    """Whether a collection is a data frame, whose partitions are frames of pandas."""
    return hasattr(X, "map_partitions") and hasattr(X, "columns")


def open_collection(X: Any) -> Any:
    """Return a data frame, or an array with all columns in one chunk; a path is opened.

    Raises
    ------
    TypeError
        If X is neither, or an array without two dimensions.
    """
    if isinstance(X, str) or hasattr(X, "__fspath__"):
        X = open_folder(X)
    if isinstance(X, dd.DataFrame):
        return X.simplify()
    if isinstance(X, da.Array) and X.ndim == 2 and X.shape[1] == X.shape[1]:
        return X.rechunk({1: -1})
    what = describe_size(X) if not isinstance(X, np.ndarray) else "an array in memory"
    raise TypeError(
        f"X is {what}, and a Dask array of rows and columns, a Dask data frame or a folder of "
        "Parquet or Zarr is needed. Use dask.array.from_array, from_delayed or reshape, or "
        "fit the estimator of the same name in unbend to rows in memory."
    )


def open_folder(path: str | os.PathLike[str]) -> Any:
    """Open a folder of Parquet as a Dask data frame, or of Zarr as a Dask array.

    Raises
    ------
    FileNotFoundError
        If there is no such folder.
    ValueError
        If it holds neither, or other files beside Parquet.
    """
    if not Path(path).exists():
        raise FileNotFoundError(f"there is no folder {os.fspath(path)}")
    kind = folder_format(path)
    if kind == "parquet":
        return dd.read_parquet(os.fspath(path))
    if kind == "zarr":
        return da.from_zarr(os.fspath(path))
    raise ValueError(
        f"{os.fspath(path)} is no folder of Parquet or Zarr. Pass a folder with *.parquet files, "
        "or a Zarr array."
    )


def block_meta(X: Any) -> Any:
    """Return a block without rows: a frame with the names of the columns, or an array."""
    return X._meta if is_frame(X) else np.empty((0, X.shape[1]), dtype=X.dtype)


def blocks_of(X: Any) -> list[Delayed]:
    """Return the partitions as tasks.

    Of data frames as they are: when Dask optimises the reading of Parquet it merges small files
    into one partition, and others where fewer columns are read.
    """
    frame = hasattr(X, "map_partitions")
    blocks = X.to_delayed(optimize_graph=False) if frame else X.to_delayed()
    return list(np.ravel(blocks))


def current_client() -> Any:
    """Return the distributed client that Dask would compute with, or None for its threads."""
    owner = getattr(get_scheduler(), "__self__", None)
    return owner if hasattr(owner, "submit") else None


def ship(value: Any) -> Any:
    """Return a task that makes a value on the worker where it is needed.

    A task can be run again when workers are lost, which scattered data cannot; and the value is
    unpickled once on a worker, so that trees are built once and not for every block.
    """
    packed = cloudpickle.dumps(value)
    key = f"unbend-{sha1(packed).hexdigest()}"
    client = current_client()
    if client is None:
        return delayed(cloudpickle.loads, pure=True)(packed, dask_key_name=key)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        return client.submit(cloudpickle.loads, packed, key=key)


class TaskCount(Callback):
    """Reports the tasks of Dask's own schedulers to the progress callback."""

    def __init__(self) -> None:
        super().__init__(posttask=self._count)

    def _count(self, key: Any, result: Any, graph: Any, state: Any, worker: Any) -> None:
        done = len(state["finished"])
        step(done, done + sum(len(state[name]) for name in ("ready", "waiting", "running")))


def compute_all(tasks: Sequence[Any]) -> list[Any]:
    """Compute tasks, in order, and report how many are done to the progress callback."""
    client = current_client()
    if client is None:
        with TaskCount():
            return list(dask.compute(*tasks))
    futures = client.compute(list(tasks))
    from distributed import as_completed

    for done, _ in enumerate(as_completed(futures)):
        step(done + 1, len(futures))
    return list(client.gather(futures))


def keep_on_workers(tasks: list[Any], *instead_of: list[Any]) -> list[Any]:
    """Compute tasks whose results stay on the workers, where lost ones are computed again.

    Results in `instead_of` that only these tasks need are given up one by one, as soon as no task
    needs them any more: all these lists are emptied.

    Futures and not persisted tasks, since a task made of these would not keep them; and only once
    they are done, since a scheduler may hear that what they depend on is not needed any more before
    it hears by whom it is needed.
    """
    client = current_client()
    if client is None:
        return list(dask.persist(*tasks))
    from distributed import wait

    futures = list(client.compute(tasks))
    if instead_of:
        # One task is done: the scheduler has heard of all of them.
        wait(futures, return_when="FIRST_COMPLETED")
        for some in (tasks, *instead_of):
            some.clear()
    wait(futures)
    return futures


def check_kept(kept: Any) -> None:
    """Refuse a result whose cluster is gone, instead of a graph that lacks a task."""
    from distributed import Future

    if isinstance(kept, Future) and kept.status == "cancelled":
        raise RuntimeError(
            "The model was kept on the workers, and the client of that fit is closed. Fit again, "
            "and save the model or take local_ before the client is closed."
        )


def fetch_result(kept: Any) -> Any:
    """Return a result that was kept on the workers."""
    check_kept(kept)
    client = current_client()
    return kept.compute() if client is None else client.gather(kept)


@contextmanager
def naming_partition(number: int) -> Iterator[None]:
    """Name the partition, beside the row, in errors about single values."""
    try:
        yield
    except ValueError as error:
        if not re.search(r"first in row \d+", str(error)):
            raise
        place = f"first in partition {number}, row "
        raise type(error)(re.sub("first in row ", place, str(error))) from None


def check_block(block: Any, number: int, scale: bool = False) -> FloatArray:
    """Return the rows of a partition as finite numbers."""
    with naming_partition(number):
        rows: FloatArray = check_rows(block, min_rows=0, scale=scale, new=True)
    return rows


@dataclass(frozen=True, eq=False)
class LazyRows:
    """Rows of a Dask collection, as estimators see them: partitions, and numbers of all rows."""

    collection: Any

    @cached_property
    def parts(self) -> list[Delayed]:
        """The partitions, in order, as tasks that give checked rows."""
        blocks = enumerate(blocks_of(self.collection))
        return [self._task(check_block)(part, number) for number, part in blocks]

    @staticmethod
    def _task(function: Callable[..., Any]) -> Any:
        return delayed(function, pure=True, traverse=False)

    @cached_property
    def lengths(self) -> list[int]:
        """Number of rows of each partition; of a data frame one column is read for it."""
        X = self.collection
        if not is_frame(X) and not np.isnan(X.chunks[0]).any():
            return [int(length) for length in X.chunks[0]]
        blocks = blocks_of(X.iloc[:, :1].simplify() if is_frame(X) else X)
        return [int(length) for length in compute_all([self._task(len)(part) for part in blocks])]

    @cached_property
    def starts(self) -> IntArray:
        """Number of the first row of each partition, and the number of all rows."""
        return np.concatenate(([0], np.cumsum(self.lengths))).astype(np.int64)

    @property
    def n(self) -> int:
        """Number of rows; fewer than two are refused, as by every fit in memory."""
        count = self._scatter.n if "_scatter" in vars(self) else int(self.starts[-1])
        if count < 2:
            raise ValueError(
                f"X has {count} sample(s) while a minimum of 2 is required. Pass more rows."
            )
        return count

    @property
    def columns(self) -> int:
        """Number of columns."""
        return int(block_meta(self.collection).shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Single precision where all rows have it, double otherwise."""
        rows: FloatArray = check_rows(block_meta(self.collection), min_rows=0)
        return rows.dtype

    @property
    def mean(self) -> FloatArray:
        """Mean of the rows."""
        return self._scatter.mean

    @cached_property
    def _scatter(self) -> Scatter:
        return self._total_scatter(None)

    def factor(self, project: Callable[[FloatArray], FloatArray] | None = None) -> FloatArray:
        """Triangular R with R'R the scatter of the rows, or of their projections."""
        scatter = self._scatter if project is None else self._total_scatter(project)
        return scatter.factor

    def _total_scatter(self, project: Callable[[FloatArray], FloatArray] | None) -> Scatter:
        """Merge the scatters of the partitions in a tree that depends on their number alone."""
        shipped = None if project is None else ship(project)
        tree = [delayed(_measure_scatter)(part, shipped) for part in self.parts]
        while len(tree) > 1:
            pairs = [tree[i : i + 2] for i in range(0, len(tree), 2)]
            tree = [delayed(Scatter.merge)(*pair) if len(pair) > 1 else pair[0] for pair in pairs]
        scatter: Scatter = compute_all(tree)[0]
        check_scale(scatter.largest)
        return scatter

    def map_parts(self, function: Callable[..., Any], *shared: Any) -> list[Any]:
        """Apply a function to the rows of each partition and the number of its first row."""
        starts = self.starts
        return [
            self._task(function)(part, int(start), *shared)
            for part, start in zip(self.parts, starts, strict=False)
        ]

    def take(self, numbers: IntArray) -> FloatArray:
        """Gather some rows, by their numbers, in that order; other partitions are not read."""
        return np.asarray(_take(self.parts, self.starts, numbers), dtype=self.dtype)


def _take(parts: Sequence[Any], starts: IntArray, numbers: IntArray) -> Any:
    order = np.argsort(numbers)
    ascending, edges = numbers[order], np.searchsorted(numbers[order], starts)
    tasks = [
        delayed(np.take, pure=True)(part, ascending[low:high] - start, 0)
        for part, start, low, high in zip(parts, starts, edges[:-1], edges[1:], strict=False)
        if low < high
    ]
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return np.concatenate(compute_all(tasks))[back]


def take_labels(y: Any, rows: LazyRows, numbers: IntArray) -> Any:
    """Labels of some rows, from an array of all or a collection with the partitions of X."""
    if not is_dask(y):
        return check_labels("y", y, rows.n)[numbers]
    blocks = [delayed(np.asarray)(block) for block in blocks_of(y)]
    if len(blocks) != len(rows.parts):
        raise ValueError(
            f"y has {len(blocks)} partitions and X has {len(rows.parts)}: give y those of X"
        )
    lengths = compute_all([delayed(len)(block) for block in blocks])
    for number, (found, needed) in enumerate(zip(lengths, rows.lengths, strict=True)):
        if found != needed:
            raise ValueError(
                f"partition {number} of y has {found} rows and that of X has {needed}: give y "
                "the partitions of X"
            )
    return _take(blocks, rows.starts, numbers)


def _measure_scatter(rows: FloatArray, project: Callable[..., Any] | None) -> Scatter:
    return Scatter.of(rows if project is None else project(rows))


class Partitions:
    """The partitions of a collection, computed one at a time whenever they are iterated.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> import unbend
    >>> rows = da.from_array(np.random.default_rng(0).normal(size=(60, 3)), chunks=(20, 3))
    >>> [len(part) for part in unbend.scale.Partitions(rows)]
    [20, 20, 20]
    """

    def __init__(self, X: Any) -> None:
        self._blocks = blocks_of(open_collection(X))

    def __iter__(self) -> Iterator[Any]:
        for block in self._blocks:
            rows = block.compute()
            if len(rows):
                yield rows


def open_rows(estimator: Any, X: Any) -> LazyRows:
    """Open a collection for a fit: the estimator gets its feature names and their number.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> import unbend
    >>> rows = da.from_array(np.random.default_rng(0).normal(size=(60, 3)), chunks=(20, 3))
    >>> unbend.scale.open_rows(unbend.PCA(), rows).n
    60
    """
    collection = open_collection(X)
    validate_data(estimator, block_meta(collection), reset=True, skip_check_array=True)
    return LazyRows(collection)


def map_rows(model: Any, method: str, X: Any, **options: Any) -> Any:
    """Apply a row-wise method of a fitted model to each partition, lazily.

    Parameters
    ----------
    model : estimator
        Fitted.
    method : str
        Name of the method, such as ``"transform"``; ``"transform_and_score"`` gives coordinates
        and, as one more column, the outlyingness.
    X : Dask array or data frame, or path of a folder
        Rows.
    **options
        Arguments of the method.

    Returns
    -------
    Dask array or data frame
        As X, with its partitions, order and index. With ``return_outlyingness=True`` two of them.

    Examples
    --------
    >>> import dask.array as da
    >>> import unbend
    >>> model = unbend.PCA(n_components=1).fit([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
    >>> map_rows(model, "transform", da.ones((4, 2), chunks=2)).chunks
    ((2, 2), (1,))
    """
    shipped: Any = None
    if hasattr(model, "header"):
        model, shipped = model.header, model.model
        check_kept(shipped)
    check_is_fitted(model)
    collection = open_collection(X)
    unknown = sorted(set(options) - {"return_outlyingness"})
    if unknown:
        raise TypeError(f"{method} of rows of Dask takes no argument {unknown[0]!r}: leave it out")
    if getattr(model, "missing", None) == "drop":
        raise ValueError(
            "missing='drop' changes the number of rows of a partition. Drop them first, for "
            "example by X.dropna(), or fit Prepare with another policy."
        )
    _check_columns(model, method, collection)
    if not options.get("return_outlyingness"):
        return _map(model, shipped, method, collection)
    both, dtype = _map(model, shipped, BOTH, collection), _dtype(model, method)
    if is_frame(collection):
        return both[both.columns[:-1]].astype(dtype), both["outlyingness"]
    return both[:, :-1].astype(dtype), both[:, -1]


def _map(model: Any, shipped: Any, method: str, X: Any) -> Any:
    """Map a method over the partitions."""
    shipped = ship(model) if shipped is None else shipped
    names, dtype = _names(model, method), _dtype(model, method)
    if is_frame(X):
        import pandas as pd

        empty = np.empty((0, len(names)) if names else 0, dtype=dtype)
        index = X._meta.index
        meta = (
            pd.DataFrame(empty, columns=names, index=index)
            if names
            else pd.Series(empty, index=index, name=method)
        )
        blocks = [
            delayed(_apply_to_frame)(block, shipped, method, meta, number)
            for number, block in enumerate(blocks_of(X))
        ]
        return dd.from_delayed(blocks, meta=meta, divisions=X.divisions, verify_meta=False)
    chunks = (X.chunks[0], (len(names),)) if names else (X.chunks[0],)
    return X.map_blocks(
        _apply_to_array,
        shipped,
        method,
        chunks=chunks,
        drop_axis=None if names else 1,
        meta=np.empty((0,) * len(chunks), dtype=dtype),
    )


def _apply_to_array(block: Any, model: Any, method: str, block_info: Any = None) -> Any:
    inside, outside = block_info[0], block_info[None]
    if not block.shape[0]:
        return np.empty((0, *outside["chunk-shape"][1:]), dtype=outside["dtype"])
    with naming_partition(inside["chunk-location"][0]):
        return _call(model, method, block)


def _apply_to_frame(block: Any, model: Any, method: str, meta: Any, number: int) -> Any:
    if not len(block):
        return meta
    with naming_partition(number):
        # Prepare, known by columns_, has no feature_names_in_ when it was fitted by partitions.
        named = hasattr(model, "feature_names_in_") or hasattr(model, "columns_")
        result = _call(model, method, block if named else block.to_numpy())
    shared = {"index": block.index}
    if meta.ndim == 1:
        return type(meta)(result, name=meta.name, **shared)
    return type(meta)(result, columns=meta.columns, **shared)


def _call(model: Any, method: str, block: Any) -> Any:
    if method == BOTH:
        placed, scores = model.transform(block, return_outlyingness=True)
        return np.column_stack((np.asarray(placed), scores))
    result = getattr(model, method)(block)
    return result.to_numpy() if hasattr(result, "to_numpy") else result


def _check_columns(model: Any, method: str, X: Any) -> None:
    """Refuse other columns than those of the fit before anything is computed."""
    meta = block_meta(X)
    if method == "inverse_transform":
        width = len(model.get_feature_names_out())
        if meta.shape[1] != width:
            raise ValueError(f"X has {meta.shape[1]} columns and the embedding has {width}")
        return
    if hasattr(model, "columns_"):
        return  # Prepare matches columns by name, in any order.
    named = is_frame(X) and hasattr(model, "feature_names_in_")
    validate_data(
        model, meta if named else np.empty(meta.shape), reset=False, skip_check_array=True
    )


def _names(model: Any, method: str) -> list[str] | None:
    """Return the names of the columns of a result; None where it has one number a row."""
    if method in ONE_COLUMN:
        return None
    if method == "inverse_transform":
        numbered: Iterable[str] = (f"x{i}" for i in range(model.n_features_in_))
        return [str(name) for name in getattr(model, "feature_names_in_", numbered)]
    names = [str(name) for name in model.get_feature_names_out()]
    return [*names, "outlyingness"] if method == BOTH else names


def _dtype(model: Any, method: str) -> np.dtype[Any]:
    """Return the type of the numbers of a result."""
    if method == "predict":
        labels = np.asarray(getattr(model, "classes_", getattr(model, "labels_", None)))
        unknown = getattr(model, "unknown_label", None)
        both = labels.dtype if unknown is None else np.array([labels[0], unknown]).dtype
        return both if both.kind == labels.dtype.kind else np.dtype(object)
    exact = method in ("outlyingness", BOTH)
    embedding = getattr(model, "embedding_", None)
    return np.dtype(np.float64) if exact or embedding is None else embedding.dtype


def write_collection(X: Any, folder: Path, beside: Any = None) -> int:
    """Write a data frame as Parquet, a file for each partition, or an array as Zarr; count rows.

    Columns of a data frame with the same partitions may be written before those of X.
    """
    if not is_frame(X):
        known = X if X.shape[0] == X.shape[0] else X.compute_chunk_sizes()
        even = known.rechunk({0: max(known.chunks[0]), 1: -1})
        compute_all([even.to_zarr(str(folder), compute=False, overwrite=True)])
        return int(known.shape[0])
    blocks = blocks_of(X)
    others = [None] * len(blocks) if beside is None else blocks_of(open_collection(beside))
    digits = len(str(len(blocks)))
    tasks = [
        delayed(_write_block)(block, other, str(folder / f"part-{number:0{digits}d}.parquet"))
        for number, (block, other) in enumerate(zip(blocks, others, strict=True))
    ]
    return int(sum(compute_all(tasks)))


def _write_block(block: Any, beside: Any, path: str) -> int:
    placed = {} if beside is None else {name: block[name].to_numpy() for name in block.columns}
    (block if beside is None else beside.assign(**placed)).to_parquet(path)
    return len(block)
