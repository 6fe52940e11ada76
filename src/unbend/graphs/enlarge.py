"""Joining the components of a graph by larger neighbourhoods (book section 4.1.5)."""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.graphs.connect import Bridges, check_measured
from unbend.graphs.graph import components
from unbend.memory import reserve
from unbend.neighbors.space import Space
from unbend.neighbors.value import Neighbors


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
    """Give the points of every component but the largest more neighbours, until one is outside.

    All points of a component get the same number, the least that reaches another component; this
    is repeated until all are joined, which ends since every round joins each component but the
    largest to another. Components that lie far from everything need as many neighbours as they
    have points: for large ones `bridge` is cheaper.

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
    (array([2, 2, 1, 1, 1]), array([5., 4.]))
    """
    if neighbors.n != space.n:
        raise ValueError(f"the graph has {neighbors.n} points and the space has {space.n}")
    before = components(neighbors.graph())
    label, counts, joined = before, neighbors.counts, neighbors
    while label.max() > 0:
        rows, columns, lengths = [], [], []
        for component in range(1, int(label.max()) + 1):
            inside = np.flatnonzero(label == component)
            k = _least_outside(space, label, inside, int(counts[inside].max()))
            counts = np.where(label == component, np.maximum(counts, k), counts)
            indices, distances = _others(space, inside, k)
            check_measured(distances)
            rows.append(np.repeat(inside, k))
            columns.append(indices.ravel())
            lengths.append(distances.ravel())
        joined = joined.joined(
            np.concatenate(rows), np.concatenate(columns), np.concatenate(lengths)
        )
        label = components(joined.graph())
    across = before[joined.rows] != before[joined.indices]
    links = Bridges(joined.rows[across], joined.indices[across], joined.distances[across])
    return Enlarged(joined, counts, links, len(joined.indices) - len(neighbors.indices))


def _least_outside(space: Space, label: IntArray, inside: IntArray, most: int) -> int:
    """Least number of neighbours with which some point of a component has one outside it."""
    n, component = space.n, label[inside[0]]
    k = min(most + 1, n - 1)
    while True:
        reserve(
            12 * len(inside) * k,
            f"neighbourhoods of {k} for {len(inside)} points",
            "use connect='bridge'",
        )
        least = n
        for chunk in row_chunks(len(inside), 64 * k):
            indices, _ = _others(space, inside[chunk], k)
            outside = label[indices] != component
            first = np.argmax(outside, axis=1)[outside.any(axis=1)]
            least = min(least, int(first.min(initial=n)) + 1)
        if least <= k:
            return least
        # With as many neighbours as the component has points, one must lie outside it.
        k = min(2 * k, len(inside))


def _others(space: Space, rows: IntArray, k: int) -> tuple[IntArray, FloatArray]:
    """Find the k nearest other points of some points, nearest first."""
    indices, distances = space.nearest_of(space.rows(rows), k + 1)
    itself = indices == rows[:, None]
    # With more than k duplicates the point itself may not be among them; then the last is dropped.
    itself[~itself.any(axis=1), -1] = True
    shape = (len(rows), k)
    return indices[~itself].reshape(shape), distances[~itself].reshape(shape)
