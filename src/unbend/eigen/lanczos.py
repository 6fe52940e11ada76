"""Lanczos eigensolver: either end of the spectrum, from matrix products alone."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator

from unbend.arrays import is_sparse
from unbend.eigen.dense import Dense
from unbend.eigen.krylov import Iteration, RitzPairs, block_krylov
from unbend.eigen.problem import Eigenpairs, SpectralProblem

# A pair of the top end must have a residual below this many tolerances of its own eigenvalue, or
# as small as rounding lets it become: vectors are scaled by √λ, however small λ is.
OWN = 1e4
# Blocks from which on products with all entries may have reached the tolerance.
FEWEST_BLOCKS = 4
# Residuals of random vectors over the largest eigenvalue, seen by how fast the first fall.
UNKNOWN = 100.0
# Share of its previous value to which a residual must fall, lest it count as rounding.
FALLING = 0.8
# Rounded sums along paths of hundreds of edges make a matrix a little asymmetric, by more than
# their own accuracy: multiple of the accuracy up to which a residual is rounding once it has not
# fallen to that share in so many looks. Of crowded eigenvalues it takes four or five.
ASYMMETRIC, STALLED = 8.0, 8


@dataclass(frozen=True)
class Lanczos:
    """Block Lanczos with restarts: for the top end, and for bottom ends that are well separated.

    Parameters
    ----------
    tol : float
        Residual relative to the largest eigenvalue seen at which an eigenpair is accepted. Top
        eigenvalues below 1e-4 of the largest are iterated further, to 1e4·tol of their own size
        or until rounding stops progress.
    depth : int
        Blocks added before each restart.
    guard : int
        Vectors carried beyond those asked for; multiple eigenvalues need at least one.
    passes : int
        Restarts before giving up, which is then reported.

    Examples
    --------
    >>> import unbend
    >>> digits = unbend.datasets.swiss_roll(500, random_state=0).points
    >>> isomap = unbend.Isomap(eigen_solver=unbend.eigen.Lanczos(tol=1e-10)).fit(digits)
    >>> isomap.report_.stage("spectrum").facts["converged"]
    True
    """

    tol: float = 1e-12
    depth: int = 8
    guard: int = 4
    passes: int = 200

    def eigenpairs(
        self, problem: SpectralProblem, count: int, rng: np.random.Generator, threads: int = 1
    ) -> Eigenpairs:
        """Return at least `count` eigenpairs."""
        width = count + self.guard
        if width * (self.depth + 2) + problem.trivial_basis.shape[1] > problem.n:
            return Dense().eigenpairs(problem, count, rng, threads)

        sparse = is_sparse(problem.matrix)
        # Products with all entries take as long for two vectors as for a block: no search of its
        # own, the random vectors of the block are one.
        iteration = Iteration(
            self._stopping_rule(problem, count),
            self.depth,
            self.passes,
            passes_a_check=2 if sparse else 0,
            checked_from=self.depth + 1 if sparse else FEWEST_BLOCKS,
            threads=threads,
            begin=np.inf if sparse else UNKNOWN / self.tol,
        )
        slack = max(self.tol, problem.accuracy) * problem.norm if sparse else 0.0
        return block_krylov(problem, count, width, iteration, rng, slack)

    def _stopping_rule(self, problem: SpectralProblem, count: int) -> Callable[[RitzPairs], float]:
        tol, lowest = max(self.tol, problem.accuracy), np.inf
        rounded, least, waited = ASYMMETRIC * problem.accuracy, np.inf, 0
        # What the norm of products alone would take, the iteration finds on its way.
        products = isinstance(problem.matrix, LinearOperator)
        known = problem.size if products else problem.norm

        def excess(pairs: RitzPairs) -> float:
            nonlocal lowest, least, waited
            size = max(pairs.size, known)
            worst = float(pairs.residuals.max(initial=0.0))
            # An iteration that starts again waits anew.
            far = worst > rounded * size
            falls = far or worst < FALLING * least
            least, waited = (np.inf if far else worst, 0) if falls else (least, waited + 1)
            if worst > tol * size and waited < STALLED:
                # An iteration that starts again is judged afresh.
                lowest = np.inf
                return worst / (tol * size)
            own = OWN * tol * np.abs(pairs.values[:count])
            largest = float(np.max(pairs.residuals, where=pairs.residuals > own, initial=0.0))
            if problem.end == "bottom" or largest == 0 or largest > FALLING * lowest:
                return 0.0
            lowest = largest
            return np.inf

        return excess
