"""Kernels, and the squared distances that they give between rows in feature space.

k(x, x) + k(y, y) − 2 k(x, y) cancels the digits that the three values share: of a polynomial of
rows far from the origin that is all of them. Where many are lost, squares are computed by formulas
that subtract rows, not values of the kernel.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.special import expit

from unbend._kernels import kernels
from unbend._kernels.parts import map_parts
from unbend.arrays import BoolArray, FloatArray, row_chunks, row_products
from unbend.cached import cached_property
from unbend.gram.centered import FormedGram, centered_products, inner_products
from unbend.gram.distances import SimilaritySquares
from unbend.validation.conditioning import check_digits

# Squares this many times smaller than the values of the kernel are computed from differences.
CANCELLED = 1e3
# Squares below this have no products in double precision.
LEAST_SQUARE = 1e-140
# Kernels whose squares have such formulas.
EXACT = ("poly", "rbf", "sigmoid", "laplacian")
# Directions of rows within this share of their mean's length are computed from differences.
NEAR = 0.5
# Largest error of a squared distance, times the kernel's width, that a product may make.
PRODUCT_ERROR = 1e-10
# The same in units of rounding, which differences make too: up to here products lose at most two
# digits that differences would keep, and eigenpairs, which have a tolerance of 1e-12, none.
SAME_ERROR = 128.0
# Rows whose lengths show whether all are near the origin.
SAMPLE = 16


@dataclass(frozen=True, eq=False)
class GaussianSimilarities:
    """exp(−γ‖x − x_j‖²) by matrix products, for rows near the landmarks' mean.

    Squares from products have errors of about ε‖x‖² about that mean; `safe` says whether these
    are negligible.
    """

    center: FloatArray
    landmarks: FloatArray
    gamma: float

    @classmethod
    def of(cls, landmarks: FloatArray, gamma: float) -> "GaussianSimilarities":
        """Center the landmarks."""
        center = landmarks.mean(axis=0)
        return cls(center, landmarks - center, gamma)

    def safe(self, points: FloatArray) -> bool:
        """Whether all points are near enough."""
        spread = np.maximum(points.max(axis=0) - self.center, self.center - points.min(axis=0))
        error = 4.0 * np.finfo(np.float64).eps * float(np.square(spread).sum())
        return bool(self.gamma * error <= PRODUCT_ERROR)

    def __call__(self, new: FloatArray) -> FloatArray:
        """Return an (m, landmarks) array."""
        centered = new - self.center
        squares = centered @ self.landmarks.T
        squares *= 2.0 * self.gamma
        squares -= self.gamma * np.einsum("ij,ij->i", centered, centered)[:, None]
        squares -= self.gamma * np.einsum("ij,ij->i", self.landmarks, self.landmarks)
        np.minimum(squares, 0.0, out=squares)
        return np.exp(squares, out=squares)


def gaussians_between(points: FloatArray, gamma: float, threads: int = 1) -> FloatArray | None:
    """Gaussians between all rows, by products; None where differences would be more accurate."""
    products = _products_of_near(points, gamma, threads)
    if products is None:
        products = centered_products(points, threads)
        if not 4.0 * gamma * float(products.diagonal().max()) <= SAME_ERROR:
            return None
    products *= 2.0 * gamma
    kernels.gaussians(products, threads)
    return products


def _products_of_near(points: FloatArray, gamma: float, threads: int) -> FloatArray | None:
    """Products of rows so near to the origin that centering them gains nothing; else None.

    Of wide rows it takes a tenth of the time of their products.
    """
    some = points[:: -(-len(points) // SAMPLE)]
    if not 8.0 * gamma * float(np.einsum("ij,ij->i", some, some).max()) <= SAME_ERROR:
        return None
    products = inner_products(points, threads)
    return products if 4.0 * gamma * float(products.diagonal().max()) <= SAME_ERROR else None


@dataclass(frozen=True, eq=False)
class Similarities:
    """Values of a kernel between new samples and the fitted rows.

    Kernels of features that can be written down, "linear" and "cosine", take features from those
    of the `center`: this changes no distance, and rows far from the origin keep their digits.
    """

    points: FloatArray
    kernel: Any
    params: dict[str, Any]
    center: FloatArray | None = None

    @classmethod
    def of(
        cls, points: FloatArray, kernel: Any, params: dict[str, Any], everyone: FloatArray
    ) -> "Similarities":
        """Choose the center of everyone, of whom the points may be some."""
        if kernel not in ("linear", "cosine"):
            return cls(points, kernel, params)
        center = everyone.mean(axis=0)
        if kernel == "cosine" and _spread(everyone, center) > NEAR * np.linalg.norm(center):
            # Rows of different lengths may still share a direction, near which products cancel.
            center = unit_rows(everyone, None).mean(axis=0)
            if np.linalg.norm(center) < NEAR:
                return cls(points, kernel, params)
        return cls(points, kernel, params, center)

    def __getstate__(self) -> dict[str, object]:
        """Leave out what follows from the points."""
        names = ("points", "kernel", "params", "center")
        return {name: self.__dict__[name] for name in names}

    def __call__(self, new: FloatArray) -> FloatArray:
        """Return an (m, n) array."""
        # From differences, not products: right for duplicate rows and far from the origin too.
        if self.kernel in ("rbf", "laplacian"):
            return np.exp(-self._distances(new))
        if callable(self.kernel):
            return self._call_kernel(new)
        return self._of_products(row_products(self.features(new), self._own.T))

    def between(self, threads: int = 1) -> FloatArray:
        """Values between all fitted rows, (n, n)."""
        if self.kernel == "rbf":
            values = gaussians_between(self.points, self.params["gamma"], threads)
            return self(self.points) if values is None else values
        if self.kernel == "laplacian":
            return self(self.points)
        if callable(self.kernel):
            return self._call_between()
        # Symmetric to the bit.
        return self._of_products(inner_products(self._own, threads))

    def features(self, rows: FloatArray) -> FloatArray:
        """Rows whose inner products the kernel is a function of."""
        if self.kernel == "cosine":
            return unit_rows(rows, self.center)
        return rows if self.center is None else rows - self.center

    @cached_property
    def _own(self) -> FloatArray:
        return self.features(self.points)

    def _distances(self, new: FloatArray) -> FloatArray:
        """Return what "rbf" and "laplacian" are negative exponentials of."""
        name: Any = "sqeuclidean" if self.kernel == "rbf" else "cityblock"
        return np.asarray(self.params["gamma"] * cdist(new, self.points, name))

    def _of_products(self, products: FloatArray) -> FloatArray:
        if self.kernel in ("linear", "cosine"):
            return products
        with np.errstate(over="ignore", invalid="ignore"):
            products *= self.params["gamma"]
            products += self.params["coef0"]
            if self.kernel == "sigmoid":
                return np.tanh(products, out=products)
            return finite(np.power(products, self.params["degree"], out=products))

    def _call_kernel(self, new: FloatArray) -> FloatArray:
        return finite(np.asarray(cdist(new, self.points, self._value)))

    def _call_between(self) -> FloatArray:
        values = squareform(pdist(self.points, self._value), checks=False)
        np.fill_diagonal(values, [self._value(row, row) for row in self.points])
        return finite(np.asarray(values))

    def _value(self, first: FloatArray, second: FloatArray) -> float:
        value = np.asarray(self.kernel(first, second, **self.params))
        if value.ndim or value.dtype.kind not in "fiub":
            raise TypeError(f"the kernel gave {value} for two rows: it must give one number")
        return float(value)

    def squares(self, new: FloatArray) -> FloatArray:
        """Squared distances of new samples to all fitted rows, from differences of rows."""
        squares, usable = self._from_differences(new)
        if not usable.all():
            # Rows so far from the fitted ones that the three values share no digits.
            far = new[~usable]
            values = SimilaritySquares(self._diagonal)(self(far))
            squares[~usable] = values + self._of_products(_lengths(far))[:, None]
        return finite(squares)

    def squares_between(self, out: FloatArray) -> bool:
        """Fill in the squares between all fitted rows; False where no formula serves them all."""
        if self.kernel not in EXACT:
            return False
        for rows in row_chunks(len(out), 64 * len(out)):
            found, usable = self._from_differences(self.points[rows])
            if not usable.all():
                return False
            out[rows] = found
        return bool(np.isfinite(out).all())

    def _from_differences(self, new: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Squares, and for which of the rows they hold."""
        everyone = np.ones(len(new), dtype=bool)
        if self.kernel in ("rbf", "laplacian"):
            return np.asarray(-2.0 * np.expm1(-self._distances(new))), everyone
        terms = _Terms.of(self.params, self._reference, self.points, new)
        if self.kernel == "sigmoid":
            return terms.of_sigmoid(), everyone
        return terms.of_polynomial(self.params["degree"])

    @cached_property
    def _reference(self) -> FloatArray:
        return np.asarray(self.points.mean(axis=0))

    @cached_property
    def _diagonal(self) -> FloatArray:
        return self._of_products(_lengths(self.points))


def _spread(rows: FloatArray, center: FloatArray) -> float:
    """Largest distance of a row to the center."""
    chunks = row_chunks(len(rows), 16 * rows.shape[1], 1 << 20)
    return float(np.sqrt(max(_lengths(rows[some] - center).max() for some in chunks)))


def _lengths(rows: FloatArray) -> FloatArray:
    return np.asarray(np.square(rows).sum(axis=1))


@dataclass(frozen=True, eq=False)
class _Terms:
    """Arguments of kernels κ(γ x·y + c₀), written so that their differences are exact.

    With q = γ|x|² + c₀ of either row, `middle` m is the mean of both, `apart` d half of their
    difference and `below` s = ½γ|x − y|², and γ x·y + c₀ = m − s. The squared distance is then
    [κ(m + d) + κ(m − d) − 2κ(m)] + 2 [κ(m) − κ(m − s)].
    """

    middle: FloatArray
    apart: FloatArray
    below: FloatArray

    @classmethod
    def of(
        cls, params: dict[str, Any], reference: FloatArray, points: FloatArray, new: FloatArray
    ) -> "_Terms":
        """Measure everything from a reference near the points."""
        gamma = params["gamma"]
        # |x|² − |r|² = (x − r)·(x + r) keeps the digits in which lengths differ.
        fitted, own = (
            gamma * ((rows - reference) * (rows + reference)).sum(axis=1) for rows in (points, new)
        )
        middle = gamma * float(reference @ reference) + params["coef0"]
        middle = middle + 0.5 * (own[:, None] + fitted)
        below = 0.5 * gamma * cdist(new, points, "sqeuclidean")
        return cls(middle, 0.5 * (own[:, None] - fitted), below)

    def of_sigmoid(self) -> FloatArray:
        """κ = tanh."""
        m, d, below = self.middle, np.abs(self.apart), self.below
        fall = -2.0 * expit(2.0 * m) * expit(2.0 * (below - m)) * np.expm1(-2.0 * below)
        decay = np.exp(-2.0 * np.maximum(np.abs(m) - d, 0.0)) * np.square(np.expm1(-2.0 * d))
        bend = decay / (1.0 + np.exp(-2.0 * np.abs(m + d))) / (1.0 + np.exp(-2.0 * np.abs(m - d)))
        return np.asarray(2.0 * (fall - np.tanh(m) * bend))

    def of_polynomial(self, degree: float) -> tuple[FloatArray, BoolArray]:
        """κ(t) = t^degree, and the rows for which the formula holds: terms of one sign, near m."""
        m, d, below = self.middle, self.apart, self.below
        usable = (np.maximum(np.abs(d), 2.0 * below) < np.abs(m)).all(axis=1)
        with np.errstate(all="ignore"):
            share, power = d / m, np.power(m, degree)
            angle = degree * np.arctanh(share)
            bend = np.expm1(0.5 * degree * np.log1p(-np.square(share))) * np.cosh(angle)
            bend += 2.0 * np.square(np.sinh(0.5 * angle))
            fall = -np.expm1(degree * np.log1p(-below / m))
            return 2.0 * power * (bend + fall), usable


def unit_rows(rows: FloatArray, center: FloatArray | None) -> FloatArray:
    """x/|x|, less c/|c| where a center is given; rows of zeros have no direction.

    Examples
    --------
    >>> import numpy as np
    >>> unit_rows(np.array([[3e-200, 4e-200], [0.0, 0.0]]), None)
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    size = np.abs(rows).max(axis=1, keepdims=True)
    # To size one first: the squares of very large and very small numbers have no room.
    units = np.divide(rows, size, out=np.zeros(rows.shape), where=size > 0)
    lengths = np.sqrt(_lengths(units))[:, None]
    np.divide(units, lengths, out=units, where=lengths > 0)
    if center is None:
        return np.asarray(units)
    length = float(np.linalg.norm(center))
    units -= center / length
    away = rows - center
    near = np.abs(away).max(axis=1) * np.sqrt(rows.shape[1]) <= NEAR * length
    away, own = away[near], (size * lengths)[near]
    # |x| − |c| = (x − c)·(x + c) / (|x| + |c|) keeps the digits in which lengths differ.
    longer = (away * (rows[near] + center)).sum(axis=1, keepdims=True) / (own + length)
    units[near] = (away - longer * (center / length)) / own
    return np.asarray(units)


def finite(values: FloatArray) -> FloatArray:
    """Refuse values of a kernel that left double precision."""
    if not np.all(np.isfinite(values)):
        raise ValueError(
            "the kernel gave values that are not finite: check it, or scale X or its parameters"
        )
    return values


@dataclass(frozen=True, eq=False)
class FeatureDistances:
    """Squared distances in feature space, up to a constant a row; `exact`: from differences."""

    similarities: Similarities
    squares: SimilaritySquares
    exact: bool = False

    def __call__(self, new: FloatArray) -> FloatArray:
        """Return an (m, n) array."""
        if self.exact:
            return self.similarities.squares(new)
        return self.squares(self.similarities(new))


def feature_squares(similarities: Similarities) -> tuple[FloatArray, SimilaritySquares, bool]:
    """Squares between all fitted rows, what makes squares of new values, and whether exact."""
    values = similarities.between()
    largest, squares = float(np.abs(values).max()), SimilaritySquares.of(values)
    between = squares.between_fitted(values, overwrite=True)
    cancelled = float(between.max()) * CANCELLED < largest
    # The values are gone: what is filled in until a formula fails is made anew.
    exact = cancelled and similarities.squares_between(between)
    if cancelled and not exact:
        between = squares.between_fitted(similarities.between(), overwrite=True)
        check_digits(largest, float(between.max()), "the kernel")
    if exact and between.max() < LEAST_SQUARE and np.ptp(similarities.points, axis=0).any():
        raise ValueError(
            f"kernel={similarities.kernel!r} has the same value for all rows, {largest:.3g}: "
            "standardise X (zero mean, unit variance), or use another gamma"
        )
    return between, squares, exact


def formed_gram(
    similarities: Similarities, threads: int = 1
) -> tuple[FormedGram, SimilaritySquares] | None:
    """Center the values of a Gaussian kernel; None where distances between rows would cancel."""
    values = similarities.between(threads)
    chunks = row_chunks(len(values), 8 * len(values), 1 << 22)
    least = min(map_parts(lambda some: float(values[some].min()), chunks, threads))
    # Values are one between equal rows.
    if 2.0 * (1.0 - least) * CANCELLED < 1.0:
        return None
    squares = SimilaritySquares.of(values)
    return FormedGram.of(values, threads), squares


@dataclass(frozen=True, eq=False)
class BasePointKernel:
    """½ (k(x, y) − k(x, x₀) − k(x₀, y) + k(x₀, x₀)), of a kernel and a base point x₀.

    Positive definite if and only if k is conditionally positive definite, as −‖x − y‖^β is for
    0 < β ≤ 2 (Schölkopf and Smola, 2002, proposition 2.22). Centered kernels do not depend on the
    base point, so kernel PCA with either differs by the factor √½ alone; methods that do not
    center, and tests of definiteness, need this form.

    Parameters
    ----------
    kernel : callable
        A symmetric function of two rows.
    base : array (n_features,)
        The base point.

    Examples
    --------
    >>> import numpy as np
    >>> squares = lambda x, y: -np.sum((x - y) ** 2)
    >>> BasePointKernel(squares, np.zeros(2))(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    np.float64(11.0)
    """

    kernel: Callable[[FloatArray, FloatArray], float]
    base: FloatArray

    def __call__(self, first: FloatArray, second: FloatArray) -> float:
        """Return the value for two rows."""
        k, base = self.kernel, self.base
        total = k(first, second) - k(first, base) - k(base, second) + k(base, base)
        return total / 2
