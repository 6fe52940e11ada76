"""A table of numbers, the roles of its columns, and policies for missing values."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.io.numerals import MISSING, Array, is_number
from unbend.validation.scalars import hint

# What pandas calls an index when it writes one to CSV or Parquet: never a coordinate.
INDEX_NAMES = ("", "__index_level_0__")
SINGLE = ("float16", "float32")
POLICIES = ("refuse", "drop", "mean", "median")
# What to do about a table that memory cannot hold.
TOO_LARGE = "read it in batches, or some of its rows by sample_table"


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of numbers with the names of their columns; label and ids are separate.

    NumPy and the estimators take a table for its values.

    Attributes
    ----------
    values : array (n, d)
        The numbers: double precision, or single where the source holds single precision only.
    columns : tuple of str
        Names of the d columns.
    label, ids : array (n,) or None
        Label and id columns: numbers, text or anything else.
    label_name, id_name : str or None
        Their names.
    rows : array (n,)
        Place of each row in the source, counted from zero: rows may have been left out.

    Examples
    --------
    >>> import unbend
    >>> table = unbend.io.read({"height": [1.7, 1.8], "age": [30, 40], "name": ["Ada", "Bo"]},
    ...                        id="name")
    >>> table.columns, table.values.tolist(), table.ids.tolist()
    (('height', 'age'), [[1.7, 30.0], [1.8, 40.0]], ['Ada', 'Bo'])
    >>> len(table)
    2
    """

    values: FloatArray
    columns: tuple[str, ...]
    label: Array | None
    label_name: str | None
    ids: Array | None
    id_name: str | None
    rows: IntArray

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns of values."""
        return self.values.shape[0], self.values.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self.values.dtype

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.values, dtype=dtype, copy=copy)

    def take(self, keep: BoolArray) -> "Table":
        """Restrict to some rows.

        Parameters
        ----------
        keep : array (n,) of bool
            Rows to keep.

        Returns
        -------
        Table
        """
        return replace(
            self,
            values=self.values[keep],
            label=None if self.label is None else self.label[keep],
            ids=None if self.ids is None else self.ids[keep],
            rows=self.rows[keep],
        )


@dataclass(frozen=True, eq=False)
class Frame:
    """Named columns of any kind, as `Prepare` takes them; label and ids are separate.

    Attributes
    ----------
    columns : dict of array (n,)
        Numbers with NaN, dates, or text with None for missing values.
    levels : dict of tuple of str
        Categories in their order, of columns that declare them.
    rest : Table
        Label, ids and places of the rows, without values.
    where : str
        Name of the source for messages.

    Examples
    --------
    >>> import unbend
    >>> frame = unbend.io.read_frame({"age": [30, 40, 50], "city": ["Bonn", "Kiel", "Bonn"]})
    >>> list(frame.columns), len(frame)
    (['age', 'city'], 3)
    >>> unbend.Prepare().fit_transform(frame).shape
    (3, 3)
    """

    columns: Mapping[str, Array]
    levels: Mapping[str, tuple[str, ...]]
    rest: Table
    where: str

    def __len__(self) -> int:
        return len(self.rest)

    def take(self, keep: BoolArray) -> "Frame":
        """Restrict to some rows.

        Parameters
        ----------
        keep : array (n,) of bool
            Rows to keep.

        Returns
        -------
        Frame
        """
        columns = {name: column[keep] for name, column in self.columns.items()}
        return replace(self, columns=columns, rest=self.rest.take(keep))

    def select(self, names: Iterable[str]) -> "Frame":
        """Restrict to some columns.

        Parameters
        ----------
        names : iterable of str
            Columns to keep.

        Returns
        -------
        Frame
        """
        return replace(self, columns={name: self.columns[name] for name in names})

    def to_table(self) -> Table:
        """Return a table of numbers; refuse columns that hold anything else.

        Returns
        -------
        Table
        """
        values = stack_columns(self.columns, tuple(self.columns), self.where)
        return replace(self.rest, values=values, columns=tuple(self.columns))


@dataclass(frozen=True)
class Roles:
    """Which columns are label and id, and which are ignored; `alone`: read no features."""

    label: str | None
    id: str | None
    ignore: tuple[str, ...]
    alone: bool = False

    @property
    def aside(self) -> tuple[str, ...]:
        """Names of the label and id columns."""
        return tuple(name for name in (self.label, self.id) if name is not None)

    def resolve(self, names: Sequence[str], where: str) -> "Roles":
        """Check the names of a source; an index without a name serves as id if none is given."""
        twice = next((name for name, count in Counter(names).items() if count > 1), None)
        if twice is not None:
            raise ValueError(f"{where} has more than one column named {twice!r}: rename them")
        for name in self.aside:
            if name not in names:
                raise ValueError(
                    f"{where} has no column {name!r}: its columns are {list_names(names)}"
                    f"{hint(name, names)}"
                )
        if self.label is not None and self.label == self.id:
            raise ValueError(f"column {self.label!r} cannot be both label and id: name another")
        index = [name for name in names if name in INDEX_NAMES and name not in self.aside]
        own = index[0] if index and self.id is None else self.id
        return replace(self, id=own, ignore=(*self.ignore, *index))

    def value_names(self, names: Sequence[str], where: str) -> tuple[str, ...]:
        """Names of the columns that hold the coordinates."""
        if self.alone:
            return ()
        out = {*self.aside, *self.ignore}
        kept = tuple(name for name in names if name not in out)
        if not kept:
            raise ValueError(f"{where} has no column of numbers left besides label and id")
        return kept

    def read_names(self, names: Sequence[str], where: str) -> tuple[str, ...]:
        """Names of all the columns that must be read."""
        kept = {*self.value_names(names, where), *self.aside}
        return tuple(name for name in names if name in kept)


def list_names(names: Sequence[str], most: int = 12) -> str:
    """Return at most `most` names for a sentence."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def table_from_columns(columns: Mapping[str, Array], roles: Roles, start: int, where: str) -> Table:
    """Table of one-dimensional arrays by name, with NaN for what is missing."""
    names = roles.value_names(tuple(columns), where)
    return _assemble(stack_columns(columns, names, where), names, columns, roles, start)


def frame_from_columns(
    columns: Mapping[str, Array],
    roles: Roles,
    start: int,
    where: str,
    levels: Mapping[str, tuple[str, ...]] | None = None,
) -> Frame:
    """Frame of one-dimensional arrays by name."""
    names = roles.value_names(tuple(columns), where)
    n = len(next(iter(columns.values())))
    rest = _assemble(np.empty((n, 0)), (), columns, roles, start)
    return Frame({name: columns[name] for name in names}, levels or {}, rest, where)


def stack_columns(columns: Mapping[str, Array], names: Sequence[str], where: str) -> FloatArray:
    """Stack columns of numbers: single precision where all of them are."""
    numbers = [_numbers(columns[name], name, where) for name in names]
    single = bool(numbers) and all(column.dtype.name in SINGLE for column in numbers)
    n = len(next(iter(columns.values())))
    values = np.empty((n, len(names)), dtype=np.float32 if single else np.float64)
    for place, column in enumerate(numbers):
        values[:, place] = column
    return values


def table_from_matrix(
    matrix: Array, names: tuple[str, ...], roles: Roles, start: int, where: str
) -> Table:
    """Table of the columns of a matrix, without a copy where nothing has to change."""
    kept = roles.value_names(names, where)
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"{where} holds {_kind(matrix)}, not numbers")
    aside = {name: matrix[:, names.index(name)] for name in roles.aside}
    place = {name: number for number, name in enumerate(names)}
    chosen = matrix if len(kept) == len(names) else matrix[:, [place[name] for name in kept]]
    single = matrix.dtype.kind == "f" and matrix.dtype.itemsize <= 4
    values: FloatArray = np.asarray(chosen, dtype=np.float32 if single else np.float64)
    return _assemble(values, kept, aside, roles, start)


def _assemble(
    values: FloatArray, names: tuple[str, ...], aside: Mapping[str, Array], roles: Roles, start: int
) -> Table:
    return Table(
        values=values,
        columns=names,
        label=None if roles.label is None else aside[roles.label],
        label_name=roles.label,
        ids=None if roles.id is None else aside[roles.id],
        id_name=None if roles.id is None else roles.id,
        rows=np.arange(start, start + len(values)),
    )


def _numbers(column: Array, name: str, where: str) -> Array:
    if column.dtype.kind in "biuf":
        return column
    raise ValueError(
        f"column {name!r} of {where} holds {_kind(column)}, not numbers: pass it as label or id, "
        "or leave it out"
    )


def _kind(column: Array) -> str:
    """Describe what a column holds, with an example where that helps."""
    if column.dtype.kind in "mM":
        return "dates or times"
    if column.dtype.kind == "c":
        return "complex numbers"
    words = [str(item) for item in column.flat if isinstance(item, str) and item not in MISSING]
    example = next((word for word in words if not is_number(word, comma=False)), None)
    if example is not None:
        shown = example if len(example) <= 40 else example[:37] + "..."
        return f"text such as {shown!r}"
    held = next((item for item in column.flat if item is not None), None)
    return "nothing at all" if held is None else f"values of type {type(held).__name__}"


def check_policy(missing: str) -> None:
    """Raise for an unknown policy."""
    if missing not in POLICIES:
        allowed = ", ".join(repr(policy) for policy in POLICIES)
        raise ValueError(f"missing={missing!r} is not allowed: it must be one of {allowed}")


def fill_missing(table: Table, missing: str, where: str) -> Table:
    """Apply a policy to a table that holds all rows."""
    absent: BoolArray = np.isnan(table.values)
    if not absent.any():
        return table
    if missing == "refuse":
        raise ValueError(_first_missing(table, where))
    if missing == "drop":
        kept = _drop_missing(table)
        if not len(kept):
            raise ValueError(f"every row of {where} has a missing value: none would be left")
        return kept
    _check_some_value(table, np.asarray(absent.all(axis=0)), where)
    if missing == "mean":
        return _fill(table, np.nanmean(table.values, axis=0, dtype=np.float64))
    return _fill(table, np.nanmedian(table.values, axis=0))


def _drop_missing(table: Table) -> Table:
    return table.take(np.asarray(~np.isnan(table.values).any(axis=1)))


def fill_missing_batch(table: Table, missing: str, means: FloatArray | None, where: str) -> Table:
    """Apply a policy to one batch; `means` are those of all rows."""
    if means is not None:
        return _fill(table, means)
    if missing == "drop":
        return _drop_missing(table)
    return fill_missing(table, missing, where)


def _fill(table: Table, centres: FloatArray) -> Table:
    """Put the centre of its column wherever a value is missing."""
    values = table.values.copy()
    rows, columns = np.nonzero(np.isnan(values))
    values[rows, columns] = centres[columns]
    return replace(table, values=values)


def column_means(tables: Iterable[Table], where: str) -> FloatArray:
    """Mean of the values there are in each column, in one pass."""
    total: FloatArray = np.zeros(1)
    count: FloatArray = np.zeros(1)
    last = None
    for last in tables:
        total = total + np.nansum(last.values, axis=0, dtype=np.float64)
        count = count + np.count_nonzero(~np.isnan(last.values), axis=0)
    if last is not None:
        _check_some_value(last, count == 0, where)
    return total / count


def _check_some_value(table: Table, empty: BoolArray, where: str) -> None:
    if empty.any():
        name = table.columns[int(np.argmax(empty))]
        raise ValueError(f"column {name!r} of {where} has no value at all: leave it out")


def _first_missing(table: Table, where: str) -> str:
    rows, columns = np.nonzero(np.isnan(table.values))
    first = f"row {table.rows[rows[0]] + 1} and column {table.columns[columns[0]]!r}"
    count = (
        f"a value is missing in {where}, in {first}"
        if len(rows) == 1
        else f"{len(rows)} values are missing in {where}, the first in {first}"
    )
    return (
        f"{count} (rows are counted from 1): choose a policy for missing values ('drop', 'mean' or "
        "'median'), or leave the column out"
    )
