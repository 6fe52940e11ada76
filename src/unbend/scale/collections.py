"""Dask collections in and out: blocks of numbers, row numbers, files."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.delayed import Delayed, delayed
from sklearn.utils.validation import validate_data

from unbend.arrays import FloatArray, IntArray
from unbend.cached import cached_property
from unbend.files import folder_format
from unbend.lazy import describe_size, is_dask
from unbend.scale.blocks import Scatter
from unbend.scale.workers import compute_all, ship
from unbend.validation.arrays import check_labels, check_rows, check_scale


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
