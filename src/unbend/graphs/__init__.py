"""Data graphs: edges with lengths, connection, geodesics, weights and Laplacians."""

from unbend.graphs.connect import Bridges, bridge
from unbend.graphs.geodesics import Paths, geodesics
from unbend.graphs.graph import Graph, components, symmetrize, undirected
from unbend.graphs.laplacian import degrees, laplacian
from unbend.graphs.weights import adjacency, heat_kernel, weigh

__all__ = [
    "Bridges",
    "Graph",
    "Paths",
    "adjacency",
    "bridge",
    "components",
    "degrees",
    "geodesics",
    "heat_kernel",
    "laplacian",
    "symmetrize",
    "undirected",
    "weigh",
]
