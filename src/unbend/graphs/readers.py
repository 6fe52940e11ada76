"""Readers of graphs: our own values, and graphs of networkx and igraph, as sparse matrices.

Points become a space, and neighbours are those of distinct points.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import IntArray
from unbend.graphs.graph import Graph
from unbend.graphs.interchange import LabelledGraph, Meaning, from_igraph, from_networkx
from unbend.neighbors.neighbors import Neighbors
from unbend.neighbors.point_space import PointSpace
from unbend.neighbors.space import Space
from unbend.validation.arrays import check_rows
from unbend.validation.scalars import check_neighbors

READERS = {"networkx": from_networkx, "igraph": from_igraph}
OTHER = {"length": "similarities", "similarity": "lengths"}


def is_graph(given: object) -> bool:
    """Whether something is a graph, and not the sparse matrix of one."""
    return isinstance(given, LabelledGraph | Graph | Neighbors) or _library(given) is not None


def _library(given: object) -> str | None:
    """Tell the library of a graph by its class, without importing it."""
    names = ((base.__module__.partition(".")[0], base.__name__) for base in type(given).__mro__)
    return next(
        (library for library, name in names if name == "Graph" and library in READERS), None
    )


def read_graph(given: Any, meaning: Meaning | None) -> LabelledGraph:
    """Read a graph of which the numbers must have a meaning, or any.

    Numbers of networkx and igraph have the meaning asked for unless the graph attribute `weight`
    says another; edges without a number are one, which is both.
    """
    library = _library(given)
    if library is not None:
        declared = given.graph.get("weight") if library == "networkx" else _attribute(given)
        graph = READERS[library](given, declared or meaning)
    elif isinstance(given, LabelledGraph):
        graph = given
    else:
        edges = given.graph() if isinstance(given, Neighbors) else given.lengths
        graph = LabelledGraph(edges, tuple(range(edges.shape[0])))
    if meaning not in (None, graph.meaning) and np.any(graph.edges.data != 1):
        raise ValueError(
            f"the numbers on the edges of the graph are {OTHER[str(meaning)]} and {meaning} is "
            f"needed: convert them, or pass meaning={meaning!r} where the graph is read"
        )
    return graph


def _attribute(graph: Any) -> Any:
    return graph["weight"] if "weight" in graph.attributes() else None


def edges_of(given: Any, meaning: Meaning | None = None) -> Any:
    """Return the sparse matrix of a graph; what is no graph is returned as it is."""
    return read_graph(given, meaning).edges if is_graph(given) else given


def lengths_of(given: Any) -> Any:
    """Do the same with distances, which have no direction."""
    if not is_graph(given):
        return given
    graph = read_graph(given, "length")
    if graph.directed:
        raise ValueError(
            "the graph is directed and distances are the same both ways: make it undirected, with "
            "to_undirected() of networkx or as_undirected() of igraph"
        )
    return csr_array(graph.edges)


def space_of_points(X: Any) -> PointSpace:
    """Check points, at least three, and return their space."""
    return PointSpace(np.array(check_rows(X, min_rows=3), dtype=np.float64, order="C"))


def neighbors_of_distinct(space: Space, k: int) -> tuple[Space, Neighbors, IntArray]:
    """Neighbours among distinct points, and which of them each point equals."""
    check_neighbors(k, space.n)
    neighbors = space.nearest(k)
    if np.any(neighbors.distances == 0):
        first, copy = space.distinct()
        if len(first) < space.n:
            if len(first) < 3:
                raise ValueError(f"X has only {len(first)} distinct points: give it three or more")
            space = space.take(first)
            return space, space.nearest(min(k, space.n - 1)), copy
    return space, neighbors, np.arange(space.n)
