"""How noisy, curved and dense rows are around a surface, and the patch size that follows."""

from dataclasses import dataclass, replace

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.denoising.patches import PatchFits, coefficients, project
from unbend.denoising.reduction import Reduction, reduce_columns
from unbend.denoising.sampling import shuffle_distinct
from unbend.neighbors import PointSpace
from unbend.neighbors.space import COMPARED
from unbend.outlyingness import FAR, score_rows

# Rows used at most: beyond, patches of one radius are drawn from a sample of the rows.
MOST_ROWS = 200_000
# Rows of a patch at most: larger patches are drawn from a sample of the rows, too.
PATCH_ROWS = 256
# Factor, at most, by which patches of landmarks are larger where distinct rows are as many times
# those used: otherwise landmarks would keep the same noise from there on.
MORE_PATCH_ROWS = 4
# Points whose patches are measured, and rounds of projection: the patches around noisy rows are
# wider than those around the surface.
SAMPLE, ROUNDS = 128, 2
# Rows that are compared with each other to find out how many are outliers.
COMPARED_ROWS = 5000
# Ratio of the sizes that are tried.
GROWTH = 1.5
# A patch shows the plane where noise has at most this share of the variance along its last tangent
# direction, and tilts it by at most this mean square. Where no size does, the one with the smallest
# share will do up to the second share, if it is this many times the first size: without a surface
# (normal, uniform and clustered rows of 2 to 30 columns) no size had a share below 1.08. Of shares
# up to the last ratio the first is taken.
PLAIN, TILT = 0.4, 0.03
PARTLY, FALL, FLAT = 1.0, 3.0, 1.2
# Exponent of the radius with which the variance about a fit grows at least where it is bending:
# noise grows with an exponent of 2 at most, where it is wider than the patch.
BENDING = 4
# Factor by which bending has to grow between two sizes that are compared: the smallest patches have
# few more rows than a fit has coefficients and underestimate noise, which is as if it grew.
WIDER = 8.0
# Share of noise that does harm, over (k/n)^(1/d).
HARMLESS = 0.2
# Share of a row in the fit around it, up to which one that is an outlier does no harm.
OWN_SHARE = 0.15
# Cost of the variance that patches gain by bending more than a quadratic does, and the share of
# patches with less variance than those that are compared; and errors, over the least, that are
# about equal to it.
MISFIT, HIGH, EQUAL = 0.1, 0.9, 1.5


@dataclass(frozen=True, eq=False)
class Sample:
    """Distinct rows in random order, of which any from the front are a sample.

    There are `distinct` of them, and `rows` holds those that are used; `space` holds these without
    the columns in which they are noise only, by `reduction`.
    """

    rows: PointSpace
    space: PointSpace
    distinct: int
    reduction: Reduction | None = None

    @classmethod
    def of(cls, space: PointSpace, d: int, seed: int = 0) -> "Sample":
        """Shuffle the distinct rows of a space, and keep as many as are used at most."""
        order = shuffle_distinct(space.points, seed)
        rows = replace(space, points=space.rows(order[:MOST_ROWS]))
        reduction = reduce_columns(rows.points, d)
        if reduction is None:
            return cls(rows, rows, len(order))
        reduced = replace(rows, points=reduction.narrow(rows.points))
        return cls(rows, reduced, len(order), reduction)

    def lift(self, points: FloatArray) -> FloatArray:
        """Return points of `space` in the columns of the rows."""
        return points if self.reduction is None else self.reduction.lift(points)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.space.n

    def outlier_share(self) -> float:
        """Share of rows that are far outside the others, by some of the rows."""
        some = self.rows.take(np.arange(min(self.n, COMPARED_ROWS)))
        near = some.nearest(min(COMPARED, some.n - 1))
        shape = (some.n, -1)
        scores = score_rows(
            near.indices.reshape(shape), near.distances.reshape(shape), some.spacing
        )
        return float(np.mean(scores > FAR))

    @property
    def patch_rows(self) -> int:
        """Rows of the patch of a landmark at most."""
        more = min(max(self.distinct / MOST_ROWS, 1.0), MORE_PATCH_ROWS)
        return round(more * PATCH_ROWS)

    def part(self, size: int, most: int = PATCH_ROWS) -> tuple[PointSpace, int]:
        """Part of the rows in which a patch of `size` rows has at most `most`, and how many."""
        if size <= most:
            return self.space, size
        return self.space.take(np.arange(self.n * most // size)), most


@dataclass(frozen=True, eq=False)
class NoiseMeasurement:
    """What patches of several sizes show of noise and curvature, and the size chosen.

    Attributes
    ----------
    d : int
        Dimension of the surface.
    sizes : array (s,)
        Numbers of rows of the patches that were tried.
    ratio : array (s,)
        Variance of the noise over that along the last tangent direction, in the median.
    tilt : array (s,)
        Mean square of the angle by which noise tilts the tangent plane of a patch.
    noise : array (s,)
        Standard deviation of the rows about the fit along one normal direction.
    leverage : array (s,)
        Variance of the fit in units of that of the noise.
    curvature : array (s,)
        Energy of the second-order part over what noise alone would give.
    radius : array (s,)
        Radius of the patches.
    shown : float
        `ratio` of the first size where no column is left out.
    first, choice : int or None
        The smallest size that shows the surface, and the size chosen, as indices of the sizes; None
        where no size does.
    """

    d: int
    sizes: IntArray
    ratio: FloatArray
    tilt: FloatArray
    noise: FloatArray
    leverage: FloatArray
    curvature: FloatArray
    radius: FloatArray
    shown: float
    first: int | None
    choice: int | None

    @property
    def patch_size(self) -> int | None:
        """Number of rows of a patch, where one shows the surface."""
        return None if self.choice is None else int(self.sizes[self.choice])

    @property
    def steady_size(self) -> int | None:
        """Size from the choice on at which an outlier has little share in the fit around it.

        Each round leaves as much of its distance as its leverage is.
        """
        if self.choice is None:
            return None
        little = np.flatnonzero(self.leverage[self.choice :] <= OWN_SHARE)
        return int(self.sizes[self.choice + little[0] if len(little) else -1])

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise of a column; not a number where it is not known.

        The least that the sizes up to the choice show: of those beyond some is bending.
        """
        if self.first is None or self.choice is None:
            return float("nan")
        return float(self.noise[self.first : self.choice + 1].min())

    def bearable_landmarks(self, n: int, k: int) -> float:
        """Return with how many landmarks of k neighbours what is left of the noise does no harm.

        Noise is `leverage` of what it was, and landmark neighbourhoods hold kn/m rows: the share of
        noise is then below (k/m)^(1/d), as in `hides`, up to some m.
        """
        at = self.choice
        if at is None:
            return np.inf
        share = float(self.leverage[at] * self.ratio[at])
        patches = n / float(self.sizes[at])
        return float(k * patches ** (2 / 3) * (HARMLESS / max(share, 1e-300)) ** (self.d / 3))

    def hides(self, n: int) -> float:
        """How far noise is above what n rows bear, whose neighbourhoods are all fitted: 1 and more.

        A tangent plane tilted by noise of a share ν costs a coordinate ν² of its slope, and bending
        costs a wave that would take its place (k/n)^(2/d) of its own, so that noise up to
        (k/n)^(1/d) does no harm (`graphs/noise.py` has the constants).
        """
        share = self.shown * self._noise_at_first()
        return float(share / (self.sizes[0] / n) ** (1 / self.d) / HARMLESS)

    def _noise_at_first(self) -> float:
        """Share of noise in the variance about the first fits, which is noise and bending.

        Two sizes have the variances v = a + bh⁴ and w = a + bg⁴: a is at most what the pair with
        the least of it says, of those with (g/h)⁴ large enough.
        """
        v, w = self.noise[0] ** 2, self.noise[1:] ** 2
        wider = (self.radius[1:] / max(self.radius[0], np.finfo(float).tiny)) ** BENDING
        if v <= 0 or not np.any(wider > 1):
            return 1.0
        some = wider >= min(WIDER, wider.max())
        return float(np.clip(((wider - w / v) / (wider - 1))[some].min(), 0.0, 1.0))


def measure_noise(sample: Sample, d: int) -> NoiseMeasurement:
    """Fit patches of growing sizes until they show the surface, and further while that helps."""
    size, rows = 2.0 * coefficients(d), []
    fits: list[PatchFits] = []
    sizes: list[int] = []
    while size <= sample.n / 3:
        fits.append(_fit_sample(sample, round(size), d))
        sizes.append(round(size))
        rows.append(_summarize(fits[-1], sample.space, round(size), d))
        if _choose(fits, np.array(rows))[2]:
            break
        size *= GROWTH
    table = np.array(rows).reshape(len(rows), 6)
    first, choice, _ = _choose(fits, table) if rows else (None, None, True)
    ratio, tilt, noise, leverage, curvature, radius = table.T
    return NoiseMeasurement(
        d=d,
        sizes=np.array(sizes, dtype=np.intp),
        ratio=ratio,
        tilt=tilt,
        noise=noise,
        leverage=leverage,
        curvature=curvature,
        radius=radius,
        shown=_shown_by_rows(sample, table, d),
        first=first,
        choice=choice,
    )


def _shown_by_rows(sample: Sample, table: FloatArray, d: int) -> float:
    """Share of noise in the first patches of the rows as they are, with all columns."""
    if not len(table) or sample.reduction is None:
        return float(table[0, 0]) if len(table) else np.inf
    size = 2 * coefficients(d)
    fits = project(sample.rows, sample.rows.points[-SAMPLE:], size, d, ROUNDS)
    return _summarize(fits, sample.rows, size, d)[0]


def _fit_sample(sample: Sample, size: int, d: int) -> PatchFits:
    space, count = sample.part(size)
    # Not the first rows, of which every part consists.
    points = sample.space.points[-SAMPLE:]
    return project(space, points, count, d, ROUNDS)


def _summarize(fits: PatchFits, space: PointSpace, size: int, d: int) -> tuple[float, ...]:
    columns = space.points.shape[1]
    count = min(size, PATCH_ROWS)
    # The largest eigenvalue of noise in many columns exceeds its variance (Marčenko and Pastur).
    largest = fits.noise * (1 + np.sqrt((columns - d) / count)) ** 2
    ratio = np.divide(
        largest, fits.tangent, out=np.full(len(largest), np.inf), where=fits.tangent > 0
    )
    tilt = ratio * (fits.noise / np.maximum(largest, np.finfo(float).tiny)) * (columns - d) / count
    values = (ratio, tilt, np.sqrt(fits.noise), fits.leverage, fits.curvature, fits.radius)
    return tuple(float(np.median(value)) for value in values)


def _choose(fits: list[PatchFits], table: FloatArray) -> tuple[int | None, int | None, bool]:
    """Find the first size that will do, the best one, and whether larger ones cannot be better.

    From the first size that shows the plane on, the error of a fit is its leverage and a share of
    what patches gain in variance over the size where they have least: that is bending beyond second
    order, or another sheet. The patches with the most variance but for a few count: one size is for
    all, and where a surface bends most it is too large first.
    """
    ratio, tilt = table[:, 0], table[:, 1]
    plain = np.flatnonzero((ratio <= PLAIN) & (tilt <= TILT))
    if not len(plain):
        # Shares are flat where curvature begins to count: the first of the smallest.
        enough = np.flatnonzero(ratio <= min(FLAT * ratio.min(), PARTLY))
        will_do = int(enough[0]) if len(enough) and GROWTH ** enough[0] >= FALL else None
        return will_do, will_do, False
    first = int(plain[0])
    high = np.array([np.quantile(fit.noise, HIGH) for fit in fits[first:]])
    least = high.min()
    gained = high / least if least > 0 else np.where(high > 0, np.inf, 1.0)
    leverage = np.array([np.median(fit.leverage) for fit in fits[first:]])
    errors = leverage + MISFIT * (gained - 1.0)
    # Of errors that are about equal those of the larger patches are more alike in neighbouring
    # places, and harm less.
    best = int(np.flatnonzero(errors <= EQUAL * errors.min())[-1])
    return first, first + best, len(errors) > best + 2
