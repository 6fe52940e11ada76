"""`solve` runs an eigensolver, measures residuals and orthogonality, and fixes signs."""

import time
from typing import Protocol

import numpy as np

from unbend.arrays import FloatArray, column_norms
from unbend.eigen.approximate import Fat, Nystrom
from unbend.eigen.auto import Auto
from unbend.eigen.dense import Dense
from unbend.eigen.krylov import products
from unbend.eigen.lanczos import Lanczos
from unbend.eigen.problem import Eigenpairs, SpectralProblem, Spectrum
from unbend.eigen.shift_invert import ShiftInvert
from unbend.report import note, warn


class Solver(Protocol):
    """Finds eigenpairs of standard problems (unit mass, orthonormal trivial vectors).

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.eigen import SOLVERS, SpectralProblem, solve
    >>> problem = SpectralProblem(np.diag([3.0, 2.0, 1.0]), "top")
    >>> solve(problem, 1, "dense").values, "dense" in SOLVERS
    (array([3.]), True)
    """

    def eigenpairs(
        self, problem: SpectralProblem, count: int, rng: np.random.Generator, threads: int = 1
    ) -> Eigenpairs:
        """Return at least `count` eigenpairs, from the problem's end inwards.

        Raise for an end that it cannot do. The result does not depend on `threads`.
        """


# Magnitudes that differ by this share of themselves or less are ties.
TIED = 1e-9

SOLVERS: dict[str, Solver] = {
    "auto": Auto(),
    "dense": Dense(),
    "lanczos": Lanczos(),
    "shift_invert": ShiftInvert(),
}


# Largest entry of V'V − I of vectors that are orthonormal, and largest residual of eigenvectors
# relative to the norm: what a solver says is checked, whoever wrote it.
OBLIQUE = 1e-10
RESIDUAL = 1e-6
# Norm of a matrix of zeros, by which residuals are divided.
TINY = float(np.finfo(np.float64).tiny)


class NotConverged(UserWarning):
    """An eigensolver stopped before it reached its tolerance."""


def solve(
    problem: SpectralProblem,
    count: int,
    solver: Solver | str = "auto",
    rng: np.random.Generator | None = None,
    threads: int = 1,
) -> Spectrum:
    """Find the `count` eigenpairs at the problem's end, trivial ones left out.

    Vectors have unit length in the mass norm; in each, the entry of largest
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
    if not isinstance(chosen, Auto):
        note(solver=type(chosen).__name__)
    values, vectors, converged, size = Eigenpairs(
        *chosen.eigenpairs(
            standard, count, np.random.default_rng(0) if rng is None else rng, threads
        )
    )
    norm = max(size or standard.norm, float(np.abs(values).max()), TINY)
    beyond = float(values[count]) if len(values) > count else np.nan
    values, vectors = values[:count], vectors[:, :count]
    oblique = float(np.abs(vectors.T @ vectors - np.eye(vectors.shape[1])).max(initial=0.0))
    # Vectors are rows from here on: NumPy walks columns side by side a few numbers at a time.
    rows = np.ascontiguousarray(vectors.T)
    images = np.ascontiguousarray(products(standard.matrix, threads)(vectors).T)
    residuals = column_norms((images - values[:, None] * rows).T) / norm
    # NaN is no small number: the comparisons are false for it.
    trivial = float(np.abs(standard.trivial_basis.T @ vectors).max(initial=0.0))
    good = bool(residuals.max(initial=0.0) <= RESIDUAL) and trivial <= RESIDUAL
    # Approximations by columns record a bound of their deviation instead.
    converged = bool(
        converged and oblique <= OBLIQUE and (good or isinstance(chosen, Fat | Nystrom))
    )
    note(
        rows=problem.n,
        end=problem.end,
        wanted=count,
        residuals=[float(r) for r in residuals],
        converged=converged,
    )
    if not converged:
        warn(
            f"The eigensolver did not converge (relative residual {residuals.max():.1e}, "
            f"orthogonality error {oblique:.1e}). Use eigen_solver='dense', or 'shift_invert' for "
            "a sparse kernel.",
            NotConverged,
        )
    if problem.mass is not None:
        rows = rows / np.sqrt(problem.mass)
    return Spectrum(
        values=np.ascontiguousarray(values + problem.shift),
        vectors=fix_signs(rows.T),
        residuals=residuals,
        solver=repr(chosen),
        seconds=time.perf_counter() - start,
        converged=converged,
        next_value=beyond + problem.shift,
        norm=norm + problem.shift,
    )


def fix_signs(vectors: FloatArray) -> FloatArray:
    """Turn each column so that its entry of largest magnitude is positive, the first one of ties.

    Magnitudes that agree to nine digits are ties, or rounding would decide the sign where two
    entries are equal and opposite, as the loadings of a category with two levels.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.eigen import fix_signs
    >>> fix_signs(np.array([[0.1, 2.0], [-3.0, 1.0]]))
    array([[-0.1,  2. ],
           [ 3. ,  1. ]])
    """
    rows = np.ascontiguousarray(vectors.T)
    sizes = np.abs(rows)
    peak = (sizes >= (1.0 - TIED) * sizes.max(axis=1, keepdims=True, initial=0.0)).argmax(axis=1)
    signs = np.where(rows[np.arange(len(rows)), peak] < 0, -1.0, 1.0)
    return np.ascontiguousarray((rows * signs[:, None]).T)
