"""What is measured on rows of numbers before anything else: copies, sizes, second moments."""

import numpy as np

from unbend.arrays import FloatArray, IntArray


def distinct_rows(
    points: FloatArray, vanishing: float, copies: IntArray
) -> tuple[bool, float, bool, int]:
    """Fill the number of the distinct row that each row equals, in order of first occurrence.

    Returns whether all numbers are finite, their largest magnitude, whether one other than
    zero is below `vanishing`, and how many rows differ: `copies` are filled if not all do.
    Here by sorting the rows.
    """
    # Adding zero makes minus zero zero: what is equal has the same bits.
    _, first, inverse = np.unique(
        points + 0.0, axis=0, return_index=True, return_inverse=True, equal_nan=False
    )
    rank = np.empty_like(first)
    rank[np.argsort(first)] = np.arange(len(first))
    copies[...] = rank[inverse.ravel()]
    sizes = np.abs(points)
    tiny = bool(((sizes < vanishing) & (sizes > 0)).any())
    return bool(np.isfinite(points).all()), float(sizes.max()), tiny, len(first)


def near_products(points: FloatArray, far: float, products: FloatArray) -> tuple[int, float]:
    """Fill Σ (x − m)(x − m)' about the mean m of the rows near it, and return their number.

    Beside it the mean of |x − m|⁴, but for what skewness adds where m was guessed first.
    Rows more than `far` times as far from the mean as the median row are left out, and again
    until there are none.
    """
    centred, fourth = near_centred(points, far)
    products[...] = centred.T @ centred
    return len(centred), fourth


def near_centred(points: FloatArray, far: float) -> tuple[FloatArray, float]:
    """Rows about their mean, without those far from it; what they did to the mean is undone.

    Beside them the mean fourth power of their lengths.
    """
    while True:
        # The mean as a product, which is much faster than one column after the other.
        centred = points - np.full(len(points), 1 / len(points)) @ points
        squares = np.einsum("ij,ij->i", centred, centred)
        near = squares <= far**2 * np.median(squares)
        if near.all() or not near.any():
            return np.asarray(centred), float(np.square(squares).mean())
        points = points[near]
