"""Choosing a few rows that stand for all."""

import numpy as np
from scipy.sparse import csr_array
from sklearn.cluster import MiniBatchKMeans

from unbend.arrays import FloatArray, IntArray
from unbend.graphs import Paths, geodesics
from unbend.neighbors import PointSpace, Space
from unbend.report import step

LANDMARKS = ("maxmin", "random", "kmeans")


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
        return _farthest_first(count, lengths, rng)
    landmarks = (
        np.sort(rng.choice(space.n, count, replace=False))
        if how == "random"
        else _nearest_to_centres(count, space, rng)
    )
    return landmarks, geodesics(lengths, landmarks, threads=threads)


def _farthest_first(
    count: int, lengths: csr_array, rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """Begin anywhere; each next landmark is the row farthest from those so far (Gonzalez, 1985)."""
    n = lengths.shape[0]
    landmarks = np.empty(count, dtype=np.intp)
    distances = np.empty((count, n))
    paths = Paths(lengths)
    nearest = np.full(n, np.inf)
    landmarks[0] = rng.integers(n)
    for number in range(count):
        paths.fill(distances[number : number + 1], landmarks[[number]])
        np.minimum(nearest, distances[number], out=nearest)
        if number + 1 < count:
            landmarks[number + 1] = int(np.argmax(nearest))
        step(number + 1, count)
    return landmarks, distances


def _nearest_to_centres(count: int, space: Space, rng: np.random.Generator) -> IntArray:
    if not isinstance(space, PointSpace):
        raise ValueError("landmarks='kmeans' needs points: use 'maxmin' or 'random' with distances")
    seed = int(rng.integers(2**31))
    means = MiniBatchKMeans(count, random_state=seed, n_init=1).fit(space.points)
    nearest, _ = space.nearest_of(means.cluster_centers_, 1)
    landmarks = np.unique(nearest)
    # Two centres may share their nearest row: fill up with rows at random.
    others = np.setdiff1d(np.arange(space.n), landmarks)
    extra = rng.choice(others, count - len(landmarks), replace=False)
    return np.sort(np.concatenate((landmarks, extra)))
