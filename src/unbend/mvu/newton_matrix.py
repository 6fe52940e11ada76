"""The sparse matrix of Newton's method for coordinates Y (n, r), and its factors."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import bsr_array, csc_array, csr_array
from scipy.sparse.linalg import splu

from unbend.arrays import FloatArray, IntArray
from unbend.eigen.shift_invert import analyse
from unbend.memory import reserve
from unbend.mvu.edges import Edges

# Beyond this the shift hides every curvature of the problem.
MOST_SHIFT = 1e16


@dataclass(frozen=True, eq=False)
class NewtonMatrix:
    """L(u)⊗I − I + Σ q (yᵢ − yⱼ)(yᵢ − yⱼ)' over the edges: blocks (r, r), one for each pair."""

    edges: Edges
    rank: int

    @cached_property
    def _pattern(self) -> tuple[IntArray, IntArray, IntArray]:
        """Offsets and columns of the blocks, and which block each one is: edge, edge, diagonal."""
        edges, every = self.edges, np.arange(self.edges.n)
        rows = np.concatenate((edges.first, edges.second, every))
        columns = np.concatenate((edges.second, edges.first, every))
        numbers = np.arange(1, len(rows) + 1)
        blocks = csr_array((numbers, (rows, columns)), shape=(edges.n, edges.n))
        blocks.sort_indices()
        return blocks.indptr, blocks.indices, blocks.data - 1

    @cached_property
    def _ends(self) -> csr_array:
        return abs(self.edges.incidence)

    def reserve(self) -> None:
        """Ask for the memory of the factors."""
        offsets, columns, _ = self._pattern
        n, values = self.edges.n, np.ones(len(columns))
        stored = analyse(csr_array((values, columns, offsets), shape=(n, n))).analysis.stored
        # Numbers with their row indices, in both triangles.
        size = 24 * stored * self.rank**2
        reserve(size, f"factors for {n} rows and rank {self.rank}", "use fewer rows or neighbours")

    def assembled(
        self, tensions: FloatArray, stiffness: FloatArray, differences: FloatArray, shift: float
    ) -> csc_array:
        """Return the matrix, with a multiple of the identity added."""
        edges, r, diagonal = self.edges, self.rank, np.arange(self.rank)
        offsets, columns, which = self._pattern
        scaled = (2.0 * stiffness / np.square(edges.squares))[:, None] * differences
        blocks = scaled[:, :, None] * differences[:, None, :]
        blocks[:, diagonal, diagonal] += (tensions / edges.squares)[:, None]
        sums = (self._ends @ blocks.reshape(edges.m, r * r)).reshape(edges.n, r, r)
        sums[:, diagonal, diagonal] += shift - 1.0
        data = np.concatenate((-blocks, -blocks, sums))[which]
        size = edges.n * r
        whole = bsr_array((data, columns, offsets), shape=(size, size)).tocsr()
        # Symmetric: rows are columns.
        return csc_array((whole.data, whole.indices, whole.indptr), shape=(size, size))


def symmetric_factor(matrix: csc_array) -> Any:
    """Factorise L D L' without exchanges of rows, whatever the signs of D."""
    try:
        return splu(
            matrix,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:
        # A pivot is zero: the shift was an eigenvalue, to the last bit.
        return None


def negative_pivots(factor: Any) -> int:
    """Count negative eigenvalues, by Sylvester's law of inertia."""
    return int(np.sum(factor.U.diagonal() < 0))


@dataclass
class Curvature:
    """Factors of the matrix, shifted as little as makes it convex beside translations.

    Translations of Y are eigenvectors of the matrix, with the eigenvalue shift − 1: right-hand
    sides of sum zero do not see them, and they explain `rank` negative pivots.
    """

    matrix: NewtonMatrix
    shift: float = 1e-4
    factors: int = 0
    # Least shift known to be too small for the matrix last factorised.
    concave: float = 0.0

    def factor(
        self,
        tensions: FloatArray,
        stiffness: FloatArray,
        differences: FloatArray,
        least: float,
    ) -> tuple[Any, float]:
        """Return the factors, and the shift that was needed."""
        shift, self.concave = max(self.shift, least), 0.0
        while shift < MOST_SHIFT:
            if abs(shift - 1.0) < 0.05:
                shift = 1.2
            found = symmetric_factor(self.matrix.assembled(tensions, stiffness, differences, shift))
            self.factors += 1
            translations = self.matrix.rank if shift < 1 else 0
            if found is not None and negative_pivots(found) == translations:
                self.shift = max(shift / 4.0, 1e-9)
                return found, shift
            self.concave = shift
            shift *= 6.0
        raise FloatingPointError


def centred(values: FloatArray) -> FloatArray:
    """Subtract the mean row."""
    return np.asarray(values - values.mean(axis=0))
