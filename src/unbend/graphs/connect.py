"""Joining the components of a graph by the shortest edges between them (book section 4.1.5).

The book enlarges all neighbourhoods instead: see `unbend.graphs.enlarge`.
"""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.neighbors.neighbors import Neighbors
from unbend.neighbors.space import Space

# A component up to this size asks one shared index for size + 1 neighbours, one of which must lie
# outside it; a larger one asks an index of everything outside it.
SMALL = 64


@dataclass(frozen=True, eq=False)
class Bridges:
    """Edges between components: ends and lengths."""

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
        raise ValueError(f"labels must tell the component of each of {space.n} rows")
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
    found = [_way_out_of_large(space, labels, c) for c in leaving[sizes[leaving] > SMALL]]
    small = leaving[sizes[leaving] <= SMALL]
    if len(small):
        found.append(_ways_out_of_small(space, labels, small, int(sizes[small].max())))
    inside, outside, lengths = (np.concatenate(parts) for parts in zip(*found, strict=True))
    check_measured(lengths)
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


def check_measured(lengths: FloatArray) -> None:
    """Refuse distances out of a component that were not measured: nothing could join it."""
    if not np.all(np.isfinite(lengths)):
        raise ValueError(
            "no distance from one component to another is known, so that nothing can join them: "
            "give points or a matrix of all distances"
        )


def _way_out_of_large(
    space: Space, labels: IntArray, component: int
) -> tuple[IntArray, IntArray, FloatArray]:
    inside, outside = np.flatnonzero(labels == component), np.flatnonzero(labels != component)
    queries = space.narrow(space.rows(inside), outside)
    nearest, lengths = space.take(outside).nearest_of(queries, 1)
    best = int(np.argmin(lengths))
    return inside[[best]], outside[nearest[best]], lengths[best]


def _ways_out_of_small(
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
