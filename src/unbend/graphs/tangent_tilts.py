"""Edges that leave the tangent planes of their ends, or are longer than all around them."""

import numpy as np

from unbend.arrays import BoolArray, FloatArray, IntArray, row_chunks
from unbend.graphs.edge_pairs import (
    EdgePairs,
    members_of,
    row_quantiles,
    rows_of,
    undirected_pairs,
)
from unbend.graphs.noise import principal_variances, sample_rows
from unbend.graphs.tangent_planes import EdgesOfPlanes, PlaneAngles, compare_with_planes
from unbend.neighbors import Neighbors, Space

# Squared sine between an edge and a tangent plane, above which the edge leaves the plane.
TILTED = 0.5
# An edge that leaves both planes, in the mean, is suspicious from this multiple of the median edge
# at either end on: a gap between sheets is wider than their spacing, a tight bend is not.
SHORT = 1.0
# Edges longer than the first multiple of the third quartile at both ends are suspicious anyway,
# and from the second on at one end if they leave a plane: a short circuit turns the planes of its
# own ends towards itself, and an edge over a right-angled crease is not longer than others. An edge
# longer than the first at its own end has no part in the plane there.
LONG, ONE_SIDED = 1.5, 1.25
# A neighbourhood is rough where its variance outside the plane is more than this multiple of the
# median plus this share; its plane is then that of a neighbour.
ROUGH, ROUGH_SHARE = 3.0, 0.01
# Share of the variance of most neighbourhoods that planes must hold; where they hold less than the
# second in the wanted dimension, that dimension is too small for planes.
FLAT, PLANAR = 0.95, 0.75
# Squared sine between an edge and the plane of one end, from which on the other end is looked at;
# where more edges than this share have it, planes do not describe the neighbourhoods.
TURNED, DISORDER = 0.25, 0.15
# Multiple of that share in a sample of neighbourhoods from which on the others are not looked at: a
# sample of 256 differs by less than half of it.
CLEARLY = 1.5
# Neighbourhoods that the dimension of the planes is read from, and that are looked at first where
# there are so many times as many.
SAMPLE, SAMPLED_FROM = 256, 4
# Neighbourhoods that show whether data have tangent planes at all, before others are looked at.
FEW = 32
# Neighbours, and share of the rows, above both of which neighbourhoods are not local. Planes of
# them would take much longer than the fit: 800 rows of 800 columns with all others as neighbours
# took 67 s for one of 0.4 s.
LOCAL, LOCAL_SHARE = 64, 0.1


class Undetermined(Exception):
    """Tangent planes, or the edges that follow them, do not describe the data."""


def is_local(neighbors: Neighbors) -> bool:
    """Whether most neighbourhoods are no large part of the rows."""
    return bool(np.median(neighbors.counts) <= max(LOCAL, LOCAL_SHARE * neighbors.n))


def planes_fit(space: Space, neighbors: Neighbors, d: int) -> bool:
    """Whether some neighbourhoods have d-dimensional tangent planes that edges follow."""
    if not is_local(neighbors):
        return False
    everything = np.ones(len(neighbors.indices), dtype=bool)
    rows = sample_rows(neighbors.n, FEW)
    found = compare_with_planes(space, neighbors, everything, d, rows)
    if np.median(found.shares[:, -1]) < PLANAR:
        return False
    some = np.zeros(neighbors.n, dtype=bool)
    some[rows] = True
    sines = found.inner[np.repeat(some, neighbors.counts)]
    return bool(np.count_nonzero(sines > TURNED) <= CLEARLY * DISORDER * len(sines))


def plane_dimension(space: Space, neighbors: Neighbors, most: int | None) -> int:
    """Dimension of the planes that hold most of the variance of most neighbourhoods.

    At most `most`, unless planes of that dimension leave out too much: then it is not the local
    dimension.
    """
    rows = sample_rows(neighbors.n, SAMPLE)
    if most is not None:
        everything = np.ones(len(neighbors.indices), dtype=bool)
        found = compare_with_planes(space, neighbors, everything, most, rows)
        leading = np.median(found.shares, axis=0)
        if leading[-1] >= PLANAR:
            return int(np.argmax(leading >= FLAT)) + 1 if leading[-1] >= FLAT else most
    inside = []
    for count in np.unique(neighbors.counts[rows]):
        points = rows[neighbors.counts[rows] == count]
        blocks = np.column_stack((points, members_of(neighbors, points)))
        chunks = row_chunks(len(blocks), 32 * (int(count) + 1) ** 2)
        spectra = np.concatenate(
            [principal_variances(space.coordinates(blocks[chunk])) for chunk in chunks]
        )
        total = spectra.sum(axis=1, keepdims=True)
        share = np.cumsum(spectra, axis=1) / np.maximum(total, np.finfo(float).tiny)
        inside.append(np.pad(share, ((0, 0), (0, int(neighbors.counts.max()) + 1)), mode="edge"))
    width = min(share.shape[1] for share in inside)
    shares = np.median(np.concatenate([share[:, :width] for share in inside]), axis=0)
    return int(np.argmax(shares >= FLAT)) + 1


def suspicious_pairs(space: Space, neighbors: Neighbors, d: int | None) -> EdgePairs:
    """Edges that leave the tangent planes of their ends, or are longer than all around them."""
    far, usual = row_quantiles(neighbors, 0.75), row_quantiles(neighbors, 0.5)
    doubtful = neighbors.distances > np.repeat(LONG * far, neighbors.counts)
    if d is None:
        return _select_suspicious(undirected_pairs(neighbors, np.flatnonzero(doubtful)), usual, far)
    few = int(np.median(neighbors.counts))
    if few + 1 < 2 * (d + 1):
        raise Undetermined(f"{few} neighbours are too few for {d}-dimensional tangent planes")
    used = ~doubtful
    if neighbors.n >= SAMPLED_FROM * SAMPLE:
        _check_sample(space, neighbors, used, d)
    foreign = np.flatnonzero(used & (neighbors.distances > (ONE_SIDED * far)[neighbors.indices]))
    found = _angles_at_ends(space, neighbors, used, d, foreign)
    doubtful |= _check_order(found.inner, used, d, DISORDER)
    doubtful[foreign] |= found.outer > TURNED
    outside = 1 - found.shares[:, -1]
    unused = rows_of(neighbors, np.flatnonzero(~used))
    outside[neighbors.counts - np.bincount(unused, minlength=neighbors.n) <= d] = 1.0
    rough = outside > ROUGH * np.median(outside) + ROUGH_SHARE
    if rough.any():
        doubtful |= np.repeat(rough, neighbors.counts) | rough[neighbors.indices]
    pairs = undirected_pairs(neighbors, np.flatnonzero(doubtful))
    owner = _plane_owners(neighbors, used, outside, rough)
    first, second = _sines_at_owners(space, neighbors, used, d, owner, pairs)
    pairs = EdgePairs(pairs.first, pairs.second, pairs.lengths, np.maximum(first, second))
    return _select_suspicious(pairs, usual, far, first + second > 2 * TILTED)


def _check_sample(space: Space, neighbors: Neighbors, used: BoolArray, d: int) -> None:
    """Raise where the planes of some rows show clearly that planes do not describe the data."""
    rows = sample_rows(neighbors.n, SAMPLE)
    found = compare_with_planes(space, neighbors, used, d, rows)
    some = np.zeros(neighbors.n, dtype=bool)
    some[rows] = True
    here = used & np.repeat(some, neighbors.counts)
    _check_order(found.inner[here], here[here], d, CLEARLY * DISORDER)


def _check_order(sines: FloatArray, used: BoolArray, d: int, most: float) -> BoolArray:
    """Return which edges leave the planes of their starts; raise if more than a share does."""
    turned = sines > TURNED
    share = int(np.count_nonzero(turned)) / max(int(np.count_nonzero(used)), 1)
    if share > most:
        raise Undetermined(f"{share:.0%} of the edges leave the {d}-dimensional tangent planes")
    return turned


def _angles_at_ends(
    space: Space, neighbors: Neighbors, used: BoolArray, d: int, foreign: IntArray
) -> PlaneAngles:
    """Compare all edges with the planes of their starts, and `foreign` ones with their ends'."""
    ends = neighbors.indices[foreign]
    edges = EdgesOfPlanes(ends, ends, rows_of(neighbors, foreign))
    return compare_with_planes(space, neighbors, used, d, edges=edges)


def _select_suspicious(
    pairs: EdgePairs, usual: FloatArray, far: FloatArray, both: BoolArray | None = None
) -> EdgePairs:
    """Select edges long for both ends, or for one if they leave a plane, or that leave `both`."""
    i, j, lengths = pairs.first, pairs.second, pairs.lengths
    suspicious = lengths > LONG * np.maximum(far[i], far[j])
    if both is not None:
        long = lengths > ONE_SIDED * np.minimum(far[i], far[j])
        usually = lengths > SHORT * np.minimum(usual[i], usual[j])
        suspicious |= long & (pairs.tilts > TILTED) | usually & both
    return pairs.select(suspicious)


def _plane_owners(
    neighbors: Neighbors, used: BoolArray, outside: FloatArray, rough: BoolArray
) -> IntArray:
    """Row whose plane serves for each row: its own, or that of its nearest flat neighbour.

    Short circuits tilt the planes of their own ends, and make them rough; where all neighbours are
    rough too, the flattest serves. Planes from farther away would be wrong at folds.
    """
    owner: IntArray = np.arange(neighbors.n)
    for row in np.flatnonzero(rough):
        entries = slice(neighbors.offsets[row], neighbors.offsets[row + 1])
        near = neighbors.indices[entries][used[entries]]
        if len(near):
            flat = near[~rough[near]]
            owner[row] = flat[0] if len(flat) else near[np.argmin(outside[near])]
    return owner


def _sines_at_owners(
    space: Space,
    neighbors: Neighbors,
    used: BoolArray,
    d: int,
    owner: IntArray,
    pairs: EdgePairs,
) -> tuple[FloatArray, FloatArray]:
    """Squared sines between edges and the planes that serve for each end; zero without a plane."""
    if not len(pairs):
        return np.zeros(0), np.zeros(0)
    start = np.concatenate((pairs.first, pairs.second))
    end = np.concatenate((pairs.second, pairs.first))
    edges = EdgesOfPlanes(owner[start], start, end)
    found = compare_with_planes(space, neighbors, used, d, np.unique(edges.owner), edges)
    return found.outer[: len(pairs)], found.outer[len(pairs) :]
