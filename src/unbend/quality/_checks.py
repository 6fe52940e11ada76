"""The checks of arguments that the quality measures share."""

from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from unbend.arrays import FloatArray
from unbend.graphs.given import refuse_graph

# Beyond this, sums of squares leave the range of double precision.
LARGE = 1e150


def checked_points(name: str, values: ArrayLike) -> FloatArray:
    """Return `values` as a float64 matrix with rows, columns and no NaN."""
    refuse_sparse(name, values)
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


def refuse_sparse(name: str, values: ArrayLike) -> ArrayLike:
    """Return what is neither a graph nor a sparse matrix."""
    refuse_graph(name, values)
    if issparse(values):
        raise TypeError(f"{name} is sparse: give a dense array, such as {name}.toarray().")
    return values


def squarable(name: str, points: FloatArray) -> FloatArray:
    """Return points whose squared differences neither overflow nor all vanish."""
    largest, widest = float(np.abs(points).max()), float(np.ptp(points, axis=0).max())
    if largest > LARGE or 0 < widest < 1 / LARGE:
        size, unit = (largest, "larger") if largest > LARGE else (widest, "smaller")
        raise ValueError(f"{name} has values of size {size:.0e}: give it in {unit} units.")
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
    return squarable(name, first), squarable("embedding", second)


def checked_count(name: str, value: object) -> int:
    """Return `value` as a positive `int`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, but it is {value!r}.")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, but it is {value}.")
    return int(value)
