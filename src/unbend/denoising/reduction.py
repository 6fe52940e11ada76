"""Columns without noise alone: the principal directions that stand out of a flat spectrum.

Rows about a surface in many columns span few directions, and noise all of them. The variances of
noise along the others are equal up to sampling: they lie below σ²(1 + √(D/n))² (Marčenko and
Pastur, 1967). Where at least half of the directions do, the others alone hold the surface, and
distances in them are less noisy. Spectra that decay, as those of images, have no such half.
Directions along which rows do not differ at all are left out in any case.
"""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray

# Columns from which on directions are looked for, and up to which a covariance is affordable.
FEWEST, MOST = 6, 1000
# Rows of the covariance for each column, and in all at least.
ROWS_PER_COLUMN, ROWS = 20, 5000
# Excess over the largest variance of noise that is not sampling, and share of the smallest below
# which the spectrum decays and is not noise.
EXCESS, DECAY = 1.1, 0.5
# Variances below this share of the largest are rounding, and a loss below this share of all.
ROUNDING, LOST = 1e-12, 1e-9


@dataclass(frozen=True, eq=False)
class Reduction:
    """Orthonormal directions (D, r) about a center."""

    center: FloatArray
    axes: FloatArray

    def narrow(self, rows: FloatArray) -> FloatArray:
        """Return the coordinates of rows along the directions."""
        return np.ascontiguousarray((rows - self.center) @ self.axes)

    def is_lossless(self, rows: FloatArray) -> bool:
        """Whether rows have no other directions, up to rounding."""
        away = rows - self.center
        whole = float(np.square(away).sum())
        return whole - float(np.square(away @ self.axes).sum()) <= LOST * whole

    def lift(self, points: FloatArray) -> FloatArray:
        """Return the points that have given coordinates."""
        return np.ascontiguousarray(points @ self.axes.T + self.center)


def reduce_columns(rows: FloatArray, d: int) -> Reduction | None:
    """Find the directions in which shuffled rows are more than noise; None where all may be.

    Directions along which rows do not differ at all, as of constant or repeated columns, are none:
    otherwise they would count as normals without noise.
    """
    columns = rows.shape[1]
    if not d + 2 <= columns <= MOST:
        return None
    some = rows[: max(ROWS, ROWS_PER_COLUMN * columns)]
    if len(some) < 2 * columns:
        return None
    spanned = _spanned_directions(some, d)
    if spanned is None:
        return _outstanding_directions(some, d)
    found = _outstanding_directions(spanned.narrow(some), d)
    if found is None:
        return spanned
    center = spanned.lift(found.center[None])[0]
    return Reduction(center, np.ascontiguousarray(spanned.axes @ found.axes))


def _spanned_directions(some: FloatArray, d: int) -> Reduction | None:
    """Return the directions along which rows differ; None where they do along all, or too few."""
    center = some.mean(axis=0)
    away = some - center
    variances, axes = np.linalg.eigh(away.T @ away / len(away))
    kept = int(np.sum(variances > ROUNDING * variances[-1]))
    if not d < kept < some.shape[1]:
        return None
    return Reduction(center, np.ascontiguousarray(axes[:, : -kept - 1 : -1]))


def _outstanding_directions(some: FloatArray, d: int) -> Reduction | None:
    """Return the directions that stand out of a flat spectrum; None where that is not flat."""
    columns = some.shape[1]
    if columns < max(FEWEST, d + 2):
        return None
    center = np.median(some, axis=0)
    away = some - center
    far = np.linalg.norm(away, axis=1)
    # Rows beyond the median distance count as if they were there: a heavy tail or an outlier has
    # no direction of its own (spherical principal components, Locantore et al., 1999).
    away *= np.minimum(1.0, np.median(far) / np.maximum(far, np.finfo(float).tiny))[:, None]
    variances, axes = np.linalg.eigh(away.T @ away / len(away))
    ratio = columns / len(away)
    # The median of the law of Marčenko and Pastur is near its mean less a third of the ratio.
    noise = float(np.median(variances)) / (1 - ratio / 3)
    if variances[0] < DECAY * noise * (1 - np.sqrt(ratio)) ** 2:
        return None
    kept = int(np.sum(variances > EXCESS * noise * (1 + np.sqrt(ratio)) ** 2))
    kept = max(kept, d + 1)
    if 2 * kept > columns:
        return None
    return Reduction(center, np.ascontiguousarray(axes[:, : -kept - 1 : -1]))
