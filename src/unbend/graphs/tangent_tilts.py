"""Edges that leave the tangent planes of their ends, or are longer than all around them."""

from collections.abc import Iterator

import numpy as np

from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.graphs.edge_pairs import EdgePairs, members_of, row_quantiles, undirected_pairs
from unbend.graphs.noise import principal_variances, sample_rows
from unbend.local import NULL, affine_bases
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
# Neighbourhoods of a block, at most and by the square of their size, and those that the dimension
# of the planes is read from.
AT_ONCE, SQUARES, SAMPLE = 4096, 1 << 20, 256


class Undetermined(Exception):
    """Tangent planes, or the edges that follow them, do not describe the data."""


def plane_dimension(space: Space, neighbors: Neighbors, most: int | None) -> int:
    """Dimension of the planes that hold most of the variance of most neighbourhoods.

    At most `most`, unless planes of that dimension leave out too much: then it is not the local
    dimension.
    """
    rows = sample_rows(neighbors.n, SAMPLE)
    inside = []
    for count in np.unique(neighbors.counts[rows]):
        points = rows[neighbors.counts[rows] == count]
        local = space.coordinates(np.column_stack((points, members_of(neighbors, points))))
        spectra = principal_variances(local)
        total = spectra.sum(axis=1, keepdims=True)
        share = np.cumsum(spectra, axis=1) / np.maximum(total, np.finfo(float).tiny)
        inside.append(np.pad(share, ((0, 0), (0, int(neighbors.counts.max()) + 1)), mode="edge"))
    width = min(share.shape[1] for share in inside)
    shares = np.median(np.concatenate([share[:, :width] for share in inside]), axis=0)
    local_dimension = int(np.argmax(shares >= FLAT)) + 1
    if most is None or local_dimension <= most or shares[most - 1] < PLANAR:
        return local_dimension
    return most


def suspicious_pairs(space: Space, neighbors: Neighbors, d: int | None) -> EdgePairs:
    """Edges that leave the tangent planes of their ends, or are longer than all around them."""
    rows, others = neighbors.rows, neighbors.indices
    far, usual = row_quantiles(neighbors, 0.75), row_quantiles(neighbors, 0.5)
    doubtful = neighbors.distances > LONG * far[rows]
    if d is None:
        return _select_suspicious(undirected_pairs(neighbors, doubtful), usual, far)
    few = int(np.median(neighbors.counts))
    if few + 1 < 2 * (d + 1):
        raise Undetermined(f"{few} neighbours are too few for {d}-dimensional tangent planes")
    planes = neighbors.select(~doubtful)
    foreign = planes.distances > ONE_SIDED * far[planes.indices]
    _check_order(_sampled_sines(space, planes, d), d, CLEARLY * DISORDER)
    here, there, outside = _sines_at_ends(space, planes, d, foreign)
    turned = _check_order(here, d, DISORDER)
    doubtful[~doubtful] = turned | (there > TURNED)
    rough = outside > ROUGH * np.median(outside) + ROUGH_SHARE
    pairs = undirected_pairs(neighbors, doubtful | rough[rows] | rough[others])
    owner = _plane_owners(planes, outside, rough)
    first = _sines_of(space, planes, d, owner, pairs.first, pairs.second)
    second = _sines_of(space, planes, d, owner, pairs.second, pairs.first)
    larger = np.maximum(first, second)
    pairs = EdgePairs(pairs.first, pairs.second, pairs.lengths, larger)
    return _select_suspicious(pairs, usual, far, first + second > 2 * TILTED)


def _check_order(sines: FloatArray, d: int, most: float) -> BoolArray:
    """Return which edges leave the planes of their starts; raise if more than a share does."""
    turned = sines > TURNED
    if len(turned) and np.mean(turned) > most:
        raise Undetermined(
            f"{np.mean(turned):.0%} of the edges leave the {d}-dimensional tangent planes"
        )
    return turned


def _sampled_sines(space: Space, neighbors: Neighbors, d: int) -> FloatArray:
    """Squared sines between the edges and the planes of some rows."""
    rows = sample_rows(neighbors.n, SAMPLE)
    sines: list[FloatArray] = [np.zeros(0)]
    for count in np.unique(neighbors.counts[rows]):
        if count > d:
            points = rows[neighbors.counts[rows] == count]
            local = space.differences(np.column_stack((points, members_of(neighbors, points))))
            directions, _ = _directions(local, d)
            sines.append(_squared_sines(local[:, 1:] - local[:, :1], directions).ravel())
    return np.concatenate(sines)


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


def _directions(points: FloatArray, d: int) -> tuple[FloatArray, FloatArray]:
    """Orthonormal tangent directions (m, d, r) of points (m, s, r); variance outside their plane.

    The variance is relative to the whole; a direction that the points do not span is zero.
    """
    centered = points - points.mean(axis=1, keepdims=True)
    scaled = _leading_vectors(centered, d).mT @ centered
    squares = np.einsum("mdr,mdr->md", scaled, scaled)
    total = np.einsum("msr,msr->m", centered, centered)
    squares[squares <= NULL * total[:, None]] = 0.0
    norms = np.sqrt(squares)[:, :, None]
    inside = np.divide(squares.sum(axis=1), total, out=np.ones_like(total), where=total > 0)
    return np.divide(scaled, norms, out=np.zeros_like(scaled), where=norms > 0), 1 - inside


def _leading_vectors(centered: FloatArray, d: int) -> FloatArray:
    """Leading left singular vectors (m, s, d) of centered points (m, s, r)."""
    if centered.shape[2] <= centered.shape[1]:
        return affine_bases(centered, d)[:, :, 1:]
    return np.asarray(np.linalg.eigh(centered @ centered.mT)[1][:, :, -d:])


def _squared_sines(vectors: FloatArray, directions: FloatArray) -> FloatArray:
    """Squared sine between vectors (m, q, r) and the planes of directions (m, d, r), (m, q)."""
    along = vectors @ directions.mT
    total = np.einsum("mqr,mqr->mq", vectors, vectors)
    part = np.einsum("mqd,mqd->mq", along, along)
    part = np.divide(part, total, out=np.ones_like(total), where=total > 0)
    return np.asarray(np.clip(1 - part, 0.0, 1.0))


def _sines_at_ends(
    space: Space, neighbors: Neighbors, d: int, foreign: BoolArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Squared sines between each edge and the planes of its ends; variance outside each plane.

    The plane of the other end is asked for `foreign` edges only. Neighbourhoods of too few points
    for a plane leave everything outside.
    """
    here, there = np.zeros((2, len(neighbors.indices)))
    outside = np.ones(neighbors.n)
    edges = np.flatnonzero(foreign)
    edges = edges[np.argsort(neighbors.indices[edges], kind="stable")]
    incoming = np.bincount(neighbors.indices[edges], minlength=neighbors.n)
    start = np.cumsum(incoming) - incoming
    for rows in _alike(neighbors.counts, incoming):
        count, width = int(neighbors.counts[rows[0]]), int(incoming[rows[-1]])
        if count <= d:
            continue
        slots = np.arange(width) < incoming[rows, None]
        entries = edges[(start[rows, None] + np.arange(width))[slots]]
        others = np.repeat(rows[:, None], width, axis=1)
        others[slots] = neighbors.rows[entries]
        local = space.differences(np.column_stack((rows, members_of(neighbors, rows), others)))
        directions, outside[rows] = _directions(local[:, : count + 1], d)
        sines = _squared_sines(local[:, 1:] - local[:, :1], directions)
        here[neighbors.offsets[rows, None] + np.arange(count)] = sines[:, :count]
        there[entries] = sines[:, count:][slots]
    return here, there, outside


def _alike(counts: IntArray, incoming: IntArray) -> Iterator[IntArray]:
    """Blocks of rows with equally many neighbours, by increasing numbers of incoming edges."""
    order = np.lexsort((incoming, counts))
    ends = np.flatnonzero(np.diff(counts[order], append=-1)) + 1
    start = 0
    for end in ends:
        while start < end:
            stop = min(start + AT_ONCE, int(end))
            size = 1 + int(counts[order[start]]) + int(incoming[order[stop - 1]])
            stop = min(stop, start + max(1, SQUARES // size**2))
            yield order[start:stop]
            start = stop


def _plane_owners(neighbors: Neighbors, outside: FloatArray, rough: BoolArray) -> IntArray:
    """Row whose plane serves for each row: its own, or that of its nearest flat neighbour.

    Short circuits tilt the planes of their own ends, and make them rough; where all neighbours are
    rough too, the flattest serves. Planes from farther away would be wrong at folds.
    """
    owner: IntArray = np.arange(neighbors.n)
    for row in np.flatnonzero(rough):
        near = neighbors.indices[neighbors.offsets[row] : neighbors.offsets[row + 1]]
        if len(near):
            flat = near[~rough[near]]
            owner[row] = flat[0] if len(flat) else near[np.argmin(outside[near])]
    return owner


def _sines_of(
    space: Space, neighbors: Neighbors, d: int, owner: IntArray, start: IntArray, end: IntArray
) -> FloatArray:
    """Squared sine between edges and the planes of their starts; zero where there is no plane."""
    owners = owner[start]
    counts = neighbors.counts[owners]
    sines = np.zeros(len(start))
    for count in np.unique(counts[counts > d]):
        edges = np.flatnonzero(counts == count)
        for chunk in np.array_split(edges, len(edges) // AT_ONCE + 1):
            plane = np.column_stack((owners[chunk], members_of(neighbors, owners[chunk])))
            blocks = np.column_stack((start[chunk], end[chunk], plane))
            local = space.differences(blocks)
            directions, _ = _directions(local[:, 2:], d)
            sines[chunk] = _squared_sines(local[:, 1:2] - local[:, :1], directions)[:, 0]
    return sines
