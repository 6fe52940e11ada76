"""What is measured on rows of numbers before anything else: copies, sizes, second moments."""

import numpy as np

from unbend.arrays import FloatArray, IntArray


def distinct_rows(
    points: FloatArray, vanishing: float, copies: IntArray
) -> tuple[bool, float, bool, int]:
    """Fill the number of the distinct row that each row equals, by sorting the rows."""
    if not np.isfinite(points).all():
        return False, 0.0, False, 0
    # Adding zero makes minus zero zero: what is equal has the same bits.
    _, first, inverse = np.unique(points + 0.0, axis=0, return_index=True, return_inverse=True)
    rank = np.empty_like(first)
    rank[np.argsort(first)] = np.arange(len(first))
    copies[...] = rank[inverse.ravel()]
    sizes = np.abs(points)
    return True, float(sizes.max()), bool(((sizes < vanishing) & (sizes > 0)).any()), len(first)


def moments(
    points: FloatArray,
    centre: FloatArray,
    sums: FloatArray,
    products: FloatArray,
    squares: FloatArray,
) -> None:
    """Fill sums and products of centred rows, and the square of each."""
    centred = points - centre
    centred.sum(axis=0, out=sums)
    products[...] = centred.T @ centred
    np.einsum("ij,ij->i", centred, centred, out=squares)
