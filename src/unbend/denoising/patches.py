"""Patches: what the rows around a point say of the surface, and the point's projection onto it.

A patch are the rows nearest to a point. Its principal directions are the tangent plane, and the
surface over that plane is a quadratic whose second-order part is shrunk by as much as noise
inflates it (James and Stein, 1961): where rows show no curvature the fit is a plane, which averages
over more of them. The point moves along the normals only, to the value of the fit above itself, so
edges do not move inwards as they do under local means.

Two biases are removed. A patch is a ball, which cuts off the ends of a bent surface: weights fall
to zero towards them. And noise moves rows along the surface too, so that in the mean they lie
beside it by σ²/2 times the trace of its second derivatives.
"""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray, row_chunks
from unbend.cached import cached_property
from unbend.neighbors import PointSpace
from unbend.report import step

# Up to so many columns all eigenvectors of a covariance are computed, beyond by block iteration.
FEW_COLUMNS = 16
# Steps of the block iteration, and columns beyond those wanted: with neighbouring eigenvalues a
# fourth of each other the angle falls by four each step.
BLOCK_STEPS, SPARE = 8, 2
# Rounds of projection: the rows around a projected point are not those around the point.
ROUNDS = 3
# Bytes of the patches fitted at once: few enough for the caches.
CHUNK = 1 << 22
# Ridge of the equations, and energy of the second-order part relative to the patch, that are
# rounding.
RIDGE, ROUNDING = 1e-12, 1e-20


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


def coefficients(d: int) -> int:
    """Count the coefficients of a quadratic in d variables."""
    return (d + 1) * (d + 2) // 2


def fit_patches(space: PointSpace, points: FloatArray, size: int, d: int) -> PatchFits:
    """Fit the patches of the `size` nearest rows of a space to each point."""
    m, columns = points.shape
    fits = PatchFits(np.empty((m, columns)), *(np.empty(m) for _ in range(5)))
    for some in row_chunks(m, 8 * (size + 1) * (4 * columns + 2 * coefficients(d)), CHUNK):
        near, distances = space.nearest_of(points[some], size)
        # The point itself takes part: repeated rounds then converge to where it lies on the fit.
        patch = np.zeros((len(near), size + 1, columns))
        around = np.take(space.points, near, axis=0)
        np.subtract(around, points[some, None], out=patch[:, 1:])
        fits.radius[some] = distances[:, -1]
        found = _fit(patch, distances[:, -1], d)
        fits.points[some] = points[some] + found[0]
        for place, values in zip(
            (fits.noise, fits.tangent, fits.leverage, fits.curvature), found[1:], strict=True
        ):
            place[some] = values
        step(some.stop, m)
    return fits


def project(space: PointSpace, points: FloatArray, size: int, d: int, rounds: int) -> PatchFits:
    """Project points onto the surface that the patches around them show, some rounds."""
    fits = fit_patches(space, points, size, d)
    for _ in range(rounds - 1):
        fits = fit_patches(space, fits.points, size, d)
    return fits


def _fit(patch: FloatArray, radius: FloatArray, d: int) -> tuple[FloatArray, ...]:
    """Displacement, noise, tangent, leverage and curvature of patches whose first row is zero."""
    s, columns = patch.shape[1:]
    centered = patch - patch.mean(axis=1, keepdims=True)
    axes = principal_axes(centered, d)
    tangent = np.square(centered @ axes).sum(axis=1).min(axis=1) / s
    reach = np.maximum(radius, np.finfo(float).tiny)
    along = (axes / reach[:, None, None]).transpose(0, 2, 1) @ patch.transpose(0, 2, 1)
    bends = d * (d + 1) // 2
    if s < coefficients(d) + bends:
        plane = _Regression.of(along, 1, patch)
        leverage = np.square(plane.smoother).sum(axis=1)
        return plane.value, plane.noise(columns - d), tangent, leverage, np.zeros(len(patch))
    bent = _Regression.of(along, 2, patch)
    flat, flat_smoother, energy = bent.leading(1 + d)
    energy[energy <= ROUNDING * np.square(reach)] = 0.0
    expected = bends * bent.unit_noise
    kept = np.divide(energy - expected, energy, out=np.zeros_like(energy), where=energy > expected)
    curvature = np.divide(energy, expected, out=np.full(len(patch), np.inf), where=expected > 0)
    noise = bent.noise(columns - d)
    share = kept[:, None]
    # In the mean squares of tangent coordinates exceed those of where rows came from by the noise.
    risen = bent.value - (noise / np.square(reach))[:, None] * bent.squares(d)
    moved = share * risen + (1 - share) * flat
    leverage = np.square(share * bent.smoother + (1 - share) * flat_smoother).sum(axis=1)
    return moved, noise, tangent, leverage, curvature


@dataclass(frozen=True, eq=False)
class _Regression:
    """Least squares of patches on functions of their tangent coordinates, weighted (b, s).

    `values` are the coefficients (b, p, D), the first of them the value at the point; `weighted`
    are the functions (b, p, s) times the weights, `gram` their products with the functions and
    `target` those with the patches.
    """

    values: FloatArray
    weights: FloatArray
    weighted: FloatArray
    gram: FloatArray
    inverse: FloatArray
    target: FloatArray
    # Squared distances of the rows to the fit.
    squares_across: FloatArray

    @classmethod
    def of(cls, along: FloatArray, degree: int, patch: FloatArray) -> "_Regression":
        """Fit patches (b, s, D) over tangent coordinates (b, d, s); weights vanish at radius 1."""
        functions = _monomials(along, degree)
        weights = np.square(np.maximum(1.0 - np.square(along).sum(axis=1), 0.0))
        weighted = functions * weights[:, None, :]
        gram = weighted @ functions.transpose(0, 2, 1)
        p = gram.shape[1]
        gram[:, range(p), range(p)] += RIDGE * weights.sum(axis=1)[:, None]
        inverse = np.linalg.inv(gram)
        target = weighted @ patch
        values = inverse @ target
        across = patch - functions.transpose(0, 2, 1) @ values
        squares = np.einsum("bsa,bsa->bs", across, across)
        return cls(values, weights, weighted, gram, inverse, target, squares)

    @property
    def value(self) -> FloatArray:
        """Values at the points (b, D)."""
        return self.values[:, 0]

    @property
    def smoother(self) -> FloatArray:
        """Weights (b, s) of the rows that make up the values at the points."""
        return np.asarray((self.inverse[:, :1] @ self.weighted)[:, 0])

    def leading(self, p: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Fit by the first p functions only: the values at the points and their smoother.

        Last comes the weighted sum of squares that the other functions explain in addition: their
        coefficients times what of their Gram matrix the first p leave (its Schur complement).
        """
        inverse = np.linalg.inv(self.gram[:, :p, :p])
        first, mixed, beyond = inverse[:, :1], self.gram[:, :p, p:], self.values[:, p:]
        left = self.gram[:, p:, p:] - mixed.transpose(0, 2, 1) @ (inverse @ mixed)
        # Twice the ridge, of which `left` has one: the sum then has no error of its first order.
        ridge = RIDGE * self.weights.sum(axis=1)
        explained = (beyond * (left @ beyond + ridge[:, None, None] * beyond)).sum(axis=(1, 2))
        value = (first @ self.target[:, :p])[:, 0]
        return value, (first @ self.weighted[:, :p])[:, 0], np.maximum(explained, 0.0)

    def squares(self, d: int) -> FloatArray:
        """Sum of the coefficients of the squares of the d tangent coordinates (b, D)."""
        first, second = np.triu_indices(d)
        return np.asarray(self.values[:, 1 + d :][:, first == second].sum(axis=1))

    @cached_property
    def rest(self) -> FloatArray:
        """Weighted sum of squares about the fit."""
        return np.asarray((self.weights * self.squares_across).sum(axis=1))

    @cached_property
    def _freedom(self) -> tuple[FloatArray, FloatArray]:
        """What noise of variance one gives in all to one function, and to `rest`."""
        total = self.weights.sum(axis=1)
        one = np.square(self.weights).sum(axis=1) / total
        return one, np.maximum(total - self.values.shape[1] * one, one)

    @property
    def unit_noise(self) -> FloatArray:
        """Energy that noise would give to one more function."""
        one, free = self._freedom
        return np.asarray(self.rest * one / free)

    def noise(self, normals: int) -> FloatArray:
        """Variance along one of so many normal directions, from the median of the rows."""
        inside = self.weights > 0
        inside[:, 0] = False
        ranked = np.sort(np.where(inside, self.squares_across, np.inf), axis=1)
        middle = np.maximum(inside.sum(axis=1) - 1, 0) // 2
        median = np.take_along_axis(ranked, middle[:, None], axis=1)[:, 0]
        free = self._freedom[1]
        # Median of a sum of squares of standard normal numbers (Wilson and Hilferty, 1931).
        usual = normals * (1 - 2 / (9 * normals)) ** 3
        lost = self.weights.sum(axis=1) / free
        return np.asarray(np.where(np.isfinite(median), median, 0.0) * lost / usual)


def _monomials(along: FloatArray, degree: int) -> FloatArray:
    """Monomials up to degree one or two of tangent coordinates (b, d, s)."""
    b, d, s = along.shape
    functions = np.empty((b, 1 + d if degree == 1 else coefficients(d), s))
    functions[:, 0], functions[:, 1 : 1 + d] = 1.0, along
    if degree == 2:
        for place, (first, second) in enumerate(zip(*np.triu_indices(d), strict=True), 1 + d):
            np.multiply(along[:, first], along[:, second], out=functions[:, place])
    return functions


def principal_axes(centered: FloatArray, d: int) -> FloatArray:
    """Leading principal directions (b, D, d) of centred patches."""
    s, columns = centered.shape[1:]
    if columns <= FEW_COLUMNS:
        return np.linalg.eigh(centered.transpose(0, 2, 1) @ centered)[1][:, :, : -d - 1 : -1]
    width = min(d + SPARE, columns, s)
    # The longest rows of a patch: a fixed start might be orthogonal to all.
    start = np.argsort(-np.square(centered).sum(axis=2), axis=1, kind="stable")[:, :width]
    block = np.take_along_axis(centered, start[:, :, None], axis=1).transpose(0, 2, 1)
    for _ in range(BLOCK_STEPS):
        block = centered.transpose(0, 2, 1) @ (centered @ np.linalg.qr(block)[0])
    block = np.linalg.qr(block)[0]
    seen = centered @ block
    turn = np.linalg.eigh(seen.transpose(0, 2, 1) @ seen)[1][:, :, : -d - 1 : -1]
    return np.asarray(block @ turn)
