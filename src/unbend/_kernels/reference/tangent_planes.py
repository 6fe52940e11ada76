"""Tangent planes of neighbourhoods, and the angles between them and edges."""

import numpy as np

from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.progress import Poll

# Eigenvalues below this share of their sum are rounding.
NULL_SHARE = 1e-12


def tangent_sines(
    points: FloatArray,
    offset: IntArray,
    member: IntArray,
    used: BoolArray,
    rows: IntArray,
    other: IntArray,
    start: IntArray,
    end: IntArray,
    threads: int,
    poll: Poll,
    share: FloatArray,
    inner: FloatArray,
    outer: FloatArray,
) -> None:
    """Compare edges with the planes of some rows and of their neighbours that are used.

    Fills the share (m, d) of the variance in the leading 1, …, d directions, squared sines of the
    `inner` edges of these rows, zero where they are not used, and of `outer` ones: those from
    start to end that belong to plane k are other[k] to other[k + 1].
    """
    d = share.shape[1]
    for k, row in enumerate(rows):
        entries = np.arange(offset[row], offset[row + 1])
        inner[entries] = 0.0
        entries = entries[used[entries]]
        ends = points[member[entries]].astype(np.float64) - points[row].astype(np.float64)
        directions, share[k] = _plane(np.vstack((np.zeros(points.shape[1]), ends)), d)
        edges = slice(other[k], other[k + 1])
        outer[edges] = 0.0
        if len(entries) > d:
            inner[entries] = _squared_sines(ends, directions)
            others = points[end[edges]].astype(np.float64) - points[start[edges]]
            outer[edges] = _squared_sines(others, directions)
        if k % 256 == 0:
            poll(k, len(rows))


def _plane(block: FloatArray, d: int) -> tuple[FloatArray, FloatArray]:
    """Leading directions (at most d) of points, and the shares of the variance that they hold."""
    centered = block - block.mean(axis=0)
    _, singular, axes = np.linalg.svd(centered, full_matrices=False)
    values, total = np.square(singular[:d]), np.square(centered).sum()
    values = values[values > NULL_SHARE * total]
    if not total > 0:
        return axes[:0], np.ones(d)
    shares = np.minimum(np.cumsum(values) / total, 1.0)
    return axes[: len(values)], np.pad(shares, (0, d - len(values)), mode="edge")


def _squared_sines(vectors: FloatArray, directions: FloatArray) -> FloatArray:
    """Squared sines between vectors and the span of orthonormal directions."""
    total = np.square(vectors).sum(axis=1)
    part = np.square(vectors @ directions.T).sum(axis=1)
    part = np.divide(part, total, out=np.ones_like(total), where=total > 0)
    return np.asarray(np.clip(1 - part, 0.0, 1.0))
