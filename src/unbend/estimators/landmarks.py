"""Landmarks: their number and selection."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.cluster import MiniBatchKMeans

from unbend.arrays import FloatArray, IntArray
from unbend.graphs import Paths, geodesics
from unbend.neighbors import PointSpace, Space
from unbend.neighbors.metrics.norms import TorusNorm
from unbend.report import step
from unbend.validation.parameters import Choice, param
from unbend.validation.threads import in_new_thread

LANDMARKS = ("maxmin", "random", "kmeans")
# Rows for each landmark among which those farthest apart are sought.
SAMPLE = 100
# Landmarks whose geodesics tell which rows are far from a new one: the first lie farthest apart.
SPREAD = 4


def landmarks_param(more: str = "") -> Any:
    """Declare `landmarks`, with more about 'maxmin'."""
    return param(
        "maxmin",
        Choice(*LANDMARKS),
        help=f"How they are chosen: at random; each farthest from those before ('maxmin'{more}); "
        "or the rows nearest to the centers of k-means.",
    )


def landmark_count(asked: Any, default: int, n: int, least: int, d: int) -> int:
    """Return the number of landmarks asked for, or the default; refuse fewer than `least`."""
    count = min(default if asked == "auto" else asked, n)
    if count < least:
        raise ValueError(
            f"{count} landmarks are too few for n_components={d}: use at least {least}"
        )
    return int(count)


def choose_landmarks(
    how: str,
    count: int,
    space: Space,
    lengths: csr_array,
    rng: np.random.Generator,
    threads: int,
) -> tuple[IntArray, FloatArray]:
    """Landmarks, and the geodesic distances from each to all rows (m, n)."""
    if how == "maxmin":
        return farthest_first(count, lengths, int(rng.integers(lengths.shape[0])), threads)
    landmarks = (
        np.sort(rng.choice(space.n, count, replace=False))
        if how == "random"
        else _nearest_to_centers(count, space, rng)
    )
    return landmarks, geodesics(lengths, landmarks, threads=threads)


def landmarks_of_space(how: str, count: int, space: Space, rng: np.random.Generator) -> IntArray:
    """Landmarks by the distances of the space itself, sorted."""
    if how == "kmeans":
        return _nearest_to_centers(count, space, rng)
    # Farthest of all would be the outliers, and would take a pass over the rows for each.
    drawn = count if how == "random" else min(space.n, SAMPLE * count)
    sample = np.sort(rng.choice(space.n, drawn, replace=False))
    return sample if how == "random" else np.sort(sample[_farthest(count, space.take(sample), rng)])


def _farthest(count: int, space: Space, rng: np.random.Generator) -> IntArray:
    """Rows of a space, each farthest from those before; duplicates only if no others are left."""
    chosen = np.empty(count, dtype=np.intp)
    nearest = np.full(space.n, np.inf)
    chosen[0] = rng.integers(space.n)
    for number in range(count):
        distances = space.distances_of(space.rows(chosen[[number]]))[0]
        np.minimum(nearest, distances, out=nearest)
        nearest[chosen[number]] = -1.0
        if number + 1 < count:
            chosen[number + 1] = int(np.argmax(nearest))
        step(number + 1, count)
    return chosen


def farthest_first(
    count: int, lengths: csr_array, first: int, threads: int
) -> tuple[IntArray, FloatArray]:
    """Landmarks, each the row farthest from those before (Gonzalez, 1985), and their geodesics.

    Other threads meanwhile compute the geodesics of rows that are likely to be next: landmarks and
    distances are the same for any number of them.
    """
    n = lengths.shape[0]
    landmarks = np.empty(count, dtype=np.intp)
    distances = np.empty((count, n))
    paths = Paths(lengths)
    nearest = np.full(n, np.inf)
    landmarks[0] = first
    ready: dict[int, FloatArray] = {}
    for number in range(count):
        row = int(landmarks[number])
        if row not in ready:
            more = min(threads, count - number) - 1
            start = [row, *_likely_next(row, nearest, distances[: min(number, SPREAD)], more)]
            found = np.empty((len(start), n))
            paths.fill(found, np.array(start), threads)
            # Those that did not follow at once may still do so; the oldest hardly.
            kept = [*ready.items(), *zip(start, found, strict=True)]
            ready = dict(kept[-2 * threads :])
        distances[number] = ready.pop(row)
        np.minimum(nearest, distances[number], out=nearest)
        if number + 1 < count:
            landmarks[number + 1] = int(np.argmax(nearest))
        step(number + 1, count)
    return landmarks, distances


def _likely_next(row: int, nearest: FloatArray, known: FloatArray, count: int) -> list[int]:
    """Rows that are farthest from all landmarks if `row` becomes one too, as far as it is known.

    Geodesics of a few rows bound those of `row` from below (triangle inequality).
    """
    likely: list[int] = []
    left = nearest.copy()
    for _ in range(count if len(known) else 0):
        left[np.abs(known - known[:, [row]]).max(axis=0) < left] = 0.0
        row = int(np.argmax(left))
        if left[row] == 0:
            break
        likely.append(row)
    return likely


def _nearest_to_centers(count: int, space: Space, rng: np.random.Generator) -> IntArray:
    if not isinstance(space, PointSpace):
        raise ValueError("landmarks='kmeans' needs points: use 'maxmin' or 'random' with distances")
    seed = int(rng.integers(2**31))
    # As the metric sees them: rows that it takes for near must share a center.
    seen = np.asarray(space.features, dtype=np.float64)
    if isinstance(space.metric.norm, TorusNorm):
        # Angles have no mean, but points of circles do.
        seen = np.concatenate((np.cos(seen), np.sin(seen)), axis=1)
    features = PointSpace(seen, workers=space.workers)
    means = MiniBatchKMeans(count, random_state=seed, n_init=1)
    in_new_thread(lambda: means.fit(features.points))
    nearest, _ = features.nearest_of(means.cluster_centers_, 1)
    landmarks = np.unique(nearest)
    # Two centers may share their nearest row: fill up with rows at random.
    others = np.setdiff1d(np.arange(space.n), landmarks)
    extra = rng.choice(others, count - len(landmarks), replace=False)
    return np.sort(np.concatenate((landmarks, extra)))
