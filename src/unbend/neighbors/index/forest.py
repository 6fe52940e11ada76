"""Rows made ready for a descent, and the random trees that it begins with."""

import numpy as np

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.neighbors.index.brute_force import Cloud

# Columns that the kernel compares first; rows have a multiple of them.
HEAD = 32
# Principal axes that rows are written by, and rows that these are found from.
AXES, AXES_ROWS = 160, 2048
# Share of the variance that these must hold to be enough: ranking by them, of 15 neighbours of
# handwritten digits (0.95) the first 23 have 0.998.
ENOUGH = 0.9
# Rows this many times farther out than the median one have no say in where the axes lie.
FARTHEST = 64.0


def written(cloud: Cloud, rng: np.random.Generator, leaf: int) -> tuple[FloatArray, IntArray]:
    """Rows by principal axes and what these leave over, near rows together, and their order."""
    n, d = cloud.points.shape
    axes, share = _axes(cloud, rng)
    along = np.empty((n, axes.shape[1]), dtype=np.float32)
    for chunk in row_chunks(n, 12 * d):
        along[chunk] = _single(cloud, chunk) @ axes
    order = grown(along[:, :HEAD], leaf, rng)
    left = d if share < ENOUGH else 0
    rows = np.zeros((n, _multiple(axes.shape[1]) + _multiple(left)), dtype=np.float32)
    for chunk in row_chunks(n, 12 * d):
        some = order[chunk]
        rows[chunk, : axes.shape[1]] = along[some]
        if left:
            rows[chunk, -_multiple(left) :][:, :d] = _single(cloud, some) - along[some] @ axes.T
    return rows, order


def _multiple(columns: int) -> int:
    return -(-columns // HEAD) * HEAD


def _single(cloud: Cloud, rows: slice | IntArray) -> FloatArray:
    """Centred and scaled rows in single precision."""
    return np.asarray((cloud.points[rows] - cloud.center) * cloud.scale, dtype=np.float32)


def _axes(cloud: Cloud, rng: np.random.Generator) -> tuple[FloatArray, float]:
    """Orthonormal columns near the leading principal axes, and their share of the variance.

    By a random start and two products with the covariance of some rows.
    """
    n, d = cloud.points.shape
    sample = _single(cloud, np.sort(rng.choice(n, min(n, AXES_ROWS), replace=False)))
    # A few far rows would take all axes for themselves.
    lengths = np.linalg.norm(sample, axis=1)
    if lengths.any():
        sample = sample[lengths <= FARTHEST * np.median(lengths[lengths > 0])]
    # Columns of unit size at most: products of scaled rows would leave single precision.
    sample = sample / max(float(np.abs(sample).max()), 1e-30)
    found = rng.standard_normal((d, min(d, AXES))).astype(np.float32)
    for _ in range(2):
        found = np.linalg.qr(sample.T @ (sample @ found))[0]
    along = (sample @ found).astype(np.float64)
    values, turn = np.linalg.eigh(along.T @ along)
    total = float(np.square(sample, dtype=np.float64).sum())
    share = float(values.sum()) / total if total > 0 and len(found) > AXES else 1.0
    return np.asarray(np.linalg.qr(found @ turn[:, ::-1])[0], dtype=np.float32), share


def _parts(n: int, leaf: int) -> list[IntArray]:
    """Offsets of the parts at each level of a tree, halves of halves, down to the leaves."""
    depth = max(0, int(np.ceil(np.log2(n / leaf))))
    return [np.linspace(0, n, 2**level + 1).astype(np.int64) for level in range(depth + 1)]


def grown(head: FloatArray, leaf: int, rng: np.random.Generator) -> IntArray:
    """Order of the rows in which the leaves of a random tree lie one after the other.

    Every part is halved at its median along a random direction; all parts of a level share it.
    """
    levels = _parts(len(head), leaf)[:-1]
    along = head @ rng.standard_normal((head.shape[1], len(levels))).astype(np.float32)
    places = along / (2.5 * max(float(np.abs(along).max(initial=0.0)), 1e-30))
    order: IntArray = np.arange(len(head))
    for level, offsets in enumerate(levels):
        part = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        order = order[np.argsort(part + places[order, level], kind="stable")]
    return order


def leaves(order: IntArray, leaf: int) -> tuple[IntArray, IntArray]:
    """Members of each leaf, in rows of one width, and how many there are."""
    counts = np.diff(_parts(len(order), leaf)[-1]).astype(np.int32)
    members = np.zeros((len(counts), counts.max()), dtype=np.int32)
    members[np.arange(members.shape[1]) < counts[:, None]] = order
    return members, counts
