"""The result of quality measures: a number with its value for each point."""

from typing import final

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.validation.random_state import generator
from unbend.validation.scalars import check_integer


@final
class Measure(float):
    """A number with its share of every point, and its standard error where points were sampled.

    It is used like any `float`.

    Attributes
    ----------
    local : ndarray of shape (m,)
        What each of the points used contributes, to colour a plot with.
    rows : ndarray of shape (m,)
        The points used, ascending; all of them unless a sample was asked for.
    error : float
        Standard error that comes from the sampling; zero where all points were used.

    Examples
    --------
    >>> part = Measure(0.5, np.array([0.0, 1.0]), np.array([0, 1]), 0.25)
    >>> part
    0.5 ± 0.25
    >>> part + 1
    1.5
    """

    local: FloatArray
    rows: IntArray
    error: float

    # Only the value has no default: `float` restores itself from it when unpickled.
    def __new__(
        cls,
        value: float,
        local: FloatArray | None = None,
        rows: IntArray | None = None,
        error: float = 0.0,
    ) -> "Measure":
        """Make a number of these parts."""
        made = super().__new__(cls, value)
        made.local = np.zeros(0) if local is None else local
        made.rows = np.arange(len(made.local)) if rows is None else rows
        made.error = float(error)
        return made

    def __repr__(self) -> str:
        return repr(float(self)) + (f" ± {self.error:.2g}" if self.error else "")

    __str__ = __repr__


def mean_measure(local: FloatArray, rows: IntArray, n: int) -> Measure:
    """Mean over the points, with its standard error as a mean of m of n points."""
    return Measure(float(local.mean()), local, rows, standard_error(local, n))


def root_mean_square(local: FloatArray, rows: IntArray, n: int) -> Measure:
    """Root mean square over the points, with its standard error as one of m of n points."""
    value = float(np.sqrt(np.mean(local**2)))
    error = standard_error(local**2, n) / (2 * value) if value > 0 else 0.0
    return Measure(value, local, rows, error)


def standard_error(local: FloatArray, n: int) -> float:
    """Estimate the standard error of the mean of m values sampled from n without replacement."""
    m = len(local)
    if m >= n or m < 2:
        return 0.0
    return float(local.std(ddof=1) * np.sqrt((1 - m / n) / m))


def jackknife_error(without: FloatArray, n: int) -> float:
    """Estimate the standard error of a figure from what it is with each of m of n rows left out."""
    m = len(without)
    if m >= n:
        return 0.0
    spread = (m - 1) / m * float(np.sum((without - without.mean()) ** 2))
    return float(np.sqrt(spread * (1 - m / n)))


def sample_rows(n: int, max_rows: int | None, random_state: int) -> IntArray:
    """All rows, or as many as allowed, sampled without replacement."""
    rng = generator(random_state, None)
    if max_rows is None or check_integer("max_rows", max_rows) >= n:
        return np.arange(n)
    drawn = rng.choice(n, max_rows, replace=False)
    return np.asarray(np.sort(drawn), dtype=np.intp)
