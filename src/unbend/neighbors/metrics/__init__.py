"""Distances between rows: named metrics, their maps and norms."""

from unbend.neighbors.metrics.metric import EUCLIDEAN, METRICS, Metric, described

__all__ = ["EUCLIDEAN", "METRICS", "Metric", "described"]
