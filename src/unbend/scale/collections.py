"""Dask collections in and out: blocks of numbers, row numbers, and row-wise methods of models."""

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha1
from typing import Any

import cloudpickle
import dask
import dask.array as da
import numpy as np
from dask.base import get_scheduler
from dask.delayed import Delayed, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from unbend.arrays import FloatArray, IntArray
from unbend.lazy import describe_size
from unbend.report import step
from unbend.scale.blocks import Scatter
from unbend.scale.folders import open_folder
from unbend.validation.arrays import check_rows, check_scale

# Methods that return one number for each row.
ONE_COLUMN = ("predict", "outlyingness", "subspace_distances", "score_samples")


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
    if is_frame(X):
        return X
    if isinstance(X, da.Array) and X.ndim == 2 and X.shape[1] == X.shape[1]:
        return X.rechunk({1: -1})
    what = describe_size(X) if not isinstance(X, np.ndarray) else "an array in memory"
    raise TypeError(
        f"X is {what}, and a Dask array of rows and columns, a Dask data frame or a folder of "
        "Parquet or Zarr is needed. Use dask.array.from_array, from_delayed or reshape, or "
        "fit the estimator of the same name in unbend to rows in memory."
    )


def block_meta(X: Any) -> Any:
    """Return a block without rows: a frame with the names of the columns, or an array."""
    return X._meta if is_frame(X) else np.empty((0, X.shape[1]), dtype=X.dtype)


def partition_count(X: Any) -> int:
    """Return the number of blocks of rows."""
    return int(X.npartitions) if is_frame(X) else len(X.chunks[0])


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


def compute_all(tasks: Sequence[Any]) -> list[Any]:
    """Compute tasks, in order, and report how many are done to the progress callback."""
    client = current_client()
    if client is None:
        return list(dask.compute(*tasks))
    futures = client.compute(list(tasks))
    from distributed import as_completed

    for done, _ in enumerate(as_completed(futures)):
        step(done + 1, len(futures))
    return list(client.gather(futures))


def keep_on_workers(tasks: Sequence[Any]) -> list[Any]:
    """Compute tasks whose results stay on the workers, where lost ones are computed again.

    Futures and not persisted tasks, since a task made of these would not keep them; and only once
    they are done, since a scheduler may hear that what they depend on is not needed any more before
    it hears by whom it is needed.
    """
    client = current_client()
    if client is None:
        return list(dask.persist(*tasks))
    from distributed import wait

    futures = client.compute(list(tasks))
    wait(futures)
    return list(futures)


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
        blocks = np.ravel(self.collection.to_delayed())
        return [self._task(check_block)(part, number) for number, part in enumerate(blocks)]

    @staticmethod
    def _task(function: Callable[..., Any]) -> Any:
        return delayed(function, pure=True, traverse=False)

    @cached_property
    def lengths(self) -> list[int]:
        """Number of rows of each partition; of a data frame one column is read for it."""
        X = self.collection
        if not is_frame(X) and not np.isnan(X.chunks[0]).any():
            return [int(length) for length in X.chunks[0]]
        blocks = np.ravel((X.iloc[:, :1] if is_frame(X) else X).to_delayed())
        return [int(length) for length in compute_all([self._task(len)(part) for part in blocks])]

    @cached_property
    def starts(self) -> IntArray:
        """Number of the first row of each partition, and the number of all rows."""
        return np.concatenate(([0], np.cumsum(self.lengths))).astype(np.int64)

    @property
    def n(self) -> int:
        """Number of rows."""
        known = "_scatter" in vars(self)
        return self._scatter.n if known else int(self.starts[-1])

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
        order = np.argsort(numbers)
        ascending, edges = numbers[order], np.searchsorted(numbers[order], self.starts)
        tasks = [
            self._task(np.take)(part, ascending[low:high] - start, 0)
            for part, start, low, high in zip(
                self.parts, self.starts, edges[:-1], edges[1:], strict=False
            )
            if low < high
        ]
        held = np.empty((len(numbers), self.columns), dtype=self.dtype)
        held[order] = np.concatenate(compute_all(tasks))
        return held


def _measure_scatter(rows: FloatArray, project: Callable[..., Any] | None) -> Scatter:
    return Scatter.of(rows if project is None else project(rows))


class Partitions:
    """The partitions of a collection, computed one at a time whenever they are iterated."""

    def __init__(self, X: Any) -> None:
        self._blocks = np.ravel(open_collection(X).to_delayed())

    def __iter__(self) -> Iterator[Any]:
        for block in self._blocks:
            rows = block.compute()
            if len(rows):
                yield rows


def open_rows(estimator: Any, X: Any) -> LazyRows:
    """Open a collection for a fit: the estimator gets its feature names and their number."""
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
        Name of the method, such as ``"transform"``.
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
    check_is_fitted(model)
    collection = open_collection(X)
    if getattr(model, "missing", None) == "drop":
        raise ValueError(
            "missing='drop' changes the number of rows of a partition. Drop them first, for "
            "example by X.dropna(), or fit Prepare with another policy."
        )
    _check_columns(model, method, collection)
    names = _names(model, method)
    if not options.get("return_outlyingness"):
        return _map(model, method, collection, names)
    assert names is not None
    both = _map(model, "_transform_and_score", collection, [*names, "outlyingness"])
    dtype = _dtype(model, method)
    if is_frame(collection):
        return both[names].astype(dtype), both["outlyingness"]
    return both[:, :-1].astype(dtype), both[:, -1]


def _map(model: Any, method: str, X: Any, names: list[str] | None) -> Any:
    """Map a method over the partitions; names of the columns of its result, None for one."""
    shipped, dtype = ship(model), _dtype(model, method)
    if is_frame(X):
        import pandas as pd

        empty = np.empty((0, len(names)) if names else 0, dtype=dtype)
        index = X._meta.index
        meta = (
            pd.DataFrame(empty, columns=names, index=index)
            if names
            else pd.Series(empty, index=index, name=method)
        )
        return X.map_partitions(_apply_to_frame, shipped, method, meta, meta=meta)
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


def _apply_to_frame(
    block: Any, model: Any, method: str, meta: Any, partition_info: Any = None
) -> Any:
    if not len(block):
        return meta
    with naming_partition((partition_info or {"number": 0})["number"]):
        numbers = block if hasattr(model, "feature_names_in_") else block.to_numpy()
        result = _call(model, method, numbers)
    shared = {"index": block.index}
    if meta.ndim == 1:
        return type(meta)(result, name=meta.name, **shared)
    return type(meta)(result, columns=meta.columns, **shared)


def _call(model: Any, method: str, block: Any) -> Any:
    if method == "_transform_and_score":
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
    return [str(name) for name in model.get_feature_names_out()]


def _dtype(model: Any, method: str) -> np.dtype[Any]:
    """Return the type of the numbers of a result."""
    if method == "predict":
        labels = np.asarray(getattr(model, "classes_", getattr(model, "labels_", None)))
        unknown = getattr(model, "unknown_label", None)
        both = labels.dtype if unknown is None else np.array([labels[0], unknown]).dtype
        return both if both.kind == labels.dtype.kind else np.dtype(object)
    exact = method in ("outlyingness", "_transform_and_score")
    embedding = getattr(model, "embedding_", None)
    return np.dtype(np.float64) if exact or embedding is None else embedding.dtype
