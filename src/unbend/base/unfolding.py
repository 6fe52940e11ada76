"""What estimators make of an unfolding: a spectral problem, the facts told, the attributes."""

import numpy as np
from scipy.sparse.linalg import LinearOperator

from unbend.arrays import FloatArray, IntArray
from unbend.problem import SpectralProblem
from unbend.report import note, warn
from unbend.unfold import Certificate, Unfolding

# Eigenvalues below this share of the largest do not count as dimensions.
LEAST_SHARE = 1e-6


def nothing_to_unfold() -> Unfolding:
    """One vertex, no edge."""
    zero = np.zeros(1)
    return Unfolding(zero[:, None], zero, zero, Certificate(0.0, 0.0), 0.0, 0, 0, "none")


def tell(found: Unfolding, merged: int, tol: float) -> None:
    """Write the facts of an unfolding into the report, and warn if it is not certified."""
    proof = found.certificate
    note(
        method=found.solver,
        steps=found.steps,
        rank=found.rank,
        merged=merged,
        lower=proof.lower,
        upper=proof.upper,
        gap=proof.gap,
    )
    if proof.gap > tol:
        warn(
            f"the unfolding is not certified: the variance may lie {proof.gap:.1e} of itself "
            f"below the largest one, more than tol={tol:.1e}; a larger slack, fewer "
            "neighbours or constraint='inequality' are easier"
        )


def attributes(found: Unfolding, factor: FloatArray, tol: float) -> dict[str, object]:
    """Return the fitted attributes that tell of the kernel and of its bounds."""
    proof = found.certificate
    return {
        "kernel_": factor,
        "dimension_": steepest(found.eigenvalues),
        "lower_bound_": proof.lower,
        "upper_bound_": proof.upper,
        "gap_": proof.gap,
        "edge_residual_": found.residual,
        "status_": "certified" if proof.gap <= tol else "not certified",
    }


def problem_of_factor(factor: FloatArray) -> SpectralProblem:
    """Top of FF', from products with the factor."""
    n = len(factor)
    squares = np.square(factor).sum(axis=0)

    def product(vectors: FloatArray) -> FloatArray:
        return np.asarray(factor @ (factor.T @ vectors))

    operator = LinearOperator((n, n), matvec=product, matmat=product, dtype=np.float64)
    order: IntArray = np.argsort(-squares, kind="stable")
    size = float(squares.max(initial=0.0))
    return SpectralProblem(
        operator, "top", np.ones((n, 1)), size=size, start=factor[:, order[squares[order] > 0]]
    )


def steepest(eigenvalues: FloatArray) -> int:
    """Count the eigenvalues before the largest ratio of one to the next."""
    values = np.sort(eigenvalues)[::-1]
    floor = np.append(np.maximum(values, LEAST_SHARE * values[0]), LEAST_SHARE * values[0])
    if floor[0] == 0:
        return 0
    return int(np.argmax(floor[:-1] / floor[1:])) + 1
