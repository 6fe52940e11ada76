"""Paths around suspicious edges: which of them no short path replaces."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from unbend.arrays import BoolArray, FloatArray, row_chunks
from unbend.graphs.edge_pairs import EdgePairs, edge_keys, row_quantiles
from unbend.graphs.graph import components, undirected
from unbend.graphs.tangent_tilts import Undetermined
from unbend.neighbors import Neighbors

# An edge is a short circuit where the path around it exceeds so many times its length and so many
# times the median edge at its ends, for paths of few edges zigzag. Paths are followed up to the
# third multiple of the longer of both.
DETOUR, ZIGZAG, FOLLOWED = 2.5, 1.5, 16.0
# Share of the rows that the edges not suspicious may leave in small fragments.
FRAGMENTS = 0.1


def without_detour(neighbors: Neighbors, pairs: EdgePairs) -> tuple[EdgePairs, FloatArray]:
    """Suspicious pairs whose ends are far apart along the other edges, and how far."""
    graph = undirected(neighbors).lengths
    core, small = _core_of(graph, neighbors, pairs)
    core, pairs = _attach_fragments(core, pairs, small)
    label = components(core)
    pairs = pairs.select(label[pairs.first] == label[pairs.second])
    usual = row_quantiles(neighbors, 0.5)
    usual[np.isinf(usual)] = 0.0
    around = np.maximum(usual[pairs.first], usual[pairs.second])
    scale = np.maximum(pairs.lengths, around)
    limit = DETOUR * scale + ZIGZAG * around
    apart = _two_steps(core, pairs) > limit
    pairs, scale, limit = pairs.select(apart), scale[apart], limit[apart]
    paths = _paths_along(core, pairs, FOLLOWED * scale)
    cut = paths > limit
    return pairs.select(cut), paths[cut] / pairs.lengths[cut]


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
    n = core.shape[0]
    keys = edge_keys(n, np.repeat(np.arange(n), np.diff(core.indptr)), core.indices)
    counts = np.diff(core.indptr)[pairs.first]
    pair = np.repeat(np.arange(len(pairs)), counts)
    start = np.repeat(core.indptr[pairs.first] - np.cumsum(counts) + counts, counts)
    step = start + np.arange(len(pair))
    wanted = edge_keys(n, core.indices[step], pairs.second[pair])
    place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    lengths = np.where(keys[place] == wanted, core.data[step] + core.data[place], np.inf)
    shortest = np.full(len(pairs), np.inf)
    np.minimum.at(shortest, pair, lengths)
    return shortest


def _paths_along(core: csr_array, pairs: EdgePairs, limits: FloatArray) -> FloatArray:
    """Lengths of the shortest paths between the ends of pairs, at most the limits."""
    lengths = limits.copy()
    sources, which = np.unique(pairs.first, return_inverse=True)
    for chunk in row_chunks(len(sources), 8 * core.shape[0], 1 << 25):
        here = np.flatnonzero((which >= chunk.start) & (which < chunk.stop))
        limit = limits[here].max()
        away = dijkstra(core, indices=sources[chunk], limit=limit)
        paths = away[which[here] - chunk.start, pairs.second[here]]
        lengths[here] = np.minimum(lengths[here], paths)
    return lengths
