"""Second moments of rows about their mean, without the rows far from it."""

import numpy as np

from unbend._kernels import kernels, reference
from unbend.arrays import FloatArray

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
