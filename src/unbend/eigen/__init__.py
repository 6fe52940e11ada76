"""Eigensolvers as values, and `solve`, which runs them."""

from unbend.eigen.auto import Auto
from unbend.eigen.dense import Dense
from unbend.eigen.fat import Fat, few_columns
from unbend.eigen.lanczos import Lanczos
from unbend.eigen.nystrom import Nystrom
from unbend.eigen.problem import SpectralProblem, Spectrum
from unbend.eigen.shift_invert import ShiftInvert
from unbend.eigen.solve import SOLVERS, Solver, signed, solve

__all__ = [
    "SOLVERS",
    "Auto",
    "Dense",
    "Fat",
    "Lanczos",
    "Nystrom",
    "ShiftInvert",
    "Solver",
    "SpectralProblem",
    "Spectrum",
    "few_columns",
    "signed",
    "solve",
]
