"""The checks of arguments that the quality measures share."""

from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from unbend.arrays import FloatArray


def checked_points(name: str, values: ArrayLike) -> FloatArray:
    """Return `values` as a float64 matrix with rows, columns and no NaN."""
    try:
        given = np.asarray(values)
        if np.iscomplexobj(given):
            raise TypeError
        points = given.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be an array of real numbers.") from None
    if points.ndim != 2 or points.size == 0:
        raise ValueError(
            f"{name} must have two dimensions, points and coordinates, both not empty, "
            f"but its shape is {points.shape}."
        )
    if not np.isfinite(points).all():
        raise ValueError(f"{name} contains NaN or infinity.")
    return points


def checked_pair(
    name: str, values: ArrayLike, embedding: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return `values` and `embedding` as matrices with the same number of rows."""
    first, second = checked_points(name, values), checked_points("embedding", embedding)
    if len(first) != len(second):
        raise ValueError(
            f"{name} and embedding must hold the same points, "
            f"but they have {len(first)} and {len(second)} rows."
        )
    return first, second


def checked_count(name: str, value: object) -> int:
    """Return `value` as a positive `int`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, but it is {value!r}.")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, but it is {value}.")
    return int(value)
