"""Whether neighbourhoods overlap enough for their charts to be glued into one.

A method of aligned blocks looks for functions that are affine in every neighbourhood. In d
dimensions two affine functions that agree on d + 1 points in general position are equal, and on
fewer one may turn against the other: coordinates are determined only where neighbourhoods that
share d + 1 rows, one after another, lead to all others. Neighbourhoods that are glued already count
as one, since several of them may share the rows that none does alone.
"""

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import IntArray
from unbend.neighbors.neighbors import Neighbors


def rigid_pieces(neighbors: Neighbors, d: int) -> IntArray:
    """Number the pieces into which neighbourhoods of d-dimensional charts are glued.

    Parameters
    ----------
    neighbors : Neighbors
        Neighbours of each point; its neighbourhood contains the point itself.
    d : int
        Dimension of the charts.

    Returns
    -------
    array (n,)
        The piece of the neighbourhood of each point, largest first.

    Examples
    --------
    Two stretches of a line that share one point, at which a chart can turn:

    >>> from unbend.neighbors import PointSpace
    >>> line = np.array([[0.0], [1.0], [2.0], [30.0], [40.0], [50.0]])
    >>> rigid_pieces(PointSpace(line).nearest(2), 1)
    array([0, 0, 0, 1, 1, 1])
    >>> rigid_pieces(PointSpace(line).nearest(4), 1)
    array([0, 0, 0, 0, 0, 0])
    """
    offsets, members = neighbors.with_self()
    pieces = _glue(neighbors.n, offsets, members, d + 1)
    while pieces.any():
        offsets, members = _points_of(pieces, neighbors)
        merged = _glue(neighbors.n, offsets, members, d + 1)
        if len(merged) == merged.max() + 1:
            break
        pieces = merged[pieces]
    counts = np.bincount(pieces)
    rank = np.empty(len(counts), dtype=np.intp)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return rank[pieces]


def _glue(n: int, offsets: IntArray, members: IntArray, least: int) -> IntArray:
    pieces = np.empty(len(offsets) - 1, dtype=np.int32)
    kernels.glue_blocks(
        n, offsets.astype(np.int64, copy=False), members.astype(np.int32), least, pieces
    )
    return pieces


def _points_of(pieces: IntArray, neighbors: Neighbors) -> tuple[IntArray, IntArray]:
    """Offsets and members of the pieces: every point of their neighbourhoods once."""
    offsets, members = neighbors.with_self()
    of_members = np.repeat(pieces, np.diff(offsets)).astype(np.int64)
    pairs = np.unique(of_members * neighbors.n + members)
    counts = np.bincount(pairs // neighbors.n)
    return np.concatenate(([0], np.cumsum(counts))), pairs % neighbors.n


def describe_pieces(pieces: IntArray, d: int) -> str:
    """Say that neighbourhoods are glued into several pieces."""
    counts = np.bincount(pieces)
    return (
        f"neighbourhoods overlap in fewer than {d + 1} rows at some places, so they form "
        f"{len(counts)} rigid pieces (the largest is made of {counts[0]} of {len(pieces)}) that "
        "can turn against each other"
    )
