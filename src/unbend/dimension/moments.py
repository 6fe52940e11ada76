"""Second moments of rows about their mean, without the rows far from it."""

from math import sqrt

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import FloatArray

# Rows that are this many times farther from the middle than the median row are left out: one of
# them would have the largest variance by itself.
FAR = 5.0
# Rows whose mean is the first guess of the middle.
SAMPLE = 64
# Beyond this many columns the products of BLAS are as fast as one pass, and use all cores.
WIDE = 128


def near_products(points: FloatArray) -> tuple[FloatArray, int]:
    """Products of the columns of centred rows, or of the rows if these are fewer; rows kept."""
    n, columns = points.shape
    if columns > min(n, WIDE):
        centred = _centred(points)
        wide = columns > len(centred)
        return centred @ centred.T if wide else centred.T @ centred, len(centred)
    while True:
        centre = np.add.reduce(points[:: -(-n // SAMPLE)]) / -(-n // -(-n // SAMPLE))
        products, shift, squares = _about(points, centre)
        if _none_far(products, shift, squares):
            return products, n
        products, _, squares = _about(points, centre + shift)
        near = squares <= FAR**2 * np.median(squares)
        if near.all():
            return products, n
        points = points[near]
        n = len(points)


def _about(points: FloatArray, centre: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Products about the mean, the mean itself from the centre on, and squares from the centre."""
    n, columns = points.shape
    sums, products, squares = np.empty(columns), np.empty((columns, columns)), np.empty(n)
    kernels.moments(points, centre, sums, products, squares)
    shift = sums / n
    products -= sums[:, None] * shift
    return products, shift, squares


def _none_far(products: FloatArray, shift: FloatArray, squares: FloatArray) -> bool:
    """Whether the centre was near enough to the mean to show that no row is far from it."""
    n, gap = len(squares), sqrt(shift @ shift)
    # Products lose one digit at most where the mean is nearer than the rows are.
    if n * gap**2 > products.trace():
        return False
    # If more than half of the rows are farther than this, so is the median, and nothing is far.
    reach = (sqrt(squares.max()) + gap) / FAR + gap
    return int(np.count_nonzero(squares > reach**2)) > n // 2


def _centred(points: FloatArray) -> FloatArray:
    """Rows about their mean, without those far from it; what they did to the mean is undone."""
    while True:
        # The mean as a product, which is much faster than one column after the other.
        centred = points - np.full(len(points), 1 / len(points)) @ points
        squares = np.einsum("ij,ij->i", centred, centred)
        near = squares <= FAR**2 * np.median(squares)
        if near.all():
            return np.asarray(centred)
        points = points[near]
