"""Who is near whom: spaces that answer neighbour queries, and the neighbourhoods they give."""

from unbend.neighbors.index import BruteForce, KDTree, NeighborIndex, NNDescent
from unbend.neighbors.metrics import Metric
from unbend.neighbors.metrics.distances import METRICS, described
from unbend.neighbors.neighbors import Neighbors
from unbend.neighbors.opening import MetricName, make_space, open_space
from unbend.neighbors.points import PointSpace
from unbend.neighbors.precomputed import DistanceSpace, GraphSpace
from unbend.neighbors.space import Space

__all__ = [
    "METRICS",
    "BruteForce",
    "DistanceSpace",
    "GraphSpace",
    "KDTree",
    "Metric",
    "MetricName",
    "NNDescent",
    "NeighborIndex",
    "Neighbors",
    "PointSpace",
    "Space",
    "described",
    "make_space",
    "open_space",
]
