"""Dataframes through narwhals; Parquet, Arrow and Feather files through pyarrow."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unbend.io.numerals import Array, text_array
from unbend.io.source import Source, require
from unbend.io.table import Frame, Roles, Table, frame_from_columns, table_from_columns
from unbend.memory import check_fits, reserve

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


def ordered_levels(series: Any) -> tuple[str, ...] | None:
    """Categories of an enumeration, or of an ordered categorical of pandas or Arrow."""
    narwhals = require("narwhals", "reading dataframes")
    if series.dtype == narwhals.Enum:
        return tuple(series.dtype.categories)
    categorical = getattr(series.to_native(), "cat", None)
    if categorical is not None and getattr(categorical, "ordered", False):
        return tuple(str(level) for level in categorical.categories)
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
            raise ValueError(
                f"{self.where} is a damaged or cut off {TITLES[self.source.format]} file: fetch or "
                "write it again"
            ) from error

    def _parquet(self, content: Any) -> tuple[Any, Any]:
        reader = require("pyarrow.parquet", self._purpose)
        # Else a whole group of rows, which may be the whole file, would be held packed.
        file = reader.ParquetFile(content, pre_buffer=False)

        def batches(names: list[str], rows: int | None) -> Iterator[Any]:
            # Millions of equal numbers take a few bytes in the file.
            count = file.metadata.num_rows if rows is None else min(rows, file.metadata.num_rows)
            size = 8 * count * len(names)
            reserve(size, f"the numbers of {self.where}", "read it in batches, or fewer rows")
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
