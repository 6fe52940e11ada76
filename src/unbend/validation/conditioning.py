"""Digits lost before a computation begins: rows far from the origin, kernels of huge values."""

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.report import warn

# Kernels: share of the digits that may be lost without a warning.
UNREPORTED = 0.4
# Relative errors from which rows are reported, and from which nothing is left.
IMPRECISE, NOTHING_LEFT = 1e-4, 0.1
# Rows that are looked at, evenly spaced.
SAMPLE = 1000
# Units of rounding by the bytes of a number.
UNITS = {4: float(np.finfo(np.float32).eps), 8: float(np.finfo(np.float64).eps)}


class PrecisionWarning(UserWarning):
    """X has lost digits to rounding before the fit: its rows are far from the origin.

    Subtracting the offset afterwards does not bring digits back: it must be done where the numbers
    come from, or they must be kept in double precision.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import unbend
    >>> X = unbend.datasets.s_curve(100, random_state=0).points + 1e12
    >>> with warnings.catch_warnings(record=True) as issued:
    ...     warnings.simplefilter("always")
    ...     _ = unbend.PCA().fit(X)
    >>> issued[0].category.__name__
    'PrecisionWarning'
    """


def rounding_of_rows(rows: FloatArray) -> tuple[int, float, float]:
    """Find the column whose rounding is largest; return it, its magnitude, and the rows' spread.

    The spread is the root of the summed variances of all columns. Integers that the precision
    holds exactly have no rounding.
    """
    some = np.asarray(rows[:: -(-len(rows) // SAMPLE)])
    # About a row: the mean far from the origin is itself rounded.
    differences = np.asarray(some - some[0], dtype=np.float64)
    varies = differences.any(axis=0)
    spread = float(np.sqrt(differences.var(axis=0).sum()))
    magnitudes = np.where(varies, np.abs(some).max(axis=0), 0.0)
    unit = float(np.finfo(rows.dtype).eps)
    for column in np.argsort(-magnitudes, kind="stable"):
        size = float(magnitudes[column])
        if unit * size <= IMPRECISE * spread:
            break
        if size * unit > 1.0 or not np.array_equal(some[:, column], np.rint(some[:, column])):
            return int(column), size, spread
    return 0, 0.0, spread


def _surely_precise(rows: FloatArray, largest: float, deviations: FloatArray) -> bool:
    """Whether some of the rows prove that none of the digits that count is lost.

    Squared deviations of all rows that are looked at are at least those of some of them.
    """
    least = float(deviations.sum()) / min(len(rows), 2 * SAMPLE)
    return UNITS[rows.dtype.itemsize] * largest <= IMPRECISE / 2 * sqrt(max(least, 0.0))


def check_rounding(
    rows: FloatArray,
    names: Sequence[str] = (),
    name: str = "X",
    *,
    largest: float = np.inf,
    deviations: FloatArray | None = None,
) -> None:
    """Warn where rounding has taken digits of the differences of rows; refuse mere rounding.

    The `largest` magnitude and the `column_deviations`, where known, acquit nearly all tables.

    Examples
    --------
    >>> import numpy as np
    >>> check_rounding(np.random.default_rng(0).normal(size=(10, 2)) * 10 + 1e17)
    Traceback (most recent call last):
    ...
    ValueError: 16 of 16 digits are lost: column 0 of X has values of 1.0e+17 and its rows ...
    """
    if deviations is not None and _surely_precise(rows, largest, deviations):
        return
    column, size, spread = rounding_of_rows(rows)
    if not size:
        return
    unit = float(np.finfo(rows.dtype).eps)
    digits = -np.log10(unit)
    lost = min(np.log10(size / spread), digits)
    what = repr(names[column]) if len(names) else column
    message = (
        f"{lost:.0f} of {digits:.0f} digits are lost: column {what} of {name} has values of "
        f"{size:.1e} and its rows differ by {spread:.1e}"
    )
    single = rows.dtype.itemsize == 4
    advice = "subtract the offset before the numbers are rounded" + (
        ", or use double precision" if single else ""
    )
    if unit * size > NOTHING_LEFT * spread:
        raise ValueError(f"{message}, which is rounding: {advice}")
    warn(f"{message}; {advice}", PrecisionWarning)


def check_digits(largest: float, square: float, what: str, dtype: Any = np.float64) -> None:
    """Warn where squared distances are differences of much larger values, refuse mere rounding.

    `largest` is the largest magnitude of a value, `square` the largest squared distance.
    """
    unit = float(np.finfo(dtype).eps)
    if square <= 0 or largest * unit**UNREPORTED <= square:
        return
    lost, digits = np.log10(largest / square), -np.log10(unit)
    message = (
        f"{min(lost, digits):.0f} of {digits:.0f} digits are lost: the values of {what} are up to "
        f"{largest:.1e} and the squared distances that their differences give up to {square:.1e}"
    )
    advice = "standardise X (zero mean, unit variance) before you compute the kernel"
    if largest * unit > NOTHING_LEFT * square:
        raise ValueError(f"{message}, which is rounding: {advice}")
    warn(f"{message}; {advice}")
