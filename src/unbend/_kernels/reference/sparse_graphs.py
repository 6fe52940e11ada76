"""Sparse graphs: symmetrisation, components, spanning trees, shortest paths, Cholesky factors."""

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array, eye_array
from scipy.sparse.csgraph import (
    connected_components,
    dijkstra,
    minimum_spanning_tree,
    reverse_cuthill_mckee,
)
from scipy.sparse.linalg import SuperLU, splu

from unbend._kernels.reference.local_kernels import orthonormal_block
from unbend.arrays import BoolArray, FloatArray, IntArray, row_chunks, with_short_indices
from unbend.progress import Poll


def both_ways(
    row: IntArray, column: IntArray, value: FloatArray, absent: float
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Every pair that is an edge in some direction: offsets, columns, values forth and back.

    SciPy's own maximum and minimum would lose edges of length zero.
    """
    n = len(row) - 1
    edges = coo_array(csr_array((value, column, row), shape=(n, n)))
    pair = edges.row.astype(np.int64) * n + edges.col
    reverse = edges.col.astype(np.int64) * n + edges.row
    every = np.union1d(pair, reverse)
    forth = np.full(len(every), absent)
    forth[np.searchsorted(every, pair)] = edges.data
    back = np.full(len(every), absent)
    back[np.searchsorted(every, reverse)] = edges.data
    offsets = np.searchsorted(every, np.arange(n + 1, dtype=np.int64) * n)
    return offsets, (every % max(n, 1)).astype(np.int32), forth, back


def merge_directions(
    row: IntArray, column: IntArray, value: FloatArray, how: int, threads: int = 1
) -> tuple[IntArray, IntArray, FloatArray]:
    """Offsets, columns and values of symmetric weights; pairs of weight zero are left out.

    The larger (`how` 0), the smaller (1) or the mean (2) of both directions, where absent is zero.
    """
    offsets, columns, forth, back = both_ways(row, column, value, 0.0)
    merged = (np.maximum(forth, back), np.minimum(forth, back), (forth + back) / 2)[how]
    keep = merged != 0
    return np.concatenate(([0], np.cumsum(keep)))[offsets], columns[keep], merged[keep]


def components(row: IntArray, column: IntArray, labels: IntArray) -> None:
    """Fill the component of each vertex, numbered in the order of their first vertices."""
    n = len(row) - 1
    # Ones in place of lengths: SciPy must not take a length of zero for a missing edge.
    pattern = csr_array((np.ones(len(column)), column, row), shape=(n, n))
    _, found = connected_components(pattern, connection="weak")  # type: ignore[arg-type]
    _, first, inverse = np.unique(found, return_index=True, return_inverse=True)
    labels[...] = np.argsort(np.argsort(first))[inverse]


def glue_blocks(
    points: int, offset: IntArray, member: IntArray, least: int, piece: IntArray
) -> None:
    """Number the pieces that blocks of points form: one joins once it has `least` points of it."""
    blocks = [member[start:end].tolist() for start, end in pairwise(offset)]
    around: list[list[int]] = [[] for _ in range(points)]
    for number, block in enumerate(blocks):
        for point in block:
            around[point].append(number)
    piece[...] = -1
    number = 0
    for first in range(len(blocks)):
        if piece[first] >= 0:
            continue
        piece[first] = number
        held: set[int] = set()
        shared: Counter[int] = Counter()
        waiting = [first]
        while waiting:
            for point in blocks[waiting.pop()]:
                if point in held:
                    continue
                held.add(point)
                for other in around[point]:
                    shared[other] += 1
                    if piece[other] < 0 and shared[other] >= least:
                        piece[other] = number
                        waiting.append(other)
        number += 1


def spanning_trees(
    indices: IntArray,
    distances: FloatArray,
    inside: BoolArray,
    widths: IntArray,
    counts: IntArray,
    lengths: FloatArray,
) -> None:
    """Fill the edges and lengths of the spanning trees of samples, `inside` (samples, n).

    Edges join rows of a sample to those of their first `widths[s]` neighbours in it.
    Here by SciPy; no length may be zero.
    """
    for sample, (members, width) in enumerate(zip(inside, widths, strict=True)):
        present = members[:, None] & members[indices[:, :width]]
        first = np.concatenate(([0], np.cumsum(present.sum(axis=1))))
        length, column = distances[:, :width][present], indices[:, :width][present]
        edges = csr_array((length, column, first), shape=(len(indices),) * 2)
        tree = minimum_spanning_tree(with_short_indices(edges)).data
        counts[sample], lengths[sample] = len(tree), tree.sum()


def sparse_product(
    row: IntArray,
    column: IntArray,
    values: FloatArray,
    block: FloatArray,
    threads: int,
    image: FloatArray,
) -> None:
    """Fill `image`: a sparse matrix times a block of vectors."""
    matrix = csr_array((values, column, row), shape=(len(row) - 1, len(block)))
    image[...] = np.asarray(matrix @ block)


def scaled_difference(
    row: IntArray,
    column: IntArray,
    values: FloatArray,
    degree: FloatArray,
    factor: FloatArray,
    new_row: IntArray,
    new_column: IntArray,
    new_values: FloatArray,
) -> int:
    """Fill diag(factor) (diag(degree) − W) diag(factor) in compressed rows; count its entries.

    There is room for the entries of W, whose columns are sorted, and one more a row.
    """
    n = len(degree)
    weights = csr_array((values, column, row), shape=(n, n))
    own = np.repeat(np.arange(n), np.diff(row))
    apart = column != own
    rows, columns = np.append(own[apart], np.arange(n)), np.append(column[apart], np.arange(n))
    entries = np.append(-values[apart], degree - weights.diagonal())
    order = np.lexsort((columns, rows))
    rows, columns = rows[order], columns[order]
    new_row[...] = np.searchsorted(rows, np.arange(n + 1))
    new_column[: len(rows)] = columns
    new_values[: len(rows)] = entries[order] * factor[rows] * factor[columns]
    return len(rows)


class ShortestPaths64:
    """Shortest paths of one graph in compressed rows, from any sources, by Dijkstra's algorithm."""

    def __init__(self, row: IntArray, column: IntArray, length: FloatArray) -> None:
        n = len(row) - 1
        lengths = np.asarray(length, dtype=np.float64)
        self._graph = with_short_indices(csr_array((lengths, column, row), shape=(n, n)))

    def run(self, sources: IntArray, threads: int, poll: Poll, distances: FloatArray) -> None:
        """Fill `distances` (sources, vertices), infinite where there is no path."""
        for rows in row_chunks(len(sources), 8 * self._graph.shape[0]):
            distances[rows] = dijkstra(self._graph, directed=True, indices=sources[rows])
            poll(rows.stop, len(sources))


ShortestPaths32 = ShortestPaths64


def squared_products(
    distances: FloatArray,
    squared: bool,
    shift: float,
    vectors: FloatArray,
    threads: int,
    poll: Poll,
    result: FloatArray,
) -> None:
    """Fill `result` with (distances + shift)² @ vectors, or distances @ vectors if `squared`."""
    for rows in row_chunks(len(distances), 8 * distances.shape[1], 1 << 22):
        entries = distances[rows].astype(np.float64)
        result[rows] = (entries if squared else np.square(entries + shift)) @ vectors
        poll(rows.stop, len(distances))


def place_by_paths(
    paths: FloatArray,
    neighbors: IntArray,
    distances: FloatArray,
    shift: float,
    weights: FloatArray,
    threads: int,
    poll: Poll,
    placed: FloatArray,
) -> None:
    """Fill `placed` (m, d) with (s + shift)² @ weights.T (d, ends).

    s (m, ends) are the shortest paths of new samples through any of their neighbours (m, k), from
    which `paths` (n, ends) lead on; an infinite distance is no neighbour.
    """
    for rows in row_chunks(len(neighbors), 16 * paths.shape[1]):
        shortest = np.full((rows.stop - rows.start, paths.shape[1]), np.inf, dtype=paths.dtype)
        for near, far in zip(neighbors[rows].T, distances[rows].T, strict=True):
            np.minimum(shortest, far[:, None] + paths[near], out=shortest)
        placed[rows] = np.square(shortest.astype(np.float64) + shift) @ weights.T
        poll(rows.stop, len(neighbors))


@dataclass(frozen=True)
class Analysis:
    """Predicted cost of a Cholesky factor.

    Entries of L, multiply-adds, and whether the analysis was completed or stopped at
    `most_flops`.
    """

    entries: int
    flops: float
    complete: bool

    @property
    def stored(self) -> int:
        """Numbers that the factor stores: SuperLU keeps L and U."""
        return 2 * self.entries


def analyse(row: IntArray, column: IntArray, most_flops: float, threads: int = 1) -> Analysis:
    """Order a symmetric CSR pattern and predict its Cholesky factor, or stop at `most_flops`.

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
    """A factor LL', or LSL' with the signs of pivots of which `negative` are negative.

    `replaced` pivots were zero up to rounding and were raised.
    """

    factors: SuperLU
    replaced: int = 0
    negative: int = 0

    @property
    def entries(self) -> int:
        """Entries of L."""
        return self.factors.L.nnz

    def solve(self, right: FloatArray, threads: int, solution: FloatArray) -> None:
        """Fill `solution` (n, w) with the solutions for right-hand sides (n, w)."""
        solution[...] = self.factors.solve(np.asarray(right, dtype=np.float64))

    def grow_blocks(
        self,
        basis: FloatArray,
        trivial: int,
        size: int,
        images: FloatArray,
        small: FloatArray,
        block: FloatArray,
        count: int,
        well_apart: float,
        little: float,
        threads: int,
        wanted: int = 0,
        blocks: int = 0,
        tolerance: float = 0.0,
        spread: float = 0.0,
        least_gap: float = 0.0,
    ) -> int:
        """Add a block (n, w) to a Krylov space of the inverse, and up to `count` of what follows.

        Vectors are rows: of `basis`, trivial ones first, and of `images`; `small` has their inner
        products. Return the number of blocks added: fewer where the next is not well conditioned,
        or where some `blocks` at least hold the `wanted` largest pairs up to an angle `tolerance`
        (see `may_be_accepted`).
        """
        width = block.shape[1]
        for added in range(1, count + 1):
            new = slice(size, size + width)
            basis[trivial + size : trivial + size + width] = block.T
            solved = np.asarray(self.factors.solve(np.asarray(block, dtype=np.float64)))
            solved = solved - basis[:trivial].T @ (basis[:trivial] @ solved)
            images[new] = solved.T
            size += width
            small[:size, new] = basis[trivial : trivial + size] @ solved
            small[new, :size] = small[:size, new].T
            block = np.array(solved, order="C")
            if 0 < wanted < size and size >= blocks * width:
                inner = solved.T @ solved, small[:size, new]
                if may_be_accepted(
                    small[:size, :size], *inner, wanted, tolerance, spread, least_gap
                ):
                    return added
            if added < count:
                inside = orthonormal_block(basis[: trivial + size], block, well_apart)
                if not 0 <= inside <= little:
                    return added
        return count


def may_be_accepted(
    small: FloatArray,
    squares: FloatArray,
    inside: FloatArray,
    wanted: int,
    tolerance: float,
    spread: float,
    least_gap: float,
) -> bool:
    """Whether the largest pairs of a Krylov space are estimated to be good enough.

    Residuals come from what of the last image lies outside the space: `squares` are its inner
    products, and `inside` those with the space. The angle of the vectors is at most the residual
    over the gap to the next eigenvalue, and that of their images smaller by the ratio of the two
    eigenvalues at the gap. Eigenvalues that differ by more than `spread` end the search, too.
    """
    values, vectors = np.linalg.eigh((small + small.T) / 2)
    values, vectors = values[::-1], vectors[:, ::-1]
    least, following = float(values[wanted - 1]), abs(float(values[wanted]))
    if not 0.0 < values[0] <= spread * least:
        return True
    eps = float(np.finfo(np.float64).eps)
    outside = squares - inside.T @ inside + 4.0 * eps * np.trace(squares) * np.eye(len(squares))
    last = vectors[len(small) - len(squares) :, :wanted]
    residual = np.sqrt(max(float(np.einsum("ij,ij->", last, outside @ last)), 0.0))
    gap = max(least - following, least_gap * least)
    return bool(residual / gap * min(1.0, following / least) <= tolerance)


def factor(
    analysis: Analysis,
    row: IntArray,
    column: IntArray,
    values: FloatArray,
    shift: float,
    threads: int,
    indefinite: bool = False,
) -> Factor:
    """Factorise A + shift·I; a ValueError if it is not positive definite.

    If `indefinite`, pivots may be negative, and only one that is zero is refused. Here by SuperLU,
    without the analysis.
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
        what = "singular" if indefinite else "not positive definite"
        raise ValueError(f"the matrix is {what}: {error}") from error
    pivoted = not np.array_equal(factors.perm_r, factors.perm_c)
    negative = int(np.sum(factors.U.diagonal() < 0))
    if indefinite:
        if pivoted:
            raise ValueError("the matrix is singular: a pivot is zero")
        return Factor(factors, negative=negative)
    if pivoted or not np.all(factors.U.diagonal() > 0):
        raise ValueError("the matrix is not positive definite")
    return Factor(factors)


def edge_blocks(
    row: IntArray,
    own: IntArray,
    ends: IntArray,
    slots: IntArray,
    across: FloatArray,
    along: FloatArray,
    differences: FloatArray,
    diagonal: float,
    values: FloatArray,
) -> None:
    """Fill the values of Σ (eᵢ − eⱼ)(eᵢ − eⱼ)' ⊗ (across·I + along·δδ') + diagonal·I.

    The sum is over edges with `ends` (m, 2) and differences δ (m, r). Block (i, j) begins at a slot
    in the first of the rows of point i, which are equally long: `slots` (m, 2) are those of (i, j)
    and (j, i), `own` (n,) those of the diagonal.
    """
    r = differences.shape[1]
    blocks = along[:, None, None] * differences[:, :, None] * differences[:, None, :]
    blocks[:, np.arange(r), np.arange(r)] += across[:, None]
    stride = row[1::r] - row[:-1:r]
    within = np.arange(r)[:, None]
    for side in (0, 1):
        rows = within * stride[ends[:, side], None, None]
        values[slots[:, side, None, None] + rows + np.arange(r)] = -blocks
    sums = np.zeros((len(own), r, r))
    np.add.at(sums, ends.ravel(), np.repeat(blocks, 2, axis=0))
    sums[:, np.arange(r), np.arange(r)] += diagonal
    values[own[:, None, None] + within * stride[:, None, None] + np.arange(r)] = sums
