"""Restarted block Krylov iteration with Rayleigh–Ritz: the engine of both iterative solvers.

Blocks, not single vectors: a single-vector Krylov space holds only one direction of a multiple
eigenvalue, so closed curves, whose eigenvalues come in pairs, would lose every second coordinate.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import FloatArray, is_sparse
from unbend.problem import Matrix, SpectralProblem
from unbend.report import step

Apply = Callable[[FloatArray], FloatArray]

# Sine of the angle to the span of the other columns of a block from which on its Gram matrix
# tells them apart: errors are rounding divided by its square.
WELL_APART = 1e-2


@dataclass(frozen=True, eq=False)
class RitzPairs:
    """Approximate eigenpairs, as coefficients in a Krylov space, and how good they are."""

    values: FloatArray
    rotation: FloatArray
    residuals: FloatArray
    """Of the wanted pairs."""
    size: float
    """Largest magnitude of a Ritz value in the whole space: from below, the size of the matrix."""
    turned: float
    """Sine of the angle by which the wanted vectors still left the previous block."""


class KrylovSpace:
    """Orthonormal blocks V beside the trivial vectors, their images AV, and V'AV.

    One array holds the trivial vectors and all blocks, so that every product with them is one.
    """

    def __init__(self, problem: SpectralProblem, width: int, blocks: int, threads: int) -> None:
        self._trivial = problem.trivial_basis.shape[1]
        self._all = np.empty((problem.n, self._trivial + blocks * width), order="F")
        self._all[:, : self._trivial] = problem.trivial_basis
        self._images = np.empty((problem.n, blocks * width), order="F")
        self._small = np.empty((blocks * width, blocks * width))
        self._apply = products(problem.matrix, threads)
        self._end, self._width, self.size = problem.end, width, 0

    def orthonormal(self, block: FloatArray) -> FloatArray:
        """Orthonormal columns, orthogonal to the whole space; twice is enough (Kahan)."""
        against = self._all[:, : self._trivial + self.size]
        for _ in range(2):
            block = orthonormal_columns(block - against @ (against.T @ block))
        return block

    def add(self, block: FloatArray) -> FloatArray:
        """Append an orthonormal block and return its image."""
        image = self._apply(block)
        new = slice(self.size, self.size + self._width)
        self.size = new.stop
        self._all[:, self._trivial + new.start : self._trivial + new.stop] = block
        self._images[:, new] = image
        self._small[: self.size, new] = self._blocks.T @ image
        self._small[new, : self.size] = self._small[: self.size, new].T
        return image

    @property
    def _blocks(self) -> FloatArray:
        return self._all[:, self._trivial : self._trivial + self.size]

    def ritz(self, count: int, previous: FloatArray) -> RitzPairs:
        """Find the best pairs of A in the space (Rayleigh and Ritz)."""
        small = self._small[: self.size, : self.size]
        values, rotation = np.linalg.eigh((small + small.T) / 2)
        size = float(np.abs(values).max())
        pick = (
            slice(None, self._width) if self._end == "bottom" else slice(None, -self._width - 1, -1)
        )
        values, rotation = values[pick], rotation[:, pick]
        wanted = rotation[:, :count]
        error = self._images[:, : self.size] @ wanted - self._blocks @ (wanted * values[:count])
        # The basis is orthonormal, so angles can be measured between coefficients.
        before = np.zeros_like(rotation)
        before[: len(previous)] = previous
        turned = np.linalg.norm(wanted - before @ (before.T @ wanted), 2)
        return RitzPairs(values, rotation, np.linalg.norm(error, axis=0), size, float(turned))

    def vectors(self, pairs: RitzPairs) -> FloatArray:
        """Ritz vectors."""
        return np.asarray(self._blocks @ pairs.rotation)

    def restart(self, pairs: RitzPairs) -> tuple[FloatArray, FloatArray]:
        """Keep the Ritz vectors only; return them and their images."""
        vectors = self.vectors(pairs)
        self.size = 0
        # Images are formed anew: turned from restart to restart they would collect rounding.
        return vectors, self.add(vectors)


def block_krylov(
    problem: SpectralProblem,
    start: FloatArray,
    count: int,
    *,
    expand: Apply | None,
    depth: int,
    passes: int,
    finished: Callable[[RitzPairs], bool],
    eager: bool = True,
    threads: int = 1,
) -> tuple[FloatArray, FloatArray, bool]:
    """Improve `start` until `finished`, or for `passes` restarts: values, vectors, and which.

    Each pass builds the space spanned by X, TX, …, T^depth X with T = `expand` (A itself if
    None), block by block, and restarts from the best Ritz vectors of A in it. Because every pass
    begins from Ritz vectors of A, errors of an inexact T do not add up. `eager` looks for the best
    vectors after every block, not only after `depth` of them: right where T costs more than that.
    """
    width = start.shape[1]
    space = KrylovSpace(problem, width, depth + 1, threads)
    block = space.orthonormal(start)
    image = space.add(block)
    for number in range(passes):
        previous: FloatArray = np.eye(width)
        for level in range(depth):
            block = space.orthonormal(image if expand is None else expand(block))
            image = space.add(block)
            if eager or level + 1 == depth:
                pairs = space.ritz(count, previous)
                previous = pairs.rotation
                if finished(pairs):
                    return pairs.values, space.vectors(pairs), True
        step(number + 1, passes)
        block, image = space.restart(pairs)
    return pairs.values, block, False


def products(matrix: Matrix, threads: int) -> Apply:
    """Products of a matrix with blocks of vectors."""
    if not is_sparse(matrix) or matrix.dtype != np.float64:
        return lambda block: np.asarray(matrix @ block)
    row, column = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False)

    def apply(block: FloatArray) -> FloatArray:
        image = np.empty(block.shape)
        block = np.ascontiguousarray(block)
        kernels.sparse_product(row, column, matrix.data, block, threads, image)
        return image

    return apply


def orthonormal_columns(block: FloatArray) -> FloatArray:
    """Orthonormal basis of the columns: by their Gram matrix where they are well apart.

    That takes two products; what it lacks in accuracy a second time makes up for.
    """
    with np.errstate(over="ignore"):
        gram = block.T @ block
    length = np.sqrt(np.diag(gram))
    if np.all((length > 0) & np.isfinite(length)):
        try:
            root = np.linalg.cholesky(gram / np.outer(length, length))
        except np.linalg.LinAlgError:
            root = np.zeros_like(gram)
        if np.diag(root).min() > WELL_APART:
            return np.asarray(block @ (np.linalg.inv(root).T / length[:, None]))
    return np.linalg.qr(block)[0]
