"""How strongly a graph is connected: along directions, and after vertices or edges are removed."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, maximum_flow

from unbend.arrays import IntArray
from unbend.docstrings import complete_docstring
from unbend.graphs.graph import PARAMETERS, as_edges, components


@complete_docstring(PARAMETERS)
def strong_components(weights: csr_array) -> IntArray:
    """Strongly connected component of each vertex of a directed graph (book section 3.2.2).

    Two vertices share a component where directed paths lead from each to the other; one
    component means that the graph is strongly connected. `components` ignores directions.

    Parameters
    ----------
    weights : csr_array
        Entry (i, j) is an edge from i to j, whatever its number.

    Returns
    -------
    array (n,)
        Numbered by size, largest first, ties by first vertex.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> chain = csr_array(np.array([[0.0, 1, 0], [0, 0, 1], [0, 1, 0]]))
    >>> strong_components(chain), components(chain)
    (array([1, 0, 0]), array([0, 0, 0]))
    """
    edges = as_edges(weights)
    pattern = csr_array((np.ones(edges.nnz), edges.indices, edges.indptr), shape=edges.shape)
    labels = connected_components(pattern, connection="strong")[1]
    _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    rank = np.empty(len(sizes), dtype=np.intp)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return np.asarray(rank[labels])


@dataclass(frozen=True)
class Connectivity:
    """Fewest vertices, and fewest edges, without which an undirected graph is disconnected.

    A graph is k-connected if `vertices` is at least k, and k-edge-connected if `edges` is. A
    complete graph of n vertices has n − 1 of both.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from unbend import graphs
    >>> path = csr_array(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> graphs.connectivity(path)
    Connectivity(vertices=1, edges=1)
    """

    vertices: int
    edges: int


def connectivity(weights: csr_array) -> Connectivity:
    """Vertex and edge connectivity of an undirected graph (book section 3.2.1).

    By maximum flows (Menger): one for each vertex, and for vertices as many more as the square of
    the least degree. For graphs of up to some thousand edges.

    Parameters
    ----------
    weights : csr_array
        Edges, whatever their numbers and directions; loops do not count.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> bow_tie = np.zeros((5, 5))
    >>> bow_tie[[0, 0, 1, 2, 2, 3], [1, 2, 2, 3, 4, 4]] = 1
    >>> connectivity(csr_array(bow_tie))
    Connectivity(vertices=1, edges=2)
    """
    graph = _undirected(weights)
    n = graph.shape[0]
    if n < 2 or components(graph).max() > 0:
        return Connectivity(0, 0)
    unit = graph.astype(np.int32)
    edges = min(int(maximum_flow(unit, 0, target).flow_value) for target in range(1, n))
    return Connectivity(_vertex_connectivity(graph, edges), edges)


def _undirected(weights: Any) -> csr_array:
    edges = as_edges(weights).tocoo()
    apart = edges.row != edges.col
    rows, columns = edges.row[apart], edges.col[apart]
    ends = (np.concatenate((rows, columns)), np.concatenate((columns, rows)))
    both = csr_array((np.ones(len(ends[0])), ends), shape=edges.shape)
    both.data[:] = 1.0
    return both


def _vertex_connectivity(graph: csr_array, most: int) -> int:
    """Least vertex cut between a vertex of least degree and others, and between its neighbours.

    Every cut either spares this vertex, and separates it from some other, or contains it, and
    separates two of its neighbours (Esfahanian and Hakimi, 1984).
    """
    n = graph.shape[0]
    degree = np.diff(graph.indptr)
    if degree.min() == n - 1:
        return n - 1
    centre = int(np.argmin(degree))
    near = graph.indices[graph.indptr[centre] : graph.indptr[centre + 1]]
    joined = graph.toarray() > 0
    pairs = [(centre, v) for v in range(n) if v != centre and not joined[centre, v]]
    pairs += [(u, v) for u, v in combinations(near.tolist(), 2) if not joined[u, v]]
    split = _split_vertices(graph)
    return min([most, *(int(maximum_flow(split, n + u, v).flow_value) for u, v in pairs)])


def _split_vertices(graph: csr_array) -> csr_array:
    """Flow network in which each vertex, of capacity one, has an end for edges in and one for out.

    Edges enter at v and leave from n + v.
    """
    n, edges = graph.shape[0], graph.tocoo()
    tails = np.concatenate((edges.row + n, np.arange(n)))
    heads = np.concatenate((edges.col, np.arange(n) + n))
    capacity = np.concatenate((np.full(edges.nnz, n), np.ones(n))).astype(np.int32)
    return csr_array((capacity, (tails, heads)), shape=(2 * n, 2 * n))
