"""Dataframes of any kind, through narwhals."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from unbend.io.numerals import Array, text_array
from unbend.io.optional import needed
from unbend.io.table import Roles, Table, table_of_columns


@dataclass(frozen=True)
class FrameSource:
    """A dataframe in memory."""

    # A dataframe of narwhals.
    frame: Any
    where: str

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(str(name) for name in self.frame.columns)

    def tables(self, roles: Roles, rows: int | None) -> Iterator[Table]:
        """Give tables of so many rows, or one of all."""
        n = len(self.frame)
        if not n:
            raise ValueError(f"{self.where} has no rows")
        step = rows or n
        for start in range(0, n, step):
            columns = columns_of(self.frame[start : start + step], roles, self.where)
            yield table_of_columns(columns, roles, start, self.where)


def frame_source(source: Any) -> FrameSource | None:
    """Take a dataframe of pandas, Polars, PyArrow or another library that narwhals knows."""
    narwhals = needed("narwhals", "reading dataframes")
    try:
        frame = narwhals.from_native(source, pass_through=True)
    except narwhals.exceptions.DuplicateError as error:
        names = getattr(source, "column_names", None) or source.columns
        twice = next(name for name, count in Counter(names).items() if count > 1)
        message = f"the dataframe has more than one column named {str(twice)!r}: rename them"
        raise ValueError(message) from error
    if isinstance(frame, narwhals.LazyFrame):
        frame = frame.collect()
    return FrameSource(frame, "the dataframe") if isinstance(frame, narwhals.DataFrame) else None


def columns_of(frame: Any, roles: Roles, where: str) -> dict[str, Array]:
    """Arrays of the columns that are wanted, NaN or None where a value is missing."""
    narwhals = needed("narwhals", "reading dataframes")
    names = {str(name): name for name in frame.columns}
    wanted = roles.wanted(tuple(names), where)
    return {name: _array(frame.get_column(names[name]), narwhals) for name in wanted}


def _array(column: Any, narwhals: Any) -> Array:
    kind = column.dtype
    absent = int(column.null_count())
    if kind.is_numeric() or kind == narwhals.Boolean:
        whole = kind.is_integer() or kind == narwhals.Boolean
        if kind == narwhals.Decimal or (absent and whole):
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
