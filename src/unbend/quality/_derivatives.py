"""Derivatives of an embedding, fitted to neighbourhoods."""

import numpy as np

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.quality._checks import checked_count
from unbend.quality._ranks import nearest_others
from unbend.report import stage

# Directions of a neighbourhood shorter than this share of the longest one have no derivative.
FLAT = 1e-10


def fitting_neighbors(value: object, least: int, n: int) -> int:
    """Check a number of neighbours from `least` to n − 1."""
    k = checked_count("n_neighbors", value)
    if not least <= k < n:
        raise ValueError(f"n_neighbors must lie between {least} and {n - 1}, but it is {k}.")
    return k


def pulled_back(
    points: FloatArray, values: FloatArray, rows: IntArray, k: int, d: int
) -> FloatArray:
    """J'J (m, d, d) of the linear maps that fit the values best around each point.

    Along the d principal directions of each neighbourhood; zero in those that it does not have.
    """
    with stage("neighbors"):
        neighbors = nearest_others(points, rows, k, 1)
    metric = np.empty((len(rows), d, d))
    for part in row_chunks(len(rows), 64 * k * (points.shape[1] + values.shape[1])):
        block = np.column_stack((rows[part], neighbors[part]))
        local, images = _centred(points, block), _centred(values, block)
        left, lengths, right = np.linalg.svd(local, full_matrices=False)
        reach = lengths[:, :1] * FLAT
        inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > reach)
        slopes = (left.mT @ images) * inverse[:, :, None]
        slopes = slopes[:, :d]
        found = slopes @ slopes.mT
        if d == points.shape[1]:
            # All directions are there: back to those of the points themselves.
            found = right.mT @ found @ right
        metric[part] = found
    return metric


def _centred(points: FloatArray, block: IntArray) -> FloatArray:
    local = points[block]
    return np.asarray(local - local.mean(axis=1, keepdims=True))
