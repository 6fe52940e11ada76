"""Spectral duality: the bottom of one matrix is the top of another (book section 15.3.1)."""

from math import inf

import numpy as np

from unbend.arrays import FloatArray, is_sparse
from unbend.eigen.auto import worth_factorising
from unbend.eigen.factor import NotPositiveDefinite, analyse
from unbend.eigen.krylov import Apply, products
from unbend.eigen.problem import SpectralProblem
from unbend.eigen.shift_invert import inverse
from unbend.report import note


def own_products(problem: SpectralProblem, threads: int) -> Apply:
    """Products with the matrix, trivial vectors left out on both sides."""
    return beside_trivial(products(problem.matrix, threads), problem.trivial_basis)


def beside_trivial(apply: Apply, trivial: FloatArray) -> Apply:
    """P T P for products with T, P the projection beside the trivial vectors."""

    def projected(block: FloatArray) -> FloatArray:
        image = apply(block - trivial @ (trivial.T @ block))
        return np.asarray(image - trivial @ (trivial.T @ image))

    return projected


def leading(problem: SpectralProblem, count: int, threads: int) -> Apply:
    """Products with a matrix whose top is the wanted end of the problem's.

    That is K itself for the top; for the bottom its inverse, if it can be factorised, since only
    that tells crowded eigenvalues apart; else σI − K with σ about its norm.
    """
    if problem.end == "top":
        return own_products(problem, threads)
    apply = _inverse(problem, count, threads)
    if apply is not None:
        note(dual="inverse")
        return beside_trivial(apply, problem.trivial_basis)
    # For products alone the norm is an estimate from below, which will do: what lies above it turns
    # negative but small.
    shift, own = problem.norm, products(problem.matrix, threads)
    note(dual="complement", complement=shift)
    return beside_trivial(
        lambda block: np.asarray(shift * block - own(block)), problem.trivial_basis
    )


def _inverse(problem: SpectralProblem, count: int, threads: int) -> Apply | None:
    if not is_sparse(problem.matrix) or problem.norm == 0:
        return None
    symbolic = analyse(
        problem.matrix, inf if problem.nullity else worth_factorising(problem, count)
    )
    if not symbolic.analysis.complete:
        return None
    try:
        return inverse(problem, symbolic, threads)
    except NotPositiveDefinite:
        return None
