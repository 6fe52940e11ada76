"""Reflections and rotations in place, and estimates of the largest singular and eigenvalues.

The estimates start where the matrix is largest, so they are never below ‖A‖_F/√m, and Krylov spaces
only increase them: a value below a tolerance is surely small.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray
from unbend.validation.scalars import check_integer


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
    """Rotate `vector` to ‖vector‖ e₁ in planes (j−1, j) and keep a matrix lower triangular.

    `lower` holds the last rows of the matrix, as many as the vector has entries. They and the
    columns of `turned` are rotated with the vector, from the last plane to the first. Each rotation
    fills one entry above the diagonal; a rotation of columns, also of `restored`, removes it.
    All are views, updated in place.
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


# Largest dimension of the Krylov space.
STEPS = 30


@dataclass(frozen=True, eq=False)
class SingularEstimate:
    """A unit vector on each side, the value, and ‖A'u − σv‖ (Av = σu holds)."""

    value: float
    left: FloatArray
    right: FloatArray
    residual: float


def largest_singular(matrix: FloatArray, steps: int = STEPS) -> SingularEstimate:
    """Estimate σ₁, u₁ and v₁ from below (Golub and Kahan, 1965).

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import largest_singular
    >>> largest_singular(np.diag([3.0, 2.0, 1.0])).value
    3.0
    """
    m, n = matrix.shape
    accuracy = np.sqrt(np.finfo(matrix.dtype).eps)
    lengths = np.linalg.norm(matrix, axis=1)
    longest = int(np.argmax(lengths))
    if lengths[longest] == 0:
        return SingularEstimate(0.0, _unit(m, matrix), _unit(n, matrix), 0.0)
    count = min(check_integer("steps", steps), m, n)
    left, right = np.zeros((count, m), matrix.dtype), np.zeros((count + 1, n), matrix.dtype)
    right[0] = matrix[longest] / lengths[longest]
    bidiagonal = np.zeros((count, count + 1))
    for k in range(count):
        # Full orthogonalisation; in exact arithmetic only these two coefficients are nonzero.
        bidiagonal[k, k], left[k] = _orthogonalize(matrix @ right[k], left[:k])
        bidiagonal[k, k + 1], right[k + 1] = _orthogonalize(left[k] @ matrix, right[: k + 1])
        u, sigma, vt = np.linalg.svd(bidiagonal[: k + 1, : k + 1])
        # A V = U B and A'U = V B' + β v e' with β the next coefficient.
        residual = abs(bidiagonal[k, k + 1] * u[k, 0])
        if residual <= accuracy * sigma[0]:
            break
    first, second = _normal(u[:, 0] @ left[: k + 1]), _normal(vt[0] @ right[: k + 1])
    return SingularEstimate(
        float(sigma[0]), first.astype(matrix.dtype), second.astype(matrix.dtype), float(residual)
    )


@dataclass(frozen=True, eq=False)
class EigenEstimate:
    """The eigenvalue of largest modulus, a unit vector, and ‖Sw − λw‖."""

    value: float
    vector: FloatArray
    residual: float


def largest_eigenvalue(matrix: FloatArray, steps: int = STEPS) -> EigenEstimate:
    """Estimate the eigenvalue of largest modulus of a symmetric matrix (Lanczos, 1950).

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import largest_eigenvalue
    >>> largest_eigenvalue(np.diag([1.0, -3.0, 2.0])).value
    -3.0
    """
    accuracy = np.sqrt(np.finfo(matrix.dtype).eps)
    longest = int(np.argmax(np.linalg.norm(matrix, axis=0)))
    count = min(check_integer("steps", steps), len(matrix))
    basis = np.zeros((count + 1, len(matrix)), matrix.dtype)
    basis[0, longest] = 1
    tridiagonal = np.zeros((count + 1, count + 1))
    for k in range(count):
        image = matrix @ basis[k]
        tridiagonal[k, k] = image @ basis[k]
        beta, basis[k + 1] = _orthogonalize(image, basis[: k + 1])
        values, vectors = np.linalg.eigh(tridiagonal[: k + 1, : k + 1])
        top = int(np.argmax(np.abs(values)))
        residual = abs(beta * vectors[k, top])
        if residual <= accuracy * abs(values[top]):
            break
        tridiagonal[k, k + 1] = tridiagonal[k + 1, k] = beta
    ritz = _normal(vectors[:, top] @ basis[: k + 1])
    return EigenEstimate(float(values[top]), ritz.astype(matrix.dtype), float(residual))


def _orthogonalize(vector: FloatArray, basis: FloatArray) -> tuple[float, FloatArray]:
    """Norm and direction of the component orthogonal to orthonormal rows."""
    scale = np.linalg.norm(vector)
    for _ in range(2):  # twice is enough (Kahan and Parlett)
        vector = vector - (basis @ vector) @ basis
    length = np.linalg.norm(vector)
    if length <= len(vector) * np.finfo(vector.dtype).eps * scale:
        return 0.0, np.zeros_like(vector)
    return float(length), vector / length


def _normal(vector: FloatArray) -> FloatArray:
    length = np.linalg.norm(vector)
    return np.asarray(vector / length)


def _unit(n: int, like: FloatArray) -> FloatArray:
    vector = np.zeros(n, like.dtype)
    vector[0] = 1
    return vector
