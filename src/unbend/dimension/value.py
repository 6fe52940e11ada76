"""The result of estimators of the intrinsic dimension."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.cached import cached_property
from unbend.report import html_table

# Errors below this are not written out.
LEAST_ERROR = 0.0001
# Parameters that all estimators share.
PARAMETERS = {
    "X": (
        "array_like, data frame or Space\n"
        '    Rows of numbers, or a square matrix of distances with ``metric="precomputed"``.'
    ),
    "metric": (
        "str or callable\n"
        '    Any metric of `unbend.neighbors`, a function of two rows, or "precomputed".'
    ),
    "metric_params": "dict, optional\n    Parameters of the metric.",
    "n_jobs": "int, optional\n    Threads; -1 uses all cores. The result does not depend on it.",
}


@dataclass(frozen=True, eq=False)
class Curve:
    """What a plot needs to judge an estimate by eye.

    Attributes
    ----------
    x : array (m,)
        Abscissae, ascending.
    y : array (m,) or (m, lines)
        One curve, or several beside each other.
    x_label, y_label : str
        What they are.
    fitted : (float, float)
        The range of `x` from which the estimate was read.
    line : array (m,), or None
        What the estimate predicts at `x`, where it is a fit: the curve should follow it inside
        the fitted range.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(500, random_state=0)
    >>> curve = unbend.dimension.correlation(roll.points).curve
    >>> bool((np.diff(curve.x) > 0).all() and (np.diff(curve.y) >= 0).all())
    True
    """

    x: FloatArray
    y: FloatArray
    x_label: str
    y_label: str
    fitted: tuple[float, float]
    line: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Dimension:
    """An estimate of the intrinsic dimension.

    Attributes
    ----------
    method : str
        The function that made it.
    dimension : float
        The estimate for all rows together.
    uncertainty : float
        Its standard error: how much another sample of the same size from the same data would
        differ. It says nothing of bias: of too few rows for the dimension, of curvature, of noise.
    local : array (n,), or None
        The estimate at each row, in the order of the rows; None where the method has none. Found
        when first asked for if it needs more neighbours than the estimate itself.
    curve : Curve
        What the estimate was read from.
    outliers : int
        Rows that were left out since they lie far from all others.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(2000, random_state=0).points
    >>> found = unbend.dimension.mle(roll)
    >>> print(found)
    mle: 1.996 ± 0.021
    >>> found.local.shape, found.curve.x_label
    ((2000,), 'neighbours')
    """

    method: str
    dimension: float
    uncertainty: float
    # What `local` is, or what finds it.
    _local: FloatArray | Callable[[], FloatArray] | None = field(repr=False)
    curve: Curve
    outliers: int = 0

    @cached_property
    def local(self) -> FloatArray | None:
        """The estimate at each row, or None."""
        return self._local() if callable(self._local) else self._local

    def __getstate__(self) -> dict[str, Any]:
        # What is saved holds the local estimates, not the data that they would be found from.
        return {**vars(self), "_local": self.local, "local": self.local}

    def __float__(self) -> float:
        return self.dimension

    def __str__(self) -> str:
        return f"{self.method}: {format_estimate(self.dimension, self.uncertainty)}"

    def _repr_html_(self) -> str:
        curve = self.curve
        low, high = curve.fitted
        rows = [("read from", f"{curve.y_label} over {curve.x_label}")]
        rows += [("fitted range", f"{low:.4g} to {high:.4g}")]
        rows += [("outliers", str(self.outliers))] if self.outliers else []
        return html_table(str(self), ("property", "value"), rows)


def format_estimate(value: float, error: float) -> str:
    """Write an estimate to two significant digits of its standard error.

    Examples
    --------
    >>> format_estimate(1.9617, 0.0219), format_estimate(3.0, 3e-8)
    ('1.962 ± 0.022', '3.0000 ± <0.0001')
    """
    if not np.isfinite(error):
        return f"{value:.2f} ± {error}"
    if error < LEAST_ERROR:
        return f"{value:.4f} ± <{LEAST_ERROR}"
    decimals = int(np.clip(1 - np.floor(np.log10(error)), 0, 4))
    return f"{value:.{decimals}f} ± {error:.{decimals}f}"


def integer_error(exceeds: FloatArray) -> float:
    """Find the standard deviation of an integer N with P(N > l) = `exceeds[l]`, l = 0, 1, ….

    An integer does not vary by a fraction: it stays, or another sample tips it over.
    """
    # Where bounds are themselves estimated they may be out of order.
    chances = np.minimum.accumulate(exceeds)
    # N is a sum of ones over l < N, and N² one of 2l + 1. Counted from the middle, since the
    # difference of two large numbers would be rounding.
    middle = int(np.sum(chances > 0.5))
    below, above = 1 - chances[:middle][::-1], chances[middle:]
    mean = float(above.sum() - below.sum())
    square = sum(float((2 * np.arange(len(p)) + 1) @ p) for p in (below, above))
    return float(np.sqrt(max(square - mean**2, 0.0)))
