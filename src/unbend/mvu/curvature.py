"""Newton matrices of the low-rank problem, sparse or in a basis, and their factors."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import bsr_array, csc_array, csr_array, eye_array
from scipy.sparse.linalg import splu

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.cached import cached_property
from unbend.eigen.shift_invert import analyse
from unbend.memory import reserve
from unbend.mvu.edges import Edges, SubspaceEdges

# How SuperLU orders columns: by itself, or as they are.
Order = Literal["MMD_AT_PLUS_A", "NATURAL"]
# Largest shift: beyond it the curvature of the problem is lost.
MOST_SHIFT = 1e16


@dataclass(frozen=True, eq=False)
class NewtonMatrix:
    """L(u)⊗I − I + Σ q (yᵢ − yⱼ)(yᵢ − yⱼ)' over the edges: blocks (r, r), one for each pair."""

    edges: Edges
    rank: int

    @cached_property
    def _plain(self) -> "_Structure":
        return _Structure.of(self.edges, self.rank, np.arange(self.edges.n))

    @cached_property
    def order(self) -> IntArray:
        """Order of the points in which elimination fills in little: found once for all steps."""
        n, edges = self.edges.n, self.edges
        pattern = csc_array(abs(edges.laplacian(np.ones(edges.m))) + 2.0 * n * eye_array(n))
        found = splu(pattern, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
        return np.argsort(found.perm_c)

    @cached_property
    def _ordered(self) -> "_Structure":
        return _Structure.of(self.edges, self.rank, np.argsort(self.order))

    @cached_property
    def _ends(self) -> csr_array:
        return abs(self.edges.incidence)

    def reserve(self) -> None:
        """Reserve memory for the factors."""
        n = self.edges.n
        pattern = csr_array(self.edges.laplacian(np.ones(self.edges.m)))
        # Values and row indices of both triangles.
        size = 24 * analyse(pattern).analysis.stored * self.rank**2
        reserve(size, f"factors for {n} rows and rank {self.rank}", "use fewer rows or neighbours")

    def assemble(
        self, tensions: FloatArray, stiffness: FloatArray, differences: FloatArray, shift: float
    ) -> csc_array:
        """Assemble the matrix plus a multiple of the identity."""
        return self._plain.fill(self._blocks(tensions, stiffness, differences, shift))

    def factor(
        self, tensions: FloatArray, stiffness: FloatArray, differences: FloatArray, shift: float
    ) -> "OrderedFactor | None":
        """Factorise the same; None if a pivot is zero."""
        matrix = self._ordered.fill(self._blocks(tensions, stiffness, differences, shift))
        found = symmetric_factor(matrix, "NATURAL")
        return None if found is None else OrderedFactor(found, self.order, self.rank)

    def _blocks(
        self, tensions: FloatArray, stiffness: FloatArray, differences: FloatArray, shift: float
    ) -> FloatArray:
        """Blocks of the edges and of the points."""
        edges, r, diagonal = self.edges, self.rank, np.arange(self.rank)
        scaled = (2.0 * stiffness / np.square(edges.squares))[:, None] * differences
        blocks = np.empty((edges.m + edges.n, r, r))
        between, own = blocks[: edges.m], blocks[edges.m :]
        np.multiply(scaled[:, :, None], differences[:, None, :], out=between)
        between[:, diagonal, diagonal] += (tensions / edges.squares)[:, None]
        own[:] = (self._ends @ between.reshape(edges.m, r * r)).reshape(edges.n, r, r)
        own[:, diagonal, diagonal] += shift - 1.0
        np.negative(between, out=between)
        return blocks


@dataclass(frozen=True, eq=False)
class _Structure:
    """Offsets and rows of the columns of a matrix of blocks, and which number is at each place."""

    offsets: IntArray
    rows: IntArray
    which: IntArray

    @classmethod
    def of(cls, edges: Edges, rank: int, place: IntArray) -> "_Structure":
        """Lay out the blocks of edges and of points; point i comes at place[i]."""
        every, of_edges = np.arange(edges.n), np.arange(edges.m)
        rows = np.concatenate((edges.first, edges.second, every))
        columns = np.concatenate((edges.second, edges.first, every))
        numbers = np.concatenate((of_edges, of_edges, edges.m + every)) + 1
        shape = (edges.n, edges.n)
        blocks = csr_array((numbers, (place[rows], place[columns])), shape=shape)
        blocks.sort_indices()
        within = np.arange(rank * rank).reshape(rank, rank)
        data = (blocks.data - 1)[:, None, None] * rank**2 + within
        size = edges.n * rank
        whole = bsr_array((data, blocks.indices, blocks.indptr), shape=(size, size)).tocsr()
        return cls(whole.indptr, whole.indices, whole.data)

    def fill(self, blocks: FloatArray) -> csc_array:
        """Return the matrix, which is symmetric: CSR and CSC coincide."""
        size = len(self.offsets) - 1
        return csc_array((blocks.ravel()[self.which], self.rows, self.offsets), shape=(size, size))


@dataclass(frozen=True, eq=False)
class OrderedFactor:
    """Factors of a matrix of blocks whose points were put in another order."""

    factors: Any
    order: IntArray
    rank: int

    @property
    def negative(self) -> int:
        """Number of negative eigenvalues."""
        return negative_pivots(self.factors)

    def solve(self, force: FloatArray) -> FloatArray:
        """Solve for a vector of the points' own order."""
        rows = force.reshape(-1, self.rank)
        found = np.empty_like(rows)
        found[self.order] = self.factors.solve(rows[self.order].ravel()).reshape(rows.shape)
        return found.ravel()


def symmetric_factor(matrix: csc_array, order: Order = "MMD_AT_PLUS_A") -> Any:
    """Factorise L D L' without pivoting, D indefinite; None if a pivot is zero."""
    try:
        return splu(
            matrix,
            permc_spec=order,
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
            found = self.matrix.factor(tensions, stiffness, differences, shift)
            self.factors += 1
            translations = self.matrix.rank if shift < 1 else 0
            if found is not None and found.negative == translations:
                # A smaller shift was just too small: it is tried again after a step without.
                self.shift = shift if self.concave else max(shift / 4.0, 1e-9)
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
