"""An order of rows in which near rows are mostly near: what a stage reads is then in cache."""

import numpy as np
from numpy.typing import NDArray

from unbend.arrays import FloatArray, IntArray

# Columns, and bits of each, that the order is by.
COLUMNS, BITS = 3, 10


def spatial_order(points: FloatArray) -> IntArray:
    """Order rows along a Z-curve through the three widest columns; equal rows keep their order.

    Examples
    --------
    >>> import numpy as np
    >>> spatial_order(np.array([[0.0, 0.0], [9.0, 9.0], [0.1, 0.0], [9.0, 8.9]]))
    array([0, 2, 3, 1])
    """
    low, high = points.min(axis=0), points.max(axis=0)
    widest = np.argsort(low - high, kind="stable")[:COLUMNS]
    # Halves, whose difference cannot overflow.
    width = float(high[widest[0]] / 2 - low[widest[0]] / 2)
    keys = np.zeros(len(points), dtype=np.uint32)
    for place, column in enumerate(widest if width > 0 else ()):
        share = (points[:, column] / 2 - low[column] / 2) / width
        steps = np.asarray(share * (2**BITS - 1), dtype=np.uint32)
        keys |= _spread(steps) << np.uint32(place)
    return np.argsort(keys, kind="stable")


def _spread(steps: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Move ten bits to every third place."""
    for shift, mask in ((16, 0x030000FF), (8, 0x0300F00F), (4, 0x030C30C3), (2, 0x09249249)):
        steps = (steps | (steps << np.uint32(shift))) & np.uint32(mask)
    return steps
