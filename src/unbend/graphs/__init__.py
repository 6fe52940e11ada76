"""Data graphs: edges with lengths, connection, geodesics, weights, Laplacians and their spectra."""

from typing import TYPE_CHECKING

from unbend.graphs.combine import combine
from unbend.graphs.connect import (
    Bridges,
    Enlargement,
    Fewest,
    bridge,
    connecting_radius,
    enlarge,
    fewest_neighbors,
)
from unbend.graphs.connectivity import Connectivity, connectivity, strong_components
from unbend.graphs.consistency import Consistency, consistency
from unbend.graphs.geodesic_bounds import GeodesicBounds, geodesic_bounds, s_distances
from unbend.graphs.geodesics import (
    Path,
    Paths,
    floyd_warshall,
    geodesics,
    shortest_paths,
    symmetric_geodesics,
)
from unbend.graphs.graph import Graph, components, symmetrize, undirected
from unbend.graphs.interchange import (
    LabelledGraph,
    from_igraph,
    from_networkx,
    label_graph,
    to_igraph,
    to_networkx,
)
from unbend.graphs.laplacian import (
    EigenvalueBounds,
    degrees,
    diameter,
    eigenvalue_bounds,
    graph_eigenvalue,
    incidence,
    laplacian,
    spectrum,
)
from unbend.graphs.weights import adjacency, heat_kernel, weigh
from unbend.lazy import lazy_names

if TYPE_CHECKING:
    from unbend.graphs.quantities import (
        boundary_volume,
        contract,
        degree_counts,
        normalized_cut,
        rayleigh_quotient,
        volume,
        volumes,
    )
    from unbend.graphs.short_circuits import ShortCircuits, find_short_circuits

__all__ = [
    "Bridges",
    "Connectivity",
    "Consistency",
    "EigenvalueBounds",
    "Enlargement",
    "Fewest",
    "GeodesicBounds",
    "Graph",
    "LabelledGraph",
    "Path",
    "Paths",
    "ShortCircuits",
    "adjacency",
    "boundary_volume",
    "bridge",
    "combine",
    "components",
    "connecting_radius",
    "connectivity",
    "consistency",
    "contract",
    "degree_counts",
    "degrees",
    "diameter",
    "eigenvalue_bounds",
    "enlarge",
    "fewest_neighbors",
    "find_short_circuits",
    "floyd_warshall",
    "from_igraph",
    "from_networkx",
    "geodesic_bounds",
    "geodesics",
    "graph_eigenvalue",
    "heat_kernel",
    "incidence",
    "label_graph",
    "laplacian",
    "normalized_cut",
    "rayleigh_quotient",
    "s_distances",
    "shortest_paths",
    "spectrum",
    "strong_components",
    "symmetric_geodesics",
    "symmetrize",
    "to_igraph",
    "to_networkx",
    "undirected",
    "volume",
    "volumes",
    "weigh",
]

# Imported when they are first used: fits need none of them.
__getattr__ = lazy_names(
    __name__,
    {
        "quantities": (
            "boundary_volume",
            "contract",
            "degree_counts",
            "normalized_cut",
            "rayleigh_quotient",
            "volume",
            "volumes",
        ),
        "short_circuits": ("ShortCircuits", "find_short_circuits"),
    },
)


def __dir__() -> list[str]:
    return __all__
