"""Short circuits: edges of a neighbourhood graph that jump from one sheet of the data to another.

Tangent planes propose, geodesics decide. An edge is suspicious where more than half of its squared
length lies outside the tangent planes of both ends, in the mean, or where it is several times as
long as the other edges of both ends. All suspicious edges are removed at once, since those of a
bundle would support each other, and one is a short circuit if its ends are then still connected,
but only by a path several times as long as the edge. Planes are estimated again without the short
circuits, which had tilted them, until no more are found.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from unbend.arrays import BoolArray, FloatArray, IntArray, row_chunks
from unbend.graphs.graph import components, undirected
from unbend.graphs.noise import principal_variances, sample_rows
from unbend.graphs.readers import edges_of, is_graph, neighbors_of_distinct, space_of_points
from unbend.local import affine_bases
from unbend.neighbors import AffinitySpace, GraphSpace, Neighbors, Space
from unbend.report import html_table, note, warn
from unbend.validation.scalars import check_integer

# What a fit does with short circuits.
SHORT_CIRCUITS = ("remove", "warn", "keep")
# Mean square of the sine between an edge and both tangent planes from which on it is suspicious:
# at a right-angled crease the mean is at most one half.
TILTED = 0.5
# Edges shorter than this share of the median edge at both ends are not suspicious: a gap between
# sheets is wider than their spacing, a crease is not.
SHORT = 0.8
# Edges longer than this multiple of the third quartile at both ends are suspicious in any case; one
# so long at its own end would turn the plane there, and has no part in it.
LONG = 2.0
# An edge is a short circuit where the path around it exceeds so many times its length and so many
# times the median edge at its ends, for paths of few edges zigzag. Paths are followed up to the
# third multiple of the longer of both.
DETOUR, ZIGZAG, FOLLOWED = 2.5, 1.5, 16.0
# A neighbourhood is rough where its variance outside the plane is more than this multiple of the
# median plus this share; its plane is then that of a neighbour.
ROUGH, ROUGH_SHARE = 3.0, 0.01
# Share of the variance of most neighbourhoods that planes must hold; where they hold less than the
# second in the wanted dimension, that dimension is too small for planes.
FLAT, PLANAR = 0.95, 0.75
# Squared sine between an edge and the plane of one end, from which on the other end is looked at;
# where more edges than this share have it, planes do not describe the neighbourhoods.
TURNED, DISORDER = 0.25, 0.15
# Share of the rows that the edges not suspicious may leave in small fragments.
FRAGMENTS = 0.1
ROUNDS, AT_ONCE, SAMPLE, SHOWN = 5, 4096, 256, 10


@dataclass(frozen=True, eq=False)
class ShortCircuits:
    """Edges that jump between sheets of the data, the longest detours first.

    Attributes
    ----------
    first, second : array (m,)
        Ends of each edge, the smaller number first.
    lengths : array (m,)
        Lengths of the edges.
    tilts : array (m,)
        Root mean square of the sines between the edge and the tangent planes of its ends: 0 along
        the data, 1 across. NaN where only a graph is known.
    detours : array (m,)
        Score: length of the shortest path without suspicious edges, over that of the edge. Paths
        are followed up to 16 times the edge or its surroundings.
    n_edges : int
        Edges of the graph, each direction counted.
    d : int or None
        Dimension of the tangent planes; None where there are none.
    undetermined : str
        Why nothing was judged; empty where the edges were.
    """

    first: IntArray
    second: IntArray
    lengths: FloatArray
    tilts: FloatArray
    detours: FloatArray
    n_edges: int
    d: int | None
    undetermined: str = ""

    def __len__(self) -> int:
        return len(self.first)

    @property
    def edges(self) -> IntArray:
        """Ends of each edge, (m, 2)."""
        return np.column_stack((self.first, self.second))

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """What made each edge suspicious: "tilt" or "length"."""
        tilted = np.square(self.tilts) > TILTED
        return tuple("tilt" if here else "length" for here in tilted)

    def remove_from(self, neighbors: Neighbors) -> Neighbors:
        """Remove the edges, in both directions, from the neighbours they were found in."""
        return _drop(neighbors, self)

    def summary(self) -> str:
        """Describe the result in one sentence."""
        if self.undetermined:
            return f"short circuits are not determined: {self.undetermined}"
        if not len(self):
            return f"none of {self.n_edges} edges is a short circuit"
        count = "1 edge jumps" if len(self) == 1 else f"{len(self)} edges jump"
        return (
            f"{count} between sheets of the data (of {self.n_edges}; up to "
            f"{self.lengths.max():.4g} long, paths around them at least {self.detours.min():.1f} "
            "times as long)"
        )

    def _rows(self) -> list[tuple[str, ...]]:
        columns = (self.first, self.second, self.lengths, self.tilts, self.detours, self.reasons)
        shown = list(zip(*columns, strict=True))[:SHOWN]
        return [
            (str(i), str(j), f"{length:.4g}", f"{tilt:.2f}", f"{detour:.1f}", reason)
            for i, j, length, tilt, detour, reason in shown
        ]

    def __str__(self) -> str:
        lines = [self.summary()]
        if len(self):
            lines.append("     first   second     length  tilt  detour  reason")
        for i, j, length, tilt, detour, reason in self._rows():
            lines.append(f"  {i:>8} {j:>8} {length:>10} {tilt:>5} {detour:>7}  {reason}")
        if len(self) > SHOWN:
            lines.append(f"  … and {len(self) - SHOWN} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        heads = ("first", "second", "length", "tilt", "detour", "reason")
        return html_table(self.summary(), heads if len(self) else (), self._rows())


def find_short_circuits(
    X: Any, d: int | None = None, n_neighbors: int | Neighbors = 10
) -> ShortCircuits:
    """Find the edges of a neighbourhood graph that jump between sheets of the data.

    One such edge is enough to ruin an unrolled sheet: Isomap's geodesics take it, and local methods
    hold its ends together. Edges along loops, holes, creases and between clusters are none: they
    lie along the data, or no other path joins their ends.

    Parameters
    ----------
    X : array (n, D), Space, Neighbors or graph
        Points, a space of points or distances, or a graph alone. A graph alone has no tangent
        planes: only edges several times as long as all others at both ends are found.
    d : int, optional
        Dimension of the data; larger than what the neighbourhoods show, it is lowered to that.
        None: what they show.
    n_neighbors : int or Neighbors
        Neighbours of each point, or the graph itself. Duplicate points count once, as the first.

    Returns
    -------
    ShortCircuits
        Printable; `remove_from` removes the edges from `Neighbors`.

    See Also
    --------
    unbend.graphs.consistency : Whether a graph is connected, and what noise hides.

    Notes
    -----
    An edge across the gap of a sheet that nearly closes lies along the sheet and is not found; nor
    are sheets nearer to each other than their own points are.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(500, sampling="parameter", random_state=0)
    >>> jumps = unbend.graphs.find_short_circuits(roll.points, d=2, n_neighbors=10)
    >>> len(jumps), sorted(set(jumps.reasons))
    (4, ['tilt'])
    >>> arc = roll.chart[:, 0]
    >>> bool(np.abs(arc[jumps.first] - arc[jumps.second]).min() > 40)
    True
    """
    if d is not None:
        d = check_integer("d", d)
    if is_graph(X) and not isinstance(X, Neighbors):
        X = GraphSpace(edges_of(X, "length"))
    if isinstance(X, Neighbors):
        return judge_edges(GraphSpace(X.graph()), X, d)
    space = X if isinstance(X, Space) else space_of_points(X)
    if isinstance(space, GraphSpace):
        return judge_edges(space, space.all_neighbors(), d)
    if isinstance(n_neighbors, Neighbors):
        if n_neighbors.n != space.n:
            raise ValueError(f"the graph has {n_neighbors.n} points and X has {space.n}")
        return judge_edges(space, n_neighbors, d)
    distinct, neighbors, copy = neighbors_of_distinct(space, n_neighbors)
    found = judge_edges(distinct, neighbors, d)
    first = np.unique(copy, return_index=True)[1]
    return ShortCircuits(
        first[found.first],
        first[found.second],
        found.lengths,
        found.tilts,
        found.detours,
        found.n_edges,
        found.d,
        found.undetermined,
    )


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Undirected edges, the smaller end first, with their lengths and squared tilts."""

    first: IntArray
    second: IntArray
    lengths: FloatArray
    tilts: FloatArray

    def __len__(self) -> int:
        return len(self.first)

    def select(self, keep: BoolArray | IntArray) -> "_Pairs":
        return _Pairs(self.first[keep], self.second[keep], self.lengths[keep], self.tilts[keep])


NOTHING = _Pairs(np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0), np.zeros(0))


class _Undetermined(Exception):
    """Tangent planes, or the edges that follow them, do not describe the data."""


def judge_edges(space: Space, neighbors: Neighbors, d: int | None = None) -> ShortCircuits:
    """Find short circuits of neighbours without duplicate rows; d is an upper bound."""
    plane = None if isinstance(space, GraphSpace) else _plane_dimension(space, neighbors, d)
    suspicious, cut, reason = NOTHING, NOTHING, ""
    detours: FloatArray = np.zeros(0)
    try:
        for _ in range(ROUNDS):
            # What was cut is judged again: its ends may be connected by suspicious edges only.
            more = _suspicious_pairs(space, _drop(neighbors, cut), plane)
            before, suspicious = len(suspicious), _join(suspicious, more)
            if len(suspicious) == before:
                break
            cut, detours = _without_detour(neighbors, suspicious)
    except _Undetermined as cause:
        cut, detours, reason = NOTHING, np.zeros(0), str(cause)
    order = np.lexsort((cut.second, cut.first, -detours))
    cut, detours = cut.select(order), detours[order]
    count, tilts = len(neighbors.indices), np.sqrt(cut.tilts)
    return ShortCircuits(cut.first, cut.second, cut.lengths, tilts, detours, count, plane, reason)


def handle_short_circuits(
    space: Space, neighbors: Neighbors, policy: str, d: int | None, least: int, given: bool
) -> Neighbors:
    """Remove short circuits or warn of them, by one of the policies in `SHORT_CIRCUITS`.

    Rows left with fewer than `least` neighbours get the nearest of their neighbours' neighbours.
    The edges of a `given` graph stay as they are.
    """
    if policy == "keep" or isinstance(space, AffinitySpace):
        return neighbors
    found = judge_edges(space, neighbors, d)
    note(short_circuits="not determined" if found.undetermined else len(found))
    if not len(found):
        return neighbors
    if given or policy == "warn":
        remedy = (
            "Remove them by graphs.find_short_circuits(...).remove_from(neighbors)"
            if given
            else "Pass short_circuits='remove', or use fewer neighbours or more rows"
        )
        warn(f"{found.summary()}: the embedding may fold or tear there. {remedy}.")
        return neighbors
    warn(
        f"{found.summary()}: they were removed from the neighbourhood graph. Use fewer neighbours "
        "or more rows to avoid them, or short_circuits='keep' to keep them."
    )
    return _fill_up(space, found.remove_from(neighbors), found, least)


def _fill_up(space: Space, neighbors: Neighbors, found: ShortCircuits, least: int) -> Neighbors:
    """Give rows with too few neighbours the nearest rows that their neighbours lead to."""
    few = np.flatnonzero(neighbors.counts < least)
    if not len(few):
        return neighbors
    graph = undirected(neighbors).lengths
    rows, columns, lengths = [], [], []
    for row in few:
        across = np.concatenate(
            (found.second[found.first == row], found.first[found.second == row])
        )
        reached = np.array([row])
        # The graph is as connected as before: as many rows are reached as its component has.
        while len(reached) <= least:
            wider = np.unique(np.concatenate((reached, *(_row_of(graph, i)[0] for i in reached))))
            if len(wider) == len(reached):
                break
            reached = wider
        others = np.setdiff1d(reached, np.append(across, row))
        away = space.lengths(np.full(len(others), row), others)
        nearest = np.argsort(away, kind="stable")[:least]
        rows.append(np.full(len(nearest), row))
        columns.append(others[nearest])
        lengths.append(away[nearest])
    return neighbors.add_edges(*(np.concatenate(part) for part in (rows, columns, lengths)))


def _row_of(graph: csr_array, row: int) -> tuple[IntArray, FloatArray]:
    """Neighbours of a vertex, and the lengths of the edges to them."""
    entries = slice(graph.indptr[row], graph.indptr[row + 1])
    return graph.indices[entries], graph.data[entries]


def _plane_dimension(space: Space, neighbors: Neighbors, most: int | None) -> int:
    """Dimension of the planes that hold most of the variance of most neighbourhoods.

    At most `most`, unless planes of that dimension leave out too much: then it is not the local
    dimension.
    """
    rows = sample_rows(neighbors.n, SAMPLE)
    inside = []
    for count in np.unique(neighbors.counts[rows]):
        points = rows[neighbors.counts[rows] == count]
        local = space.coordinates(np.column_stack((points, _members(neighbors, points))))
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


def _members(neighbors: Neighbors, rows: IntArray) -> IntArray:
    """Neighbours of rows that all have the same number of them."""
    count = int(neighbors.counts[rows[0]])
    return np.asarray(neighbors.indices[neighbors.offsets[rows, None] + np.arange(count)])


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


def _suspicious_pairs(space: Space, neighbors: Neighbors, d: int | None) -> _Pairs:
    """Edges that leave the tangent planes of both ends, or are longer than all around them."""
    rows, others = neighbors.rows, neighbors.indices
    far, usual = _quantiles(neighbors, 0.75), _quantiles(neighbors, 0.5)
    doubtful = neighbors.distances > LONG * far[rows]
    if d is None:
        return _select_suspicious(_undirected(neighbors, doubtful), usual, far)
    few = int(np.median(neighbors.counts))
    if few + 1 < 2 * (d + 1):
        raise _Undetermined(f"{few} neighbours are too few for {d}-dimensional tangent planes")
    planes = neighbors.select(~doubtful)
    sines, outside = _own_sines(space, planes, d)
    turned = sines > TURNED
    if np.mean(turned) > DISORDER:
        raise _Undetermined(
            f"{np.mean(turned):.0%} of the edges leave the {d}-dimensional tangent planes"
        )
    doubtful[~doubtful] = turned
    rough = outside > ROUGH * np.median(outside) + ROUGH_SHARE
    pairs = _undirected(neighbors, doubtful | rough[rows] | rough[others])
    owner = _plane_owners(planes, outside, rough)
    sines = _sines_of(space, planes, d, owner, pairs.first, pairs.second)
    sines += _sines_of(space, planes, d, owner, pairs.second, pairs.first)
    pairs = _Pairs(pairs.first, pairs.second, pairs.lengths, sines / 2)
    return _select_suspicious(pairs, usual, far)


def _select_suspicious(pairs: _Pairs, usual: FloatArray, far: FloatArray) -> _Pairs:
    """Select tilted edges, unless short for both ends, and edges long for both."""
    i, j, lengths = pairs.first, pairs.second, pairs.lengths
    tilted = (pairs.tilts > TILTED) & (lengths > SHORT * np.minimum(usual[i], usual[j]))
    return pairs.select(tilted | (lengths > LONG * np.maximum(far[i], far[j])))


def _quantiles(neighbors: Neighbors, share: float) -> FloatArray:
    """Quantile of the distances of each row to its neighbours, infinite where it has none."""
    some = neighbors.counts > 0
    place = neighbors.offsets[:-1] + np.ceil(share * neighbors.counts).astype(np.int64) - 1
    values = np.full(neighbors.n, np.inf)
    values[some] = neighbors.distances[place[some]]
    return values


def _undirected(neighbors: Neighbors, keep: BoolArray) -> _Pairs:
    """Return some of the edges, each once; of different lengths both ways the shorter."""
    rows, others, lengths = neighbors.rows[keep], neighbors.indices[keep], neighbors.distances[keep]
    first, second = np.minimum(rows, others), np.maximum(rows, others)
    order = np.lexsort((lengths, second, first))
    _, once = np.unique(_keys(neighbors.n, first, second)[order], return_index=True)
    first, second, lengths = (part[order][once] for part in (first, second, lengths))
    return _Pairs(
        first.astype(np.intp), second.astype(np.intp), lengths, np.full(len(once), np.nan)
    )


def _keys(n: int, rows: IntArray, columns: IntArray) -> IntArray:
    return rows.astype(np.int64) * n + columns


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
            plane = np.column_stack((owners[chunk], _members(neighbors, owners[chunk])))
            blocks = np.column_stack((start[chunk], end[chunk], plane))
            local = space.coordinates(blocks)
            directions, _ = _directions(local[:, 2:], d)
            sines[chunk] = _squared_sines(local[:, 1:2] - local[:, :1], directions)[:, 0]
    return sines


def _without_detour(neighbors: Neighbors, pairs: _Pairs) -> tuple[_Pairs, FloatArray]:
    """Suspicious pairs whose ends are far apart along the other edges, and how far."""
    graph = undirected(neighbors).lengths
    core, small = _core_of(graph, neighbors, pairs)
    core, pairs = _attach_fragments(core, pairs, small)
    label = components(core)
    pairs = pairs.select(label[pairs.first] == label[pairs.second])
    usual = _quantiles(neighbors, 0.5)
    usual[np.isinf(usual)] = 0.0
    around = np.maximum(usual[pairs.first], usual[pairs.second])
    scale = np.maximum(pairs.lengths, around)
    limit = DETOUR * scale + ZIGZAG * around
    apart = _two_steps(core, pairs) > limit
    pairs, scale, limit = pairs.select(apart), scale[apart], limit[apart]
    paths = _paths_along(core, pairs, FOLLOWED * scale)
    cut = paths > limit
    return pairs.select(cut), paths[cut] / pairs.lengths[cut]


def _core_of(graph: csr_array, neighbors: Neighbors, pairs: _Pairs) -> tuple[csr_array, BoolArray]:
    """Edges that are not suspicious, and which of their components are small fragments."""
    n = neighbors.n
    usual = max(1, int(np.median(neighbors.counts)))
    ends = np.concatenate((pairs.first, pairs.second)), np.concatenate((pairs.second, pairs.first))
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    keep = ~np.isin(_keys(n, rows, graph.indices), _keys(n, *ends))
    core = csr_array((graph.data[keep], (rows[keep], graph.indices[keep])), shape=graph.shape)
    sizes, whole = (np.bincount(components(edges)) for edges in (core, graph))
    small = sizes <= usual
    fragments = (sizes[small].sum() - whole[whole <= usual].sum()) / n
    if fragments > FRAGMENTS:
        raise _Undetermined(
            f"{fragments:.0%} of the rows are joined to the others by edges across the tangent "
            "planes only"
        )
    return core, small


def _attach_fragments(core: csr_array, pairs: _Pairs, small: BoolArray) -> tuple[csr_array, _Pairs]:
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


def _two_steps(core: csr_array, pairs: _Pairs) -> FloatArray:
    """Length of the shortest path of two edges between the ends of each pair, or infinite."""
    n = core.shape[0]
    keys = _keys(n, np.repeat(np.arange(n), np.diff(core.indptr)), core.indices)
    counts = np.diff(core.indptr)[pairs.first]
    pair = np.repeat(np.arange(len(pairs)), counts)
    start = np.repeat(core.indptr[pairs.first] - np.cumsum(counts) + counts, counts)
    step = start + np.arange(len(pair))
    wanted = _keys(n, core.indices[step], pairs.second[pair])
    place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    lengths = np.where(keys[place] == wanted, core.data[step] + core.data[place], np.inf)
    shortest = np.full(len(pairs), np.inf)
    np.minimum.at(shortest, pair, lengths)
    return shortest


def _paths_along(core: csr_array, pairs: _Pairs, limits: FloatArray) -> FloatArray:
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


def _join(pairs: _Pairs, more: _Pairs) -> _Pairs:
    """Both, each pair once, with the tilt of its first appearance."""
    names = ("first", "second", "lengths", "tilts")
    both = _Pairs(*(np.concatenate((getattr(pairs, a), getattr(more, a))) for a in names))
    ends = np.stack((both.first, both.second))
    return both.select(np.unique(ends, axis=1, return_index=True)[1])


def _drop(neighbors: Neighbors, pairs: "_Pairs | ShortCircuits") -> Neighbors:
    """Remove pairs in both directions."""
    rows, others = neighbors.rows, neighbors.indices
    entries = _keys(neighbors.n, np.minimum(rows, others), np.maximum(rows, others))
    return neighbors.select(~np.isin(entries, _keys(neighbors.n, pairs.first, pairs.second)))
