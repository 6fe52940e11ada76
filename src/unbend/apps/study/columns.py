"""What the columns of a table look like."""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray
from unbend.io import Table

# Bars of the small histogram of a column.
BARS = 16


@dataclass(frozen=True, eq=False)
class Column:
    """A column before missing values were settled.

    Attributes
    ----------
    name : str
        As the table has it.
    missing : int
        Values that are not there.
    least, mean, most, deviation : float
        Of the values that are there; NaN where none is.
    share : float
        Its part of the variance of all columns together: what it weighs in a distance.
    bars : array (16,)
        Counts of values in equal steps from the least to the most.
    """

    name: str
    missing: int
    least: float
    mean: float
    most: float
    deviation: float
    share: float
    bars: FloatArray

    @property
    def constant(self) -> bool:
        """Whether all values that are there are equal."""
        return not self.least < self.most


def described(table: Table) -> list[Column]:
    """Describe the columns of a table that may have missing values.

    Examples
    --------
    >>> from unbend.io import read
    >>> first, second = described(read({"a": [1.0, 3.0], "b": [7.0, 7.0]}))
    >>> (first.mean, first.share, first.constant), second.constant
    ((2.0, 1.0, False), True)
    """
    values = np.asarray(table.values, dtype=np.float64)
    variances = [_variance(column[np.isfinite(column)]) for column in values.T]
    total = sum(variances) or 1.0
    return [
        _column(name, column, variance / total)
        for name, column, variance in zip(table.columns, values.T, variances, strict=True)
    ]


def _variance(known: FloatArray) -> float:
    return float(known.var()) if len(known) else 0.0


def _column(name: str, values: FloatArray, share: float) -> Column:
    known = values[np.isfinite(values)]
    missing = int(np.isnan(values).sum())
    if not len(known):
        return Column(name, missing, *(np.nan,) * 4, share, np.zeros(BARS))
    least, most = float(known.min()), float(known.max())
    # Bounds given as floats far apart may overflow their difference, and equal ones have none.
    bars = np.zeros(BARS)
    if least < most and np.isfinite(most - least):
        bars = np.histogram(known, BARS, (least, most))[0].astype(np.float64)
    return Column(name, missing, least, float(known.mean()), most, float(known.std()), share, bars)
