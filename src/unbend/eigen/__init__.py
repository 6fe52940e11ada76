"""Eigensolvers as values, and `solve`, which runs them."""

from unbend.eigen.auto import Auto
from unbend.eigen.dense import Dense
from unbend.eigen.lanczos import Lanczos
from unbend.eigen.shift_invert import ShiftInvert
from unbend.eigen.solve import SOLVERS, Solver, signed, solve

__all__ = ["SOLVERS", "Auto", "Dense", "Lanczos", "ShiftInvert", "Solver", "signed", "solve"]
