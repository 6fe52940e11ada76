"""Estimates of the largest singular value or eigenvalue and its vectors, by few products.

Both start where the matrix is largest, so that the estimate is never below ‖A‖_F/√m, and Krylov
spaces only raise it: what is estimated below a tolerance is surely small.
"""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray

# Dimension of the Krylov space at most: what is not told apart by then is hardly different.
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
    count = min(steps, m, n)
    left, right = np.zeros((count, m), matrix.dtype), np.zeros((count + 1, n), matrix.dtype)
    right[0] = matrix[longest] / lengths[longest]
    bidiagonal = np.zeros((count, count + 1))
    for k in range(count):
        # Full orthogonalisation: the coefficients that exact arithmetic leaves are the two kept.
        bidiagonal[k, k], left[k] = _beyond(matrix @ right[k], left[:k])
        bidiagonal[k, k + 1], right[k + 1] = _beyond(left[k] @ matrix, right[: k + 1])
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
    count = min(steps, len(matrix))
    basis = np.zeros((count + 1, len(matrix)), matrix.dtype)
    basis[0, longest] = 1
    tridiagonal = np.zeros((count + 1, count + 1))
    for k in range(count):
        image = matrix @ basis[k]
        tridiagonal[k, k] = image @ basis[k]
        beta, basis[k + 1] = _beyond(image, basis[: k + 1])
        values, vectors = np.linalg.eigh(tridiagonal[: k + 1, : k + 1])
        top = int(np.argmax(np.abs(values)))
        residual = abs(beta * vectors[k, top])
        if residual <= accuracy * abs(values[top]):
            break
        tridiagonal[k, k + 1] = tridiagonal[k + 1, k] = beta
    ritz = _normal(vectors[:, top] @ basis[: k + 1])
    return EigenEstimate(float(values[top]), ritz.astype(matrix.dtype), float(residual))


def _beyond(vector: FloatArray, basis: FloatArray) -> tuple[float, FloatArray]:
    """Length and direction of what orthonormal rows do not hold of a vector."""
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
