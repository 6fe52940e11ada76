"""Landmarks on the estimated surface: sampled at random, trimmed, projected, thinned."""

from dataclasses import dataclass, replace

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.denoising.measurement import Sample
from unbend.denoising.patches import ROUNDS, fit_patches, project
from unbend.neighbors import PointSpace

# Share of the sampled rows that is kept, where there are rows enough, and at most; and the power
# of it that is kept first, the densest relative to those around them, which outliers are not. The
# rest of it are those about whose projections rows spread least, which they do widely about a
# point that stayed between two sheets.
KEPT, KEPT_AT_MOST, DENSEST = 0.63, 0.94, 0.77
# Of up to so many sampled rows what is within these factors of those around is kept: the radius of
# a patch, and the variance about its fit. Edges and sparse ends are lost otherwise; those around
# one of more rows are near, and the points between two sheets under wide noise are many
# (`benchmarks/noise/rules.py`).
FEW_ROWS, LIKE_RADIUS, LIKE_NOISE = 2000, 1.1, 1.5
# Rows around one that it is compared with.
COMPARED = 10
# Candidates for each landmark, where there are rows enough: those farthest apart are taken. Of many
# landmarks there are fewer, as projections are most of the time: in all so many at most, if these
# are more than the landmarks.
CANDIDATES, MOST_CANDIDATES = 2, 3250


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Points of the estimated surface, and how many rows each stands for.

    Attributes
    ----------
    points : array (m, D)
        Landmarks in the order in which they were chosen: any from the front are a sample.
    masses : array (m,)
        Rows of the sample whose nearest landmark each is, relative to their mean.
    displacement : float
        Median distance from the rows to their projections.
    patch_size : int
        Rows of the patches by which they were projected.
    rows : array (m,)
        Rows of the data of which landmarks are the projections.
    neighbors : int
        Neighbours that a landmark has at least, however many the user asked for.
    """

    points: FloatArray
    masses: FloatArray
    displacement: float
    patch_size: int
    rows: IntArray
    neighbors: int = 1

    def first(self, count: int, neighbors: int) -> "Landmarks":
        """Return the first landmarks, with their own masses: no method of charts needs others."""
        return replace(
            self,
            points=self.points[:count],
            masses=self.masses[:count],
            rows=self.rows[:count],
            neighbors=neighbors,
        )


def project_landmarks(
    sample: Sample, size: int, count: int, d: int, spread: bool = True
) -> Landmarks:
    """Sample rows, leave out the sparse ones, project the others by patches of a size.

    Where landmarks shall be `spread` more are projected than wanted, and those farthest apart are
    taken: only now, since those among the rows would be the outliers. Otherwise they are as dense
    as the rows.
    """
    space, patch = sample.part(size)
    candidates = max(min(CANDIDATES * count, MOST_CANDIDATES), count) if spread else count
    drawn = sample.space.points[: min(sample.n, round(candidates / KEPT))]
    kept = min(max(count / len(drawn), KEPT), KEPT_AT_MOST)
    like_radius, like_noise = (LIKE_RADIUS, LIKE_NOISE) if len(drawn) <= FEW_ROWS else (0.0, 0.0)
    first = fit_patches(space, drawn, patch, d)
    dense = _smallest(first.radius / _around(drawn, first.radius), kept, DENSEST, like_radius)
    # Where patches are samples, a last projection is by larger ones.
    sampled = patch < size
    fits = project(space, first.points[dense], patch, d, ROUNDS - 2 if sampled else ROUNDS - 1)
    # Against those around, since noise may differ between places, but not against them alone:
    # points between two sheets are neighbours of each other.
    usual = np.sqrt(_around(fits.points, fits.noise) * np.median(fits.noise))
    spread_out = fits.noise / np.maximum(usual, np.finfo(float).tiny)
    clear = _smallest(spread_out, kept, 1 - DENSEST, like_noise)
    clear = clear[_farthest_first(fits.points[clear], count)] if spread else clear[:count]
    points, rows = fits.points[clear], dense[clear]
    if sampled:
        space, patch = sample.part(size, sample.last_patch_rows)
        points = fit_patches(space, points, patch, d).points
    lifted = sample.lift(points)
    displacement = np.linalg.norm(lifted - sample.rows.points[rows], axis=1)
    masses = _masses(points, sample.space)
    return Landmarks(lifted, masses, float(np.median(displacement)), size, sample.order[rows])


def _around(points: FloatArray, values: FloatArray) -> FloatArray:
    """Median of the values of the points around each point."""
    near = PointSpace(points).nearest(min(COMPARED, len(points) - 1))
    around = np.median(values[near.indices.reshape(len(points), -1)], axis=1)
    return np.maximum(around, np.finfo(float).tiny)


def _smallest(values: FloatArray, kept: float, power: float, like: float) -> IntArray:
    """Return the indices of values up to `like`, in order, and of no less than a share of all.

    The share is a power of that which is `kept` by all tests, and no more than one of that which is
    kept at most.
    """
    least, most = (int(np.ceil(share**power * len(values))) for share in (kept, KEPT_AT_MOST))
    number = min(max(int(np.sum(values <= like)), least), most)
    order: IntArray = np.argsort(values, kind="stable")[:number]
    return np.sort(order)


def _farthest_first(points: FloatArray, count: int) -> IntArray:
    """Choose points, each farthest from those before (Gonzalez, 1985).

    Landmarks at random leave gaps that neighbourhoods hardly reach across: a curve is then torn
    at the widest, and sparse ends have few.
    """
    chosen = np.zeros(min(count, len(points)), dtype=np.intp)
    centered = points - points.mean(axis=0)
    squares = np.einsum("na,na->n", centered, centered)
    away = np.full(len(points), np.inf)
    for number in range(len(chosen)):
        last = centered[chosen[number]]
        np.minimum(away, squares - 2.0 * (centered @ last) + last @ last, out=away)
        away[chosen[number]] = -np.inf
        if number + 1 < len(chosen):
            chosen[number + 1] = away.argmax()
    return chosen


def _masses(points: FloatArray, space: PointSpace) -> FloatArray:
    nearest, _ = PointSpace(points, workers=space.workers).nearest_of(space.points, 1)
    # A landmark that no row is nearest to stands for less than one that some row is nearest to.
    counts = np.bincount(nearest[:, 0], minlength=len(points)) + 0.5
    return np.asarray(counts / counts.mean())
