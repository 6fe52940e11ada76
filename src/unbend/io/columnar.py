"""Dataframes through narwhals; Parquet, Arrow and Feather files through pyarrow."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from unbend.cached import cached_property
from unbend.io.numerals import Array, text_array
from unbend.io.source import Source, require
from unbend.io.table import (
    TOO_LARGE,
    Frame,
    Roles,
    Table,
    frame_from_columns,
    table_from_columns,
)
from unbend.memory import check_fits, reserve

# Row groups of a sample: one in so many, but no more than that, unless rows need them; rows of a
# group that are held at a time; rows drawn beyond those asked for.
SHARE, MOST_GROUPS, SAMPLED_ROWS, SPARE = 4, 16, 1 << 16, 1.25
TITLES = {"parquet": "Parquet", "arrow": "Arrow", "arrow stream": "Arrow"}


@dataclass(frozen=True)
class FrameReader:
    """Reads a dataframe in memory."""

    # A dataframe of narwhals.
    frame: Any
    where: str = "the dataframe"
    tabular = True

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(str(name) for name in self.frame.columns)

    def tables(self, roles: Roles, rows: int | None) -> Iterator[Table]:
        """Yield tables of at most `rows` rows, or one table of all."""
        for start, part in self._parts(rows):
            columns = _read_columns(part, roles, self.where)
            yield table_from_columns(columns, roles, start, self.where)

    def frames(self, roles: Roles, rows: int | None) -> Iterator[Frame]:
        """Yield the same rows with columns of any kind."""
        for start, part in self._parts(rows):
            columns, levels = _read_columns(part, roles, self.where), _levels(part)
            yield frame_from_columns(columns, roles, start, self.where, levels)

    def _parts(self, rows: int | None) -> Iterator[tuple[int, Any]]:
        n = len(self.frame)
        if not n:
            raise ValueError(f"{self.where} has no rows")
        step = rows or n
        for start in range(0, n, step):
            yield start, self.frame[start : start + step]


def open_frame(source: Any) -> FrameReader | None:
    """Take a dataframe of pandas, Polars, PyArrow or another library that narwhals knows."""
    narwhals = require("narwhals", "reading dataframes")
    try:
        frame = narwhals.from_native(source, pass_through=True)
    except narwhals.exceptions.DuplicateError as error:
        names = getattr(source, "column_names", None) or source.columns
        twice = next(name for name, count in Counter(names).items() if count > 1)
        message = f"the dataframe has more than one column named {str(twice)!r}: rename them"
        raise ValueError(message) from error
    if isinstance(frame, narwhals.LazyFrame):
        frame = frame.collect()
    return FrameReader(frame) if isinstance(frame, narwhals.DataFrame) else None


def _read_columns(frame: Any, roles: Roles, where: str) -> dict[str, Array]:
    """Return arrays of the columns to read, NaN or None where a value is missing."""
    narwhals = require("narwhals", "reading dataframes")
    names = {str(name): name for name in frame.columns}
    read = roles.read_names(tuple(names), where)
    return {name: _to_array(frame.get_column(names[name]), narwhals) for name in read}


def _levels(frame: Any) -> dict[str, tuple[str, ...]]:
    """Return the categories of ordered categoricals, in their order."""
    found = {str(name): ordered_levels(frame.get_column(name)) for name in frame.columns}
    return {name: levels for name, levels in found.items() if levels is not None}


def level_name(value: object) -> str:
    """Write a level: integers without a decimal point."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def ordered_levels(series: Any) -> tuple[str, ...] | None:
    """Categories of an enumeration, or of an ordered categorical of pandas or Arrow."""
    narwhals = require("narwhals", "reading dataframes")
    if series.dtype == narwhals.Enum:
        return tuple(map(level_name, series.dtype.categories))
    categorical = getattr(series.to_native(), "cat", None)
    if categorical is not None and getattr(categorical, "ordered", False):
        return tuple(map(level_name, categorical.categories))
    arrow = getattr(series.to_native(), "type", None)
    if getattr(arrow, "ordered", False):
        return tuple(map(str, series.to_native().combine_chunks().dictionary.to_pylist()))
    return None


def _to_array(column: Any, narwhals: Any) -> Array:
    kind = column.dtype
    absent = int(column.null_count())
    if kind.is_numeric() or kind == narwhals.Boolean:
        integral = kind.is_integer() or kind == narwhals.Boolean
        if kind == narwhals.Decimal or (absent and integral):
            column = column.cast(narwhals.Float64)
        return np.asarray(column.to_numpy())
    if absent == len(column):
        return np.full(len(column), np.nan)
    items = column.to_list()
    if all(isinstance(item, str) for item in items):
        return text_array(items)
    if kind.is_temporal() and not absent:
        return np.asarray(column.to_numpy())
    held = np.empty(len(items), dtype=object)
    held[:] = items
    # Each library has an object of its own for a missing value.
    held[column.is_null().to_numpy()] = None
    return held


@dataclass(eq=False)
class ArrowReader:
    """Reads a file of columns: Parquet, or Arrow, which Feather is."""

    source: Source
    tabular = True

    @property
    def where(self) -> str:
        """Name for messages."""
        return self.source.name

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        with self._open() as (schema, _):
            return tuple(schema.names)

    @cached_property
    def memory_size(self) -> int:
        """Bytes that all rows would take, about; of Arrow files it is known when they are read."""
        if self.source.format != "parquet" or self.source.packed:
            return 0
        with self._open_parquet() as file:
            return 8 * int(file.metadata.num_rows) * len(self.names)

    def sample(self, rows: int, random_state: int) -> tuple[FrameReader, int] | None:
        """Return a reader of random rows, and how many there are; None of Arrow files.

        Row groups are drawn without replacement, and rows without replacement from all of those.
        """
        if self.source.format != "parquet" or self.source.packed:
            return None
        arrow = require("pyarrow", self._purpose)
        narwhals = require("narwhals", "reading dataframes")
        rng = np.random.default_rng(random_state)
        with self._open_parquet() as file:
            total, groups = int(file.metadata.num_rows), int(file.metadata.num_row_groups)
            if not total:
                raise ValueError(f"{self.where} has no rows")
            needed = int(np.ceil(SPARE * rows * groups / total))
            drawn = min(groups, max(needed, min(MOST_GROUPS, -(-groups // SHARE))))
            chosen = np.sort(rng.choice(groups, drawn, replace=False)).tolist()
            count = sum(file.metadata.row_group(group).num_rows for group in chosen)
            keep = np.zeros(count, dtype=bool)
            keep[rng.choice(count, min(rows, count), replace=False)] = True
            parts, start = [], 0
            for batch in file.iter_batches(batch_size=SAMPLED_ROWS, row_groups=chosen):
                mask = keep[start : start + batch.num_rows]
                start += batch.num_rows
                parts.append(batch.filter(arrow.array(mask)))
            table = arrow.Table.from_batches(parts)
        frame = narwhals.from_native(table, eager_only=True)
        return FrameReader(frame, f"a sample of {self.where}"), total

    @contextmanager
    def _open_parquet(self) -> Iterator[Any]:
        """Open a Parquet file of which only what is asked for is read."""
        arrow = require("pyarrow", self._purpose)
        parquet = require("pyarrow.parquet", self._purpose)
        try:
            with arrow.PythonFile(self.source.cursor(), "r") as content:
                yield parquet.ParquetFile(content, pre_buffer=False)
        except (arrow.ArrowException, OSError) as error:
            raise ValueError(self._damage) from error

    @property
    def _damage(self) -> str:
        title = TITLES[self.source.format]
        return f"{self.where} is a damaged or cut off {title} file: fetch or write it again"

    def tables(self, roles: Roles, rows: int | None) -> Iterator[Table]:
        """Yield tables of at most `rows` rows, or one table of all."""
        for start, part in self._parts(roles, rows):
            columns = _read_columns(part, roles, self.where)
            yield table_from_columns(columns, roles, start, self.where)

    def frames(self, roles: Roles, rows: int | None) -> Iterator[Frame]:
        """Yield the same rows with columns of any kind."""
        for start, part in self._parts(roles, rows):
            columns, levels = _read_columns(part, roles, self.where), _levels(part)
            yield frame_from_columns(columns, roles, start, self.where, levels)

    def _parts(self, roles: Roles, rows: int | None) -> Iterator[tuple[int, Any]]:
        """Yield the place of the first row and a dataframe of narwhals."""
        arrow = require("pyarrow", self._purpose)
        narwhals = require("narwhals", "reading dataframes")
        start = 0
        names = list(roles.read_names(self.names, self.where))
        with self._open() as (_, batches):
            for held in _regroup(batches(names, rows), rows):
                frame = narwhals.from_native(arrow.Table.from_batches(held), eager_only=True)
                yield start, frame
                start += len(frame)
        if not start:
            raise ValueError(f"{self.where} has no rows")

    @property
    def _purpose(self) -> str:
        return f"reading {TITLES[self.source.format]}"

    @contextmanager
    def _open(self) -> Iterator[tuple[Any, Callable[[list[str], int | None], Iterator[Any]]]]:
        """Open the file: its schema, and a function of names and rows that gives batches."""
        arrow = require("pyarrow", self._purpose)
        try:
            with arrow.BufferReader(arrow.py_buffer(self.source.map())) as content:
                parquet = self.source.format == "parquet"
                yield self._parquet(content) if parquet else self._ipc(content)
        except (arrow.ArrowException, OSError) as error:
            raise ValueError(self._damage) from error

    def _parquet(self, content: Any) -> tuple[Any, Any]:
        reader = require("pyarrow.parquet", self._purpose)
        # Else a whole group of rows, which may be the whole file, would be held packed.
        file = reader.ParquetFile(content, pre_buffer=False)

        def batches(names: list[str], rows: int | None) -> Iterator[Any]:
            # Millions of equal numbers take a few bytes in the file.
            count = file.metadata.num_rows if rows is None else min(rows, file.metadata.num_rows)
            size = 8 * count * len(names)
            reserve(size, f"the numbers of {self.where}", TOO_LARGE)
            if rows is None:
                return iter(file.read(columns=names).to_batches())
            return iter(file.iter_batches(batch_size=rows, columns=names))

        return file.schema_arrow, batches

    def _ipc(self, content: Any) -> tuple[Any, Any]:
        reader = require("pyarrow.ipc", self._purpose)
        if self.source.format == "arrow":
            file = reader.open_file(content)
            held = (file.get_batch(number) for number in range(file.num_record_batches))
        else:
            file = reader.open_stream(content)
            held = iter(file)

        def batches(names: list[str], rows: int | None) -> Iterator[Any]:
            size = 0
            for batch in held:
                chosen = batch.select(names)
                size += chosen.nbytes
                if rows is None:
                    # The size of a compressed batch is known once it is unpacked.
                    check_fits(size, f"the entries of {self.where}", "read it in batches")
                yield chosen

        return file.schema, batches


def _regroup(batches: Iterator[Any], rows: int | None) -> Iterator[list[Any]]:
    """Regroup record batches into lists of `rows` rows."""
    held: list[Any] = []
    count = 0
    for batch in batches:
        while rows is not None and count + batch.num_rows >= rows:
            yield [*held, batch.slice(0, rows - count)]
            batch = batch.slice(rows - count)
            held, count = [], 0
        if batch.num_rows:
            held.append(batch)
            count += batch.num_rows
    if count:
        yield held
