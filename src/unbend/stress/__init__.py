"""Multidimensional scaling as a problem: pairs, a loss or a transformation, a solver, a start."""

from unbend.stress.objective import LOSSES, FittedStress, MetricStress, Objective
from unbend.stress.pairs import Pairs
from unbend.stress.place import OwnStress
from unbend.stress.solvers import Solution, majorise, quasi_newton
from unbend.stress.starts import principal_axes
from unbend.stress.stochastic import matched_pairs, sampled_stress
from unbend.stress.transformations import Interval, Monotone, Ratio, Replicated, Transformation

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
