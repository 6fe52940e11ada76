"""Joining the components of a disconnected graph (book section 4.1.5).

By the shortest edges between them (`bridge`), or by larger neighbourhoods (`enlarge`); and how
many neighbours, or what radius, make a graph connected. `connect_components` is what a fit does.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree

from unbend.arrays import FloatArray, IntArray, with_short_indices
from unbend.graphs.graph import components, undirected
from unbend.neighbors import AffinitySpace, GraphSpace, Neighbors, Space, open_space
from unbend.report import note, warn

# How to handle a disconnected graph.
CONNECT = ("bridge", "enlarge", "largest", "components", "error")
# A component up to this size asks one shared index for size + 1 neighbours, one of which must lie
# outside it; a larger one asks an index of everything outside it.
SMALL = 64


@dataclass(frozen=True, eq=False)
class Connection:
    """Neighbourhoods, the component each row was in, and the rows to embed together.

    `groups` are sorted by size, largest first; rows in none of them are placed by the extension of
    the first.
    """

    neighbors: Neighbors
    component: IntArray
    groups: list[IntArray]


def connect_components(
    space: Space, neighbors: Neighbors, policy: str, local_blocks: bool, noun: str = "rows"
) -> Connection:
    """Handle a disconnected graph by one of the policies in `CONNECT`.

    For methods made of local blocks both ends of a bridge, or of an edge by which a larger
    neighbourhood reaches another component, get the other's neighbourhood. `noun` is what messages
    call the vertices.
    """
    component = components(neighbors.graph())
    count = int(component.max()) + 1
    everyone = np.arange(len(component))
    note(components=count)
    if count == 1:
        return Connection(neighbors, component, [everyone])
    sizes = np.bincount(component)
    note(policy=policy, largest=int(sizes[0]))
    apart = f"the neighbourhood graph has {count} components (the largest holds {sizes[0]} {noun})"
    if policy == "error":
        raise ValueError(
            f"{apart}: use more neighbours, or connect='bridge', 'enlarge', 'largest' or "
            "'components'"
        )
    if policy == "components":
        warn(
            f"{apart}: each was embedded on its own, side by side; distances between them mean "
            "nothing"
        )
        return Connection(neighbors, component, [everyone[component == c] for c in range(count)])
    if isinstance(space, AffinitySpace) and policy != "largest":
        warn(f"{apart}: eigenvectors of eigenvalue zero separate them; use connect='components'")
        return Connection(neighbors, component, [everyone])
    if isinstance(space, GraphSpace):
        purpose = "place the other rows by" if policy == "largest" else "bridge them with"
        raise ValueError(
            f"{apart} and a given graph has no distances to {purpose}: use connect='components', "
            "or give points or a dense distance matrix"
        )
    if policy == "largest":
        warn(f"{apart}: the largest was fitted and the other rows were placed by its extension")
        return Connection(neighbors, component, [everyone[component == 0]])
    if policy == "enlarge":
        joined = _join_by_enlarging(space, neighbors, apart, local_blocks, noun)
    else:
        joined = _join_by_bridges(space, neighbors, component, apart, local_blocks)
    return Connection(joined, component, [everyone])


def _join_by_bridges(
    space: Space, neighbors: Neighbors, component: IntArray, apart: str, local_blocks: bool
) -> Neighbors:
    bridges = bridge(space, component)
    count, longest = len(bridges.lengths), float(bridges.lengths.max())
    note(bridges=count, longest_bridge=longest)
    added = "1 bridge was" if count == 1 else f"{count} bridges were"
    warn(
        f"{apart}: {added} added, up to {longest:.4g} long (the longest "
        f"edge was {neighbors.distances.max(initial=0.0):.4g}); with more neighbours, or "
        "connect='components', none would be needed"
    )
    if local_blocks:
        return bridges.as_neighborhoods(neighbors, space)
    return bridges.as_edges(neighbors)


def _join_by_enlarging(
    space: Space, neighbors: Neighbors, apart: str, local_blocks: bool, noun: str
) -> Neighbors:
    enlarged = enlarge(space, neighbors)
    changed = int(np.sum(enlarged.counts > neighbors.counts))
    most, longest = int(enlarged.counts.max()), float(enlarged.links.lengths.max())
    note(enlarged=changed, most_neighbors=most, added_edges=enlarged.added, longest_link=longest)
    warn(
        f"{apart}: {changed} {noun} got more neighbours, up to {most}, which added "
        f"{enlarged.added} edges; those between components are up to {longest:.4g} long (the "
        f"longest edge was {neighbors.distances.max(initial=0.0):.4g})"
    )
    if local_blocks:
        return enlarged.links.as_neighborhoods(enlarged.neighbors, space)
    return enlarged.neighbors


@dataclass(frozen=True, eq=False)
class Bridges:
    """Edges between components: ends and lengths.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend import graphs
    >>> from unbend.neighbors import PointSpace
    >>> line = PointSpace(np.array([[0.0], [1.0], [5.0], [6.0]]))
    >>> gap = graphs.bridge(line, np.array([0, 0, 1, 1]))
    >>> gap.first, gap.second, gap.lengths
    (array([2]), array([1]), array([4.]))
    """

    first: IntArray
    second: IntArray
    lengths: FloatArray

    def as_edges(self, neighbors: Neighbors) -> Neighbors:
        """Make each end a neighbour of the other."""
        return neighbors.add_edges(
            np.concatenate((self.first, self.second)),
            np.concatenate((self.second, self.first)),
            np.concatenate((self.lengths, self.lengths)),
        )

    def as_neighborhoods(self, neighbors: Neighbors, space: Space) -> Neighbors:
        """Give each end of a bridge the other's whole neighbourhood.

        One edge is too little for methods built on local blocks: a block must see enough of both
        sides to align them.
        """
        if not len(self.lengths):
            return neighbors
        rows, columns = [], []
        for end, other in zip(
            np.concatenate((self.first, self.second)),
            np.concatenate((self.second, self.first)),
            strict=True,
        ):
            block = neighbors.indices[neighbors.offsets[other] : neighbors.offsets[other + 1]]
            rows.append(np.full(len(block) + 1, end))
            columns.append(np.append(block, other))
        row, column = np.concatenate(rows), np.concatenate(columns)
        return neighbors.add_edges(row, column, space.lengths(row, column))


def bridge(space: Space, labels: IntArray) -> Bridges:
    """Find the edges of least total length that join all components (Borůvka, 1926).

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.neighbors import PointSpace
    >>> gaps = bridge(PointSpace(np.array([[0.0], [1.0], [5.0]])), np.array([0, 0, 1]))
    >>> gaps.lengths
    array([4.])
    """
    labels = np.asarray(labels)
    if labels.shape != (space.n,):
        raise ValueError(f"labels must hold the component of each of {space.n} rows")
    labels = np.unique(labels, return_inverse=True)[1]
    first, second, lengths = [], [], []
    while labels.max() > 0:
        i, j, length = _shortest_ways_out(space, labels)
        _, keep = np.unique(np.sort(np.stack((i, j)), axis=0), axis=1, return_index=True)
        group = np.arange(labels.max() + 1)
        # Equal lengths could close a cycle: take the edges shortest first, as Kruskal does.
        for edge in keep[np.argsort(length[keep], kind="stable")]:
            inside, outside = group[labels[i[edge]]], group[labels[j[edge]]]
            if inside != outside:
                first.append(i[edge])
                second.append(j[edge])
                lengths.append(length[edge])
                group[group == outside] = inside
        labels = np.unique(group[labels], return_inverse=True)[1]
    ends = np.array((first, second), dtype=np.intp)
    return Bridges(ends[0], ends[1], np.array(lengths, dtype=np.float64))


def _shortest_ways_out(space: Space, labels: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Shortest edge out of each component but the largest: (inside, outside, length)."""
    sizes = np.bincount(labels)
    leaving = np.flatnonzero(np.arange(len(sizes)) != np.argmax(sizes))
    found = [_shortest_edge_from_large(space, labels, c) for c in leaving[sizes[leaving] > SMALL]]
    small = leaving[sizes[leaving] <= SMALL]
    if len(small):
        found.append(_shortest_edges_from_small(space, labels, small, int(sizes[small].max())))
    inside, outside, lengths = (np.concatenate(parts) for parts in zip(*found, strict=True))
    refuse_unknown_lengths(lengths)
    return inside, outside, lengths


def distances_out(space: Space, labels: IntArray, inside: IntArray) -> FloatArray:
    """Distance of each point of a component to the nearest outside it; infinite if not known."""
    if len(inside) <= SMALL:
        k = min(len(inside) + 1, space.n)
        nearest, lengths = space.nearest_of(space.rows(inside), k)
        away = np.where(labels[nearest] == labels[inside[0]], np.inf, lengths)
        return np.asarray(away.min(axis=1))
    outside = np.flatnonzero(labels != labels[inside[0]])
    queries = space.narrow(space.rows(inside), outside)
    return space.take(outside).nearest_of(queries, 1)[1][:, 0]


def refuse_unknown_lengths(lengths: FloatArray) -> None:
    """Refuse distances out of a component that were not measured: nothing could join it."""
    if not np.all(np.isfinite(lengths)):
        raise ValueError(
            "no distance from one component to another is known, so that nothing can join them: "
            "give points or a matrix of all distances"
        )


def _shortest_edge_from_large(
    space: Space, labels: IntArray, component: int
) -> tuple[IntArray, IntArray, FloatArray]:
    inside, outside = np.flatnonzero(labels == component), np.flatnonzero(labels != component)
    queries = space.narrow(space.rows(inside), outside)
    nearest, lengths = space.take(outside).nearest_of(queries, 1)
    best = int(np.argmin(lengths))
    return inside[[best]], outside[nearest[best]], lengths[best]


def _shortest_edges_from_small(
    space: Space, labels: IntArray, small: IntArray, size: int
) -> tuple[IntArray, IntArray, FloatArray]:
    rows = np.flatnonzero(np.isin(labels, small))
    k = min(size + 1, space.n)
    nearest, lengths = space.nearest_of(space.rows(rows), k)
    lengths = np.where(labels[nearest] == labels[rows, None], np.inf, lengths)
    column = np.argmin(lengths, axis=1)
    at = np.arange(len(rows))
    nearest, lengths = nearest[at, column], lengths[at, column]
    order = np.lexsort((lengths, labels[rows]))
    _, start = np.unique(labels[rows][order], return_index=True)
    best = order[start]
    return rows[best], nearest[best], lengths[best]


@dataclass(frozen=True, eq=False)
class Enlargement:
    """Connected neighbourhoods, and what was added to make them so.

    `counts` is the number of neighbours that each point now has at least, `links` the edges
    between what had been components.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend import graphs
    >>> from unbend.neighbors import PointSpace
    >>> line = PointSpace(np.array([[0.0], [1.0], [5.0], [6.0]]))
    >>> joined = graphs.enlarge(line, line.nearest(1))
    >>> joined.counts, joined.added
    (array([1, 1, 2, 1]), 1)
    """

    neighbors: Neighbors
    counts: IntArray
    links: Bridges
    added: int


def enlarge(space: Space, neighbors: Neighbors) -> Enlargement:
    """Give points at the rim of every component but the largest more neighbours, up to one outside.

    Those of a component that lie nearest to another, as many as a point usually has neighbours,
    get the least number of neighbours of which one is outside. This is repeated until all are
    joined, which ends since every round joins each component but the largest to another.

    The book enlarges the neighbourhoods of all points. Of a component far from everything each
    point would then be a neighbour of each, and nothing of its shape would be left.

    Parameters
    ----------
    space : Space
        Points or distances.
    neighbors : Neighbors
        A disconnected graph; its edges are kept.

    Returns
    -------
    Enlargement

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.neighbors import PointSpace
    >>> line = PointSpace(np.array([[0.0], [1.0], [5.0], [6.0], [7.0]]))
    >>> joined = enlarge(line, line.nearest(1))
    >>> joined.counts, joined.links.lengths
    (array([1, 2, 1, 1, 1]), array([4.]))
    """
    if neighbors.n != space.n:
        raise ValueError(f"the graph has {neighbors.n} points and the space has {space.n}")
    before = components(neighbors.graph())
    label, counts, joined = before, neighbors.counts.copy(), neighbors
    usual = max(1, int(np.median(neighbors.counts)))
    while label.max() > 0:
        grown = []
        for component in range(1, int(label.max()) + 1):
            for row in _rim(space, label, np.flatnonzero(label == component), usual):
                near, lengths = _up_to_outside(space, label, row)
                counts[row] = max(counts[row], len(near))
                grown.append((np.full(len(near), row), near, lengths))
        rows, columns, lengths = (np.concatenate(parts) for parts in zip(*grown, strict=True))
        joined = joined.add_edges(rows, columns, lengths)
        label = components(joined.graph())
    across = before[joined.rows] != before[joined.indices]
    links = Bridges(joined.rows[across], joined.indices[across], joined.distances[across])
    return Enlargement(joined, counts, links, len(joined.indices) - len(neighbors.indices))


def _rim(space: Space, label: IntArray, inside: IntArray, most: int) -> IntArray:
    """Points of a component nearest to what is outside it."""
    away = distances_out(space, label, inside)
    refuse_unknown_lengths(away.min(keepdims=True))
    order = np.argsort(away, kind="stable")[:most]
    return inside[order[np.isfinite(away[order])]]


def _up_to_outside(space: Space, label: IntArray, row: int) -> tuple[IntArray, FloatArray]:
    """Other points, nearest first, up to the first that is in another component."""
    away = np.array(space.distances_of(space.rows(np.array([row])))[0])
    outside = label != label[row]
    away[row] = -1.0
    near = np.flatnonzero(away <= away[outside].min())
    near = near[np.argsort(away[near], kind="stable")][1:]
    near = near[: int(np.argmax(outside[near])) + 1]
    return near, away[near]


@dataclass(frozen=True)
class Fewest:
    """The fewest neighbours that join what more would, and the components they leave.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend import graphs
    >>> from unbend.neighbors import PointSpace
    >>> line = PointSpace(np.array([[0.0], [1.0], [5.0], [6.0]]))
    >>> graphs.fewest_neighbors(line.nearest(3)).k
    2
    """

    k: int
    components: int


def fewest_neighbors(neighbors: Neighbors, mutual: bool = False) -> Fewest:
    """Find the smallest k whose graph has no more components than that of all the neighbours.

    The edge from i to its r-th nearest j appears at k = r; as an undirected edge at the smaller of
    both ranks, or at the larger where the graph is `mutual`. A spanning forest of the edges that
    appear first joins, at every k, all that the graph at k joins (Kruskal, 1956): the last of its
    edges gives the answer for all k at once, from one sorted list of neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.neighbors import PointSpace
    >>> pairs = PointSpace(np.array([[0.0], [1.0], [2.5], [3.5]])).nearest(3)
    >>> fewest_neighbors(pairs)
    Fewest(k=2, components=1)
    """
    ranks = 1.0 + neighbors.ranks
    ranked = Neighbors(neighbors.offsets, neighbors.indices, ranks)
    appears = undirected(ranked, "min" if mutual else "max").lengths
    forest = minimum_spanning_tree(with_short_indices(appears))
    return Fewest(int(forest.data.max(initial=1.0)), neighbors.n - forest.nnz)


def connecting_radius(X: Any) -> float:
    """Smallest ε for which the graph of all pairs within ε of each other is connected.

    The longest edge of the minimum spanning tree (book section 4.1.5 raises ε by tenths until
    the graph is connected, and so ends up to a tenth above it).

    Parameters
    ----------
    X : array (n, D) or Space
        Points, or a space of points or of all distances.

    Examples
    --------
    >>> import numpy as np
    >>> connecting_radius(np.array([[0.0], [1.0], [2.5], [3.5]]))
    1.5
    """
    space = X if isinstance(X, Space) else open_space(X, name="X")
    if isinstance(space, GraphSpace):
        raise TypeError(
            "A graph has the distances of its edges alone. Pass points, or all distances."
        )
    # Edges to nearest neighbours belong to the tree; bridges between what they join are the rest.
    nearest = space.nearest(1)
    bridges = bridge(space, components(nearest.graph()))
    return float(max(nearest.distances.max(), bridges.lengths.max(initial=0.0)))
