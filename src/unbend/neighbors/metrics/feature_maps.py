"""Feature maps of linear and angular distances (book 3.1.1)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from unbend.arrays import BLOCK_ROWS, FloatArray, row_products

# Block size of feature maps, in rows.
ROWS = BLOCK_ROWS
# Relative variation below which a column, or a row, is constant up to rounding.
CONSTANT = 8 * np.finfo(np.float64).eps


def linear(rows: FloatArray, constants: Mapping[str, Any]) -> FloatArray:
    """Map the rows as x → (x − center) matrix."""
    center, matrix = constants["center"], constants["matrix"]
    if matrix.ndim == 1:
        return np.asarray((rows - center) * matrix)
    return row_products(rows, matrix, center)


def fix_weighted(points: FloatArray, params: Mapping[str, Any]) -> dict[str, Any]:
    """Constants of the directionally weighted distance.

    (x − a)' M⁻¹ (x − a) is its square; or, in coordinates by the columns of B, Σ λ (B⁻¹(x − a))².
    Without parameters columns are standardised.
    """
    columns, center = points.shape[1], _center(points)
    if "M" in params:
        if len(params) > 1:
            raise ValueError("metric='weighted' takes M, or weights with B: pass one of the two")
        matrix = _whitening(_square(params["M"], columns, "M"), "M")
        return {"center": center, "matrix": matrix}
    if "weights" not in params:
        if "B" in params:
            raise ValueError("metric='weighted' needs the weights of the columns of B: add weights")
        return {"center": center, "matrix": _equalize(points)}
    weights = np.asarray(params["weights"], dtype=np.float64)
    usable = weights.shape == (columns,) and np.all(np.isfinite(weights)) and np.all(weights >= 0)
    if not usable or not weights.any():
        raise ValueError(f"weights must hold {columns} finite, non-negative numbers, not all zero")
    roots = np.sqrt(weights)
    if "B" not in params:
        return {"center": center, "matrix": roots}
    return {"center": center, "matrix": _inverse(params["B"], columns).T * roots}


def fix_mahalanobis(points: FloatArray, params: Mapping[str, Any]) -> dict[str, Any]:
    """Constants of the Mahalanobis distance: (x − a)' V⁻¹ (x − a) is its square.

    V is the covariance of the points unless V, or its inverse VI, is given.
    """
    columns, center = points.shape[1], _center(points)
    if len(params) > 1:
        raise ValueError("metric='mahalanobis' takes V or its inverse VI: pass one of the two")
    if "VI" in params:
        # V = W'⁻¹W⁻¹ for V⁻¹ = WW': invert the whitening of the inverse.
        whitening = _whitening(_square(params["VI"], columns, "VI"), "VI")
        return {"center": center, "matrix": np.linalg.inv(whitening).T}
    if "V" in params:
        return {"center": center, "matrix": _whitening(_square(params["V"], columns, "V"), "V")}
    covariance = np.atleast_2d(np.cov(points - center, rowvar=False))
    # Rounding gives constant columns a tiny variance.
    constant = _deviations(points) == 0
    covariance[constant] = covariance[:, constant] = 0.0
    return {"center": center, "matrix": _whitening(covariance, "the covariance of the rows")}


def _center(points: FloatArray) -> FloatArray:
    # Far from the origin a linear map would lose significant digits.
    return np.asarray(points.mean(axis=0))


def _deviations(points: FloatArray) -> FloatArray:
    deviations = points.std(axis=0, ddof=1)
    return np.where(deviations <= CONSTANT * np.abs(points).max(axis=0), 0.0, deviations)


def _equalize(points: FloatArray) -> FloatArray:
    deviations = _deviations(points)
    return np.divide(1.0, deviations, out=np.zeros_like(deviations), where=deviations > 0)


def _square(given: Any, columns: int, what: str) -> FloatArray:
    matrix = np.asarray(given, dtype=np.float64)
    if matrix.shape != (columns, columns) or not np.all(np.isfinite(matrix)):
        raise ValueError(
            f"{what} must be a {columns} x {columns} matrix of finite numbers, one row and column "
            f"for each column of X: its shape is {matrix.shape}"
        )
    return matrix


def _whitening(matrix: FloatArray, what: str) -> FloatArray:
    """W with WW' = M⁻¹, for a positive definite M."""
    size = np.sqrt(np.abs(matrix.diagonal()))
    if not np.allclose(matrix, matrix.T, rtol=0.0, atol=1e-8 * float(size.max()) ** 2):
        raise ValueError(f"{what} must be symmetric: pass (M + M.T) / 2 if it should be")
    # Scaled columns: small units must not make a matrix singular.
    units = np.where(size > 0, size, 1.0)
    values, vectors = np.linalg.eigh(matrix / units[:, None] / units)
    positive = int(np.sum(values > len(values) * np.finfo(np.float64).eps * values[-1]))
    if positive < len(values):
        raise ValueError(
            f"{what} must be positive definite, and only {positive} of its {len(values)} "
            "eigenvalues are positive: reduce X with PCA first, or pass another matrix in "
            "metric_params"
        )
    return np.asarray(vectors / np.sqrt(values) / units[:, None])


def _inverse(given: Any, columns: int) -> FloatArray:
    basis = _square(given, columns, "B")
    lengths = np.linalg.norm(basis, axis=0)
    spread = np.linalg.svd(basis / np.where(lengths > 0, lengths, 1.0), compute_uv=False)
    if spread[-1] <= columns * np.finfo(np.float64).eps * spread[0]:
        raise ValueError("the columns of B must be linearly independent: pass another basis")
    return np.asarray(np.linalg.inv(basis))


def directions(rows: FloatArray, constants: Mapping[str, Any]) -> FloatArray:
    """Rows, or rows less their own mean, divided by their norm.

    Examples
    --------
    >>> import numpy as np
    >>> directions(np.array([[3.0, 4.0]]), {"name": "angular", "centred": False})
    array([[0.6, 0.8]])
    """
    centered = constants["centred"]
    size = np.abs(rows).max(axis=1, keepdims=True)
    # Scaled first, so that squares do not overflow or underflow.
    rows = np.divide(rows, size, out=np.zeros_like(rows, dtype=np.float64), where=size > 0)
    if centered:
        rows = rows - rows.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if np.any(lengths <= (CONSTANT if centered else 0.0)):
        what = "is constant" if centered else "is zero"
        raise ValueError(
            f"metric={constants['name']!r} is undefined for a row that {what}: remove such rows"
        )
    return np.asarray(rows / lengths)
