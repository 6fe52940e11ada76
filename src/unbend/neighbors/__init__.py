"""Who is near whom: spaces that answer neighbour queries, and the neighbourhoods they give."""

from unbend.neighbors.index.nn_descent import NNDescent
from unbend.neighbors.metrics import Metric
from unbend.neighbors.metrics.distances import METRICS, described
from unbend.neighbors.neighbors import Neighbors
from unbend.neighbors.points import PointSpace
from unbend.neighbors.precomputed import DistanceSpace, GraphSpace
from unbend.neighbors.space import Space

__all__ = [
    "METRICS",
    "DistanceSpace",
    "GraphSpace",
    "Metric",
    "NNDescent",
    "Neighbors",
    "PointSpace",
    "Space",
    "described",
]
