"""Newton matrices of the low-rank problem, sparse or in a basis, and their factors."""

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import bsr_array, csc_array, csr_array
from scipy.sparse.linalg import splu

from unbend._kernels import kernels
from unbend._kernels.parts import map_parts
from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.cached import cached_property
from unbend.memory import reserve
from unbend.mvu.edges import Edges, SubspaceEdges
from unbend.report import ask

if TYPE_CHECKING:
    from unbend._kernels.reference import Analysis, Factor

# Largest shift: beyond it the curvature of the problem is lost.
MOST_SHIFT = 1e16
# Bytes of products of edges and coordinates that are summed at a time.
CHUNK = 1 << 22


@dataclass(frozen=True, eq=False)
class NewtonMatrix:
    """L(u)⊗I − I + Σ q (yᵢ − yⱼ)(yᵢ − yⱼ)' over the edges: blocks (r, r), one for each pair."""

    edges: Edges
    rank: int
    threads: int = 1

    @cached_property
    def _layout(self) -> "BlockLayout":
        return BlockLayout.of(self.edges, self.rank)

    @cached_property
    def _analysis(self) -> "Analysis":
        """Order in which elimination fills in little, and the factor's structure, for all steps."""
        return kernels.analyse(self._layout.row, self._layout.column, inf, self.threads)

    def reserve(self) -> None:
        """Reserve memory for the factors."""
        n = self.edges.n
        # Those of a step, and those that are tried with another shift.
        size = 16 * self._analysis.stored
        reserve(size, f"factors for {n} rows and rank {self.rank}", "use fewer rows or neighbours")

    def assemble(
        self, tensions: FloatArray, stiffness: FloatArray, differences: FloatArray, shift: float
    ) -> csr_array:
        """Assemble the matrix plus a multiple of the identity."""
        layout, size = self._layout, self.edges.n * self.rank
        values = self.values(tensions, stiffness, differences, shift)
        return csr_array((values, layout.column, layout.row), shape=(size, size))

    def values(
        self, tensions: FloatArray, stiffness: FloatArray, differences: FloatArray, shift: float
    ) -> FloatArray:
        """Entries of the same in the order of compressed rows."""
        layout, squares = self._layout, self.edges.squares
        found = np.empty(len(layout.column))
        kernels.edge_blocks(
            layout.row,
            layout.own,
            layout.ends,
            layout.slots,
            tensions / squares,
            2.0 * stiffness / np.square(squares),
            np.ascontiguousarray(differences),
            shift - 1.0,
            found,
        )
        return found

    def factor(self, values: FloatArray, shift: float) -> "SignedFactor | None":
        """Factorise entries plus a multiple of the identity; None if a pivot is zero."""
        layout = self._layout
        try:
            found = kernels.factor(
                self._analysis, layout.row, layout.column, values, shift, self.threads, True
            )
        except ValueError:
            # The shift is an eigenvalue.
            return None
        return SignedFactor(found, self.threads)


@dataclass(frozen=True, eq=False)
class BlockLayout:
    """Compressed rows of a matrix of blocks, and where each block begins in them."""

    row: IntArray
    column: IntArray
    own: IntArray
    ends: IntArray
    slots: IntArray

    @classmethod
    def of(cls, edges: Edges, rank: int) -> "BlockLayout":
        """Lay out the blocks of the edges, there and back, and of the points."""
        n, every, of_edges = edges.n, np.arange(edges.n), np.arange(edges.m)
        ends = np.column_stack((edges.first, edges.second))
        numbers = np.concatenate((2 * of_edges, 2 * of_edges + 1, 2 * edges.m + every)) + 1
        places = (
            np.concatenate((edges.first, edges.second, every)),
            np.concatenate((edges.second, edges.first, every)),
        )
        blocks = csr_array((numbers, places), shape=(n, n))
        blocks.sort_indices()
        ask()
        size, ones = n * rank, np.ones((len(blocks.data), rank, rank))
        whole = bsr_array((ones, blocks.indices, blocks.indptr), shape=(size, size)).tocsr()
        ask()
        row = whole.indptr.astype(np.int64)
        owner = np.repeat(every, np.diff(blocks.indptr))
        within = np.arange(len(owner)) - blocks.indptr[owner]
        slots = np.empty(2 * edges.m + n, dtype=np.int64)
        slots[blocks.data - 1] = row[owner * rank] + within * rank
        return cls(
            row,
            whole.indices.astype(np.int32),
            slots[2 * edges.m :],
            ends.astype(np.int32),
            slots[: 2 * edges.m].reshape(-1, 2),
        )


@dataclass(frozen=True, eq=False)
class SignedFactor:
    """Factors L S L' of a matrix of blocks, with a diagonal S of signs."""

    factor: "Factor"
    threads: int = 1

    @property
    def negative(self) -> int:
        """Number of negative eigenvalues, by Sylvester's law of inertia."""
        return self.factor.negative

    def solve(self, force: FloatArray) -> FloatArray:
        """Solve for a vector."""
        found = np.empty((len(force), 1))
        self.factor.solve(force[:, None], self.threads, found)
        return found[:, 0]


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
        values = self.matrix.values(tensions, stiffness, differences, 0.0)
        shift, self.concave = max(self.shift, least), 0.0
        while shift < MOST_SHIFT:
            if abs(shift - 1.0) < 0.05:
                shift = 1.2
            ask()
            found = self.matrix.factor(values, shift)
            self.factors += 1
            translations = self.matrix.rank if shift < 1 else 0
            if found is not None and found.negative == translations:
                # A smaller shift was just too small: it is tried again after a step without.
                self.shift = shift if self.concave else max(shift / 4.0, 1e-9)
                return found, shift
            # One factor is held at a time.
            found = None
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

        def squares(rows: slice) -> FloatArray:
            scaled = roots[rows, None] * differences[rows]
            products = (edges.vectors[rows, :, None] * scaled[:, None, :]).reshape(-1, size)
            return np.asarray(products.T @ products)

        # As many parts at a time as there are threads: each is as large as the matrix.
        chunks = row_chunks(len(roots), 8 * size, CHUNK)
        for first in range(0, len(chunks), edges.threads):
            some = chunks[first : first + edges.threads]
            for part in map_parts(squares, some, edges.threads):
                matrix += part
            ask()
        return matrix
