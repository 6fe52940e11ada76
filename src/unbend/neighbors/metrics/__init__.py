"""Distances between rows: named metrics, their maps and norms."""

from unbend.neighbors.metrics.distances import METRICS, described
from unbend.neighbors.metrics.metric import EUCLIDEAN, Metric

__all__ = ["EUCLIDEAN", "METRICS", "Metric", "described"]
