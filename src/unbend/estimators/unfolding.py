"""Maximum variance unfolding estimators: a kernel in factored form, with proved bounds."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse.linalg import LinearOperator

from unbend.arrays import FloatArray, IntArray
from unbend.eigen import SpectralProblem, Spectrum
from unbend.estimators.denoising_options import denoise_param
from unbend.estimators.kernel import Kernel, KernelEmbedding
from unbend.estimators.neighborhood import Component
from unbend.estimators.search import Needs
from unbend.extension import Barycentric, EmbeddingResult, Rule
from unbend.mvu import Certificate, Unfolding
from unbend.mvu.coordinates import Trilateration
from unbend.neighbors import GraphSpace
from unbend.report import note, warn
from unbend.validation.parameters import NOTHING, Choice, Real, declare, param

# Eigenvalues below this share of the largest do not count as dimensions.
LEAST_SHARE = 1e-6
CERTIFIED, NOT_CERTIFIED = "certified", "not certified"
CONSTRAINTS = Choice("inequality", "soft", "equality")


@declare
class UnfoldingEmbedding(KernelEmbedding):
    """Abstract: top eigenvectors, scaled by √λ, of a kernel whose variance a proof bounds.

    Attributes
    ----------
    eigenvalues_ : array (n_components,)
        Top eigenvalues of the kernel.
    kernel_ : array (n, r)
        Factor F of the kernel, K = FF', of the distinct rows (of the largest component, where each
        is embedded separately), in principal axes.
    dimension_ : int
        Where the eigenvalues of the kernel fall most steeply; on a long strip that may be after
        the first already.
    lower_bound_ : float
        Value of the objective: the variance tr K, less the penalty of changed edge lengths for
        'soft' and 'equality'.
    upper_bound_ : float
        Proved upper bound of the same objective; for landmarks, of kernels within their span. It
        bounds the variance for 'inequality' only: under springs the variance of `kernel_`
        exceeds the objective by their penalty, and so may exceed this bound.
    gap_ : float
        (upper − lower)/abs(upper).
    edge_residual_ : float
        Largest relative error of an edge length: excess over its bound, or deviation from it.
    status_ : str
        'certified' if the gap is at most `tol`, of every component where there are several, else
        'not certified'. Bounds, gap and residual are those of the largest component.
    """

    constraint: str = param(
        "inequality",
        CONSTRAINTS,
        help="Constraint on edge lengths: 'inequality' lets none grow, 'soft' penalises changes "
        "quadratically, 'equality' does so with a stiffness that nearly fixes them.",
    )
    slack: float = param(
        0.01,
        Real(0),
        help="For 'soft': relative stretch of squared lengths under equal tension in all edges. "
        "More slack gives more variance and smooths noise.",
    )
    nu: float | None = param(
        None,
        Real(0),
        NOTHING,
        help="For 'soft', in place of `slack`: the ν of tr K − ν Σ (‖yᵢ − yⱼ‖² − d²)² over the "
        "edges (book (9.19)), in the units of the data; `slack` divides each term by d² instead.",
    )
    tol: float = param(1e-6, Real(0), help="Relative gap up to which a result is certified.")
    denoise: Any = denoise_param()
    isometric: ClassVar[bool] = True
    # The semidefinite program is the dearest of all.
    most_landmarks: ClassVar[int] = 1000
    most_compared: ClassVar[int] = 1000

    def _needs(self) -> Needs:
        return Needs(sparse=True)

    def _unfolded_kernel(
        self,
        component: Component,
        unfolding: Unfolding,
        vertex: IntArray,
        reg: float = 1e-3,
        **more: Any,
    ) -> "UnfoldedKernel":
        """Record an unfolding and return its kernel; `vertex` maps rows to vertices."""
        self._note(unfolding, component.n - len(unfolding.factor))
        factor = unfolding.factor[vertex] - unfolding.factor[vertex].mean(axis=0)
        attributes = {**self._attributes(unfolding, factor), **more}
        return UnfoldedKernel(component, problem_of_factor(factor), factor, reg, attributes)

    def _check_penalty(self) -> None:
        """Refuse a ν that no spring has."""
        if self.nu is not None and self.constraint != "soft":
            raise ValueError(
                f"nu={self.nu} has no effect with constraint={self.constraint!r}: use 'soft'"
            )

    def _note(self, found: Unfolding, merged: int) -> None:
        proof = found.certificate
        note(
            method=found.solver,
            steps=found.steps,
            rank=found.rank,
            merged=merged,
            lower=proof.lower,
            upper=proof.upper,
            gap=proof.gap,
            converged=proof.gap <= self.tol,
            gradient=found.gradient,
        )
        if proof.gap > self.tol:
            warn(
                f"the unfolding is not certified: the variance may lie {proof.gap:.1e} of itself "
                f"below the largest one, more than tol={self.tol:.1e}; a larger slack, fewer "
                "neighbours or constraint='inequality' are easier"
            )

    def _attributes(self, found: Unfolding, factor: FloatArray) -> dict[str, Any]:
        proof = found.certificate
        return {
            "kernel_": factor,
            "dimension_": steepest(found.eigenvalues),
            "lower_bound_": proof.lower,
            "upper_bound_": proof.upper,
            "gap_": proof.gap,
            "edge_residual_": found.residual,
            "status_": CERTIFIED if proof.gap <= self.tol else NOT_CERTIFIED,
        }

    def _merge_attributes(self, components: list[dict[str, Any]]) -> dict[str, Any]:
        """Claim no more than what is proved of every component."""
        proved = all(one.get("status_", CERTIFIED) == CERTIFIED for one in components)
        return {**components[0], "status_": CERTIFIED if proved else NOT_CERTIFIED}


@dataclass(frozen=True, eq=False)
class UnfoldedKernel(Kernel):
    """FF' of an unfolded graph: scaled eigenvectors, extended by weights or by trilateration."""

    factor: FloatArray
    reg: float
    attributes: dict[str, Any]

    def embed(self, spectrum: Spectrum) -> EmbeddingResult:
        """Scale the eigenvectors by √λ."""
        # A zero kernel has no accurate eigenvalues.
        values = np.maximum(spectrum.values, 0.0) if self.factor.any() else np.zeros(1)
        coordinates = spectrum.vectors * np.sqrt(values)
        space, rule = self.component.space, Rule(self.component.rule.k)
        extension = (
            Trilateration(space, rule, coordinates)
            if isinstance(space, GraphSpace)
            else Barycentric(space, rule, coordinates, self.reg)
        )
        return EmbeddingResult(coordinates, extension, self.attributes)


def nothing_to_unfold() -> Unfolding:
    """One vertex, no edge."""
    zero = np.zeros(1)
    return Unfolding(zero[:, None], zero, zero, Certificate(0.0, 0.0), 0.0, 0.0, 0.0, 0, 0, "none")


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
