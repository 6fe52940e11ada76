"""Paths around suspicious edges: which of them no short path replaces."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from unbend.arrays import BoolArray, FloatArray, IntArray, row_chunks
from unbend.graphs.edge_pairs import (
    NOTHING,
    EdgePairs,
    edge_keys,
    row_quantiles,
    undirected_pairs,
)
from unbend.graphs.graph import components, undirected
from unbend.graphs.tangent_tilts import Undetermined
from unbend.neighbors import Neighbors
from unbend.report import ask

# An edge is a short circuit where the path around it exceeds so many times its length and so many
# times the median edge at its ends, for paths of few edges zigzag. Paths are followed up to the
# third multiple of the longer of both.
DETOUR, ZIGZAG, FOLLOWED = 2.5, 1.5, 16.0
# Share of the rows that the edges not suspicious may leave in small fragments.
FRAGMENTS = 0.1
# Rows per row near suspicious edges from which on paths are looked for near these first.
NEARBY = 8


def without_detour(neighbors: Neighbors, pairs: EdgePairs) -> tuple[EdgePairs, FloatArray]:
    """Suspicious pairs whose ends are far apart along the other edges, and how far."""
    usual = row_quantiles(neighbors, 0.5)
    usual[np.isinf(usual)] = 0.0
    if _have_near_detours(neighbors, pairs, _limits(pairs, usual)[1]):
        return NOTHING, np.zeros(0)
    graph = undirected(neighbors).lengths
    core, small = _core_of(graph, neighbors, pairs)
    core, pairs = _attach_fragments(core, pairs, small)
    label = components(core)
    pairs = pairs.select(label[pairs.first] == label[pairs.second])
    scale, limit = _limits(pairs, usual)
    apart = _two_steps(core, pairs) > limit
    pairs, scale, limit = pairs.select(apart), scale[apart], limit[apart]
    paths = _paths_along(core, pairs, FOLLOWED * scale)
    cut = paths > limit
    return pairs.select(cut), paths[cut] / pairs.lengths[cut]


def _limits(pairs: EdgePairs, usual: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the lengths that detours are compared with, and from which on they are too long."""
    around = np.maximum(usual[pairs.first], usual[pairs.second])
    scale = np.maximum(pairs.lengths, around)
    return scale, DETOUR * scale + ZIGZAG * around


def _have_near_detours(neighbors: Neighbors, pairs: EdgePairs, limits: FloatArray) -> bool:
    """Whether short paths through nearby rows alone replace all pairs, so that none is cut.

    Of few pairs, as clean data have, that is seen without a graph of all rows.
    """
    near = np.unique(np.concatenate((pairs.first, pairs.second)))
    for _ in range(2):
        if NEARBY * len(near) > neighbors.n:
            return False
        near = np.unique(np.concatenate((near, neighbors.indices[_entries_of(neighbors, near)])))
    found = undirected_pairs(neighbors, _entries_of(neighbors, near))
    keys = edge_keys(neighbors.n, pairs.first, pairs.second)
    found = found.select(~np.isin(edge_keys(neighbors.n, found.first, found.second), keys))
    rows, place = np.unique(np.concatenate((found.first, found.second)), return_inverse=True)
    ends = np.searchsorted(rows, np.stack((pairs.first, pairs.second)))
    if (rows[np.minimum(ends, len(rows) - 1)] != np.stack((pairs.first, pairs.second))).any():
        return False
    first, second = place[: len(found)], place[len(found) :]
    edges = np.tile(found.lengths, 2), (np.append(first, second), np.append(second, first))
    graph = csr_array(edges, shape=(len(rows), len(rows)))
    here = EdgePairs(ends[0], ends[1], pairs.lengths, pairs.tilts)
    beyond = np.nextafter(limits, np.inf)
    return bool((_paths_along(graph, here, beyond) <= limits).all())


def _entries_of(neighbors: Neighbors, rows: IntArray) -> IntArray:
    """Entries of some rows."""
    counts = neighbors.counts[rows]
    starts = np.repeat(neighbors.offsets[rows] - np.cumsum(counts) + counts, counts)
    return np.asarray(starts + np.arange(len(starts)))


def _core_of(
    graph: csr_array, neighbors: Neighbors, pairs: EdgePairs
) -> tuple[csr_array, BoolArray]:
    """Edges that are not suspicious, and which of their components are small fragments."""
    n = neighbors.n
    usual = max(1, int(np.median(neighbors.counts)))
    ends = np.concatenate((pairs.first, pairs.second)), np.concatenate((pairs.second, pairs.first))
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    keep = ~np.isin(edge_keys(n, rows, graph.indices), edge_keys(n, *ends))
    core = csr_array((graph.data[keep], (rows[keep], graph.indices[keep])), shape=graph.shape)
    sizes, whole = (np.bincount(components(edges)) for edges in (core, graph))
    small = sizes <= usual
    fragments = (sizes[small].sum() - whole[whole <= usual].sum()) / n
    if fragments > FRAGMENTS:
        raise Undetermined(
            f"{fragments:.0%} of the rows are joined to the others by edges across the tangent "
            "planes only"
        )
    return core, small


def _attach_fragments(
    core: csr_array, pairs: EdgePairs, small: BoolArray
) -> tuple[csr_array, EdgePairs]:
    """Join small fragments to the rest by their shortest suspicious edges; the pairs left.

    A row between two sheets then belongs to the nearer one. Larger fragments are clusters, between
    which no path but their suspicious edges is known, and these stay.
    """
    label = components(core)
    first, second = label[pairs.first], label[pairs.second]
    parent = list(range(len(small)))

    def root(part: int) -> int:
        while parent[part] != part:
            parent[part] = parent[parent[part]]
            part = parent[part]
        return part

    attached = np.zeros(len(pairs), dtype=bool)
    near = np.flatnonzero((first != second) & (small[first] | small[second]))
    for pair in near[np.argsort(pairs.lengths[near], kind="stable")]:
        one, other = root(int(first[pair])), root(int(second[pair]))
        attached[pair] = one != other
        parent[one] = other
    added = pairs.select(attached)
    ends = np.concatenate((added.first, added.second)), np.concatenate((added.second, added.first))
    edges = core.tocoo()
    rows, columns = np.concatenate((edges.row, ends[0])), np.concatenate((edges.col, ends[1]))
    data = np.concatenate((core.data, added.lengths, added.lengths))
    joined = csr_array((data, (rows, columns)), shape=core.shape)
    joined.sort_indices()
    return joined, pairs.select(~attached)


def _two_steps(core: csr_array, pairs: EdgePairs) -> FloatArray:
    """Length of the shortest path of two edges between the ends of each pair, or infinite."""
    n, degree = core.shape[0], np.diff(core.indptr).astype(np.int64)
    keys = edge_keys(n, np.repeat(np.arange(n), degree), core.indices)
    # From the end with fewer neighbours: one row may be a neighbour of nearly all others.
    swapped = degree[pairs.first] > degree[pairs.second]
    begin = np.where(swapped, pairs.second, pairs.first)
    end = np.where(swapped, pairs.first, pairs.second)
    counts = degree[begin]
    pair = np.repeat(np.arange(len(pairs)), counts)
    start = np.repeat(core.indptr[begin] - np.cumsum(counts) + counts, counts)
    step = start + np.arange(len(pair))
    wanted = edge_keys(n, core.indices[step], end[pair])
    place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    lengths = np.where(keys[place] == wanted, core.data[step] + core.data[place], np.inf)
    shortest = np.full(len(pairs), np.inf)
    np.minimum.at(shortest, pair, lengths)
    return shortest


def _paths_along(core: csr_array, pairs: EdgePairs, limits: FloatArray) -> FloatArray:
    """Lengths of the shortest paths between the ends of pairs, at most the limits."""
    lengths = limits.copy()
    sources, which = np.unique(pairs.first, return_inverse=True)
    # Older versions of SciPy search graphs with 32-bit indices only.
    indices, offsets = core.indices.astype(np.int32), core.indptr.astype(np.int32)
    core = csr_array((core.data, indices, offsets), shape=core.shape)
    for chunk in row_chunks(len(sources), 8 * core.shape[0], 1 << 25):
        ask()
        here = np.flatnonzero((which >= chunk.start) & (which < chunk.stop))
        limit = limits[here].max()
        away = dijkstra(core, indices=sources[chunk], limit=limit)
        paths = away[which[here] - chunk.start, pairs.second[here]]
        lengths[here] = np.minimum(lengths[here], paths)
    return lengths
