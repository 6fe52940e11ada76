"""An order of rows in which near rows are mostly near: what a stage reads is then in cache."""

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray


def spatial_order(points: FloatArray, threads: int = 1) -> IntArray:
    """Order rows along a Z-curve through the three widest columns; equal rows keep their order.

    Examples
    --------
    >>> import numpy as np
    >>> spatial_order(np.array([[0.0, 0.0], [9.0, 9.0], [0.1, 0.0], [9.0, 8.9]]))
    array([0, 2, 3, 1])
    """
    order = np.empty(len(points), dtype=np.int64)
    kernels.spatial_order(np.ascontiguousarray(points), threads, order)
    return order
