"""The curse of dimensionality: volumes, tails, angles and norms (book section 1.3).

Everything is computed by logarithms, so that dimension 10 000 is no harder than dimension 10.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist, squareform
from scipy.special import gammainc, gammaincc, gammaln

from unbend.arrays import FloatArray
from unbend.validation.arrays import check_rows
from unbend.validation.scalars import check_integer


def log_ball_volume(dimension: ArrayLike, radius: ArrayLike = 1.0) -> FloatArray:
    r"""Logarithm of the volume of a ball, :math:`\pi^{D/2} r^D / \Gamma(D/2 + 1)` (1.1).

    The volume itself is smaller than any double from dimension 453 on, for radius one.

    Parameters
    ----------
    dimension : array_like
        D, at least 1.
    radius : array_like
        r, above 0.

    Examples
    --------
    >>> float(np.exp(log_ball_volume(3)).round(6))
    4.18879
    >>> float(log_ball_volume(10_000).round(1))
    -31867.5
    """
    D, r = _dimension(dimension), _positive("radius", radius)
    return np.asarray(D / 2 * np.log(np.pi) + D * np.log(r) - gammaln(D / 2 + 1))


def log_cube_volume(dimension: ArrayLike, radius: ArrayLike = 1.0) -> FloatArray:
    r"""Logarithm of the volume of the cube around a ball, :math:`(2r)^D` (1.2).

    Examples
    --------
    >>> float(np.exp(log_cube_volume(3, 0.5)))
    1.0
    """
    return np.asarray(_dimension(dimension) * (np.log(2) + np.log(_positive("radius", radius))))


def log_ball_share(dimension: ArrayLike) -> FloatArray:
    r"""Logarithm of the share of a cube that lies in its inscribed ball.

    It falls faster than any power: in ten dimensions 0.25 % of a cube, in a hundred nothing that
    a sample could ever hit. Data that fill a cube lie in its corners.

    Examples
    --------
    >>> np.exp(log_ball_share([2, 10])).round(4)
    array([0.7854, 0.0025])
    """
    return np.asarray(log_ball_volume(dimension) - log_cube_volume(dimension))


def shell_share(dimension: ArrayLike, inner: ArrayLike, outer: ArrayLike = 1.0) -> FloatArray:
    r"""Share of a ball's volume between two radii, :math:`1 - (r/R)^D`.

    Near one: data that fill a ball lie near its surface, and few have neighbours on all sides.

    Examples
    --------
    >>> shell_share([1, 10, 10_000], 0.9).round(4)
    array([0.1   , 0.6513, 1.    ])
    """
    D, r, R = _dimension(dimension), np.asarray(inner, dtype=float), _positive("outer", outer)
    if not np.all((r >= 0) & (r <= R)):
        raise ValueError("inner must lie between 0 and outer")
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(D * np.log(r / R)))


def gaussian_tail(dimension: ArrayLike, radius: ArrayLike = 2.0) -> FloatArray:
    r"""Probability that a standard Gaussian vector lies outside a ball (Table 1.1).

    :math:`\Pr[\|x\| \ge r] = \Gamma(D/2, r^2/2) / \Gamma(D/2)`. The table's entry for D = 10 is
    cut off after the fifth decimal, not rounded.

    Examples
    --------
    >>> gaussian_tail([1, 2, 5, 10, 20, 100]).round(4)
    array([0.0455, 0.1353, 0.5494, 0.9473, 1.    , 1.    ])
    """
    D, r = _dimension(dimension), _positive("radius", radius)
    with np.errstate(over="ignore"):
        return np.asarray(gammaincc(D / 2, np.square(r) / 2))


def log_gaussian_inside(dimension: ArrayLike, radius: ArrayLike = 2.0) -> FloatArray:
    r"""Logarithm of the probability that a standard Gaussian vector lies inside a ball.

    What `gaussian_tail` rounds to one: where the probability is no double any more, the series
    :math:`x^a e^{-x} / \Gamma(a+1) \cdot (1 + x/(a+1) + \dots)` at a = D/2, x = r²/2 gives it.

    Examples
    --------
    >>> float(np.exp(log_gaussian_inside(10, 1.0)).round(6))
    0.000172
    >>> float(log_gaussian_inside(10_000).round(1))
    -34127.4
    """
    D, r = np.broadcast_arrays(_dimension(dimension), _positive("radius", radius))
    a = D / 2
    with np.errstate(over="ignore"):
        x = np.square(r) / 2
    direct, outside = gammainc(a, x), gammaincc(a, x)
    term, total = np.ones(a.shape), np.ones(a.shape)
    small = direct < 1e-200
    # Only far below the mean, x < a, where the terms fall geometrically.
    x = np.where(small, x, 0.0)
    for step in range(1, 200):
        term = term * x / (a + step)
        total = total + term
    # By the radius, whose square may be no double any more.
    series = a * (2 * np.log(r) - np.log(2)) - x - gammaln(a + 1) + np.log(total)
    # What is nearly certain has its digits in what it lacks.
    direct = np.where(
        outside < 0.5, np.log1p(-np.minimum(outside, 0.5)), np.log(np.where(small, 1.0, direct))
    )
    return np.asarray(np.where(small, series, direct))


def log_sphere_area(dimension: ArrayLike, radius: ArrayLike = 1.0) -> FloatArray:
    r"""Logarithm of the surface of a ball, :math:`2\pi^{D/2} r^{D-1} / \Gamma(D/2)`.

    The derivative of the volume by the radius (book section 1.3.3).

    Examples
    --------
    >>> np.exp(log_sphere_area([2, 3])).round(4)  # 2π and 4π
    array([ 6.2832, 12.5664])
    """
    D, r = np.broadcast_arrays(_dimension(dimension), _positive("radius", radius))
    return np.asarray(np.log(2) + D / 2 * np.log(np.pi) + (D - 1) * np.log(r) - gammaln(D / 2))


def diagonal_angle(dimension: ArrayLike) -> FloatArray:
    r"""Angle between a diagonal of a cube and a side, :math:`\arccos(1/\sqrt D)`, in radians.

    It tends to a right angle: a cluster near a diagonal is drawn near the origin in every plot of
    two coordinates.

    Examples
    --------
    >>> np.degrees(diagonal_angle([1, 2, 3, 10_000])).round(2)
    array([ 0.  , 45.  , 54.74, 89.43])
    """
    D = _dimension(dimension)
    # By the tangent: arccos loses digits near 1.
    return np.asarray(np.arctan2(np.sqrt(D - 1), 1.0))


class Concentration(NamedTuple):
    """Mean and variance of the norm of a random vector."""

    mean: FloatArray
    variance: FloatArray


def norm_concentration(
    dimension: ArrayLike, *, mean: float, variance: float, third: float, fourth: float
) -> Concentration:
    r"""Mean and variance of the norm of vectors with independent components (Theorem 1.1).

    .. math:: \mu_{\|x\|} = \sqrt{aD - b} + O(1/D), \qquad \sigma^2_{\|x\|} = b + O(D^{-1/2})

    with :math:`a = \mu^2 + \mu_2` and :math:`b = (4\mu^2\mu_2 - \mu_2^2 + 4\mu\mu_3 + \mu_4)/4a`.
    Norms grow like the root of the dimension and do not spread: all points are nearly as far from
    the origin, and from each other, and a nearest neighbour is hardly nearer than a random point.

    Parameters
    ----------
    dimension : array_like
        D.
    mean, variance, third, fourth : float
        Mean and central moments of one component.

    Examples
    --------
    >>> gaussian = norm_concentration(10_000, mean=0, variance=1, third=0, fourth=3)
    >>> float(gaussian.mean.round(3)), float(gaussian.variance)
    (99.997, 0.5)
    """
    D = _dimension(dimension)
    # Moments of a random variable: the squares of all polynomials of degree two have means of at
    # least zero. Two values only make them equal, up to rounding.
    least = variance**3 + third**2
    possible = variance >= 0 and fourth >= 0 and variance * fourth >= least * (1 - 1e-9)
    if not (possible and 0 < mean**2 + variance < np.inf):
        raise ValueError("no random variable has these moments")
    a = mean**2 + variance
    b = (4 * mean**2 * variance - variance**2 + 4 * mean * third + fourth) / (4 * a)
    return Concentration(np.sqrt(np.maximum(a * D - b, 0.0)), np.full(D.shape, b))


def chebyshev_bound(variance: ArrayLike, deviation: ArrayLike) -> FloatArray:
    r"""Chebyshev's bound :math:`\sigma^2/\epsilon^2` of P(abs(‖x‖ − μ) ≥ ε), one at most.

    With the variance of `norm_concentration` it does not depend on the dimension: norms stay as
    near to their mean while that grows as √D (book section 1.3.5).

    Parameters
    ----------
    variance : array_like
        Variance of the norms.
    deviation : array_like
        ε.

    Examples
    --------
    >>> gaussian = norm_concentration(10_000, mean=0, variance=1, third=0, fourth=3)
    >>> float(chebyshev_bound(gaussian.variance, 5.0))
    0.02
    """
    size = np.asarray(variance, dtype=np.float64)
    if not np.all(size >= 0):
        raise ValueError(f"variance must be at least 0, but it is {variance!r}")
    return np.asarray(np.minimum(size / np.square(_positive("deviation", deviation)), 1.0))


class MeasuredConcentration(NamedTuple):
    """How norms and distances of some rows concentrate.

    `mean` and `variance` are those of the distances to the mean row, `spread` is their standard
    deviation over their mean; `contrast` is the median over the rows of (farthest − nearest) /
    nearest other row. Where both are far below one, neighbours hardly differ from other rows.
    """

    mean: float
    variance: float
    spread: float
    contrast: float


def measured_concentration(X: Any, *, max_rows: int = 2000) -> MeasuredConcentration:
    """Measure how far norms and distances of given rows concentrate.

    Parameters
    ----------
    X : array_like or data frame
        Rows of numbers.
    max_rows : int
        Above this number of rows, that many evenly spaced ones are used.

    Examples
    --------
    >>> few, many = (np.random.default_rng(0).normal(size=(500, D)) for D in (2, 1000))
    >>> bool(measured_concentration(few).contrast > 10 > 1 > measured_concentration(many).contrast)
    True
    """
    rows = np.asarray(check_rows(X, min_rows=3), dtype=np.float64)
    most = check_integer("max_rows", max_rows, 3)
    if len(rows) > most:
        rows = rows[np.linspace(0, len(rows) - 1, most).round().astype(np.intp)]
    norms = np.linalg.norm(rows - rows.mean(axis=0), axis=1)
    distances = squareform(pdist(rows))
    farthest = distances.max(axis=1)
    np.fill_diagonal(distances, np.inf)
    nearest = distances.min(axis=1)
    contrast = np.divide(
        farthest - nearest, nearest, out=np.full(len(rows), np.inf), where=nearest > 0
    )
    mean, variance = float(norms.mean()), float(norms.var())
    if mean == 0:
        raise ValueError("All rows of X are equal. Pass at least two different points.")
    return MeasuredConcentration(
        mean, variance, float(np.sqrt(variance) / mean), float(np.median(contrast))
    )


def _dimension(value: ArrayLike) -> FloatArray:
    given = np.asarray(value, dtype=np.float64)
    if not np.all(given >= 1):
        raise ValueError(f"dimension must be at least 1, but it is {value!r}")
    return given


def _positive(name: str, value: ArrayLike) -> FloatArray:
    given = np.asarray(value, dtype=np.float64)
    if not np.all(given > 0):
        raise ValueError(f"{name} must be above 0, but it is {value!r}")
    return given
