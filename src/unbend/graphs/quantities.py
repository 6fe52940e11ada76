"""Degrees, volumes, Rayleigh quotient and contraction of weighted graphs (book 3.2, 3.3)."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array, csr_array

from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.docstrings import complete_docstring
from unbend.graphs.graph import PARAMETERS, as_edges, as_weights, both_ways, check_word

Direction = Literal["out", "in"]
DIRECTIONS = ("out", "in")
# Two directions of an edge that differ by less than this share are the same up to rounding.
SAME = 1e-9


def degree_counts(graph: csr_array, direction: Literal["out", "in", "both"] = "out") -> IntArray:
    """Count the edges at each vertex: those that leave it, that reach it, or both together.

    Every stored entry is an edge. In an undirected graph, where each edge is stored in both
    directions, "out" and "in" agree; "both" is the degree of a directed one.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> arrows = csr_array(np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]]))
    >>> degree_counts(arrows), degree_counts(arrows, "in")
    (array([2, 1, 0]), array([0, 1, 2]))
    """
    check_word("direction", direction, ("out", "in", "both"))
    graph = as_edges(graph, "the edges of a graph")
    out: IntArray = np.diff(graph.indptr).astype(np.intp)
    into: IntArray = np.bincount(graph.indices, minlength=graph.shape[0])
    return {"out": out, "in": into, "both": out + into}[direction]


def volumes(weights: csr_array, direction: Direction = "out") -> FloatArray:
    """Sum of the weights of the edges that leave each vertex, or that reach it.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> arrows = csr_array(np.array([[0.0, 2.0], [0.0, 0.0]]))
    >>> volumes(arrows), volumes(arrows, "in")
    (array([2., 0.]), array([0., 2.]))
    """
    check_word("direction", direction, DIRECTIONS)
    axis = 1 if direction == "out" else 0
    return np.asarray(as_weights(weights).sum(axis=axis), dtype=np.float64).ravel()


def volume(
    weights: csr_array, cluster: ArrayLike | None = None, direction: Direction = "out"
) -> float:
    """Volume of a cluster of vertices, by default of all: the sum of the volumes of its members.

    Parameters
    ----------
    weights : csr_array
        Weights of the edges.
    cluster : array of int or bool, optional
        The members, by number or as a mask.
    direction : {"out", "in"}
        Whether the edges that leave or that reach a vertex count.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> path = csr_array(np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 3.0], [0.0, 3.0, 0.0]]))
    >>> volume(path), volume(path, [0, 1])
    (10.0, 7.0)
    """
    of_each = volumes(weights, direction)
    return float(np.sum(of_each if cluster is None else of_each[_members(len(of_each), cluster)]))


def boundary_volume(weights: csr_array, cluster: ArrayLike, direction: Direction = "out") -> float:
    """Sum of the weights of the edges that leave a cluster, or that reach it from outside.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> path = csr_array(np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 3.0], [0.0, 3.0, 0.0]]))
    >>> boundary_volume(path, [0, 1])
    3.0
    """
    check_word("direction", direction, DIRECTIONS)
    edges = as_weights(weights).tocoo()
    inside = _members(edges.shape[0], cluster)
    tail, head = (edges.row, edges.col) if direction == "out" else (edges.col, edges.row)
    return float(np.sum(edges.data[inside[tail] & ~inside[head]], dtype=np.float64))


def _members(n: int, cluster: ArrayLike) -> BoolArray:
    given = np.asarray(cluster)
    if given.dtype == np.bool_ and given.shape == (n,):
        return given
    if given.size and (given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= n):
        raise ValueError(
            f"cluster must hold vertices, from 0 to {n - 1}, or a mask of {n} booleans"
        )
    inside = np.zeros(n, dtype=bool)
    inside[given.astype(np.intp)] = True
    return inside


def normalized_cut(weights: csr_array, labels: ArrayLike) -> float:
    """Ncut(A₁, …, A_k) = ½ Σ cut(Aᵢ, Āᵢ)/vol(Aᵢ) of a clustering (Shi and Malik).

    The cut is the weight of the edges that leave a cluster, the volume that of all edges at its
    vertices. It is between 0, where no edge is cut, and k/2; no clustering has less than half
    the sum of the k least eigenvalues of the symmetric Laplacian.

    Parameters
    ----------
    weights : csr_array
        Symmetric weights.
    labels : array (n,)
        Cluster of each vertex. A cluster without edges adds nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> path = csr_array(np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 3.0], [0.0, 3.0, 0.0]]))
    >>> round(normalized_cut(path, [0, 1, 1]), 4)
    0.625
    """
    edges = as_undirected(weights).tocoo()
    values = np.asarray(labels)
    if values.shape != (edges.shape[0],):
        raise ValueError(
            f"labels must hold one cluster for each of {edges.shape[0]} vertices, and their shape "
            f"is {values.shape}"
        )
    names, cluster = np.unique(values, return_inverse=True)
    leaves = cluster[edges.row] != cluster[edges.col]
    cuts = np.bincount(cluster[edges.row[leaves]], edges.data[leaves], len(names))
    sizes = np.bincount(cluster[edges.row], edges.data, len(names))
    shares = np.divide(cuts, sizes, out=np.zeros(len(names)), where=sizes > 0)
    return float(shares.sum() / 2)


def rayleigh_quotient(weights: csr_array, f: ArrayLike) -> float:
    """Σ w_ij (f_i − f_j)² over edges, divided by Σ f_i² d_i with d the volumes (book (3.12)).

    Parameters
    ----------
    weights : csr_array
        Symmetric weights; each edge counts once.
    f : array (n,)
        A function on the vertices, not zero at all that have edges. Its least value over functions
        with Σ f_i d_i = 0 is the graph eigenvalue.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> rayleigh_quotient(csr_array(np.array([[0.0, 1.0], [1.0, 0.0]])), [1.0, -1.0])
    2.0
    """
    weights = as_undirected(weights)
    values = np.asarray(f, dtype=np.float64)
    if values.shape != (weights.shape[0],) or not np.all(np.isfinite(values)):
        raise ValueError(f"f must have one finite value for each of {weights.shape[0]} vertices")
    # The quotient does not depend on the size of f, whose squares may have no room.
    values = values / (np.abs(values).max(initial=0.0) or 1.0)
    size = float(np.sum(np.square(values) * volumes(weights)))
    if size == 0:
        raise ValueError("f is zero at every vertex that has edges: its quotient is not defined")
    edges = weights.tocoo()
    # Each edge is stored twice.
    energy = float(np.sum(edges.data * np.square(values[edges.row] - values[edges.col]))) / 2
    return energy / size


@complete_docstring(PARAMETERS)
def contract(weights: csr_array, groups: ArrayLike) -> csr_array:
    """Merge the vertices of each group into one (book section 3.3.3).

    Weights between groups are summed; those inside become a loop, each edge counted in both
    directions, so that no volume is lost. The graph eigenvalue does not fall (Theorem 3.2, whose
    statement in the book has the sign that its proof has not).

    Parameters
    ----------
    groups : array (n,) of int
        The vertex of the result that each vertex becomes, from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> path = csr_array(np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 3.0], [0.0, 3.0, 0.0]]))
    >>> contract(path, [0, 0, 1]).toarray()
    array([[4., 3.],
           [3., 0.]])
    """
    weights = as_undirected(weights)
    n = weights.shape[0]
    group = np.asarray(groups)
    if group.shape != (n,) or group.dtype.kind not in "iu" or group.min(initial=0) < 0:
        raise ValueError(f"groups must hold one number from 0 for each of {n} vertices")
    count = int(group.max(initial=-1)) + 1
    edges = weights.astype(np.float64).tocoo()
    ends = (group[edges.row], group[edges.col])
    return csr_array(coo_array((edges.data, ends), shape=(count, count)))


def as_undirected(graph: csr_array) -> csr_array:
    """Compressed rows of weights, each of which is the same in the other direction."""
    weights = as_weights(graph)
    _, _, forth, back = both_ways(weights, absent=0.0)
    if np.any(np.abs(forth - back) > SAME * np.maximum(forth, back)):
        raise ValueError(
            "the graph is directed and this quantity is of undirected ones: pass "
            "unbend.graphs.symmetrize(weights, 'max'), 'min' or 'mean'"
        )
    return weights
