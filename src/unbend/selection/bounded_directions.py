"""Directions along a bent surface that noise fills, by their tails.

Along a surface rows end at its edges, and across it noise has longer tails, normal or heavy. So
the kurtosis of rows is less along it than across it, which a comparison of the two shows whatever
the noise is, where `unbend.selection.noise_directions` asks for normal noise and a flat surface.
Rows that have equal tails in all directions, as bodies, normal rows and Student's t, show no
surface: outliers are brought in along the ellipsoid of their covariance, which keeps tails equal.
"""

import numpy as np

from unbend.arrays import FloatArray
from unbend.denoising.sampling import shuffle_distinct
from unbend.selection.noise_directions import EQUAL, FALL, FEWEST_ROWS, ROWS, bring_in, in_one_piece

# Share of rows, those farthest out, that count as if they were no farther, and turns of covariance.
FAR, TURNS = 0.1, 3
# Directions along a surface, at most.
MOST_ALONG = 4
# Mean fourth powers of coordinates of variance one are larger across a surface than along it by so
# many standard errors in the mean, and by so many than along each direction. Each across it is at
# least the last: normal rows have 2.6 to 2.9 with outliers brought in, and sheets 1.8 to 2.4.
LIGHTER, EACH_LIGHTER, TAILS = 2.5, 2.0, 2.5
# Variances below this share of the largest are rounding.
ROUNDING = 1e-12


def bounded_directions(rows: FloatArray) -> int | None:
    """Count the directions along a bent surface by their tails; None where they show none.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> u = rng.uniform(-1, 1, size=(1500, 2))
    >>> sheet = np.column_stack((u, np.square(u).sum(axis=1) / 2))
    >>> bounded_directions(sheet + 0.15 * rng.standard_t(3, size=sheet.shape))
    2
    >>> bounded_directions(rng.standard_t(3, size=(1500, 3)) * [2, 2, 1]) is None
    True
    """
    rows = rows[shuffle_distinct(rows)[:ROWS]]
    n, columns = rows.shape
    if n < max(FEWEST_ROWS, 2 * columns) or columns < 2:
        return None
    left, values, _ = np.linalg.svd(_without_outliers(rows), full_matrices=False)
    kept = np.square(values) > ROUNDING * values[0] ** 2
    along, values = left[:, kept] * np.sqrt(n), values[kept] / np.sqrt(n)
    for d in range(1, min(MOST_ALONG, len(values) - 1) + 1):
        tails, variances = _across(along[:, :d], along[:, d:] * values[d:])
        # The largest and the smallest variance of noise differ by sampling (Marčenko and Pastur).
        ratio = np.sqrt(len(variances) / n)
        level = variances[0] <= EQUAL * variances[-1] * ((1 + ratio) / (1 - ratio)) ** 2
        if level and variances[0] <= FALL * values[d - 1] ** 2:
            lighter = _has_lighter_tails(along[:, :d], tails)
            return d if lighter and in_one_piece(along[:, :d] * values[:d]) else None
    return None


def _without_outliers(rows: FloatArray) -> FloatArray:
    """Centered rows, of which the farthest out by the covariance of all are brought in."""
    centered = rows - np.median(rows, axis=0)
    inside = bring_in(centered, FAR)
    for _ in range(TURNS):
        variances, axes = np.linalg.eigh(np.cov(inside.T))
        kept = variances > ROUNDING * variances[-1]
        axes, scales = axes[:, kept], np.sqrt(variances[kept])
        inside = bring_in(centered @ axes / scales, FAR) * scales @ axes.T
    return np.asarray(inside - inside.mean(axis=0))


def _across(along: FloatArray, others: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Principal coordinates and variances of what no quadratic of the directions explains."""
    n, d = along.shape
    first, second = np.triu_indices(d)
    terms = np.column_stack((np.ones(n), along, along[:, first] * along[:, second]))
    basis = np.linalg.qr(terms)[0]
    left, values, _ = np.linalg.svd(others - basis @ (basis.T @ others), full_matrices=False)
    return left * np.sqrt(n), np.square(values) / (n - terms.shape[1])


def _has_lighter_tails(along: FloatArray, across: FloatArray) -> bool:
    """Whether coordinates of variance one have lighter tails along a surface than across it."""
    bounded, tails = (np.square(np.square(some) - 1.0) for some in (along, across))
    if tails.mean(axis=0).min() + 1.0 < TAILS:
        return False

    def errors(differences: FloatArray) -> float:
        spread = max(float(differences.std()), np.finfo(float).tiny)
        return float(differences.mean() / spread * np.sqrt(len(differences)))

    mean = tails.mean(axis=1)
    each = min(errors(mean - one) for one in bounded.T)
    return errors(mean - bounded.mean(axis=1)) >= LIGHTER and each >= EACH_LIGHTER
