"""Rows that choices are made about."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from unbend.arrays import FloatArray, IntArray
from unbend.graphs import components
from unbend.graphs.given import refuse_graph
from unbend.neighbors import PointSpace


def checked_rows(X: Any, least: int = 8) -> FloatArray:
    """Rows of finite numbers, enough to say something about."""
    refuse_graph("X", X)
    points = check_array(X, dtype=np.float64, order="C", input_name="X")
    if len(points) < least:
        raise ValueError(f"X has {len(points)} rows: a choice needs at least {least}")
    return np.asarray(points)


def drawn(n: int, most: int, random_state: int) -> IntArray:
    """At most so many of n rows, ascending."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(random_state).choice(n, most, replace=False))


def smallest_connected(points: FloatArray, least: int, most: int) -> int | None:
    """Smallest number of neighbours from `least` to `most` whose graph is in one piece."""
    space = PointSpace(points)

    def whole(k: int) -> bool:
        return int(components(space.nearest(k).graph()).max()) == 0

    low = high = least
    while not whole(high):
        if high == most:
            return None
        low, high = high + 1, min(2 * high, most)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if whole(middle) else (middle + 1, high)
    return high
