"""Eigensolvers as values, and `solve`, which runs them."""

from unbend.eigen.approximate import Fat, Nystrom, column_solver
from unbend.eigen.auto import Auto
from unbend.eigen.dense import Dense
from unbend.eigen.lanczos import Lanczos
from unbend.eigen.problem import Eigenpairs, SpectralProblem, Spectrum
from unbend.eigen.shift_invert import ShiftInvert
from unbend.eigen.solve import SOLVERS, Solver, fix_signs, solve

__all__ = [
    "SOLVERS",
    "Auto",
    "Dense",
    "Eigenpairs",
    "Fat",
    "Lanczos",
    "Nystrom",
    "ShiftInvert",
    "Solver",
    "SpectralProblem",
    "Spectrum",
    "column_solver",
    "fix_signs",
    "solve",
]
