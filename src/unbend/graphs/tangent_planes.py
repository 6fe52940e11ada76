"""Tangent planes of neighbourhoods, and the angles between them and edges."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.memory import check_fits
from unbend.neighbors import Neighbors, PointSpace, Space
from unbend.report import step
from unbend.validation.arrays import stored_type

# Neighbourhoods of a block, at most and by the square of their size, where a space computes the
# coordinates of each; and other edges of a plane that are placed with it.
AT_ONCE, SQUARES, OTHERS = 4096, 1 << 20, 16


@dataclass(frozen=True, eq=False)
class EdgesOfPlanes:
    """Edges from `start` to `end`, each to be compared with the plane of the row `owner`."""

    owner: IntArray
    start: IntArray
    end: IntArray


@dataclass(frozen=True, eq=False)
class PlaneAngles:
    """What the planes of some rows hold, and squared sines between them and edges.

    Attributes
    ----------
    shares : array (rows, d)
        Share of the variance of the neighbourhood in the leading 1, …, d directions.
    inner : array (n_edges,)
        Of the edges of these rows, with the planes of their own rows; zero for the others, and
        where there are too few neighbours for a plane.
    outer : array (m,)
        Of other edges, with the planes of their owners.
    """

    shares: FloatArray
    inner: FloatArray
    outer: FloatArray


NO_EDGES = EdgesOfPlanes(*np.zeros((3, 0), dtype=np.int32))


def compare_with_planes(
    space: Space,
    neighbors: Neighbors,
    used: BoolArray,
    d: int,
    rows: IntArray | None = None,
    edges: EdgesOfPlanes = NO_EDGES,
) -> PlaneAngles:
    """Compare edges with the d-dimensional planes of some rows, or of all.

    Only the `used` edges have a part in planes. The owners of other edges must be among the rows.
    """
    if rows is None:
        rows = np.arange(neighbors.n)
    check_fits(
        16 * len(neighbors.indices) + 8 * d * len(rows) + _workspace(space, neighbors, rows),
        "tangent planes that short circuits are searched by",
        "pass short_circuits='keep'",
    )
    order = np.argsort(edges.owner, kind="stable")
    start, end = edges.start[order], edges.end[order]
    ends = np.searchsorted(edges.owner[order], rows, side="right")
    offsets = np.concatenate(([0], ends))
    if isinstance(space, PointSpace) and space.is_euclidean:
        features = np.ascontiguousarray(space.features, dtype=stored_type(space.features))
        # The pages of edges that are not written cost nothing.
        inner = np.empty(len(neighbors.indices)) if len(rows) == neighbors.n else None
        found = _angles(
            features, neighbors, used, d, rows, offsets, start, end, space.workers, inner
        )
    else:
        found = _angles_by_blocks(space, neighbors, used, d, rows, offsets, start, end)
    outer = np.empty(len(order))
    outer[order] = found.outer
    return PlaneAngles(found.shares, found.inner, outer)


def _workspace(space: Space, neighbors: Neighbors, rows: IntArray) -> int:
    """Bytes in which the threads fit planes."""
    if not (isinstance(space, PointSpace) and space.is_euclidean):
        return 0
    size = 1 + int(neighbors.counts[rows].max(initial=0))
    small = min(size, space.features.shape[1])
    return int(16 * space.workers * small * (size + small))


def _angles(
    points: FloatArray,
    neighbors: Neighbors,
    used: BoolArray,
    d: int,
    rows: IntArray,
    offsets: IntArray,
    start: IntArray,
    end: IntArray,
    threads: int = 1,
    inner: FloatArray | None = None,
) -> PlaneAngles:
    """Compare edges with planes of rows of a table: with plane k those from offsets[k] on."""
    inner = np.zeros(len(neighbors.indices)) if inner is None else inner
    shares, outer = np.empty((len(rows), d)), np.empty(len(start))
    kernels.tangent_sines(
        points,
        neighbors.offsets.astype(np.int64, copy=False),
        neighbors.indices.astype(np.int32, copy=False),
        used,
        rows.astype(np.int32),
        offsets.astype(np.int64, copy=False),
        start.astype(np.int32, copy=False),
        end.astype(np.int32, copy=False),
        threads,
        step,
        shares,
        inner,
        outer,
    )
    return PlaneAngles(shares, inner, outer)


def _angles_by_blocks(
    space: Space,
    neighbors: Neighbors,
    used: BoolArray,
    d: int,
    rows: IntArray,
    offsets: IntArray,
    start: IntArray,
    end: IntArray,
) -> PlaneAngles:
    """Do the same with coordinates of each neighbourhood and the ends of its other edges."""
    shares, inner = np.empty((len(rows), d)), np.zeros(len(neighbors.indices))
    outer = np.empty(len(start))
    plane, first, number_of = _split_others(offsets)
    counts = neighbors.counts[rows[plane]]
    for some in _alike(counts, number_of):
        count, more, here = int(counts[some[0]]), int(number_of[some[0]]), plane[some]
        entries = neighbors.offsets[rows[here], None] + np.arange(count)
        others = first[some, None] + np.arange(more)
        members = (rows[here, None], neighbors.indices[entries], start[others], end[others])
        local = space.differences(np.concatenate(members, axis=1))
        size = 1 + count + 2 * more
        number = np.arange(len(some) * size).reshape(-1, size)
        # The rows come first in their blocks, and no other has neighbours.
        owned = np.where(np.arange(number.size) % size, 0, count)
        block = Neighbors(
            np.append(0, np.cumsum(owned)),
            number[:, 1 : count + 1].ravel(),
            np.zeros(entries.size),
        )
        found = _angles(
            np.ascontiguousarray(local.reshape(number.size, -1), dtype=np.float64),
            block,
            used[entries].ravel(),
            d,
            number[:, 0],
            np.arange(len(some) + 1) * more,
            number[:, count + 1 : count + 1 + more].ravel(),
            number[:, count + 1 + more :].ravel(),
        )
        shares[here], inner[entries] = found.shares, found.inner.reshape(entries.shape)
        outer[others] = found.outer.reshape(others.shape)
    return PlaneAngles(shares, inner, outer)


def _split_others(offsets: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Split the other edges of planes, `OTHERS` at most in a part: plane, first and number.

    A row that is a neighbour of many has many of them, and coordinates take their cube.
    """
    more = np.diff(offsets)
    parts = np.maximum(1, -(-more // OTHERS))
    plane = np.repeat(np.arange(len(more)), parts)
    part = np.arange(len(plane)) - np.repeat(np.cumsum(parts) - parts, parts)
    first = offsets[plane] + OTHERS * part
    return plane, first, np.minimum(offsets[plane + 1] - first, OTHERS)


def _alike(counts: IntArray, more: IntArray) -> Iterator[IntArray]:
    """Blocks of places with equal counts in both arrays."""
    order = np.lexsort((more, counts))
    same = np.diff(counts[order]) == 0
    ends = np.append(np.flatnonzero(~(same & (np.diff(more[order]) == 0))) + 1, len(order))
    start = 0
    for end in ends:
        while start < end:
            size = 1 + int(counts[order[start]]) + 2 * int(more[order[start]])
            stop = min(start + AT_ONCE, start + max(1, SQUARES // size**2), int(end))
            yield order[start:stop]
            start = stop
