"""The curse of dimensionality: volumes, tails, angles and norms (book section 1.3).

Everything is computed by logarithms, so that dimension 10 000 is no harder than dimension 10.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainc, gammaincc, gammaln

from unbend.arrays import FloatArray


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
