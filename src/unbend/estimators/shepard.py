"""What scaling methods take and give besides coordinates."""

from typing import Any, NamedTuple

import numpy as np

from unbend.arrays import FloatArray
from unbend.extension import Barycentric, Extension, Placement, Rule
from unbend.neighbors import PointSpace, Space


class Shepard(NamedTuple):
    """Shepard diagram, one entry a known pair: what was given, what it became, what was found."""

    dissimilarities: FloatArray
    disparities: FloatArray
    distances: FloatArray


class Baseline(NamedTuple):
    """Stress of the fit and of fits to the same dissimilarities dealt to random pairs."""

    stress: float
    random: FloatArray
    share: float


def tolerance(tol: float | str, rounding: float) -> float:
    """Relative length of the gradient at which iteration ends, for numbers of some rounding."""
    if isinstance(tol, str):
        return 1e-9 if rounding < 1e-10 else 1e-4
    return tol


def check_size(d: int, n: int) -> None:
    """Refuse more coordinates than n objects can have."""
    if d > n - 1:
        raise ValueError(
            f"n_components={d} and {n} rows span at most {n - 1} dimensions: lower n_components"
        )


def given_start(init: Any, n: int, d: int) -> FloatArray:
    """Check coordinates to start from."""
    start = np.asarray(init, dtype=np.float64)
    if start.shape != (n, d) or not np.isfinite(start).all():
        raise ValueError(
            f"init must hold {n} x {d} finite coordinates, as X and n_components have: its shape "
            f"is {start.shape}"
        )
    if np.all(start == start[0]):
        raise ValueError(
            "init puts all objects in one place, where stress has no direction to fall in: give "
            "different coordinates, or init='random'"
        )
    return start


def way_back(space: Space | None, embedding: FloatArray) -> Extension | None:
    """Lead from coordinates back to rows, if there are rows."""
    if not isinstance(space, PointSpace):
        return None
    coordinates = PointSpace(embedding)
    back = Barycentric(coordinates, Rule(2 * (embedding.shape[1] + 1)), space.points)
    return Placement.whole(coordinates, space.points, back)
