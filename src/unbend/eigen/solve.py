"""Solve a spectral problem: the one place where solvers are run, judged, and signs fixed."""

import time
from typing import Protocol

import numpy as np

from unbend.arrays import FloatArray
from unbend.eigen.auto import Auto
from unbend.eigen.dense import Dense
from unbend.eigen.lanczos import Lanczos
from unbend.eigen.shift_invert import ShiftInvert
from unbend.problem import SpectralProblem, Spectrum
from unbend.report import note, warn


class Solver(Protocol):
    """Finds eigenpairs of standard problems (unit mass, orthonormal trivial vectors)."""

    def eigenpairs(
        self, problem: SpectralProblem, count: int, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray, bool]:
        """Return values, vectors and whether they converged; refuse an end it cannot do."""


SOLVERS: dict[str, Solver] = {
    "auto": Auto(),
    "dense": Dense(),
    "lanczos": Lanczos(),
    "shift_invert": ShiftInvert(),
}


class NotConverged(UserWarning):
    """An eigensolver stopped before it reached its tolerance."""


def solve(
    problem: SpectralProblem,
    count: int,
    solver: Solver | str = "auto",
    rng: np.random.Generator | None = None,
) -> Spectrum:
    """Find the `count` eigenpairs at the problem's end, trivial ones left out.

    One more pair is computed where there is one, to judge how well the wanted ones are separated
    from the rest. Vectors have unit length in the mass norm; in each, the entry of largest
    magnitude is positive.

    Examples
    --------
    >>> import numpy as np
    >>> path = np.array([[1.0, -1, 0], [-1, 2, -1], [0, -1, 1]])
    >>> problem = SpectralProblem(path, "bottom", trivial=np.ones((3, 1)))
    >>> solve(problem, 2).values.round(6)
    array([1., 3.])
    """
    start = time.perf_counter()
    chosen = SOLVERS[solver] if isinstance(solver, str) else solver
    standard = problem.standard()
    asked = min(count + 1, problem.n - standard.trivial_basis.shape[1])
    note(rows=problem.n, end=problem.end, wanted=count, solver=repr(chosen))
    values, vectors, converged = chosen.eigenpairs(
        standard, asked, np.random.default_rng(0) if rng is None else rng
    )
    norm = max(standard.norm, float(np.abs(values).max()), np.finfo(float).tiny)
    residuals = np.linalg.norm(standard.matrix @ vectors - vectors * values, axis=0) / norm
    note(residuals=[float(r) for r in residuals[:count]], converged=converged)
    if not converged:
        warn(
            f"the eigensolver did not converge (relative residual {residuals[:count].max():.1e}): "
            "try eigen_solver='dense', or 'shift_invert' for a sparse kernel",
            NotConverged,
        )
    if problem.mass is not None:
        vectors = vectors / np.sqrt(problem.mass)[:, None]
    return Spectrum(
        values=values[:count],
        vectors=_signed(vectors[:, :count]),
        residuals=residuals[:count],
        solver=repr(chosen),
        seconds=time.perf_counter() - start,
        converged=converged,
        next_value=float(values[count]) if asked > count else np.nan,
        norm=norm,
    )


def _signed(vectors: FloatArray) -> FloatArray:
    peak = np.argmax(np.abs(vectors), axis=0)
    return np.asarray(vectors * np.where(vectors[peak, np.arange(vectors.shape[1])] < 0, -1.0, 1.0))
