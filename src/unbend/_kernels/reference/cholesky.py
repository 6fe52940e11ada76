"""Cholesky factors, by SuperLU."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import SuperLU, splu

from unbend.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Analysis:
    """What a Cholesky factor will take, known before it is computed.

    Entries of L, as many as were counted if the analysis was given up; multiplications with
    additions; and whether it was completed, or given up at `most_flops`.
    """

    entries: int
    flops: float
    complete: bool

    @property
    def stored(self) -> int:
        """Numbers that the factor will hold: SuperLU keeps L and U."""
        return 2 * self.entries


def analyse(row: IntArray, column: IntArray, most_flops: float) -> Analysis:
    """Order a symmetric CSR pattern and predict its Cholesky factor, or give up.

    Here by the profile after reverse Cuthill–McKee ordering.
    """
    n = len(row) - 1
    pattern = csr_array((np.ones(len(column), dtype=np.int8), column, row), shape=(n, n))
    if abs(pattern - pattern.T).sum():
        raise ValueError("the pattern of the matrix is not symmetric")
    order = reverse_cuthill_mckee(pattern, symmetric_mode=True)
    position = np.empty(n, dtype=np.int64)
    position[order] = np.arange(n)
    first = position.copy()
    np.minimum.at(first, np.repeat(np.arange(n), np.diff(row)), position[column])
    lengths = (position - first + 1).astype(np.float64)
    flops = float(np.sum(lengths**2))
    return Analysis(int(lengths.sum()), flops, flops <= most_flops)


@dataclass(frozen=True, eq=False)
class Factor:
    """A Cholesky factor; `replaced` pivots were zero up to rounding and were raised."""

    factors: SuperLU
    replaced: int = 0

    @property
    def entries(self) -> int:
        """Entries of L."""
        return self.factors.L.nnz

    def solve(self, right: FloatArray, threads: int, solution: FloatArray) -> None:
        """Fill `solution` (n, w) with the solutions for right-hand sides (n, w)."""
        solution[...] = self.factors.solve(np.asarray(right, dtype=np.float64))


def factor(
    analysis: Analysis,
    row: IntArray,
    column: IntArray,
    values: FloatArray,
    shift: float,
    threads: int,
) -> Factor:
    """Factorise A + shift·I; a ValueError if it is not positive definite.

    Here by SuperLU, without the analysis.
    """
    n = len(row) - 1
    # Compressed columns of a symmetric matrix are its compressed rows.
    matrix = csc_array((values, column, row), shape=(n, n)) + shift * eye_array(n)
    # Symmetric mode without pivoting keeps the fill of a Cholesky factorisation.
    try:
        factors = splu(
            csc_array(matrix),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError as error:
        raise ValueError(f"the matrix is not positive definite: {error}") from error
    pivoted = not np.array_equal(factors.perm_r, factors.perm_c)
    if pivoted or not np.all(factors.U.diagonal() > 0):
        raise ValueError("the matrix is not positive definite")
    return Factor(factors)
