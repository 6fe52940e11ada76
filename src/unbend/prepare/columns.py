"""Named columns of a table, whatever library holds it."""

import datetime
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real
from typing import Any, Literal, TypeAlias

import narwhals
import numpy as np
from numpy.typing import NDArray

from unbend.io.columnar import level_name, ordered_levels
from unbend.io.table import Frame
from unbend.validation.arrays import column_names

Array: TypeAlias = NDArray[Any]
Source: TypeAlias = Literal["number", "boolean", "date", "text"]


@dataclass(frozen=True, eq=False)
class Column:
    """One column: float64 with NaN, datetime64 with NaT, or strings with None.

    Attributes
    ----------
    name : str
    values : array (n,)
    source : {"number", "boolean", "date", "text"}
        How the table stores it. Booleans are 0.0 and 1.0.
    levels : tuple of str or None
        Categories in their order, where the table declares them (an ordered categorical).
    categorical : bool
        Whether the table declares numbers or intervals to be categories.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> table = {"size": ["low", "high", "low"], "price": [1.0, np.nan, 3.0]}
    >>> [(column.name, column.source) for column in unbend.prepare.read_columns(table).columns]
    [('size', 'text'), ('price', 'number')]
    """

    name: str
    values: Array
    source: Source
    levels: tuple[str, ...] | None = None
    categorical: bool = False

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Rows without a value."""
        if self.values.dtype.kind == "M":
            return np.asarray(np.isnat(self.values))
        if self.values.dtype.kind == "f":
            return np.asarray(np.isnan(self.values))
        return np.array([value is None for value in self.values], dtype=np.bool_)

    @property
    def present(self) -> Array:
        """Values that are not missing."""
        return self.values[~self.missing]

    def take(self, rows: Array) -> "Column":
        """Restrict to some rows."""
        return replace(self, values=self.values[rows])


@dataclass(frozen=True, eq=False)
class Columns:
    """All columns of a table, and the library it came from (``"array"`` without one).

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> table = {"size": ["low", "high", "low"], "price": [1.0, np.nan, 3.0]}
    >>> len(unbend.prepare.read_columns(table).columns)
    2
    """

    columns: tuple[Column, ...]
    library: str

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    def __len__(self) -> int:
        return len(self.columns[0].values) if self.columns else 0


def read_columns(X: Any) -> Columns:
    """Split a data frame, what `unbend.io.read_frame` returns, a mapping or an array into columns.

    Raises
    ------
    TypeError
        If X is sparse or is no table.
    ValueError
        If X has no rows or columns, or two columns have one name.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> table = {"size": ["low", "high", "low"], "price": [1.0, np.nan, 3.0]}
    >>> unbend.prepare.read_columns(table).columns[1].values
    array([ 1., nan,  3.])
    """
    if isinstance(X, Frame):
        return _check(_of_frame(X))
    if isinstance(X, Mapping):
        return _check(Columns(tuple(_of_array(str(k), _unmask(v)) for k, v in X.items()), "dict"))
    if not hasattr(X, "collect"):
        # A lazy frame has no two columns of one name, and would compute its names here.
        _refuse_repeated_names(X)
    frame = narwhals.from_native(X, eager_only=False, pass_through=True)
    if isinstance(frame, narwhals.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, narwhals.DataFrame):
        columns = tuple(_of_series(str(name), frame.get_column(name)) for name in frame.columns)
        return _check(Columns(columns, frame.implementation.name.lower()))
    return _check(_of_matrix(X))


def _refuse_repeated_names(X: Any) -> None:
    name, count = next(iter(Counter(column_names(X)).most_common(1)), ("", 0))
    if count > 1:
        raise ValueError(f"X has {count} columns named {name!r}. Rename them.")


def _unmask(values: Any) -> Array:
    """Return an array, with NaN where a masked one hides a value."""
    if isinstance(values, np.ma.MaskedArray) and values.mask.any():
        return np.where(np.ma.getmaskarray(values), np.nan, np.ma.getdata(values))
    return np.asarray(values)


def _check(table: Columns) -> Columns:
    lengths = {len(column.values) for column in table.columns}
    if len(lengths) > 1:
        raise ValueError(f"The columns of X have different lengths: {sorted(lengths)}.")
    if not table.columns:
        raise ValueError("X has 0 feature(s) while a minimum of 1 is required.")
    if lengths == {0}:
        raise ValueError("X has 0 sample(s) while a minimum of 1 is required.")
    return table


def _of_frame(frame: Frame) -> Columns:
    columns = (_of_array(name, values) for name, values in frame.columns.items())
    declared = (
        replace(c, levels=frame.levels[c.name]) if c.name in frame.levels else c for c in columns
    )
    return Columns(tuple(declared), "dict")


def _of_matrix(X: Any) -> Columns:
    if hasattr(X, "tocsr"):
        raise TypeError("X is sparse and Prepare needs dense columns. Pass X.toarray().")
    names = getattr(X, "columns", None)
    matrix = _unmask(X)
    if matrix.dtype.kind == "c":
        raise ValueError("Complex data not supported. Pass real and imaginary parts as columns.")
    if matrix.ndim != 2:
        raise ValueError(
            f"X has shape {matrix.shape}, expected 2D array (rows, columns). Reshape your data "
            "with X.reshape(-1, 1) for one column."
        )
    if names is None or len(names) != matrix.shape[1]:
        names = [f"x{place}" for place in range(matrix.shape[1])]
    made = (_of_array(str(n), c) for n, c in zip(names, matrix.T, strict=True))
    return Columns(tuple(made), "array")


def _of_series(name: str, series: Any) -> Column:
    kind = series.dtype
    if kind == narwhals.Boolean:
        return Column(name, _floats(series), "boolean")
    if kind.is_numeric():
        return Column(name, _floats(series), "number")
    if kind == narwhals.Date or kind == narwhals.Datetime:
        if getattr(kind, "time_zone", None):
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        dates = series.cast(narwhals.Datetime("us")).to_numpy()
        return Column(name, np.asarray(dates, dtype="datetime64[us]"), "date")
    if kind == narwhals.Duration:
        seconds = series.to_numpy().astype("timedelta64[us]")
        numbers = np.where(np.isnat(seconds), np.nan, seconds.astype(np.int64) / 1e6)
        return Column(name, numbers, "number")
    null = series.is_null().to_list()
    values = [None if e else v for v, e in zip(series.to_list(), null, strict=True)]
    declared = kind in (narwhals.Categorical, narwhals.Enum)
    if declared and any(not isinstance(v, str | None) for v in values):
        names = np.array([None if v is None else level_name(v) for v in values], dtype=object)
        return Column(name, names, "text", ordered_levels(series), categorical=True)
    column = _of_objects(name, values)
    if column.source != "text":
        return column
    return replace(column, levels=ordered_levels(series))


def _naive(value: datetime.date) -> datetime.date:
    """Drop the time zone, after conversion to UTC: NumPy's dates have none."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.UTC).replace(tzinfo=None)
    return value


def _floats(series: Any) -> Array:
    filled = series.cast(narwhals.Float64).to_numpy()
    return np.array(filled, dtype=np.float64)


def _of_array(name: str, values: Array) -> Column:
    if values.ndim != 1:
        raise ValueError(f"Column {name!r} has shape {values.shape}; pass one value per row.")
    if values.dtype.kind == "b":
        return Column(name, values.astype(np.float64), "boolean")
    if values.dtype.kind in "iuf":
        return Column(name, values.astype(np.float64), "number")
    if values.dtype.kind == "m":
        seconds = values.astype("timedelta64[us]").astype(np.int64) / 1e6
        return Column(name, np.where(np.isnat(values), np.nan, seconds), "number")
    if values.dtype.kind == "M":
        return Column(name, values.astype("datetime64[us]"), "date")
    return _of_objects(name, values.tolist())


def _of_objects(name: str, values: list[Any]) -> Column:
    """Column of Python objects: numbers, dates or booleans if all are, otherwise strings."""
    types = set(map(type, values))
    if str in types and types <= {str, type(None)}:
        # The usual case, which needs no look at single values.
        texts = np.empty(len(values), dtype=object)
        texts[:] = values
        return Column(name, texts, "text")
    # Periods of pandas begin at a date.
    values = [v.to_timestamp() if hasattr(v, "to_timestamp") else v for v in values]
    missing = [v is None or v != v for v in values]
    present = [v for v, absent in zip(values, missing, strict=True) if not absent]
    if present and all(isinstance(v, bool | np.bool_) for v in present):
        return Column(name, _numbers(name, values, missing), "boolean")
    if all(isinstance(v, Real | Decimal) and not isinstance(v, bool) for v in present):
        return Column(name, _numbers(name, values, missing), "number")
    if present and all(isinstance(v, datetime.date) for v in present):
        days = [
            None if a else np.datetime64(_naive(v)) for v, a in zip(values, missing, strict=True)
        ]
        return Column(name, np.array(days, dtype="datetime64[us]"), "date")
    unusable = next((v for v in present if not isinstance(v, str | Real | Decimal)), None)
    if unusable is not None:
        raise TypeError(
            f"Column {name!r} holds values of type {type(unusable).__name__}; the argument must be "
            "a string or a number. Convert the column, or leave it out."
        )
    texts = np.empty(len(values), dtype=object)
    texts[:] = [None if a else str(v) for v, a in zip(values, missing, strict=True)]
    return Column(name, texts, "text")


def _numbers(name: str, values: list[Any], missing: list[bool]) -> Array:
    try:
        made = [np.nan if a else float(v) for v, a in zip(values, missing, strict=True)]
    except OverflowError:
        raise ValueError(
            f"Column {name!r} holds an integer that is too large for double precision. Rescale the "
            "column, or leave it out."
        ) from None
    return np.array(made, dtype=np.float64)


def assemble_columns(columns: dict[str, Any], library: str) -> Any:
    """Return columns as a table of the library they came from."""
    if library == "array" and all(c.dtype.kind == "f" for c in columns.values()):
        return np.stack(list(columns.values()), axis=1)
    if library in ("array", "dict"):
        return columns
    import narwhals

    try:
        backend: Any = library
        return narwhals.from_dict(columns, backend=backend).to_native()
    except ImportError:
        return columns
