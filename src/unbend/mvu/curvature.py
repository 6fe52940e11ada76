"""Newton matrices of the low-rank problem, sparse or in a basis, and their factors."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import bsr_array, csc_array, csr_array
from scipy.sparse.linalg import splu

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.eigen.shift_invert import analyse
from unbend.memory import reserve
from unbend.mvu.edges import Edges, SubspaceEdges

# Largest shift: beyond it the curvature of the problem is lost.
MOST_SHIFT = 1e16


@dataclass(frozen=True, eq=False)
class NewtonMatrix:
    """L(u)⊗I − I + Σ q (yᵢ − yⱼ)(yᵢ − yⱼ)' over the edges: blocks (r, r), one for each pair."""

    edges: Edges
    rank: int

    @cached_property
    def _pattern(self) -> tuple[IntArray, IntArray, IntArray]:
        """Offsets and columns of the blocks, and the position of each: edge, edge, diagonal."""
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
        """Reserve memory for the factors."""
        offsets, columns, _ = self._pattern
        n, values = self.edges.n, np.ones(len(columns))
        stored = analyse(csr_array((values, columns, offsets), shape=(n, n))).analysis.stored
        # Values and row indices of both triangles.
        size = 24 * stored * self.rank**2
        reserve(size, f"factors for {n} rows and rank {self.rank}", "use fewer rows or neighbours")

    def assemble(
        self, tensions: FloatArray, stiffness: FloatArray, differences: FloatArray, shift: float
    ) -> csc_array:
        """Assemble the matrix plus a multiple of the identity."""
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
        # Symmetric: CSR and CSC coincide.
        return csc_array((whole.data, whole.indices, whole.indptr), shape=(size, size))


def symmetric_factor(matrix: csc_array) -> Any:
    """Factorise L D L' without pivoting, D indefinite; None if a pivot is zero."""
    try:
        return splu(
            matrix,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:
        # The shift is an eigenvalue.
        return None


def negative_pivots(factor: Any) -> int:
    """Count negative eigenvalues, by Sylvester's law of inertia."""
    return int(np.sum(factor.U.diagonal() < 0))


@dataclass
class Curvature:
    """Factors of the matrix with the least shift that makes it convex up to translations.

    Translations of Y are eigenvectors with the eigenvalue shift − 1: right-hand sides of sum zero
    are orthogonal to them, and they account for `rank` negative pivots.
    """

    matrix: NewtonMatrix
    shift: float = 1e-4
    factors: int = 0
    # Largest shift that was too small for the last matrix.
    concave: float = 0.0

    def factor(
        self,
        tensions: FloatArray,
        stiffness: FloatArray,
        differences: FloatArray,
        least: float,
    ) -> tuple[Any, float]:
        """Return the factors and the shift."""
        shift, self.concave = max(self.shift, least), 0.0
        while shift < MOST_SHIFT:
            if abs(shift - 1.0) < 0.05:
                shift = 1.2
            found = symmetric_factor(self.matrix.assemble(tensions, stiffness, differences, shift))
            self.factors += 1
            translations = self.matrix.rank if shift < 1 else 0
            if found is not None and negative_pivots(found) == translations:
                self.shift = max(shift / 4.0, 1e-9)
                return found, shift
            self.concave = shift
            shift *= 6.0
        raise FloatingPointError


@dataclass(frozen=True, eq=False)
class _DenseFactor:
    factors: tuple[FloatArray, bool]

    def solve(self, force: FloatArray) -> FloatArray:
        return np.asarray(cho_solve(self.factors, force, check_finite=False))


@dataclass
class DenseCurvature:
    """Factors of L(u)⊗I − I + Σ q (v⊗δ)(v⊗δ)' over the edges, shifted to be convex."""

    edges: SubspaceEdges
    shift: float = 1e-6
    factors: int = 0
    concave: float = 0.0

    def factor(
        self, tensions: FloatArray, stiffness: FloatArray, differences: FloatArray, least: float
    ) -> tuple[Any, float]:
        """Return the factors and the shift."""
        matrix = self._assemble(tensions, stiffness, differences)
        if not np.all(np.isfinite(matrix)):
            raise FloatingPointError
        shift, self.concave = max(self.shift, least), 0.0
        while shift < MOST_SHIFT:
            self.factors += 1
            try:
                lifted = matrix + shift * np.eye(len(matrix))
                found = cho_factor(lifted, lower=True, overwrite_a=True, check_finite=False)
            except LinAlgError:
                self.concave, shift = shift, 6.0 * shift
                continue
            self.shift = max(shift / 4.0, 1e-11)
            return _DenseFactor(found), shift
        raise FloatingPointError

    def _assemble(
        self, tensions: FloatArray, stiffness: FloatArray, differences: FloatArray
    ) -> FloatArray:
        edges, rank = self.edges, differences.shape[1]
        size = edges.p * rank
        roots = np.sqrt(2.0 * stiffness) / edges.squares
        matrix = np.kron(edges.laplacian(tensions) - np.eye(edges.p), np.eye(rank))
        for rows in row_chunks(len(roots), 8 * size, 1 << 25):
            scaled = roots[rows, None] * differences[rows]
            products = (edges.vectors[rows, :, None] * scaled[:, None, :]).reshape(-1, size)
            matrix += products.T @ products
        return matrix
