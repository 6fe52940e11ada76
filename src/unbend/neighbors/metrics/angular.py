"""Distances between directions: rows brought to unit length."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from unbend.arrays import FloatArray

# A row that varies by less than this share of its size is constant but for rounding.
CONSTANT = 8 * np.finfo(np.float64).eps


def directions(rows: FloatArray, constants: Mapping[str, Any]) -> FloatArray:
    """Rows, or their differences from their own mean, divided by their length.

    Examples
    --------
    >>> import numpy as np
    >>> directions(np.array([[3.0, 4.0]]), {"name": "angular", "centred": False})
    array([[0.6, 0.8]])
    """
    centred = constants["centred"]
    size = np.abs(rows).max(axis=1, keepdims=True)
    # To size one first: the squares of very large and very small numbers have no room.
    rows = np.divide(rows, size, out=np.zeros_like(rows, dtype=np.float64), where=size > 0)
    if centred:
        rows = rows - rows.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if np.any(lengths <= (CONSTANT if centred else 0.0)):
        what = "is constant" if centred else "is zero"
        raise ValueError(
            f"metric={constants['name']!r} compares directions and a row has none, since it "
            f"{what}: remove such rows"
        )
    return np.asarray(rows / lengths)
