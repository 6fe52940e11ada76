"""Columns of a table before missing values were imputed: their kinds, spreads and histograms."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.io import Table
from unbend.io.table import Frame
from unbend.prepare import Prepare
from unbend.prepare.frames import typed_columns
from unbend.prepare.kinds import UNUSED

# Bars of the small histogram of a column.
BARS = 16
# Relative rounding error of the mean of a column.
ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class Column:
    """A column before missing values were imputed.

    Attributes
    ----------
    name : str
        As the table has it.
    missing : int
        Number of missing values.
    least, mean, most, deviation : float
        Of the other finite values; NaN where there is none. Of dates only the first and the last,
        of anything else nothing.
    share : float
        Its share of the variance of all numbers that are used, before they are scaled; NaN for a
        column that is no number or is left out.
    bars : array (16,)
        Counts of values in equal steps from the least to the most.
    kind : str
        Numeric, or another kind of `unbend.prepare`.
    levels : int
        Number of different values, of a column that is neither numbers nor dates.
    """

    name: str
    missing: int
    least: Any
    mean: float
    most: Any
    deviation: float
    share: float
    bars: FloatArray
    kind: str = "numeric"
    levels: int = 0

    @property
    def numeric(self) -> bool:
        """Whether its values are numbers."""
        return bool(np.isfinite(self.mean))

    @property
    def constant(self) -> bool:
        """Whether it has no two different values."""
        return self.kind == "constant" or (self.kind == "numeric" and not self.least < self.most)


def describe_columns(table: Table) -> list[Column]:
    """Describe the columns of a table that may have missing values.

    Examples
    --------
    >>> from unbend.io import read
    >>> first, second = describe_columns(read({"a": [1.0, 3.0], "b": [7.0, 7.0]}))
    >>> (first.mean, first.share, first.constant), second.constant
    ((2.0, 1.0, False), True)
    """
    values = np.asarray(table.values, dtype=np.float64)
    return _share_variance(
        [_number(name, column) for name, column in zip(table.columns, values.T, strict=True)]
    )


def describe_frame(frame: Frame, preparation: Prepare) -> list[Column]:
    """Describe columns of any kind: numbers and dates by their values, others by their kind."""
    kinds = {column.name: column.kind for column in preparation.columns_}
    columns = (
        _column(name, values, kinds[name])
        for name, values in typed_columns(frame, preparation).items()
    )
    return _share_variance(list(columns))


def _column(name: str, values: Any, kind: str) -> Column:
    if values.dtype.kind == "f":
        return replace(_number(name, values), kind=kind)
    if values.dtype.kind == "M":
        known = values[~np.isnat(values)]
        first, last = (known.min(), known.max()) if len(known) else (np.nan, np.nan)
        missing = len(values) - len(known)
        return Column(name, missing, first, np.nan, last, np.nan, np.nan, np.zeros(BARS), kind)
    held = [value for value in values.tolist() if value is not None]
    missing, levels = len(values) - len(held), len(set(held))
    return Column(name, missing, *(np.nan,) * 5, np.zeros(BARS), kind, levels)


def _number(name: str, values: FloatArray) -> Column:
    known = values[np.isfinite(values)]
    missing = int(np.isnan(values).sum())
    if not len(known):
        return Column(name, missing, *(np.nan,) * 5, np.zeros(BARS))
    least, most = float(known.min()), float(known.max())
    # Bounds given as floats far apart may overflow their difference, and equal ones have none.
    bars = np.zeros(BARS)
    if least < most and np.isfinite(most - least):
        bars = np.histogram(known, BARS, (least, most))[0].astype(np.float64)
    mean = float(known.mean())
    # A mean within its rounding error of zero has no digit that means anything.
    if abs(mean) <= ROUNDING * max(abs(least), abs(most)):
        mean = 0.0
    return Column(name, missing, least, mean, most, float(known.std()), np.nan, bars)


def _share_variance(columns: list[Column]) -> list[Column]:
    """Divide the variance among the columns of numbers that give features."""
    used = [column.numeric and column.kind not in UNUSED for column in columns]
    pairs = zip(columns, used, strict=True)
    total = sum(column.deviation**2 for column, counts in pairs if counts) or 1.0
    return [
        replace(column, share=column.deviation**2 / total) if counts else column
        for column, counts in zip(columns, used, strict=True)
    ]
