"""Variances of neighbourhoods, and what those of some centres say about all rows."""

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.neighbors import Space


def block_variances(space: Space, blocks: IntArray) -> FloatArray:
    """Variances along the principal directions of each block of rows, descending (m, r)."""
    local = space.coordinates(blocks)
    local = local - local.mean(axis=1, keepdims=True)
    # The smaller of both products has all the values that are not zero.
    wide = local.shape[2] > local.shape[1]
    products = local @ local.mT if wide else local.mT @ local
    values = np.linalg.eigvalsh(products)[:, ::-1] / blocks.shape[1]
    return np.asarray(np.maximum(values, 0.0))


def nearest_centre(space: Space, centres: IntArray) -> IntArray:
    """Find the centre nearest to each row."""
    # Of a matrix of distances, only those to the centres are needed.
    part, everyone = space.take(centres), np.arange(space.n)
    return part.nearest_of(space.narrow(space.rows(everyone), centres), 1)[0][:, 0]
