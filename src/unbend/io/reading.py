"""Tables from files, dataframes and arrays."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from unbend.arrays import FloatArray, is_sparse
from unbend.io.arrays import (
    load_npy,
    read_arrays,
    read_columns,
    read_matrix,
    read_matrix_market,
    read_npz,
)
from unbend.io.columnar import ArrowReader, open_frame
from unbend.io.delimited import TextReader
from unbend.io.dialect import detect_dialect
from unbend.io.hdf5 import Hdf5Reader
from unbend.io.matlab import load_mat
from unbend.io.numerals import Array
from unbend.io.source import Source, is_file, open_source, table_format
from unbend.io.table import (
    Frame,
    Roles,
    Table,
    check_policy,
    column_means,
    fill_missing,
    fill_missing_batch,
)
from unbend.io.workbook import is_workbook, read_workbook
from unbend.memory import available_memory
from unbend.validation.scalars import check_integer

# Rows drawn from a table that is larger than memory, where fewer are asked for.
SAMPLED_ROWS = 100_000


class TableReader(Protocol):
    r"""Reads one table; what `open_table` returns.

    Examples
    --------
    >>> import io
    >>> import unbend
    >>> reader = unbend.io.open_table(io.BytesIO(b"a,b\n1,2\n"))
    >>> reader.names, unbend.io.read(reader).values.tolist()
    (('a', 'b'), [[1.0, 2.0]])
    """

    @property
    def where(self) -> str:
        """Name for messages."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""

    def tables(self, roles: Roles, rows: int | None) -> Iterator[Table]:
        """Yield tables of at most `rows` rows, or one of all, with NaN for missing values."""

    def frames(self, roles: Roles, rows: int | None) -> Iterator[Frame]:
        """Yield the same rows with columns of any kind."""

    @property
    def tabular(self) -> bool:
        """Whether columns may have units of their own: not those of an array."""


def read(
    source: Any,
    *,
    label: str | None = None,
    id: str | None = None,
    ignore: Iterable[str] = (),
    missing: str = "refuse",
    array: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
) -> Table:
    r"""Read a table of numbers from a file, a dataframe or an array.

    Parameters
    ----------
    source : path, binary file object, open source, dataframe, dict of columns, or array
        CSV, TSV, Parquet, Arrow, Feather, XLSX, NPY, NPZ, HDF5, MAT or Matrix Market; the content
        decides the format, then the extension. Text may be compressed by gzip, bzip2 or xz. Columns
        without names are called x0, x1, …
    label, id : str, optional
        Label and id columns, which are no features; they may hold anything. A column without a
        name, as pandas writes its index, is taken as `id` where none is given.
    ignore : iterable of str, optional
        Columns to leave out if they are there.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        What to do about missing values: raise and say where the first is, drop their rows, or
        impute the mean or the median of the column.
    array : str, optional
        Which array of an NPZ, HDF5 or MAT file that holds several is the table; in HDF5 with its
        groups, as ``"run/points"``. In a workbook, the sheet; the first by default.
    separator : str, optional
        Character between the fields of a text file; a space stands for any number of spaces. By
        default it is detected from the first lines.
    encoding : str, optional
        Encoding of a text file, such as ``"cp1252"``. By default a byte order mark decides, then
        UTF-8 is tried; what is not UTF-8 is read as Windows-1252, with a warning.

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
    check_policy(missing)
    reader = open_table(source, array=array, separator=separator, encoding=encoding)
    roles = Roles(label, id, _names(ignore)).resolve(reader.names, reader.where)
    (table,) = reader.tables(roles, None)
    return fill_missing(table, missing, reader.where)


def read_frame(
    source: Any,
    *,
    label: str | None = None,
    id: str | None = None,
    ignore: Iterable[str] = (),
    array: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
) -> Frame:
    r"""Read all columns of a table: numbers, text and dates, with their missing values.

    Parameters
    ----------
    source, label, id, ignore, array, separator, encoding
        As for `read`; nothing is refused because it is text.

    Returns
    -------
    Frame
        Which `unbend.Prepare` takes.

    Examples
    --------
    >>> import io
    >>> import unbend
    >>> content = io.BytesIO(b"width,kind,day\n1,a,2024-05-01\n,b,2024-05-02\n")
    >>> frame = unbend.io.read_frame(content)
    >>> frame.columns["width"].tolist(), frame.columns["kind"].tolist()
    ([1.0, nan], ['a', 'b'])
    """
    reader = open_table(source, array=array, separator=separator, encoding=encoding)
    roles = Roles(label, id, _names(ignore)).resolve(reader.names, reader.where)
    (frame,) = reader.frames(roles, None)
    return frame


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
    encoding: str | None = None,
) -> "Batches":
    """Read a table in batches of rows: Parquet, Arrow, text or NPY larger than memory.

    Parameters
    ----------
    source : path, binary file object, dataframe, dict of columns, or array
        As for `read`. What is in memory, and NPZ, is split into batches; other files are never held
        as a whole.
    rows : int, default=100_000
        Rows of a batch; the last has fewer, and 'drop' may leave fewer in any.
    label, id, ignore
        As for `read`. The label of a text file has in each batch the type of its entries there.
    missing : {'refuse', 'drop', 'mean'}, default='refuse'
        As for `read`. The mean of all rows takes one more pass; the median is not available.
    array : str, optional
        As for `read`. Of an HDF5 file one batch at a time is read.
    separator, encoding : str, optional
        As for `read`.

    Returns
    -------
    Batches
        Iterates over `Table` values, any number of times.

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
    check_policy(missing)
    reader = open_table(source, array=array, separator=separator, encoding=encoding)
    roles = Roles(label, id, _names(ignore)).resolve(reader.names, reader.where)
    return Batches(reader, roles, int(rows), missing)


@dataclass(frozen=True, eq=False)
class Batches:
    """Tables of a limited number of rows; what `batches` returns.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> parts = unbend.io.batches(np.arange(10.0).reshape(5, 2), rows=2)
    >>> [len(part) for part in parts]
    [2, 2, 1]
    """

    reader: TableReader
    roles: Roles
    rows: int
    missing: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of numbers."""
        return self.roles.value_names(self.reader.names, self.reader.where)

    def __iter__(self) -> Iterator[Table]:
        where, means = self.reader.where, self._means() if self.missing == "mean" else None
        empty = True
        for table in self.reader.tables(self.roles, self.rows):
            batch = fill_missing_batch(table, self.missing, means, where)
            if len(batch):
                empty = False
                yield batch
        if empty:
            raise ValueError(f"every row of {where} has a missing value: none would be left")

    def _means(self) -> FloatArray:
        return column_means(self.reader.tables(self.roles, self.rows), self.reader.where)


def _names(ignore: Iterable[str]) -> tuple[str, ...]:
    if isinstance(ignore, str):
        raise TypeError(f"ignore={ignore!r} is a string: pass a list of names")
    return tuple(ignore)


@dataclass(frozen=True, eq=False)
class TableSample:
    r"""Random rows of a table; what `sample_table` returns.

    Attributes
    ----------
    reader : TableReader
        The rows, for `read`, `read_frame` and every other reader of tables.
    rows : int
        Number of rows drawn.
    total : int
        Rows of the whole table.
    exact : bool
        Whether `total` is known, not estimated.

    Examples
    --------
    >>> import io
    >>> import unbend
    >>> text = "a,b\n" + "".join(f"{i},{i * i}\n" for i in range(2000))
    >>> sample = unbend.io.sample_table(io.BytesIO(text.encode()), 100)
    >>> sample.rows, len(unbend.io.read(sample.reader))
    (100, 100)
    """

    reader: TableReader
    rows: int
    total: int
    exact: bool

    def __str__(self) -> str:
        return f"{self.rows} of {'' if self.exact else 'about '}{self.total} rows"


def sample_table(
    source: Any,
    rows: int,
    *,
    random_state: int = 0,
    array: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
) -> TableSample:
    r"""Draw random rows of a table that may be larger than memory, without reading it whole.

    Text is read in blocks of 4 KB at random places, Parquet in random row groups, NPY row by row.
    Every row is as likely as any other, however long its line is. A block of text may begin inside
    a quoted field: both readings are tried, and the one with more rows as wide as the header is
    taken. Compressed text, UTF-16, Arrow and HDF5 cannot be sampled so.

    Parameters
    ----------
    source, array, separator, encoding
        As for `read`.
    rows : int
        Number of rows, drawn without replacement; they keep the order of the table.
    random_state : int
        Random seed: the same rows for the same seed.

    Returns
    -------
    TableSample

    Examples
    --------
    >>> import io
    >>> import unbend
    >>> text = "a,b\n" + "".join(f"{i},{i * i}\n" for i in range(20_000))
    >>> sample = unbend.io.sample_table(io.BytesIO(text.encode()), 100)
    >>> table = unbend.io.read(sample.reader)
    >>> len(table), bool((table.values[:, 1] == table.values[:, 0] ** 2).all())
    (100, True)
    >>> 19_000 < sample.total < 21_000
    True
    """
    count = check_integer("rows", rows)
    seed = check_integer("random_state", random_state, 0)
    reader = open_table(source, array=array, separator=separator, encoding=encoding)
    drawn = reader.sample(count, seed) if hasattr(reader, "sample") else None
    if drawn is None:
        raise ValueError(
            f"{reader.where} cannot be sampled without being read whole: unpack it, or save it as "
            "UTF-8 text, Parquet or NPY"
        )
    chosen, total = drawn
    return TableSample(chosen, min(count, total), total, exact=not isinstance(reader, TextReader))


def fit_in_memory(
    reader: TableReader, rows: int, random_state: int
) -> tuple[TableReader, TableSample | None]:
    """Return a table as it is, or random rows of one that is larger than free memory.

    At least 100 000 rows are drawn, so that what is said of columns does not depend on how many
    are looked at later.
    """
    size, free = getattr(reader, "memory_size", 0), available_memory()
    if free is None or size <= free:
        return reader, None
    sample = sample_table(reader, max(rows, SAMPLED_ROWS), random_state=random_state)
    return sample.reader, sample


def open_table(
    source: Any,
    *,
    array: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    counted: bool = True,
) -> TableReader:
    r"""Open a table without reading its rows.

    Parameters
    ----------
    source, array, separator, encoding
        As for `read`. A reader is returned as it is.
    counted : bool, default=True
        Whether a first line 0, 1, 2, … of a text file may be a header.

    Returns
    -------
    TableReader
        With the `names` of the columns; `read` and `batches` take it as their source.

    Examples
    --------
    >>> import io
    >>> import unbend
    >>> reader = unbend.io.open_table(io.BytesIO(b"a,b\n1,2\n"))
    >>> reader.names, unbend.io.read(reader).values.tolist()
    (('a', 'b'), [[1.0, 2.0]])
    """
    if hasattr(type(source), "tables"):
        reader: TableReader = source
        return reader
    if is_file(source):
        return _open_file(open_source(source), array, separator, encoding, counted)
    if array is not None:
        raise ValueError(f"array={array!r} names an array of a file, and no file was given")
    check_no_separator(separator, "the table is in memory", encoding)
    if is_sparse(source):
        raise TypeError("a sparse matrix is not a table: pass source.toarray(), or fit to it")
    if isinstance(source, Mapping):
        return read_columns(_columns(source), "the table")
    if isinstance(source, np.ndarray | list | tuple):
        return read_matrix(source, "the array")
    frame = open_frame(source)
    if frame is not None:
        return frame
    if hasattr(source, "__array__"):
        return read_matrix(source, "the array")
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


def check_no_separator(separator: str | None, why: str, encoding: str | None = None) -> None:
    """Refuse a separator, and an encoding, where no text is split."""
    for name, value in (("separator", separator), ("encoding", encoding)):
        if value is not None:
            raise ValueError(f"{name}={value!r} is for text files and {why}: leave it out")


def _open_file(
    source: Source, array: str | None, separator: str | None, encoding: str | None, counted: bool
) -> TableReader:
    # Bytes of zero are no text, unless an encoding says so.
    coded = encoding is not None and source.format == "unknown"
    kind, name = "text" if coded else table_format(source), source.name
    if kind != "text":
        check_no_separator(separator, f"{name} is not one", encoding)
    if kind == "npz" and is_workbook(source):
        return read_workbook(source, array)
    if kind == "npz":
        return read_npz(source, array)
    if kind in ("hdf5", "mat 7.3"):
        return Hdf5Reader(source, array)
    if kind == "mat":
        return read_arrays(load_mat(source), array, name)
    check_no_array(array, name)
    if kind == "text":
        dialect = detect_dialect(source, counted=counted, separator=separator, encoding=encoding)
        return TextReader(source, dialect)
    if kind == "npy":
        return read_matrix(load_npy(source), name)
    if kind == "mtx":
        return read_matrix_market(source)
    return ArrowReader(source)


def check_no_array(array: str | None, name: str) -> None:
    """Refuse the name of an array where a file holds none by name."""
    if array is not None:
        raise ValueError(
            f"array={array!r} names an array of an NPZ, HDF5 or MAT file, and {name} is none"
        )
