"""Rank at which unfolding ends, predicted from the dimension of the rows.

The Newton matrix of MVU has blocks of the rank of its kernel, so its factor grows with the square
of that rank. It begins with a few columns more than the coordinates and gets four at a time until
the kernel is optimal: on curves, sheets and solids the first rank is enough, and data of five and
more dimensions, which no few coordinates hold, take most or all of the rounds.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.mvu.sdp import SPARE, SPARE_SOFT
from unbend.neighbors import PointSpace

# Rows and neighbours by which the dimension is estimated.
SAMPLE, NEAR = 1000, 10
# Estimates, which are too low in a cube, up to which the first rank is enough and up to which some
# rounds are; the ranks in which fits of cubes end there, and beyond.
ENOUGH, SOME = 4.1, 4.85
SOME_RANK, HIGH_RANK = 10.0, 13.5
# The same of kernels of landmarks, and how many dense Newton matrices there are.
LANDMARK_RANK, HIGH_LANDMARK_RANK, MATRICES = 4.0, 9.0, 3.0


def expected_rank(given: Mapping[str, Any], rows: FloatArray | None = None) -> float:
    """Predict the largest rank of a fit of MVU; without rows that of a sheet.

    Examples
    --------
    >>> expected_rank({"n_components": 2, "constraint": "inequality"})
    4.0
    """
    spare = SPARE if given["constraint"] == "inequality" else SPARE_SOFT
    first = float(max(given["n_components"], 2) + spare)
    dimension = 0.0 if rows is None else _dimension(rows)
    if dimension < ENOUGH:
        return first
    return max(first, SOME_RANK if dimension < SOME else HIGH_RANK)


def dense_newton(landmarks: int, rows: FloatArray) -> float:
    """Predict the bytes of the dense Newton matrices of LandmarkMVU."""
    rank = LANDMARK_RANK if _dimension(rows) < ENOUGH else HIGH_LANDMARK_RANK
    return 8.0 * MATRICES * (landmarks * rank) ** 2


def _dimension(rows: FloatArray) -> float:
    """Estimate the dimension of a sample by maximum likelihood (Levina and Bickel)."""
    n, columns = rows.shape
    order = np.sort(np.random.default_rng(0).permutation(n)[:SAMPLE])
    some = np.unique(np.asarray(rows[order], dtype=np.float64), axis=0)
    k = min(NEAR, len(some) - 1)
    if columns < ENOUGH or k < 3:
        return float(min(columns, 1 + k))
    distances = PointSpace(some).nearest(k).distances.reshape(len(some), k)
    ratios = np.log(distances[:, -1:] / np.maximum(distances[:, :-1], np.finfo(float).tiny))
    return float(1.0 / max(ratios.mean(), 1e-3))
