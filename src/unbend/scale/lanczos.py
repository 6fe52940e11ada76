"""Block Lanczos on a graph whose row blocks stay on the workers.

Vectors are lists of blocks, one for each block of the graph, as tasks or futures. Only projected
matrices, as small as the basis, come to the client. Sums run over the blocks in their order, and a
block depends on the data alone: the bits are those of any number of workers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from dask.delayed import delayed
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from unbend.arrays import FloatArray
from unbend.cached import cached_property
from unbend.report import step
from unbend.scale.halo import (
    BlockGraph,
    add_up,
    combine,
    divide_by_factor,
    factor_gram,
    project,
    start_block,
    subtract,
)
from unbend.scale.workers import compute_all, fetch_result, keep_on_workers

Vectors = list[Any]
# Columns of the basis at which it is restarted from its best, and the share that is kept.
COLUMNS, KEPT = 64, 3
# Residual of an eigenpair, relative to the norm of the matrix, and products until giving up.
TOLERANCE, PRODUCTS = 1e-8, 400
# Lengths below this share of the norm are rounding.
ROUNDING = 1e-11


@dataclass(frozen=True, eq=False)
class BlockMatrix:
    """A symmetric matrix in row blocks on the workers."""

    blocks: list[Any]

    @cached_property
    def places(self) -> list[list[tuple[int, Any]]]:
        """For each block, the others in its halo with the places of its rows there."""
        halos = compute_all([delayed(_halo_blocks)(block) for block in self.blocks])
        tasks = [
            delayed(BlockGraph.find_places)(self.blocks[c], delayed(_halo_of)(block, c))
            for block, halo in zip(self.blocks, halos, strict=True)
            for c in halo
        ]
        kept = iter(keep_on_workers(tasks))
        return [[(c, next(kept)) for c in halo] for halo in halos]

    def replace_blocks(self, blocks: list[Any]) -> "BlockMatrix":
        """Return other entries with the same halo."""
        other = BlockMatrix(keep_on_workers(blocks))
        vars(other)["places"] = self.places
        return other

    def fetch_halo(self, vectors: Vectors) -> list[list[Any]]:
        """Values of the halo of each block."""
        return [
            [delayed(np.take)(vectors[c], places, 0) for c, places in halo] for halo in self.places
        ]

    def map_with_halo(self, work: Callable[..., Any], vectors: Vectors, *args: Any) -> Vectors:
        """Apply a function to each block, vectors on its rows and on its halo."""
        return [
            delayed(work)(block, own, halo, *args)
            for block, own, halo in zip(self.blocks, vectors, self.fetch_halo(vectors), strict=True)
        ]

    def count_components(self) -> int:
        """Count the connected components: those inside blocks are contracted."""
        labels = keep_on_workers([delayed(BlockGraph.label_components)(b) for b in self.blocks])
        links = self.map_with_halo(BlockGraph.link_components, labels)
        found = compute_all([*links, *(delayed(_count_labels)(some) for some in labels)])
        pairs, counts = found[: len(labels)], found[len(labels) :]
        offsets = np.concatenate(([0], np.cumsum(counts)))
        first = np.concatenate([offsets[b] + some[:, 0] for b, some in enumerate(pairs)])
        second = np.concatenate([offsets[some[:, 1]] + some[:, 2] for some in pairs])
        shape = (int(offsets[-1]), int(offsets[-1]))
        graph = coo_array((np.ones(len(first)), (first, second)), shape=shape)
        return int(connected_components(graph, directed=False)[0])


def _halo_blocks(block: BlockGraph) -> list[int]:
    return list(block.halo)


def _halo_of(block: BlockGraph, other: int) -> Any:
    return block.halo[other]


def _count_labels(labels: Any) -> int:
    return int(labels.max(initial=-1)) + 1


def sum_blocks(work: Callable[..., Any], *blocks: Sequence[Any]) -> Any:
    """Return the task that sums a function of the blocks, in their order."""
    return delayed(add_up)([delayed(work)(*some) for some in zip(*blocks, strict=True)])


@dataclass(frozen=True, eq=False)
class BlockPairs:
    """The least eigenvalues, with one more beyond them, and the vectors in blocks."""

    values: FloatArray
    next_value: float
    residuals: FloatArray
    vectors: Vectors
    products: int
    converged: bool


def least_pairs(
    matrix: BlockMatrix, trivial: Vectors, numbers: Vectors, count: int, seed: int, size: float
) -> BlockPairs:
    """Find the least eigenpairs by block Lanczos with thick restarts.

    Each vector is orthogonalised twice against the whole basis, so that no eigenvalue appears
    twice; blocks are wider than the pairs wanted, so that multiple eigenvalues are found.

    Parameters
    ----------
    matrix : BlockMatrix
        Positive semidefinite.
    trivial : list
        A unit vector of its null space, in blocks, that is left out.
    numbers : list
        Row numbers of the blocks.
    count : int
        Number of pairs.
    seed : int
        Of the start vectors, which depend on row numbers alone.
    size : float
        A bound of the eigenvalues.
    """
    wanted, width = count + 1, count + 3
    columns = max(COLUMNS, 8 * width)
    first = [delayed(start_block)(some, width, seed) for some in numbers]
    basis: list[Vectors] = []
    _, (factor, block) = _orthonormalize(first, [trivial], 0.0)
    projected: FloatArray = np.zeros((0, 0))
    for products in range(1, PRODUCTS + 1):
        basis.append(block)
        images = matrix.map_with_halo(BlockGraph.multiply, block)
        last = len(factor)
        onto, (factor, block) = _orthonormalize(images, [trivial, *basis], ROUNDING * size)
        projected = _extend(projected, onto[1:])
        values, vectors = np.linalg.eigh(projected)
        residuals = np.linalg.norm(factor @ vectors[-last:, :wanted], axis=0) / size
        step(products, PRODUCTS)
        done = bool(np.all(residuals <= TOLERANCE))
        if done or products == PRODUCTS:
            break
        if len(values) + width > columns:
            kept = columns // KEPT
            basis, projected = [_combine(basis, vectors[:, :kept])], np.diag(values[:kept])
    found = _combine(basis, vectors[:, :count])
    return BlockPairs(
        values[:count], float(values[count]), residuals[:count], found, products, done
    )


def _extend(projected: FloatArray, onto: FloatArray) -> FloatArray:
    """Add the columns of the last block to the projected matrix, and their transpose."""
    old = len(projected)
    extended = np.empty((len(onto), len(onto)))
    extended[:old, :old] = projected
    extended[:, old:], extended[old:] = onto, onto.T
    own = extended[old:, old:]
    extended[old:, old:] = (own + own.T) / 2
    return extended


def _combine(basis: list[Vectors], by: FloatArray) -> Vectors:
    return keep_on_workers([delayed(combine)(list(some), by) for some in zip(*basis, strict=True)])


def _orthonormalize(
    vectors: Vectors, basis: list[Vectors], least: float
) -> tuple[FloatArray, tuple[FloatArray, Vectors]]:
    """Coefficients on the basis, and the factors R and Q of what is orthogonal to it.

    Twice, and scaled in between: what cancels in the first pass is not orthogonal yet.
    """
    bases = [list(some) for some in zip(*basis, strict=True)]
    small = []
    for lengths in (least, 0.0):
        onto = sum_blocks(project, bases, vectors)
        vectors = [
            delayed(subtract)(some, others, onto)
            for some, others in zip(vectors, bases, strict=True)
        ]
        gram = sum_blocks(_gram, vectors)
        vectors = [delayed(divide_by_factor)(some, gram, lengths) for some in vectors]
        small += [onto, gram]
    *kept, figures = keep_on_workers([*vectors, delayed(tuple)(small)])
    first, gram, second, rest = fetch_result(figures)
    factor = factor_gram(gram, least)[0]
    return first + second @ factor, (factor_gram(rest, 0.0)[0] @ factor, kept)


def _gram(vectors: FloatArray) -> FloatArray:
    return vectors.T @ vectors
