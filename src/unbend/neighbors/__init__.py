"""Who is near whom: spaces that answer neighbour queries, and the neighbourhoods they give."""

from unbend.neighbors.descent import NNDescent
from unbend.neighbors.distances import METRICS, described
from unbend.neighbors.metrics import Metric
from unbend.neighbors.points import PointSpace
from unbend.neighbors.precomputed import DistanceSpace, GraphSpace
from unbend.neighbors.space import Space
from unbend.neighbors.value import Neighbors

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
