"""Joining the components of a graph by larger neighbourhoods (book section 4.1.5)."""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.graphs.connect import Bridges, check_measured, distances_out
from unbend.graphs.graph import components
from unbend.neighbors.neighbors import Neighbors
from unbend.neighbors.space import Space


@dataclass(frozen=True, eq=False)
class Enlarged:
    """Connected neighbourhoods, and what was added to make them so.

    `counts` is the number of neighbours that each point now has at least, `links` the edges
    between what had been components.
    """

    neighbors: Neighbors
    counts: IntArray
    links: Bridges
    added: int


def enlarge(space: Space, neighbors: Neighbors) -> Enlarged:
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
        The graph that falls apart; its edges are kept.

    Returns
    -------
    Enlarged

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
    return Enlarged(joined, counts, links, len(joined.indices) - len(neighbors.indices))


def _rim(space: Space, label: IntArray, inside: IntArray, most: int) -> IntArray:
    """Points of a component nearest to what is outside it."""
    away = distances_out(space, label, inside)
    check_measured(away.min(keepdims=True))
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
