"""Multidimensional scaling: pairs, losses, transformations, solvers and initial configurations."""

from unbend.mds.euclidean import (
    EuclideanDimension,
    additive_constant,
    additive_constant_bound,
    euclidean_dimension,
)
from unbend.mds.initialization import principal_axes
from unbend.mds.object_pairs import Pairs
from unbend.mds.objective import LOSSES, InverseStress, MetricStress, Objective, Stress1
from unbend.mds.placement import StressExtension
from unbend.mds.solvers import Solution, estimate_stress, quasi_newton, smacof, stochastic_gradient
from unbend.mds.transformations import Interval, Monotone, Ratio, Replicated, Transformation

__all__ = [
    "LOSSES",
    "EuclideanDimension",
    "Interval",
    "InverseStress",
    "MetricStress",
    "Monotone",
    "Objective",
    "Pairs",
    "Ratio",
    "Replicated",
    "Solution",
    "Stress1",
    "StressExtension",
    "Transformation",
    "additive_constant",
    "additive_constant_bound",
    "estimate_stress",
    "euclidean_dimension",
    "principal_axes",
    "quasi_newton",
    "smacof",
    "stochastic_gradient",
]
