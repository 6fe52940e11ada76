"""The dimension of rows that noise fills everywhere: directions that are more than normal noise.

Where a surface hardly bends and noise is as wide as its neighbourhoods, no neighbourhood shows the
surface, but all rows together do: along it their principal coordinates end at its edges and are not
normal, and across it they are noise, normal and of equal variance. Rows of a normal distribution,
of a body with edges all around, and clusters have no such directions.
"""

import numpy as np

from unbend.arrays import FloatArray
from unbend.denoising.sampling import shuffle_distinct
from unbend.neighbors import PointSpace

# Rows, at most and at least.
ROWS, FEWEST_ROWS = 5000, 300
# Share of rows, those farthest out, that count as if they were no farther: outliers.
FAR = 0.02
# Variances fall at most to this share after the last direction along the surface, and those after
# it differ by at most this factor beyond what sampling does.
FALL, EQUAL = 0.75, 1.3
# Statistic of Jarque and Bera (1987), which has a χ² distribution of two degrees of freedom for
# normal coordinates: at least this along the surface, in the mean and for each direction, and at
# most the last across it for one direction (one in a thousand has more), and as rarely for several.
ALONG, EACH, ACROSS = 12.0, 4.6, 13.8
# Principal directions of nearly equal variance, up to this factor, are any turned ones: their joint
# kurtosis (Mardia, 1970) is below that of normal rows by so many standard errors, instead.
ALIKE, BOUNDED = 2.0, 4.0
# Share of the rows, one in so many, and rows at least whose distance shows how dense a place
# is, and the quantile by which places are compared.
AROUND, FEWEST_AROUND, SPARSE = 50, 10, 0.75


def directions_along(rows: FloatArray) -> int | None:
    """Count the principal directions along a surface; None where they are not told from noise.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> disc = np.column_stack((rng.uniform(-1, 1, size=(1500, 2)), np.zeros((1500, 2))))
    >>> directions_along(disc + rng.normal(scale=0.3, size=disc.shape))
    2
    >>> directions_along(rng.normal(size=(1500, 4)) * [2, 2, 1, 1]) is None
    True
    """
    rows = rows[shuffle_distinct(rows)[:ROWS]]
    if len(rows) < max(FEWEST_ROWS, 2 * rows.shape[1]):
        return None
    variances, coordinates = _principal_coordinates(rows)
    if len(variances) < 2:
        return None
    scores = _normality(coordinates)
    d = int(np.argmin(variances[1:] / variances[:-1])) + 1
    across = variances[d:]
    # The largest and the smallest variance of noise differ by sampling (Marčenko and Pastur, 1967).
    ratio = np.sqrt(len(across) / len(rows))
    level = across[0] <= EQUAL * across[-1] * ((1 + ratio) / (1 - ratio)) ** 2
    falls = across[0] <= FALL * variances[d - 1]
    bounded = scores[:d].mean() >= ALONG and scores[:d].min() >= EACH
    if variances[0] <= ALIKE * variances[d - 1]:
        bounded = bounded or _kurtosis(coordinates[:, :d]) <= -BOUNDED
    normal = scores[d:].max() <= ACROSS + 2 * np.log(len(across))
    if not (level and falls and bounded and normal):
        return None
    return d if in_one_piece(coordinates[:, :d] * np.sqrt(variances[:d])) else None


def in_one_piece(coordinates: FloatArray) -> bool:
    """Whether rows are as dense between others as they are elsewhere; clusters are not."""
    n = len(coordinates)
    space, k = PointSpace(np.ascontiguousarray(coordinates)), max(n // AROUND, FEWEST_AROUND)
    between = (coordinates + np.roll(coordinates, n // 2, axis=0)) / 2
    far = [np.quantile(space.nearest_of(at, k)[1][:, -1], SPARSE) for at in (between, coordinates)]
    return bool(far[0] <= far[1])


def bring_in(centered: FloatArray, share: float) -> FloatArray:
    """Move the share of rows that are farthest from the origin towards it, as far as the others.

    Examples
    --------
    >>> float(np.abs(bring_in(np.array([[1.0], [-1.0], [1.0], [90.0]]), 0.25)).max()) < 30
    True
    """
    away = np.linalg.norm(centered, axis=1)
    bound = np.quantile(away, 1 - share)
    factors = np.minimum(1.0, bound / np.maximum(away, np.finfo(float).tiny))
    return np.asarray(centered * factors[:, None])


def _principal_coordinates(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Principal variances, and coordinates of variance one."""
    centered = bring_in(rows - np.median(rows, axis=0), FAR)
    centered -= centered.mean(axis=0)
    left, values, _ = np.linalg.svd(centered, full_matrices=False)
    # Of columns without variance nothing is known, and rounding is not normal.
    kept = values > np.sqrt(np.finfo(float).eps) * values[0]
    return np.square(values[kept]) / len(rows), left[:, kept] * np.sqrt(len(rows))


def _normality(coordinates: FloatArray) -> FloatArray:
    """Jarque and Bera's statistic of each coordinate of variance one."""
    skewness = np.mean(coordinates**3, axis=0)
    excess = np.mean(coordinates**4, axis=0) - 3.0
    return np.asarray(len(coordinates) / 6.0 * (np.square(skewness) + np.square(excess) / 4.0))


def _kurtosis(coordinates: FloatArray) -> float:
    """Mardia's kurtosis of coordinates of variance one, in standard errors of normal rows."""
    n, d = coordinates.shape
    normal = d * (d + 2)
    fourth = float(np.square(np.square(coordinates).sum(axis=1)).mean())
    return float((fourth - normal) / np.sqrt(8 * normal / n))
