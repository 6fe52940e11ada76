"""The dimension that neighbourhoods show: after how many variances their spectra fall.

The variances of a neighbourhood that fills d + 1 dimensions are equal but for sampling: of few
points λ_{d+1}/λ_d is well below one. Divided by its median for points in a ball, the ratio is one
along the data at every size, and below one after the last direction along a surface: noise then
makes it fall with more neighbours, and curvature or other sheets make it rise. Small
neighbourhoods, which few sheets reach, can so be compared with the same bound as large ones.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.graphs.noise import FLAT, principal_variances
from unbend.neighborhood_sizes import sample_by_content
from unbend.neighbors import AffinitySpace, GraphSpace, Space

# Sizes: from the first on, each so many times the one before, up to this share of the rows, beyond
# which curvature makes gaps; by so many neighbourhoods, with neighbours for each corner of a
# simplex.
SMALLEST, GROWTH, LARGEST, SPREAD_OUT, EACH_CORNER = 8, 1.5, 0.2, 192, 2
# A surface ends where the ratio is at most this share of that in a ball: of the sizes up to the
# first number and share of the rows the first direction where any does. If at the smallest size
# with a gap that is a later direction, the first may be one between walls, from the last number on.
GAP, SMALL, SMALL_SHARE, WALLED = 0.65, 45, 0.06, 2
# Larger sizes are asked where none does. In them long and narrow surfaces have ratios below one,
# too: the direction with the least ratio decides, if it is at most this, and the next larger by
# this much. In boxes of as many dimensions as columns walls make it 0.71. Of 256 surfaces of up
# to 2000 rows (the calibration half of benchmarks/noise, `folded`, and `fresh` from number 1000 on)
# 234 were right, one wrong and 21 open; with GAP from 0.55 to 0.7 or WIDE_GAP from 0.62 to 0.7 231
# to 238 were right and one to three wrong.
WIDE_GAP, MARGIN = 0.66, 0.08
# Where the ratio before is at most this in the mean of the first sizes, and no smaller in larger
# ones, it is as if a surface of one dimension less were bent: both are possible, from this number
# of dimensions on, of which neighbourhoods are wide.
FAINT, LEVEL, FIRST_SIZES, LATER_SIZES, FOLDING = 0.86, 0.01, (11, 30), (30, 95), 3
# Dimensions that are looked for: far down a spectrum columns that hardly vary make gaps, too.
MOST_DIMENSIONS = 10
# Balls whose spectra are compared with.
BALLS = 1000


@dataclass(frozen=True)
class ShownDimension:
    """The dimension that neighbourhoods of some size show, and the largest that they may have.

    Where rows fill the `high` directions in which they are more than noise, no neighbourhood tells
    both from each other. Where larger neighbourhoods are narrow in the last direction, they reach
    both walls of a narrow surface, or all sheets of one of a smaller dimension.
    """

    dimension: int
    n_neighbors: int
    high: int
    fills: bool = False
    narrow: bool = False


def shown_dimension(space: Space) -> ShownDimension | None:
    """Dimension after which the spectra of neighbourhoods fall.

    None where no size up to a fifth of the rows has a gap.
    """
    if isinstance(space, GraphSpace | AffinitySpace):
        return None
    most = max(int(LARGEST * space.n), min(SMALL, space.n // 4))
    sizes = _sizes(most)
    if not len(sizes):
        return None
    falls = _falls(space, sizes)
    found = _first_gap(sizes, falls, space.n)
    if found is None:
        return None
    at, first, d = found
    lower = d - 1 if d >= FOLDING and _bends(sizes, falls[:, d - 2]) else d
    return ShownDimension(min(first, lower), int(sizes[at]), d, narrow=first < d)


def _sizes(most: int) -> IntArray:
    count = max(0, int(np.log(max(most, 1) / SMALLEST) / np.log(GROWTH)) + 1)
    return np.round(SMALLEST * GROWTH ** np.arange(count)).astype(np.intp)


def _falls(space: Space, sizes: IntArray) -> FloatArray:
    """Median λ_{d+1}/λ_d over that in a ball, for each size and d; infinite where unknown."""
    rows = sample_by_content(space)[:SPREAD_OUT]
    nearest, _ = space.nearest_of(space.rows(rows), int(sizes[-1]) + 1)
    falls = np.full((len(sizes), MOST_DIMENSIONS), np.inf)
    for place, k in enumerate(sizes):
        variances = np.concatenate(
            [
                principal_variances(space.coordinates(nearest[chunk, : k + 1]))
                for chunk in row_chunks(len(rows), 32 * (int(k) + 1) ** 2)
            ]
        )
        corners = int(k) // EACH_CORNER
        count = min(corners - 1, variances.shape[1] - 1, MOST_DIMENSIONS)
        along, across = variances[:, :count], variances[:, 1 : count + 1]
        known = along > FLAT * variances[:, :1]
        ratios = np.divide(across, along, out=np.ones_like(along), where=known)
        usual = [fall_in_ball(d, int(k)) for d in range(1, count + 1)]
        falls[place, :count] = np.median(ratios, axis=0) / usual
    return falls


def _first_gap(sizes: IntArray, falls: FloatArray, n: int) -> tuple[int, int, int] | None:
    """Find the place of the size that decides, and the least and the likely dimension."""
    few = sizes <= max(min(SMALL, SMALL_SHARE * n), sizes[0])
    small = falls[few]
    with_gap = np.flatnonzero((small <= GAP).any(axis=1))
    if len(with_gap):
        first = int(np.argmax((small <= GAP).any(axis=0))) + 1
        # Larger sizes than the smallest reach walls.
        d = int(np.argmax(small[with_gap[0]] <= GAP)) + 1 if first >= WALLED else first
        return int(small[:, d - 1].argmin()), first, d
    for place in np.flatnonzero(~few):
        least, next_to = np.argsort(falls[place])[:2]
        clear = falls[place, next_to] >= falls[place, least] + MARGIN
        if clear and falls[place, least] <= WIDE_GAP:
            return int(place), int(least) + 1, int(least) + 1
    return None


def _bends(sizes: IntArray, ratios: FloatArray) -> bool:
    """Whether a ratio that is no gap is below one at first and does not fall further."""
    first, later = (
        ratios[(sizes > low) & (sizes <= high) & np.isfinite(ratios)]
        for low, high in (FIRST_SIZES, LATER_SIZES)
    )
    if not len(first) or not len(later):
        return False
    return bool(first.mean() <= FAINT and later.mean() >= first.mean() - LEVEL)


@cache
def fall_in_ball(d: int, k: int) -> float:
    """Median λ_{d+1}/λ_d of k points in a ball of d + 1 dimensions and its center.

    Examples
    --------
    >>> round(fall_in_ball(2, 12), 2), round(fall_in_ball(2, 1000), 2)
    (0.54, 0.95)
    """
    # Beyond, sampling matters little, and the ratio is known from its limit.
    drawn = min(k, 60)
    rng = np.random.default_rng((d, drawn))
    points = rng.normal(size=(BALLS, drawn + 1, d + 1))
    radii = rng.uniform(size=(BALLS, drawn + 1, 1)) ** (1 / (d + 1))
    points *= radii / np.linalg.norm(points, axis=2, keepdims=True)
    points[:, 0] = 0.0
    points -= points.mean(axis=1, keepdims=True)
    variances = np.linalg.eigvalsh(points.transpose(0, 2, 1) @ points)[:, ::-1]
    fall = float(np.median(variances[:, d] / variances[:, d - 1]))
    return 1 - (1 - fall) * float(np.sqrt(drawn / k))
