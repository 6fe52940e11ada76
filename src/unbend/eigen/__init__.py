"""Eigensolvers as values, and `solve`, which runs them."""

from unbend.eigen.auto import Auto
from unbend.eigen.dense import Dense
from unbend.eigen.lanczos import Lanczos
from unbend.eigen.shift_invert import ShiftInvert
from unbend.eigen.solve import SOLVERS, Solver, signed, solve

# After `solve`, which parts of `lowrank` import.
from unbend.eigen.fat import Fat, few_columns  # isort: skip
from unbend.eigen.nystrom import Nystrom  # isort: skip

__all__ = [
    "SOLVERS",
    "Auto",
    "Dense",
    "Fat",
    "Lanczos",
    "Nystrom",
    "ShiftInvert",
    "Solver",
    "few_columns",
    "signed",
    "solve",
]
