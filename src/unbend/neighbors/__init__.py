"""Neighbour search: metrics, spaces, indexes and neighbourhoods."""

from unbend.neighbors.index import AutoIndex, BruteForce, KDTree, NeighborIndex, NNDescent
from unbend.neighbors.metrics import Metric
from unbend.neighbors.metrics.metric import METRICS, describe_parameters
from unbend.neighbors.neighbors import Neighbors
from unbend.neighbors.opening import MetricName, make_space, open_space
from unbend.neighbors.point_space import PointSpace
from unbend.neighbors.precomputed import AffinitySpace, DistanceSpace, GraphSpace
from unbend.neighbors.space import Space

__all__ = [
    "METRICS",
    "AffinitySpace",
    "AutoIndex",
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
    "describe_parameters",
    "make_space",
    "open_space",
]
