"""Multidimensional scaling as a problem: pairs, a loss or a transformation, a solver, a start."""

from unbend.mds.objective import LOSSES, FittedStress, MetricStress, Objective
from unbend.mds.pairs import Pairs
from unbend.mds.placement import OwnStress
from unbend.mds.solvers import Solution, majorise, quasi_newton
from unbend.mds.starts import principal_axes
from unbend.mds.stochastic import matched_pairs, sampled_stress
from unbend.mds.transformations import Interval, Monotone, Ratio, Replicated, Transformation

__all__ = [
    "LOSSES",
    "FittedStress",
    "Interval",
    "MetricStress",
    "Monotone",
    "Objective",
    "OwnStress",
    "Pairs",
    "Ratio",
    "Replicated",
    "Solution",
    "Transformation",
    "majorise",
    "matched_pairs",
    "principal_axes",
    "quasi_newton",
    "sampled_stress",
]
