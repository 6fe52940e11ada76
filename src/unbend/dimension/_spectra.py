"""Variances of point clouds: second moments without outliers, and spectra of neighbourhoods."""

import numpy as np

from unbend._kernels import kernels, reference
from unbend.arrays import FloatArray, IntArray
from unbend.neighbors import Space

# Rows that are this many times farther from the middle than the median row are left out: one of
# them would have the largest variance by itself.
FAR = 5.0
# Beyond this many columns the products of BLAS are as fast as one pass, and use all cores.
WIDE = 128


def near_products(points: FloatArray) -> tuple[FloatArray, int, float]:
    """Products of the columns of centred rows, or of the rows if these are fewer; rows kept.

    Last comes the mean fourth power of their lengths.
    """
    n, columns = points.shape
    if columns <= min(n, WIDE):
        products = np.empty((columns, columns))
        return products, *kernels.near_products(points, FAR, products)
    centred, fourth = reference.near_centred(points, FAR)
    wide = columns > len(centred)
    return centred @ centred.T if wide else centred.T @ centred, len(centred), fourth


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
