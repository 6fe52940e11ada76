"""Either end of a large matrix from products alone."""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray, is_sparse
from unbend.eigen.dense import Dense
from unbend.eigen.krylov import Iteration, RitzPairs, block_krylov
from unbend.problem import SpectralProblem


@dataclass(frozen=True)
class Lanczos:
    """Block Lanczos with restarts: for the top end, and for bottom ends that are well separated.

    Parameters
    ----------
    tol : float
        Residual relative to the largest eigenvalue seen at which an eigenpair is accepted.
    depth : int
        Blocks added before each restart.
    guard : int
        Vectors carried beyond those asked for; multiple eigenvalues need at least one.
    passes : int
        Restarts before giving up, which is then reported.
    """

    tol: float = 1e-12
    depth: int = 8
    guard: int = 4
    passes: int = 200

    def eigenpairs(
        self, problem: SpectralProblem, count: int, rng: np.random.Generator, threads: int = 1
    ) -> tuple[FloatArray, FloatArray, bool]:
        """Return at least `count` eigenpairs, and whether the first `count` converged."""
        width = count + self.guard
        if width * (self.depth + 2) + problem.trivial_basis.shape[1] > problem.n:
            return Dense().eigenpairs(problem, count, rng)

        tol = max(self.tol, problem.accuracy)

        def finished(pairs: RitzPairs) -> bool:
            return bool(np.all(pairs.residuals <= tol * max(pairs.size, problem.norm)))

        sparse = is_sparse(problem.matrix)
        # Products with all entries take as long for two vectors as for a block: no search of its
        # own, the random vectors of the block are one.
        iteration = Iteration(
            finished,
            self.depth,
            self.passes,
            passes_a_check=2 if sparse else 0,
            eager=not sparse,
            threads=threads,
        )
        return block_krylov(problem, count, width, iteration, rng, slack=tol * problem.norm)
