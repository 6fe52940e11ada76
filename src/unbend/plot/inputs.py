"""What may be drawn: arrays, dataframes, tables, surfaces, fitted estimators."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.datasets import Surface
from unbend.registry import METHODS, find_entry
from unbend.validation.arrays import check_finite, check_shape, real_array

# Axes of a surface.
SPACE = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class Drawable:
    """Coordinates and what is known of them; `color` and `names` stand in for those not given."""

    coordinates: FloatArray
    columns: tuple[str, ...]
    equal: bool
    color: Any = None
    names: Any = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.coordinates)


def drawable(given: Any, color: Any = None, method: Any = None) -> Drawable:
    """Read what the user gave; `color` may name a column of a dataframe.

    Parameters
    ----------
    given : array, dataframe, Table, Surface or fitted estimator
        The embedding.
    color : object
        As for `scatter`.
    method : str, estimator or class, optional
        What made the embedding.

    Returns
    -------
    Drawable
        With at least two rows of finite numbers.

    Examples
    --------
    >>> drawable([[0.0, 1.0], [2.0, 3.0]], method="pca").columns
    ('PCA 1', 'PCA 2')
    """
    if isinstance(given, Surface):
        return Drawable(_check_coordinates(given.points, SPACE), SPACE, True, given)
    if _is_estimator(given):
        return drawable(_embedding(given), color, given if method is None else method)
    found = _table(given, color)
    name, equal = ("coordinate", False) if method is None else _resolve_method(method)
    values = _check_coordinates(found.coordinates, found.columns)
    columns = found.columns or tuple(f"{name} {number + 1}" for number in range(values.shape[1]))
    return Drawable(values, columns, equal, found.color, found.names)


def method_name(estimator: Any) -> str:
    """Return the name of an estimator's class."""
    return (estimator if isinstance(estimator, type) else type(estimator)).__name__


def one_a_row(name: str, given: Any, n: int) -> np.ndarray[Any, Any]:
    """Return an array that has an entry for each row, or say why it is none."""
    if isinstance(given, str | bytes | Mapping):
        raise TypeError(f"{name} must hold one entry a row, but it is {given!r}")
    values = np.asarray(given)
    if values.ndim == 0 or len(values) != n:
        entries = "one value" if values.ndim == 0 else f"{len(values)} entries"
        raise ValueError(f"{name} has {entries} and the embedding has {n} rows: give one a row")
    return values


def _is_estimator(given: Any) -> bool:
    return callable(getattr(given, "fit", None))


def _embedding(estimator: Any) -> Any:
    if isinstance(estimator, type):
        raise TypeError(f"{method_name(estimator)} is a class: fit an instance of it and draw that")
    if not hasattr(estimator, "embedding_"):
        raise ValueError(
            f"this {method_name(estimator)} holds no embedding: fit it, or draw the "
            "coordinates that it returned"
        )
    return estimator.embedding_


def _resolve_method(method: Any) -> tuple[str, bool]:
    """Name of a method, and whether its coordinates have the scale of the data."""
    if isinstance(method, str):
        entry = find_entry(method)
        if entry is None:
            known = ", ".join(entry.name for entry in METHODS)
            raise ValueError(f"method {method!r} is not known: use one of {known}")
        return entry.class_name, bool(entry.load().isometric)
    name = method_name(method)
    if hasattr(method, "isometric"):
        return name, bool(method.isometric)
    # Estimators of other packages that carry the name of one of ours are the same method.
    own = find_entry(name, METHODS)
    return name, own is not None and bool(own.load().isometric)


@dataclass(frozen=True, eq=False)
class _Table:
    coordinates: Any
    columns: tuple[str, ...] = ()
    color: Any = None
    names: Any = None


def _table(given: Any, color: Any) -> _Table:
    if hasattr(given, "values") and hasattr(given, "columns") and hasattr(given, "label"):
        return _Table(given.values, tuple(given.columns), ColorColumn.of(given), given.ids)
    names = getattr(given, "column_names", getattr(given, "columns", None))
    if names is None or isinstance(given, Mapping):
        if isinstance(color, str):
            raise ValueError(
                f"color={color!r} would name a column, and the embedding has no names: give one "
                "label or value a row"
            )
        return _Table(given)
    columns = [str(name) for name in names]
    if not isinstance(color, str):
        return _Table(given, tuple(columns))
    if color not in columns:
        raise ValueError(f"there is no column {color!r} to colour by: there are {columns}")
    kept = [name for name in names if str(name) != color]
    stacked = np.column_stack([np.asarray(given[name]) for name in kept]) if kept else np.empty(0)
    return _Table(stacked, tuple(map(str, kept)), ColorColumn(np.asarray(given[color]), color))


@dataclass(frozen=True, eq=False)
class ColorColumn:
    """Colours with the name of the column they came from, as a pandas Series has one."""

    values: Any
    name: str

    @classmethod
    def of(cls, table: Any) -> "ColorColumn | None":
        """Return the label of a table, or None where it has none."""
        return None if table.label is None else cls(table.label, str(table.label_name))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.asarray(self.values, dtype=dtype)

    def __len__(self) -> int:
        return len(self.values)


def _check_coordinates(given: Any, columns: tuple[str, ...]) -> FloatArray:
    """Rows of finite numbers; an array of one dimension is one column."""
    try:
        values = real_array(given, "embedding")
    except TypeError as error:
        # A column of labels is meant to be shown by its colours.
        hint = " Pass color='name' to color by a column of labels." if columns else ""
        raise TypeError(f"{error}{hint}") from None
    values = values[:, None] if values.ndim == 1 else values
    check_shape(values, "embedding", 2)
    check_finite(values, "embedding", columns=columns)
    return np.asarray(values, dtype=np.float64)
