"""Tables out of files, dataframes and arrays."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from unbend.arrays import FloatArray, is_sparse
from unbend.io.arrays import columns_source, matrix_source, npy_source, npz_source
from unbend.io.arrow import ArrowSource
from unbend.io.cube import Cube
from unbend.io.dialect import layout_of
from unbend.io.files import File, file_of, format_of
from unbend.io.frames import frame_source
from unbend.io.hdf5 import Hdf5Source
from unbend.io.mat import mat_source
from unbend.io.matrix_market import matrix_market_source
from unbend.io.missing import check_policy, column_means, settled, settled_batch
from unbend.io.numerals import Array
from unbend.io.table import Roles, Table
from unbend.io.text import TextSource


class Source(Protocol):
    """Where a table comes from."""

    @property
    def where(self) -> str:
        """Name for messages."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""

    def tables(self, roles: Roles, rows: int | None) -> Iterator[Table]:
        """Give tables of so many rows, or one of all, with NaN where a value is missing."""


def read(
    source: Any,
    *,
    label: str | None = None,
    id: str | None = None,
    ignore: Iterable[str] = (),
    missing: str = "refuse",
    array: str | None = None,
    separator: str | None = None,
) -> Table:
    r"""Read a table of numbers from a file, a dataframe or an array.

    Parameters
    ----------
    source : path, binary file object, dataframe, dict of columns, or array
        CSV, TSV, Parquet, Arrow, Feather, NPY, NPZ, HDF5, MAT or Matrix Market; the format is told
        by the content, then by the extension. Text may be compressed by gzip, bzip2 or xz. Columns
        without names are called x0, x1, …
    label, id : str, optional
        Columns to keep aside; they may hold anything. A column without a name, as pandas writes
        its index, is taken as `id` where none is given.
    ignore : iterable of str, optional
        Columns to leave out if they are there.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        What to do about missing values: refuse the table and say where, drop their rows, or put
        the mean or the median of the column in their place.
    array : str, optional
        Which array of an NPZ, HDF5 or MAT file that holds several is the table; in HDF5 with its
        groups, as ``"run/points"``.
    separator : str, optional
        Character between the fields of a text file; a space stands for any number of spaces. By
        default it is found from the first lines.

    Returns
    -------
    Table

    Examples
    --------
    >>> import io
    >>> import unbend
    >>> table = unbend.io.read(io.BytesIO(b"width,height,kind\n1,2.5,a\n3,,b\n"), label="kind",
    ...                        missing="drop")
    >>> table.columns, table.values.tolist(), table.label.tolist(), table.rows.tolist()
    (('width', 'height'), [[1.0, 2.5]], ['a'], [0])
    """
    opened, roles = _opened(source, Roles(label, id, _names(ignore)), missing, array, separator)
    (table,) = opened.tables(roles, None)
    return settled(table, missing, opened.where)


def batches(
    source: Any,
    *,
    rows: int = 100_000,
    label: str | None = None,
    id: str | None = None,
    ignore: Iterable[str] = (),
    missing: str = "refuse",
    array: str | None = None,
    separator: str | None = None,
) -> "Batches":
    """Read a table some rows at a time: Parquet, Arrow, text or NPY larger than memory.

    Parameters
    ----------
    source : path, binary file object, dataframe, dict of columns, or array
        As for `read`. What is in memory, and NPZ, is cut into batches; the other files are never
        held whole.
    rows : int, default=100_000
        Rows of a batch; the last has fewer, and 'drop' may leave fewer in any.
    label, id, ignore
        As for `read`. The label of a text file has in each batch the type of its entries there.
    missing : {'refuse', 'drop', 'mean'}, default='refuse'
        As for `read`. The mean, of all rows, takes one more reading; the median is not there.
    array : str, optional
        As for `read`. Of an HDF5 file one batch at a time is read.
    separator : str, optional
        As for `read`.

    Returns
    -------
    Batches
        Gives one `Table` after the other, and may be gone through any number of times.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> X = np.random.default_rng(0).standard_normal((1000, 5))
    >>> parts = unbend.io.batches(X, rows=300)
    >>> [len(part) for part in parts]
    [300, 300, 300, 100]
    >>> model = unbend.PCA(n_components=2).fit_batches(parts)
    >>> bool(np.allclose(model.transform(X), unbend.PCA(n_components=2).fit_transform(X)))
    True
    """
    if missing == "median":
        raise ValueError(
            "missing='median' needs all rows at once: use 'drop' or 'mean' with batches, or read "
            "the whole table"
        )
    if isinstance(rows, bool) or not isinstance(rows, int | np.integer) or rows < 1:
        raise ValueError(f"rows={rows!r} is not allowed: it must be an integer of at least 1")
    opened, roles = _opened(source, Roles(label, id, _names(ignore)), missing, array, separator)
    return Batches(opened, roles, int(rows), missing)


@dataclass(frozen=True, eq=False)
class Batches:
    """Tables of some rows at a time; what `batches` returns."""

    source: Source
    roles: Roles
    rows: int
    missing: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of numbers."""
        return self.roles.values(self.source.names, self.source.where)

    def __iter__(self) -> Iterator[Table]:
        means = self._means() if self.missing == "mean" else None
        some = False
        for table in self.source.tables(self.roles, self.rows):
            batch = settled_batch(table, self.missing, means, self.source.where)
            if len(batch):
                some = True
                yield batch
        if not some:
            raise ValueError(
                f"every row of {self.source.where} has a missing value: none would be left"
            )

    def _means(self) -> FloatArray:
        return column_means(self.source.tables(self.roles, self.rows), self.source.where)


def _opened(
    source: Any, roles: Roles, missing: str, array: str | None, separator: str | None
) -> tuple[Source, Roles]:
    check_policy(missing)
    opened = open_source(source, array, separator)
    return opened, roles.among(opened.names, opened.where)


def _names(ignore: Iterable[str]) -> tuple[str, ...]:
    if isinstance(ignore, str):
        raise TypeError(f"ignore={ignore!r} is a string: pass a list of names")
    return tuple(ignore)


def open_source(source: Any, array: str | None = None, separator: str | None = None) -> Source:
    """Find out what a source is, and what its columns are called."""
    if is_file(source):
        return file_source(file_of(source), array, separator)
    if array is not None:
        raise ValueError(f"array={array!r} names an array of a file, and no file was given")
    check_no_separator(separator, "the table is in memory")
    if isinstance(source, Cube):
        return source
    if is_sparse(source):
        raise TypeError("a sparse matrix is not a table: pass source.toarray(), or fit to it")
    if isinstance(source, Mapping):
        return columns_source(_columns(source), "the table")
    frame = None if isinstance(source, np.ndarray | list | tuple) else frame_source(source)
    if frame is not None:
        return frame
    if isinstance(source, np.ndarray | list | tuple | Table) or hasattr(source, "__array__"):
        return matrix_source(source, "the array")
    raise TypeError(
        f"a table cannot be read from {type(source).__name__}: pass a path, a binary file object, "
        "a dataframe or an array"
    )


def _columns(source: Mapping[Any, Any]) -> dict[str, Array]:
    """Arrays by name; refuse what has no rows, and names that are alike as text."""
    if not source:
        raise ValueError("the table has no columns")
    columns: dict[str, Array] = {}
    for key, column in source.items():
        name = str(key)
        if name in columns:
            raise ValueError(f"the table has more than one column named {name!r}: rename them")
        columns[name] = np.asarray(column)
        if columns[name].ndim != 1:
            raise ValueError(
                f"column {name!r} of the table has {columns[name].ndim} dimensions and a column "
                "has one: give a value for each row"
            )
    return columns


def is_file(source: Any) -> bool:
    """Whether a source is a path or a file object."""
    return isinstance(source, str) or hasattr(source, "__fspath__") or hasattr(source, "read")


def check_no_separator(separator: str | None, why: str) -> None:
    """Refuse a separator where nothing is split."""
    if separator is not None:
        raise ValueError(f"separator={separator!r} is for text files and {why}: leave it out")


def file_source(
    file: File,
    array: str | None = None,
    separator: str | None = None,
    *,
    counted: bool = True,
) -> Source:
    """Open a file by its format; `counted` says whether 0, 1, 2, … may be a header."""
    kind = format_of(file)
    if kind != "text":
        check_no_separator(separator, f"{file.name} is not one")
    if kind == "npz":
        return npz_source(file, array)
    if kind in ("hdf5", "mat 7.3"):
        return Hdf5Source(file, array, transposed=kind == "mat 7.3")
    if kind == "mat":
        return mat_source(file, array)
    if array is not None:
        raise ValueError(
            f"array={array!r} names an array of an NPZ, HDF5 or MAT file, and {file.name} is none"
        )
    if kind == "text":
        return TextSource(file, layout_of(file, counted=counted, separator=separator))
    if kind == "npy":
        return npy_source(file)
    if kind == "mtx":
        return matrix_market_source(file)
    return ArrowSource(file, kind)
