"""Distances between rows: named metrics, their maps and norms."""

from unbend.neighbors.metrics.metric import EUCLIDEAN, METRICS, Metric, describe_parameters

__all__ = ["EUCLIDEAN", "METRICS", "Metric", "describe_parameters"]
