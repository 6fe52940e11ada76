"""Edges that leave the tangent planes of both ends, or are longer than all around them."""

import numpy as np

from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.graphs.edge_pairs import EdgePairs, members_of, row_quantiles, undirected_pairs
from unbend.graphs.noise import principal_variances, sample_rows
from unbend.local import affine_bases
from unbend.neighbors import Neighbors, Space

# Mean square of the sine between an edge and both tangent planes from which on it is suspicious:
# at a right-angled crease the mean is at most one half.
TILTED = 0.5
# Edges shorter than this share of the median edge at both ends are not suspicious: a gap between
# sheets is wider than their spacing, a crease is not.
SHORT = 0.8
# Edges longer than this multiple of the third quartile at both ends are suspicious in any case; one
# so long at its own end would turn the plane there, and has no part in it.
LONG = 2.0
# A neighbourhood is rough where its variance outside the plane is more than this multiple of the
# median plus this share; its plane is then that of a neighbour.
ROUGH, ROUGH_SHARE = 3.0, 0.01
# Share of the variance of most neighbourhoods that planes must hold; where they hold less than the
# second in the wanted dimension, that dimension is too small for planes.
FLAT, PLANAR = 0.95, 0.75
# Squared sine between an edge and the plane of one end, from which on the other end is looked at;
# where more edges than this share have it, planes do not describe the neighbourhoods.
TURNED, DISORDER = 0.25, 0.15
# Neighbourhoods of a block, and those that the dimension of the planes is read from.
AT_ONCE, SAMPLE = 4096, 256


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
    """Edges that leave the tangent planes of both ends, or are longer than all around them."""
    rows, others = neighbors.rows, neighbors.indices
    far, usual = row_quantiles(neighbors, 0.75), row_quantiles(neighbors, 0.5)
    doubtful = neighbors.distances > LONG * far[rows]
    if d is None:
        return _select_suspicious(undirected_pairs(neighbors, doubtful), usual, far)
    few = int(np.median(neighbors.counts))
    if few + 1 < 2 * (d + 1):
        raise Undetermined(f"{few} neighbours are too few for {d}-dimensional tangent planes")
    planes = neighbors.select(~doubtful)
    sines, outside = _own_sines(space, planes, d)
    turned = sines > TURNED
    if np.mean(turned) > DISORDER:
        raise Undetermined(
            f"{np.mean(turned):.0%} of the edges leave the {d}-dimensional tangent planes"
        )
    doubtful[~doubtful] = turned
    rough = outside > ROUGH * np.median(outside) + ROUGH_SHARE
    pairs = undirected_pairs(neighbors, doubtful | rough[rows] | rough[others])
    owner = _plane_owners(planes, outside, rough)
    sines = _sines_of(space, planes, d, owner, pairs.first, pairs.second)
    sines += _sines_of(space, planes, d, owner, pairs.second, pairs.first)
    pairs = EdgePairs(pairs.first, pairs.second, pairs.lengths, sines / 2)
    return _select_suspicious(pairs, usual, far)


def _select_suspicious(pairs: EdgePairs, usual: FloatArray, far: FloatArray) -> EdgePairs:
    """Select tilted edges, unless short for both ends, and edges long for both."""
    i, j, lengths = pairs.first, pairs.second, pairs.lengths
    tilted = (pairs.tilts > TILTED) & (lengths > SHORT * np.minimum(usual[i], usual[j]))
    return pairs.select(tilted | (lengths > LONG * np.maximum(far[i], far[j])))


def _directions(points: FloatArray, d: int) -> tuple[FloatArray, FloatArray]:
    """Orthonormal tangent directions (m, d, r) of points (m, s, r); variance outside their plane.

    The variance is relative to the whole; a direction that the points do not span is zero.
    """
    centered = points - points.mean(axis=1, keepdims=True)
    scaled = affine_bases(centered, d)[:, :, 1:].mT @ centered
    squares = np.einsum("mdr,mdr->md", scaled, scaled)
    norms = np.sqrt(squares)[:, :, None]
    total = np.einsum("msr,msr->m", centered, centered)
    inside = np.divide(squares.sum(axis=1), total, out=np.ones_like(total), where=total > 0)
    return np.divide(scaled, norms, out=np.zeros_like(scaled), where=norms > 0), 1 - inside


def _squared_sines(vectors: FloatArray, directions: FloatArray) -> FloatArray:
    """Squared sine between vectors (m, q, r) and the planes of directions (m, d, r), (m, q)."""
    along = vectors @ directions.mT
    total = np.einsum("mqr,mqr->mq", vectors, vectors)
    part = np.einsum("mqd,mqd->mq", along, along)
    part = np.divide(part, total, out=np.ones_like(total), where=total > 0)
    return np.asarray(np.clip(1 - part, 0.0, 1.0))


def _own_sines(space: Space, neighbors: Neighbors, d: int) -> tuple[FloatArray, FloatArray]:
    """Squared sine between each edge and the plane of its row; variance outside each plane.

    Neighbourhoods of too few points for a plane leave everything outside.
    """
    sines, outside = np.zeros(len(neighbors.indices)), np.ones(neighbors.n)
    for rows, others in neighbors.blocks(AT_ONCE):
        count = others.shape[1]
        if count <= d:
            continue
        local = space.coordinates(np.column_stack((rows, others)))
        directions, outside[rows] = _directions(local, d)
        entries = neighbors.offsets[rows, None] + np.arange(count)
        sines[entries] = _squared_sines(local[:, 1:] - local[:, :1], directions)
    return sines, outside


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
            local = space.coordinates(blocks)
            directions, _ = _directions(local[:, 2:], d)
            sines[chunk] = _squared_sines(local[:, 1:2] - local[:, :1], directions)[:, 0]
    return sines
