"""Plane rotations and reflections, applied in place to rows or columns."""

from collections.abc import Iterator

import numpy as np

from unbend.arrays import FloatArray


def reflector(vector: FloatArray) -> FloatArray:
    """Return w of length √2 (or 0) with (I − ww')x = ±‖x‖ e₁ (Householder, 1958)."""
    length = np.linalg.norm(vector)
    if length == 0:
        return np.zeros_like(vector)
    w = vector / length
    # The sign that avoids cancellation; then ‖w‖² = 2 (1 + |x₁|/‖x‖).
    w[0] += np.copysign(1.0, w[0])
    return np.asarray(w / np.sqrt(np.abs(w[0])))


def reflect_rows(matrix: FloatArray, w: FloatArray) -> None:
    """Set M ← (I − ww')M."""
    matrix -= np.outer(w, w @ matrix)


def reflect_columns(matrix: FloatArray, w: FloatArray) -> None:
    """Set M ← M(I − ww')."""
    matrix -= np.outer(matrix @ w, w)


def reflectors(block: FloatArray) -> Iterator[tuple[int, FloatArray]]:
    """Yield i and the reflector of coordinates i, i + 1, … that make a tall block triangular."""
    block = block.copy()
    for i in range(min(block.shape)):
        w = reflector(block[i:, i])
        reflect_rows(block[i:, i:], w)
        yield i, w


def rotation(first: float, second: float) -> FloatArray:
    """Return the rotation c, s; −s, c that takes (first, second) to (length, 0) (Givens, 1958)."""
    length = np.hypot(first, second)
    c, s = (first / length, second / length) if length > 0 else (1.0, 0.0)
    return np.array([[c, s], [-s, c]])


def bring_to_front(
    vector: FloatArray, lower: FloatArray, turned: FloatArray, restored: FloatArray
) -> None:
    """Turn `vector` to ‖vector‖ e₁ in planes (j−1, j) and keep a matrix lower triangular.

    `lower` holds the last rows of the matrix, as many as the vector has entries. They and the
    columns of `turned` are turned with the vector, from the last plane to the first. Each turn
    fills one entry above the diagonal; a rotation of columns, also of `restored`, removes it.
    All are views and change in place.
    """
    vector = vector.astype(np.float64)
    before = lower.shape[1] - len(vector)
    for j in range(len(vector) - 1, 0, -1):
        pair, columns = slice(j - 1, j + 1), slice(before + j - 1, before + j + 1)
        turn = rotation(vector[j - 1], vector[j])
        vector[pair] = turn @ vector[pair]
        lower[pair] = turn @ lower[pair]
        turned[:, pair] = turned[:, pair] @ turn.T
        back = rotation(*lower[j - 1, columns])
        lower[:, columns] = lower[:, columns] @ back.T
        lower[j - 1, before + j] = 0
        restored[:, pair] = restored[:, pair] @ back.T
