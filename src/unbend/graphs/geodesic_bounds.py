"""How near graph distances are to geodesics: S-distances, Theorems 8.2 and 8.3 of the book."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from unbend.arrays import FloatArray
from unbend.docstrings import complete_docstring
from unbend.graphs.geodesics import geodesics
from unbend.graphs.graph import PARAMETERS, as_edges
from unbend.validation.arrays import check_rows
from unbend.validation.distances import check_distances
from unbend.validation.scalars import check_real


@complete_docstring(PARAMETERS)
def s_distances(lengths: csr_array, true: ArrayLike, *, threads: int = 1) -> FloatArray:
    """Shortest paths along a graph whose edges have the true geodesic length (Definition 8.1).

    They separate the two errors of graph distances d_G: d_M ≤ d_S, since paths must pass through
    points of the sample, and d_G ≤ d_S, since edges are chords.

    Parameters
    ----------
    lengths : csr_array
        The graph; its own lengths do not matter.
    true : array_like of shape (n, n)
        Geodesic distances d_M on the manifold, as distances in a chart that is isometric.

    Returns
    -------
    array (n, n)

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> angle = np.array([0.0, 1.0, 2.0])
    >>> path = csr_array(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> s_distances(path, np.abs(angle[:, None] - angle))[0]
    array([0., 1., 2.])
    """
    graph = as_edges(lengths, "lengths", "length").tocoo()
    distances = np.asarray(check_rows(true, "true", min_rows=1), dtype=np.float64)
    check_distances(distances, "true")
    if distances.shape != graph.shape:
        raise ValueError(
            f"true has {len(distances)} rows and the graph {graph.shape[0]} vertices: pass one "
            "row and one column for each vertex"
        )
    edges = csr_array((distances[graph.row, graph.col], (graph.row, graph.col)), shape=graph.shape)
    return geodesics(edges, threads=threads)


@dataclass(frozen=True)
class GeodesicBounds:
    """Factors between graph distances d_G and geodesic distances d_M on the manifold.

    `lower` d_M ≤ d_G ≤ d_S ≤ `upper` d_M; not a number where the conditions do not hold.

    Examples
    --------
    >>> from unbend import graphs
    >>> bounds = graphs.geodesic_bounds(0.4, 0.05, 0.4, curvature_radius=1.0)
    >>> bounds.lower < 1 < bounds.upper
    True
    """

    lower: float
    upper: float


def geodesic_bounds(
    epsilon: float,
    delta: float,
    longest: float,
    *,
    curvature_radius: float,
    branch_separation: float = np.inf,
) -> GeodesicBounds:
    """Bound the error of graph distances on a convex manifold (Theorems 8.2 and 8.3).

    Upper: where all points within ε of each other are joined, and every point of the manifold has
    one of the sample within δ < ε/4 along it, d_S ≤ (1 + 4δ/ε) d_M. Lower: where no edge is longer
    than the branch separation s₀, d_G ≥ (1 − λ) d_S with λ = (π longest/2r₀)²/24. (In the book
    (8.23) lacks r₀, and (8.26) has d_S where the proof has d_G.)

    Parameters
    ----------
    epsilon : float
        Distance up to which all points are joined.
    delta : float
        Largest distance along the manifold from one of its points to the sample.
    longest : float
        Length of the longest edge.
    curvature_radius : float
        r₀, the least radius of curvature of a geodesic.
    branch_separation : float
        s₀: points nearer than this have a geodesic distance below π r₀. Infinite where no geodesic
        is longer than that.

    Returns
    -------
    GeodesicBounds

    Examples
    --------
    >>> bounds = geodesic_bounds(0.4, 0.05, 0.4, curvature_radius=1.0)
    >>> round(bounds.lower, 3), bounds.upper
    (0.984, 1.5)
    """
    for name, value in {"epsilon": epsilon, "delta": delta, "longest": longest}.items():
        check_real(name, value, 0, closed="neither")
    radius = check_real("curvature_radius", curvature_radius, 0, closed="neither")
    bend = (np.pi * longest / (2.0 * radius)) ** 2 / 24.0
    flat = longest < branch_separation and bend < 1
    dense = 4.0 * delta < epsilon
    return GeodesicBounds(
        float(1.0 - bend) if flat else float("nan"),
        float(1.0 + 4.0 * delta / epsilon) if dense else float("nan"),
    )
