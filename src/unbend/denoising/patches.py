"""Patches: what the rows around a point say of the surface, and the point's projection onto it.

A patch are the rows nearest to a point. Its principal directions are the tangent plane, and the
surface over that plane is a quadratic whose second-order part is shrunk by as much as noise would
feign of it (James and Stein, 1961): where rows show no curvature the fit is a plane, which averages
over more of them. The point moves along the normals only, to the value of the fit above its own
tangent coordinates, so edges do not move inwards as they do under local means.
"""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray, row_chunks
from unbend.neighbors import PointSpace
from unbend.report import step

# Up to so many columns all eigenvectors of a covariance are computed, beyond by block iteration.
FEW_COLUMNS = 16
# Steps of the block iteration, and columns beyond those wanted: with neighbouring eigenvalues a
# fourth of each other the angle falls by four each step.
BLOCK_STEPS, SPARE = 8, 2
# Rounds of projection: the rows around a projected point are not those around the point.
ROUNDS = 3
# Curvature below this share of the affine part is rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class PatchFits:
    """Fits of the patches around some points, one entry for each.

    Attributes
    ----------
    points : array (m, D)
        The points, projected.
    noise : array (m,)
        Variance of the rows about the fit along one normal direction, from their median distance,
        which heavy tails do not move.
    tangent : array (m,)
        Variance along the last of the tangent directions.
    leverage : array (m,)
        Variance of the fit at the point, in units of `noise`.
    curvature : array (m,)
        Energy of the second-order part over what noise alone would give.
    radius : array (m,)
        Distance to the farthest row of the patch.
    """

    points: FloatArray
    noise: FloatArray
    tangent: FloatArray
    leverage: FloatArray
    curvature: FloatArray
    radius: FloatArray

    @classmethod
    def empty(cls, m: int, columns: int) -> "PatchFits":
        """Room for m fits."""
        return cls(np.empty((m, columns)), *(np.empty(m) for _ in range(5)))


def coefficients(d: int) -> int:
    """Count the coefficients of a quadratic in d variables."""
    return (d + 1) * (d + 2) // 2


def fit_patches(space: PointSpace, points: FloatArray, size: int, d: int) -> PatchFits:
    """Fit the patches of the `size` nearest rows of a space to each point."""
    m, columns = points.shape
    fits = PatchFits.empty(m, columns)
    for some in row_chunks(m, 8 * (size + 1) * (3 * columns + coefficients(d) + d), 1 << 24):
        near, distances = space.nearest_of(points[some], size)
        # The point itself takes part: repeated rounds then converge to where it lies on the fit.
        patch = np.concatenate((points[some, None], space.points[near]), axis=1)
        _fit(patch - patch[:, :1], d, fits, some)
        fits.radius[some] = distances[:, -1]
        step(some.stop, m)
    np.add(fits.points, points, out=fits.points)
    return fits


def project(space: PointSpace, points: FloatArray, size: int, d: int, rounds: int) -> PatchFits:
    """Project points onto the surface that the patches around them show, some rounds."""
    fits = fit_patches(space, points, size, d)
    for _ in range(rounds - 1):
        fits = fit_patches(space, fits.points, size, d)
    return fits


def _fit(patch: FloatArray, d: int, fits: PatchFits, some: slice) -> None:
    """Fit patches (b, s, D) whose first row is the origin; `points` gets the displacement."""
    s, columns = patch.shape[1:]
    middle = patch.mean(axis=1, keepdims=True)
    centered = patch - middle
    axes = _principal_axes(centered, d)
    tangents = centered @ axes
    squares = np.square(tangents).sum(axis=1)
    plane = (axes * tangents[:, :1]).sum(axis=2)
    rest = np.maximum(np.square(centered).sum(axis=(1, 2)) - squares.sum(axis=1), 0.0)
    at_point = np.square(tangents[:, 0]) / np.maximum(squares, np.finfo(float).tiny)
    leverage = 1.0 / s + at_point.sum(axis=1)
    displacement = middle[:, 0] + plane
    free, bends = s - coefficients(d), d * (d + 1) // 2
    curvature = np.zeros(len(patch))
    if free >= bends:
        basis = _quadratics(tangents, squares)
        parts = basis.transpose(0, 2, 1) @ centered
        energy = np.square(parts).sum(axis=(1, 2))
        energy[energy <= ROUNDING * squares.sum(axis=1)] = 0.0
        feigned = bends * np.maximum(rest - energy, 0.0) / free
        curvature = np.divide(energy, feigned, out=np.full(len(patch), np.inf), where=feigned > 0)
        kept = np.divide(energy - feigned, energy, out=np.zeros_like(energy), where=energy > feigned)
        displacement += kept[:, None] * (basis[:, :1] @ parts)[:, 0]
        leverage += np.square(kept) * np.square(basis[:, 0]).sum(axis=1)
        centered -= basis @ parts
    else:
        free = max(s - 1 - d, 1)
    fits.points[some], fits.leverage[some], fits.curvature[some] = displacement, leverage, curvature
    across = np.square(centered).sum(axis=2) - np.square(tangents).sum(axis=2)
    fits.noise[some] = np.median(across[:, 1:], axis=1) * s / (free * _median_square(columns - d))
    fits.tangent[some] = squares.min(axis=1) / s


def _median_square(normals: int) -> float:
    """Median of the sum of so many squares of standard normal numbers (Wilson and Hilferty)."""
    return normals * (1 - 2 / (9 * normals)) ** 3


def _principal_axes(centered: FloatArray, d: int) -> FloatArray:
    """Leading principal directions (b, D, d) of centred patches."""
    b, s, columns = centered.shape
    if columns <= FEW_COLUMNS:
        return np.linalg.eigh(centered.transpose(0, 2, 1) @ centered)[1][:, :, : -d - 1 : -1]
    width = min(d + SPARE, columns, s)
    # The longest rows of a patch, which a fixed start might all miss.
    start = np.argsort(-np.square(centered).sum(axis=2), axis=1, kind="stable")[:, :width]
    block = np.take_along_axis(centered, start[:, :, None], axis=1).transpose(0, 2, 1)
    for _ in range(BLOCK_STEPS):
        block = centered.transpose(0, 2, 1) @ (centered @ np.linalg.qr(block)[0])
    block = np.linalg.qr(block)[0]
    seen = centered @ block
    turn = np.linalg.eigh(seen.transpose(0, 2, 1) @ seen)[1][:, :, : -d - 1 : -1]
    return np.asarray(block @ turn)


def _quadratics(tangents: FloatArray, squares: FloatArray) -> FloatArray:
    """Orthonormal quadratics in the tangent coordinates, none of them affine (b, s, d(d + 1)/2)."""
    b, s, d = tangents.shape
    unit = tangents / np.sqrt(np.maximum(squares, np.finfo(float).tiny))[:, None]
    first, second = np.triu_indices(d)
    products = unit[:, :, first] * unit[:, :, second]
    products -= products.mean(axis=1, keepdims=True)
    products -= unit @ (unit.transpose(0, 2, 1) @ products)
    gram = products.transpose(0, 2, 1) @ products
    values, vectors = np.linalg.eigh(gram)
    # Of rows on a line or at few places some quadratics are affine: they get no weight.
    least = 1e-10 * np.maximum(values[:, -1:], np.finfo(float).tiny)
    scale = np.where(values > least, 1 / np.sqrt(np.maximum(values, least)), 0.0)
    return np.asarray(products @ (vectors * scale[:, None]))
