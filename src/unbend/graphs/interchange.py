"""Graphs to and from SciPy, networkx and igraph, with the labels of their vertices."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np
from scipy.sparse import coo_array, csr_array

from unbend.arrays import FloatArray, is_sparse
from unbend.docstrings import complete_docstring
from unbend.graphs.graph import Graph, as_edges, both_ways
from unbend.neighbors.neighbors import Neighbors

Meaning = Literal["length", "similarity"]

GRAPH_PARAMETERS = {
    "graph": "sparse matrix (n, n), Neighbors, Graph or LabelledGraph\n"
    "    Every stored entry is an edge.",
    "labels": "sequence, optional\n    Names of the vertices; by default their numbers.",
    "meaning": '{"length", "similarity"}\n    What the numbers are.',
}
READ_PARAMETERS = {
    "meaning": '{"length", "similarity"}, optional\n    What the numbers are; by default what the '
    "graph attribute `weight` says, else lengths.",
    "weight": "str\n    Edge attribute with the numbers; edges are one if none has it.",
}


@dataclass(frozen=True, eq=False)
class LabelledGraph:
    """A sparse matrix of edges, the label of each vertex, and what the numbers mean.

    "length": small means near, for Isomap and geodesics; "similarity": large means near, for
    Laplacians. A stored zero is an edge of length zero.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from unbend import graphs
    >>> path = csr_array(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> graph = graphs.label_graph(path, labels=["a", "b", "c"])
    >>> graph.labels, graph.meaning
    (('a', 'b', 'c'), 'length')
    """

    edges: csr_array
    labels: tuple[Hashable, ...]
    meaning: Meaning = "length"

    def __post_init__(self) -> None:
        n = self.edges.shape[0]
        if self.edges.shape != (n, n):
            raise ValueError(f"edges must be a square matrix and they are {self.edges.shape}")
        if len(self.labels) != n or len(set(self.labels)) != n:
            raise ValueError(f"labels must be {n} different ones, one for each vertex")
        if np.any(np.isnan(self.edges.data)):
            raise ValueError("the number of an edge is NaN: leave out edges that are not known")
        if self.meaning not in ("length", "similarity"):
            raise ValueError(f"meaning must be 'length' or 'similarity', not {self.meaning!r}")

    @property
    def directed(self) -> bool:
        """Whether some edge lacks its reverse, or has another number there."""
        _, _, forth, back = both_ways(self.edges, absent=np.inf)
        return bool(np.any(forth != back))


@complete_docstring(GRAPH_PARAMETERS)
def label_graph(
    graph: Any, labels: Sequence[Hashable] | None = None, meaning: Meaning = "length"
) -> LabelledGraph:
    """Make a graph with labels of a sparse matrix, of `Neighbors` or of a `Graph`.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> trip = label_graph(csr_array(np.array([[0.0, 3.0], [3.0, 0.0]])), ["Rome", "Oslo"])
    >>> trip.labels, trip.directed
    (('Rome', 'Oslo'), False)
    """
    if isinstance(graph, LabelledGraph):
        return graph
    if isinstance(graph, Neighbors):
        graph = graph.graph()
    if isinstance(graph, Graph):
        graph = graph.lengths
    if not is_sparse(graph):
        raise TypeError(
            "a graph is a sparse matrix, Neighbors or Graph: for a dense matrix define the "
            "edges with scipy.sparse.csr_array(matrix)"
        )
    n = graph.shape[0]
    names = tuple(range(n)) if labels is None else tuple(labels)
    edges = coo_array(as_edges(graph, "the edges of a graph"))
    pairs = np.column_stack((edges.row, edges.col)).astype(np.int64)
    return LabelledGraph(_merge_parallel(n, pairs, edges.data, meaning), names, meaning)


@complete_docstring(GRAPH_PARAMETERS)
def to_networkx(
    graph: Any, labels: Sequence[Hashable] | None = None, meaning: Meaning = "length"
) -> Any:
    """Make a networkx graph: undirected if the edges are the same in both directions.

    The numbers are the edge attribute ``weight``, which networkx's own functions read, and the
    graph attribute ``weight`` says whether they are lengths or similarities.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> trip = to_networkx(csr_array(np.array([[0.0, 3.0], [3.0, 0.0]])), ["Rome", "Oslo"])
    >>> list(trip.edges(data="weight"))
    [('Rome', 'Oslo', 3.0)]
    """
    networkx = _optional("networkx", "networkx")
    found = label_graph(graph, labels, meaning)
    made = networkx.DiGraph() if found.directed else networkx.Graph()
    made.graph["weight"] = found.meaning
    made.add_nodes_from(found.labels)
    made.add_weighted_edges_from(
        (found.labels[i], found.labels[j], value) for i, j, value in _edge_list(found)
    )
    return made


@complete_docstring(READ_PARAMETERS)
def from_networkx(
    graph: Any, meaning: Meaning | None = None, weight: str = "weight"
) -> LabelledGraph:
    """Read a networkx graph; its nodes are the labels, in its own order.

    Parameters
    ----------
    graph : networkx graph
        Directed or not. Of parallel edges the shortest counts, or the sum of similarities.

    Examples
    --------
    >>> import networkx
    >>> path = from_networkx(networkx.path_graph(["a", "b", "c"]))
    >>> path.labels
    ('a', 'b', 'c')
    >>> path.edges.toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    labels = tuple(graph.nodes)
    place = {label: number for number, label in enumerate(labels)}
    ends = [(place[u], place[v]) for u, v in graph.edges()]
    values = [value for _, _, value in graph.edges(data=weight)]
    said = meaning or graph.graph.get("weight", "length")
    return _build_graph(labels, ends, values, graph.is_directed(), said, weight)


@complete_docstring(GRAPH_PARAMETERS)
def to_igraph(
    graph: Any, labels: Sequence[Hashable] | None = None, meaning: Meaning = "length"
) -> Any:
    """Make an igraph graph: undirected if the edges are the same in both directions.

    Labels are the vertex attribute ``label``, the numbers the edge attribute ``weight``, and the
    graph attribute ``weight`` says whether they are lengths or similarities.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> trip = to_igraph(csr_array(np.array([[0.0, 3.0], [3.0, 0.0]])), ["Rome", "Oslo"])
    >>> trip.vs["label"], trip.es["weight"]
    (['Rome', 'Oslo'], [3.0])
    """
    igraph = _optional("igraph", "igraph")
    found = label_graph(graph, labels, meaning)
    edges = _edge_list(found)
    made = igraph.Graph(
        n=len(found.labels), edges=[(i, j) for i, j, _ in edges], directed=found.directed
    )
    made["weight"] = found.meaning
    made.vs["label"] = list(found.labels)
    made.es["weight"] = [value for _, _, value in edges]
    return made


@complete_docstring(READ_PARAMETERS)
def from_igraph(
    graph: Any, meaning: Meaning | None = None, weight: str = "weight"
) -> LabelledGraph:
    """Read an igraph graph.

    Parameters
    ----------
    graph : igraph graph
        Directed or not. Of parallel edges the shortest counts, or the sum of similarities. The
        labels are the vertex attribute ``label``, else ``name``, else numbers.

    Examples
    --------
    >>> import igraph
    >>> from_igraph(igraph.Graph.Ring(3)).edges.toarray()
    array([[0., 1., 1.],
           [1., 0., 1.],
           [1., 1., 0.]])
    """
    known = graph.vs.attributes()
    name = next((attribute for attribute in ("label", "name") if attribute in known), None)
    labels = tuple(range(graph.vcount())) if name is None else tuple(graph.vs[name])
    weighted = weight in graph.es.attributes()
    values = graph.es[weight] if weighted else [None] * graph.ecount()
    declared: Any = graph["weight"] if "weight" in graph.attributes() else "length"
    ends = graph.get_edgelist()
    return _build_graph(labels, ends, values, graph.is_directed(), meaning or declared, weight)


def _optional(package: str, purpose: str) -> Any:
    try:
        return import_module(package)
    except ImportError as error:
        raise ImportError(f"graphs of {purpose} need {package}: pip install {package}") from error


def _edge_list(graph: LabelledGraph) -> list[tuple[int, int, float]]:
    """Edges as numbers; of an undirected graph each once."""
    edges = coo_array(graph.edges)
    keep = slice(None) if graph.directed else edges.row <= edges.col
    columns = (edges.row[keep], edges.col[keep], edges.data[keep])
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _build_graph(
    labels: tuple[Hashable, ...],
    ends: Sequence[tuple[int, int]],
    values: Sequence[Any],
    directed: bool,
    meaning: Meaning,
    weight: str,
) -> LabelledGraph:
    n, pairs = len(labels), np.array(ends, dtype=np.int64).reshape(-1, 2)
    lacking = sum(value is None for value in values)
    if 0 < lacking < len(values):
        raise ValueError(
            f"{lacking} of {len(values)} edges have no {weight!r}: give all one or none"
        )
    try:
        numbers = np.ones(len(values)) if lacking else np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the {weight!r} of an edge is not a number: give all one") from error
    if not directed:
        apart = pairs[:, 0] != pairs[:, 1]
        pairs = np.concatenate((pairs, pairs[apart, ::-1]))
        numbers = np.concatenate((numbers, numbers[apart]))
    return LabelledGraph(_merge_parallel(n, pairs, numbers, meaning), labels, meaning)


def _merge_parallel(n: int, pairs: Any, numbers: FloatArray, meaning: Meaning) -> csr_array:
    """One entry for each pair: of parallel edges the shortest, or the sum of similarities."""
    keys, first = np.unique(pairs[:, 0] * n + pairs[:, 1], return_inverse=True)
    merged = np.full(len(keys), np.inf if meaning == "length" else 0.0)
    with np.errstate(invalid="ignore"):
        # NaN stays, and is refused with the graph.
        (np.minimum if meaning == "length" else np.add).at(merged, first, numbers)
    return csr_array(coo_array((merged, (keys // n, keys % n)), shape=(n, n)))
