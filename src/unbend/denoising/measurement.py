"""How noisy, curved and dense rows are around a surface, and the patch size that follows."""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import FloatArray, IntArray
from unbend.denoising.patches import PatchFits, coefficients, project
from unbend.denoising.reduction import Reduction, reduce_columns
from unbend.denoising.sampling import shuffle_distinct
from unbend.denoising.valleys import mean_valley
from unbend.graphs import components
from unbend.neighbors import PointSpace
from unbend.outlyingness import FAR

# Rows used at most: beyond, patches of one radius are drawn from a sample of the rows.
MOST_ROWS = 200_000
# Rows of a patch at most: larger patches are drawn from a sample of the rows, too. Those of the
# last projection of landmarks are larger, since these would keep the same noise from some number of
# rows on, and by this factor at most where distinct rows are as many times those used.
PATCH_ROWS, LAST_PATCH_ROWS, MORE_PATCH_ROWS = 256, 1024, 4
# Points whose patches are measured, and rounds of projection: the patches around noisy rows are
# wider than those around the surface.
SAMPLE, ROUNDS = 128, 2
# Rows that are compared with each other to find out how many are outliers, by so many neighbours,
# and whether they are clusters: then more than this share is not connected to the most by so many
# neighbours (`benchmarks/noise/clusters.py` measures surfaces, too).
COMPARED_ROWS, AROUND = 5000, 10
CONNECTING, APART = 15, 0.1
# Depth of the valleys of density in patches of up to so many rows from which on rows are clusters,
# too. Where the share of noise is above `PLAIN` patches may lie within one cluster, and patches
# this many times as large are looked at, up to a share of the rows.
VALLEY, VALLEY_ROWS = 2.7, 512
ACROSS, ACROSS_AT_MOST = 2.25, 0.7
# Ratio of the sizes that are tried.
GROWTH = 1.5
# A patch shows the plane where noise has at most this share of the variance along its last tangent
# direction, and tilts it by at most this mean square. Where no size does, the one with the smallest
# share will do up to the second share, if it is this many times the first size: without a surface
# (normal, uniform and clustered rows of 2 to 30 columns) no size had a share below 1.08. Of shares
# up to the last ratio the first is taken.
PLAIN, TILT = 0.4, 0.03
PARTLY, FALL, FLAT = 1.0, 3.0, 1.2
# Sizes tried at last, as shares of the rows, where no other shows the plane but the share of noise
# falls to the end, up to this factor over the least: noise is then nearly as wide as the surface.
# The second shows it up to a share of noise of `WHOLE` (without a surface 1.01 and more), and the
# first is taken.
WIDE, FALLING, WHOLE = (0.5, 0.7), 1.05, 0.9
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
# Area of the surface that a row stands for at most, over the median.
MOST_AREA = 20.0


@dataclass(frozen=True, eq=False)
class Sample:
    """Distinct rows in random order, of which any from the front are a sample.

    There are `distinct` of them, and `rows` holds those that are used, of which `order` gives the
    numbers in the data; `space` holds these without the columns in which they are noise only, by
    `reduction`.
    """

    rows: PointSpace
    space: PointSpace
    distinct: int
    order: IntArray
    reduction: Reduction | None = None

    @classmethod
    def of(cls, space: PointSpace, d: int, seed: int = 0) -> "Sample":
        """Shuffle the distinct rows of a space, and keep as many as are used at most."""
        order = shuffle_distinct(space.points, seed)
        used = order[:MOST_ROWS]
        rows = replace(space, points=space.rows(used))
        reduction = reduce_columns(rows.points, d)
        if reduction is None:
            return cls(rows, rows, len(order), used)
        reduced = replace(rows, points=reduction.narrow(rows.points))
        return cls(rows, reduced, len(order), used, reduction)

    def lift(self, points: FloatArray) -> FloatArray:
        """Return points of `space` in the columns of the rows."""
        return points if self.reduction is None else self.reduction.lift(points)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.space.n

    def outlier_share(self) -> float:
        """Share of rows that are far outside the others, by some of the rows.

        Spacings are compared with the median of those around, which another outlier among them
        does not change.
        """
        some = self.rows.take(np.arange(min(self.n, COMPARED_ROWS)))
        near = some.nearest(min(AROUND, some.n - 1)).indices.reshape(some.n, -1)
        around = np.median(some.spacing[near], axis=1)
        return float(np.mean(some.spacing > FAR * around))

    def share_apart(self) -> float:
        """Share of some rows that few neighbours do not connect to the most of them."""
        some = self.space.take(np.arange(min(self.n, COMPARED_ROWS)))
        k = min(CONNECTING, some.n - 1)
        near = some.nearest(k).indices
        offsets = np.arange(0, len(near) + 1, k)
        edges = csr_array((np.ones(len(near)), near, offsets), shape=(some.n, some.n))
        return float(np.mean(components(edges) > 0))

    @property
    def last_patch_rows(self) -> int:
        """Rows, at most, of the patch by which a landmark is projected last."""
        more = min(max(self.distinct / MOST_ROWS, 1.0), MORE_PATCH_ROWS)
        return round(more * LAST_PATCH_ROWS)

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
    clustered : bool
        Whether there is no surface because the rows are clusters.
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
    clustered: bool = False

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
    tried = _Tried(sample, d)
    size = 2.0 * coefficients(d)
    while size <= sample.n / 3:
        tried.add(round(size))
        if tried.choose()[2]:
            break
        size *= GROWTH
    first, choice, _ = tried.choose() if tried.sizes else (None, None, True)
    if choice is None and tried.sizes:
        first = choice = tried.try_wide()
    clustered = choice is not None and (
        sample.share_apart() > APART or tried.valley(choice) > VALLEY
    )
    table = tried.table
    ratio, tilt, noise, leverage, curvature, radius = table.T
    return NoiseMeasurement(
        d=d,
        sizes=np.array(tried.sizes, dtype=np.intp),
        ratio=ratio,
        tilt=tilt,
        noise=noise,
        leverage=leverage,
        curvature=curvature,
        radius=radius,
        shown=_shown_by_rows(sample, table, d),
        first=None if clustered else first,
        choice=None if clustered else choice,
        clustered=clustered,
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


@dataclass(frozen=True, eq=False)
class _Tried:
    """Fits of patches of several sizes, and their medians."""

    sample: Sample
    d: int
    sizes: list[int] = field(default_factory=list)
    fits: list[PatchFits] = field(default_factory=list)
    medians: list[tuple[float, ...]] = field(default_factory=list)

    @property
    def table(self) -> FloatArray:
        """Medians (s, 6) of what the fits of a size show."""
        return np.array(self.medians).reshape(len(self.sizes), 6)

    def add(self, size: int) -> None:
        """Fit the patches of a size."""
        self.sizes.append(size)
        self.fits.append(_fit_sample(self.sample, size, self.d))
        self.medians.append(_summarize(self.fits[-1], self.sample.space, size, self.d))

    def try_wide(self) -> int | None:
        """Fit patches of most of the rows, and return the index of a size that will do."""
        ratio = self.table[:, 0]
        sizes = [int(share * self.sample.n) for share in WIDE]
        if ratio[-1] > FALLING * ratio.min() or sizes[0] <= self.sizes[-1]:
            return None
        whole = _summarize(
            _fit_sample(self.sample, sizes[1], self.d), self.sample.space, sizes[1], self.d
        )
        if whole[0] > WHOLE:
            return None
        self.add(sizes[0])
        return len(self.sizes) - 1

    def valley(self, choice: int) -> float:
        """How deep valleys of density are in the patches of a size, or in larger ones."""
        size = self.sizes[choice]
        if self.medians[choice][0] > PLAIN:
            size = max(size, min(int(ACROSS * size), int(ACROSS_AT_MOST * self.sample.n)))
        space, count = self.sample.part(size, VALLEY_ROWS)
        return mean_valley(space, self.fits[choice].points, count, self.d)

    def choose(self) -> tuple[int | None, int | None, bool]:
        """Find the first size that will do, the best one, and whether larger cannot be better.

        From the first size that shows the plane on, the error of a fit is its leverage and a share
        of what patches gain in variance over the size where they have least: that is bending beyond
        second order, or another sheet. The patches with the most variance but for a few count: one
        size is for all, and where a surface bends most it is too large first. Patches count by the
        area of the surface that they stand for: in sparse places the same number of rows reaches
        farther, and few of the rows are there.
        """
        table = self.table
        ratio, tilt = table[:, 0], table[:, 1]
        plain = np.flatnonzero((ratio <= PLAIN) & (tilt <= TILT))
        if not len(plain):
            # Shares are flat where curvature begins to count: the first of the smallest.
            enough = np.flatnonzero(ratio <= min(FLAT * ratio.min(), PARTLY))
            will_do = int(enough[0]) if len(enough) and GROWTH ** enough[0] >= FALL else None
            return will_do, will_do, False
        first = int(plain[0])
        areas = self.fits[first].radius ** self.d
        areas = np.minimum(areas, MOST_AREA * np.median(areas))
        high = np.array([_quantile(fit.noise, areas, HIGH) for fit in self.fits[first:]])
        least = high.min()
        gained = high / least if least > 0 else np.where(high > 0, np.inf, 1.0)
        leverage = np.array([np.median(fit.leverage) for fit in self.fits[first:]])
        errors = leverage + MISFIT * (gained - 1.0)
        # Of errors that are about equal those of the larger patches are more alike in neighbouring
        # places, and harm less.
        best = int(np.flatnonzero(errors <= EQUAL * errors.min())[-1])
        return first, first + best, len(errors) > best + 2


def _quantile(values: FloatArray, weights: FloatArray, share: float) -> float:
    """Return the least value that with those below it has a share of the weight."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    place = int(np.searchsorted(total, share * total[-1]))
    return float(values[order[min(place, len(order) - 1)]])
