"""Neighbours of some rows, and the ranks that chosen rows have as seen from them."""

import time
from collections.abc import Iterator

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray
from unbend.neighbors import PointSpace
from unbend.neighbors.index.brute_force import Cloud
from unbend.neighbors.point_space import TREE_COLUMNS
from unbend.report import step

# Bytes of approximate squared distances held at once.
TILE_BYTES = 1 << 23
# Seconds of counting between two looks at the progress callback.
SECONDS = 0.2


def nearest_others(points: FloatArray, rows: IntArray, k: int, threads: int) -> IntArray:
    """Find the k nearest other points of each row, by (distance, index)."""
    space = PointSpace(points, workers=threads)
    if len(rows) == len(points):
        return np.asarray(space.nearest(k).indices).reshape(-1, k)
    return others_of(space.nearest_of(points[rows], k + 1)[0], rows)


def others_of(indices: IntArray, rows: IntArray) -> IntArray:
    """Leave each row out of its k + 1 nearest (m, k + 1)."""
    others = indices != rows[:, None]
    # Of many equal points the row itself may not be among the k + 1: then all k are others.
    others[others.all(axis=1), -1] = False
    return np.asarray(indices[others].reshape(len(rows), -1))


def ranks_of(points: FloatArray, rows: IntArray, targets: IntArray, threads: int) -> IntArray:
    """Rank (m, k) of each target among all points as seen from its row; the nearest is 1.

    Points are ordered by (distance, index), the row itself left out. Nothing is sorted: those that
    are nearer are counted.
    """
    cloud = Cloud.of(points)
    asked, wanted = rows.astype(np.int32), np.ascontiguousarray(targets, dtype=np.int32)
    ranks = np.empty(wanted.shape, dtype=np.int32)
    scaled = np.ascontiguousarray(points * cloud.scale)
    few = points.shape[1] <= TREE_COLUMNS
    products = None if few else _Products((points - cloud.center) * cloud.scale)
    most = len(rows) if products is None else max(1, TILE_BYTES // (4 * len(points)))
    for part in _paced(len(rows), most):
        count = part.stop - part.start
        about, slack = np.empty((count, 0), dtype=np.float32), np.zeros(count)
        if products is not None:
            about, slack = products.squares(rows[part])
        kernels.count_nearer(scaled, asked[part], about, slack, wanted[part], threads, ranks[part])
        step(part.stop, len(rows))
    return ranks


class _Products:
    """Squared distances by |a|² + |b|² − 2ab in single precision, and how far they may be wrong.

    Both squares are columns of the product: adding them would read the products twice again.
    """

    def __init__(self, centred: FloatArray) -> None:
        self.norms = np.einsum("ij,ij->i", centred, centred)
        one = np.ones(len(centred))
        self.seen = np.column_stack((centred, one, self.norms)).astype(np.float32)
        self.asked = np.column_stack((-2 * centred, self.norms, one)).astype(np.float32)
        # A sum of D + 2 products whose sizes add up to 2(|a|² + |b|²) at most, of rounded factors:
        # D + 6 of these, and room for the rounding of the distances themselves.
        self.share = (centred.shape[1] + 16) * float(np.finfo(np.float32).eps)

    def squares(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        about = self.asked[rows] @ self.seen.T
        return about, self.share * (self.norms[rows] + self.norms.max())


def _paced(total: int, most: int) -> Iterator[slice]:
    """Slices of 0..total that grow until each takes a fair time, up to `most` rows."""
    first, size = 0, min(256, most)
    while first < total:
        start = time.perf_counter()
        yield slice(first, min(first + size, total))
        first += size
        if time.perf_counter() - start < SECONDS / 2:
            size = min(2 * size, most)
