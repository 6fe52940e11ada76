"""Checks of square matrices: distances, similarities, and graphs with lengths.

One tolerance holds everywhere: entries may differ from their mirror image, and the diagonal from
zero, by 100 units of rounding of the largest entry in the matrix's own precision.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import FloatArray, is_sparse
from unbend.validation.arrays import largest_magnitude

# Units of rounding by which two copies of one distance may differ.
ROUNDING = 100
# Share of the largest distance up to which a diagonal is rounding: √(x² − 2xy + y²), by which
# scikit-learn computes distances, leaves the root of the unit for two equal rows.
DIAGONAL = 1e-6
# Rows and columns of a square that is compared with its mirror image in cache.
TILE = 256


def check_distances(
    distances: Any, name: str = "X", *, missing: bool = False, remedy: str = ""
) -> None:
    """Refuse what is not square, non-negative and symmetric with a zero diagonal.

    A sparse matrix holds the edges of a graph, stored one way or both. Where accepted, NaN both
    ways is a `missing` distance. The `remedy` ends messages about what it mends. The numbers
    themselves are checked by `check_rows` before.
    """
    check_square(distances, name)
    check_nonnegative(distances, name, remedy)
    if is_sparse(distances):
        check_directions(csr_array(distances), remedy)
    else:
        if missing:
            check_missing(distances, name, remedy)
        check_symmetric(distances, "distance matrix", remedy)
    check_diagonal(distances.diagonal(), largest_entry(distances), distances.dtype, remedy)


def refuse_distances(points: FloatArray) -> None:
    """Refuse points that look like distances: square and symmetric with a zero diagonal.

    Examples
    --------
    >>> refuse_distances(np.array([[0.0, 1.0], [1.0, 0.0]]))
    Traceback (most recent call last):
    ...
    ValueError: X is square and symmetric with a zero diagonal, as distances are. Pass \
metric='precomputed' if it holds distances, or metric='euclidean' if its rows are points.
    """
    if is_distances(points):
        raise ValueError(
            "X is square and symmetric with a zero diagonal, as distances are. Pass "
            "metric='precomputed' if it holds distances, or metric='euclidean' if its rows are "
            "points."
        )


def is_distances(matrix: FloatArray) -> bool:
    """Whether numbers could be distances, of which not all are zero."""
    if matrix.shape[0] != matrix.shape[1] or not matrix.any():
        return False
    try:
        check_distances(matrix)
    except ValueError:
        return False
    return True


def largest_entry(matrix: Any) -> float:
    """Largest magnitude of the entries that are not NaN."""
    values = matrix.data if is_sparse(matrix) else matrix
    largest = largest_magnitude(values)
    return float(np.nanmax(np.abs(values), initial=0.0)) if np.isnan(largest) else largest


def check_square(matrix: Any, name: str = "X", what: str = "precomputed distance matrix") -> None:
    """Refuse a matrix that is not square."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"A {what} must be square, and the shape of {name} is {matrix.shape}. Pass "
            "one row and one column for each object."
        )


def check_nonnegative(
    distances: Any, name: str = "X", remedy: str = "", what: str = "Distances"
) -> None:
    """Refuse distances, or other values, below zero."""
    values = distances.data if is_sparse(distances) else distances
    smallest = float(values.min(initial=0.0))
    if np.isnan(smallest):
        smallest = float(np.nanmin(values, initial=0.0))
    if smallest < 0:
        raise ValueError(
            f"{what} must be non-negative, and the smallest in {name} is {smallest:g}. "
            f"Convert or drop negative values first.{remedy}"
        )


def check_missing(distances: FloatArray, name: str = "X", remedy: str = "") -> None:
    """Refuse a distance that is missing in one direction only."""
    missing = np.isnan(distances)
    if missing.any() and np.any(missing != missing.T):
        raise ValueError(
            f"A distance in {name} is NaN in one direction only. Pass NaN, or the distance, in "
            f"both.{remedy}"
        )


def check_symmetric(matrix: FloatArray, what: str = "matrix", remedy: str = "") -> None:
    """Refuse entries that differ from their mirror image beyond rounding; NaN is passed over."""
    starts = range(0, len(matrix), TILE)
    tiles = [(slice(i, i + TILE), slice(j, j + TILE)) for i in starts for j in starts if i <= j]
    # By tiles: the transpose of the whole is read across its rows.
    differences = (np.abs(matrix[r, c] - matrix[c, r].T) for r, c in tiles)
    asymmetry = max((float(np.nanmax(d, initial=0.0)) for d in differences), default=0.0)
    refuse_asymmetry(asymmetry, largest_entry(matrix), matrix.dtype, what, remedy)


def check_directions(graph: csr_array, remedy: str = "") -> None:
    """Refuse edges stored with different lengths in both directions."""
    back = csr_array(graph.T)
    both = graph.astype(bool).multiply(back.astype(bool))
    difference = abs(graph - back).multiply(both)
    largest = largest_entry(graph)
    asymmetry = float(difference.max()) if difference.nnz else 0.0
    refuse_asymmetry(asymmetry, largest, graph.dtype, "distance matrix", remedy)


def refuse_asymmetry(asymmetry: float, largest: float, dtype: Any, what: str, remedy: str) -> None:
    """Refuse a difference of two entries that is more than rounding."""
    if asymmetry > rounding(largest, dtype):
        raise ValueError(
            f"The {what} is not symmetric (entries differ by up to {asymmetry:g}). Pass "
            f"(X + X.T) / 2 if that is what you mean.{remedy}"
        )


def check_diagonal(diagonal: FloatArray, largest: float, dtype: Any, remedy: str = "") -> None:
    """Refuse distances of objects to themselves that are more than rounding."""
    highest = float(np.nanmax(np.abs(diagonal), initial=0.0))
    if highest > max(rounding(largest, dtype), DIAGONAL * largest):
        raise ValueError(
            f"The distance matrix has a non-zero diagonal (max {highest:g}). Set it to zero, the "
            f"distance of an object to itself.{remedy}"
        )


def rounding(largest: float, dtype: Any) -> float:
    """Difference up to which two copies of an entry are equal."""
    kind = dtype if np.dtype(dtype).kind == "f" else np.float64
    return ROUNDING * float(np.finfo(kind).eps) * largest
