"""How many neighbours a graph needs to hold together."""

from dataclasses import dataclass

from scipy.sparse.csgraph import minimum_spanning_tree

from unbend.arrays import with_short_indices
from unbend.graphs.graph import undirected
from unbend.neighbors.neighbors import Neighbors


@dataclass(frozen=True)
class Fewest:
    """The fewest neighbours that join what more would, and the components they leave."""

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
