"""Restarted block Krylov iteration with Rayleigh–Ritz: the engine of both iterative solvers.

Blocks, not single vectors: a single-vector Krylov space holds only one direction of a multiple
eigenvalue, so closed curves, whose eigenvalues come in pairs, would lose every second coordinate.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, inf, log

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import FloatArray, column_norms, is_sparse
from unbend.cached import cached_property
from unbend.eigen.dense import all_eigenpairs
from unbend.eigen.problem import Eigenpairs, Formable, Matrix, SpectralProblem
from unbend.lowrank.rank_revealing import WELL_APART, orthonormal_columns, orthonormal_turn
from unbend.report import step

Apply = Callable[[FloatArray], FloatArray]
# Adds blocks to the arrays of a space: basis, trivial vectors and others in it, images, inner
# products, first block, most blocks; returns how many.
Grow = Callable[[FloatArray, int, int, FloatArray, FloatArray, FloatArray, int], int]

# Part of an orthonormal block inside a space up to which taking it out leaves it well conditioned;
# the size of the random part of a block that has more, and how often it is given one.
LITTLE = 0.1
RANDOM_PART = 1e-9
ROUNDS = 5
# Blocks of Ritz vectors that a restart keeps, of nine: on spectra without a gap two to five take
# about half the products that one takes, and turning more of them takes longer than it saves.
KEPT_BLOCKS = 3
# Random vectors from which missed eigenvectors are searched for, and how often the iteration starts
# again with those found.
PROBES = 2
REPAIRS = 3
# Rows up to which a block stays in cache while it is made orthonormal by one call.
SHORT = 5000
# Rows from which on threads share the products with all vectors of a space.
TALL = 20_000
# Blocks that are kept for those to come.
SPARE_BLOCKS = 2


@dataclass(frozen=True, eq=False)
class RitzPairs:
    """Approximate eigenpairs, as coefficients in a Krylov space, and how good they are."""

    values: FloatArray
    rotation: FloatArray
    count: int
    """How many are wanted."""
    size: float
    """Largest magnitude of a Ritz value in the whole space: from below, the size of the matrix."""
    previous: FloatArray
    """Coefficients of the block that was best before."""
    measure: Callable[["RitzPairs"], FloatArray]
    """How the space, unless it was restarted, finds or estimates residuals."""

    @cached_property
    def residuals(self) -> FloatArray:
        """Of the wanted pairs; not every search needs them."""
        return self.measure(self)

    @cached_property
    def subspace_sine(self) -> float:
        """Sine of the angle by which the wanted vectors still left the previous block."""
        # The basis is orthonormal, so angles can be measured between coefficients.
        wanted = self.rotation[:, : self.count]
        before = np.zeros((len(wanted), self.previous.shape[1]))
        before[: len(self.previous)] = self.previous
        return float(np.linalg.norm(wanted - before @ (before.T @ wanted), 2))


class KrylovSpace:
    """Orthonormal blocks V beside the trivial vectors, their images AV, and V'AV.

    One array holds the trivial vectors and all blocks, so that every product with them is one.
    """

    def __init__(
        self,
        problem: SpectralProblem,
        width: int,
        blocks: int,
        kept: int,
        threads: int,
        best: int = 0,
    ) -> None:
        self._trivial = problem.trivial_basis.shape[1]
        self._all = np.empty((problem.n, self._trivial + blocks * width), order="F")
        self._all[:, : self._trivial] = problem.trivial_basis
        self._images = np.empty((problem.n, blocks * width), order="F")
        self._small = np.empty((blocks * width, blocks * width))
        self._apply = products(problem.matrix, threads)
        self._best = best or width
        self._end, self._width, self.size = problem.end, width, 0
        self._kept = max(kept * width, self._best)
        self._threads = threads
        # The last image and its inner products with the blocks.
        self._last: tuple[FloatArray, FloatArray] | None = None
        # Blocks that are no longer needed: memory anew costs as much as a product with one.
        self._spare: list[FloatArray] = []
        # Whether a block got a random part: the space is then no Krylov space any more.
        self.mixed = False

    def orthonormal(self, block: FloatArray, own: bool = False) -> FloatArray:
        """Orthonormal columns, orthogonal to the whole space; `own`: nobody else needs the block.

        Twice is enough (Kahan) for a block that leaves the space. Columns that stay in it, as the
        images of null vectors under an inverse do, are rounding once the space is taken out, and
        what is left of these may lie in it again: a random part takes them out.
        """
        against = self._all[:, : self._trivial + self.size]
        if len(block) < SHORT:
            copy = np.array(block, dtype=np.float64, order="C")
            if 0 <= kernels.orthonormal_block(against.T, copy, WELL_APART) <= LITTLE:
                return copy
        inside = self._inner_known(against, block)
        block = self._orthonormal(self._subtract(block, against, inside, own))
        for number in range(ROUNDS):
            if number:
                self.mixed = True
                block += RANDOM_PART * np.random.default_rng(number).standard_normal(block.shape)
            inside = self._inner(against, block)
            block = self._orthonormal(self._subtract(block, against, inside, own=True))
            if np.linalg.norm(inside) <= LITTLE:
                break
        return block

    def add(self, block: FloatArray) -> FloatArray:
        """Append an orthonormal block and return its image."""
        image = self._apply(block)
        new = slice(self.size, self.size + self._width)
        self.size = new.stop
        self._store(self._all[:, self._trivial + new.start : self._trivial + new.stop], block)
        self._store(self._images[:, new], image)
        self._small[: self.size, new] = self._inner(self._blocks, image)
        self._last = image, self._small[: self.size, new].copy()
        self._small[new, : self.size] = self._small[: self.size, new].T
        return image

    def _store(self, columns: FloatArray, block: FloatArray) -> None:
        """Copy a block into columns of one of the arrays of this space."""
        if len(block) < TALL:
            columns[...] = block
        else:
            kernels.store_columns(np.ascontiguousarray(block), self._threads, columns.T)

    def grow(self, block: FloatArray, blocks: int, grow: "Grow") -> FloatArray:
        """Append a block and up to so many in all of those that follow; return the last image."""
        own = np.ascontiguousarray(block)
        added = grow(
            self._all.T, self._trivial, self.size, self._images.T, self._small, own, blocks
        )
        self.size += added * self._width
        new = slice(self.size - self._width, self.size)
        image = np.ascontiguousarray(self._images[:, new])
        self._last = image, self._small[: self.size, new].copy()
        return image

    def release(self, block: FloatArray) -> None:
        """Take a block that nobody needs for one that is to come."""
        if block.flags.c_contiguous and len(block) >= TALL:
            self._spare = [*self._spare, block][-SPARE_BLOCKS:]

    def _orthonormal(self, block: FloatArray) -> FloatArray:
        """Orthonormal basis of the columns of a block that nobody else needs."""
        if len(block) < SHORT:
            copy = np.array(block, dtype=np.float64, order="C")
            if kernels.orthonormal_block(self._all.T[:0], copy, WELL_APART) >= 0:
                return copy
        if len(block) < TALL:
            return orthonormal_columns(block)
        gram = np.empty((block.shape[1], block.shape[1]))
        kernels.gram(block, self._threads, gram)
        turn = orthonormal_turn(gram)
        if turn is None:
            return np.linalg.qr(block)[0]
        turned = self._room(block.shape)
        # Not by BLAS, whose idle threads would take the cores of ours.
        kernels.turn_rows(block, np.ascontiguousarray(turn), self._threads, turned)
        self.release(block)
        return turned

    def _inner_known(self, against: FloatArray, block: FloatArray) -> FloatArray:
        """Inner products with the whole space; those of the last image are known already."""
        if self._last is None or block is not self._last[0] or len(self._last[1]) != self.size:
            return self._inner(against, block)
        trivial = self._inner(against[:, : self._trivial], block)
        return np.concatenate((trivial, self._last[1]))

    def _inner(self, basis: FloatArray, block: FloatArray) -> FloatArray:
        """Inner products of a basis and a block, for columns of one of the arrays of this space."""
        if len(block) < TALL:
            return np.asarray(basis.T @ block)
        products = np.empty((basis.shape[1], block.shape[1]))
        kernels.inner_products(basis.T, np.ascontiguousarray(block), self._threads, products)
        return products

    def _room(self, shape: tuple[int, ...]) -> FloatArray:
        """Return a spare block of that shape, or a new one."""
        while self._spare:
            spare = self._spare.pop()
            if spare.shape == shape:
                return spare
        return np.empty(shape)

    def _subtract(
        self, block: FloatArray, basis: FloatArray, coefficients: FloatArray, own: bool = False
    ) -> FloatArray:
        """Block − basis coefficients, for columns of one of the arrays of this space.

        A block of rows that is `own`, which nobody else needs, is changed in place.
        """
        if len(block) < TALL:
            return np.asarray(block - basis @ coefficients)
        if not (own and block.flags.c_contiguous):
            given, block = block, self._room(block.shape)
            block[...] = given
        kernels.add_combinations(basis.T, np.ascontiguousarray(-coefficients), self._threads, block)
        return block

    def _combine(self, basis: FloatArray, coefficients: FloatArray) -> FloatArray:
        """Basis coefficients, for columns of one of the arrays of this space."""
        if len(basis) < TALL:
            return np.asarray(basis @ coefficients)
        nothing = np.zeros((len(basis), coefficients.shape[1]))
        return self._subtract(nothing, basis, -coefficients, own=True)

    @property
    def _blocks(self) -> FloatArray:
        return self._all[:, self._trivial : self._trivial + self.size]

    def ritz(self, count: int, previous: FloatArray) -> RitzPairs:
        """Find the best pairs of A in the space (Rayleigh and Ritz), as many as restarts keep."""
        values, rotation = all_eigenpairs(self._small[: self.size, : self.size])
        size = max(abs(float(values[0])), abs(float(values[-1])))
        pick = (
            slice(None, self._kept) if self._end == "bottom" else slice(None, -self._kept - 1, -1)
        )
        kept = previous[:, : self._best]
        return RitzPairs(values[pick], rotation[:, pick], count, size, kept, self._residuals)

    def estimate(self, count: int, previous: FloatArray) -> RitzPairs:
        """Find them, with residuals from what of the last image lies outside the space.

        In a Krylov space the images of all other blocks lie inside.
        """
        return replace(self.ritz(count, previous), measure=self._estimated_residuals)

    def _estimated_residuals(self, pairs: RitzPairs) -> FloatArray:
        assert self._last is not None
        image, inside = self._last
        last = pairs.rotation[self.size - self._width :, : pairs.count]
        squares = image.T @ image
        outside = squares - inside.T @ inside
        # The difference is off by the rounding of the squares.
        outside.flat[:: len(outside) + 1] += 4.0 * float(np.finfo(np.float64).eps) * squares.trace()
        return np.asarray(np.sqrt(np.maximum(np.einsum("ij,ij->j", last, outside @ last), 0.0)))

    def measure(self, pairs: RitzPairs) -> RitzPairs:
        """Let the residuals of estimated pairs be computed."""
        return replace(pairs, measure=self._residuals)

    def _residuals(self, pairs: RitzPairs) -> FloatArray:
        wanted = pairs.rotation[:, : pairs.count]
        images = self._combine(self._images[:, : self.size], wanted)
        values = pairs.values[: pairs.count]
        error = self._subtract(images, self._blocks, wanted * values, own=True)
        return column_norms(error)

    def vectors(self, pairs: RitzPairs) -> FloatArray:
        """Compute the best Ritz vectors, one block, or as many as are asked for."""
        return self._combine(self._blocks, pairs.rotation[:, : self._best])

    def refined_vectors(self, pairs: RitzPairs) -> FloatArray:
        """Compute their images, an orthonormal block: one more step of the power method."""
        turn = pairs.rotation[:, : self._best]
        images = self._combine(self._images[:, : self.size], turn)
        # The triangular factor has a positive diagonal: no vector changes its place or direction.
        return self._orthonormal(images)

    def restart(self, pairs: RitzPairs, image: FloatArray) -> FloatArray:
        """Keep Ritz vectors with their images, and return the block that comes next.

        That is the image of the last block, beside the whole space: what each of the Ritz vectors
        kept lacks of an eigenvector lies in it, so the space stays a Krylov space (thick restarts:
        Wu and Simon, 2000).
        """
        block = self.orthonormal(image)
        turn, old = pairs.rotation, slice(self.size)
        self.size = turn.shape[1]
        self._small[: self.size, : self.size] = turn.T @ self._small[old, old] @ turn
        self._images[:, : self.size] = self._combine(self._images[:, old], turn)
        before = self._all[:, self._trivial : self._trivial + old.stop]
        self._blocks[...] = self._combine(before, turn)
        return block

    def restart_alone(self, pairs: RitzPairs) -> FloatArray:
        """Keep nothing, and return the best Ritz vectors to begin from."""
        vectors = self.vectors(pairs)
        self.size, self.mixed = 0, False
        return vectors


@dataclass(frozen=True, eq=False)
class Iteration:
    """How a Krylov space is spanned, and when its Ritz pairs are accepted.

    Each pass extends the space by X, TX, T²X, … with T = `expand` (A itself if None), block by
    block, until there are `depth` beyond the first, and restarts from the best Ritz vectors of A in
    it. With T = A a restart keeps several blocks of them; else only one, and its image is formed
    anew: because every pass then begins from Ritz vectors of A alone, errors of an inexact T do not
    add up. `excess` is how many times its tolerance an error still is; Ritz pairs with at most one
    are accepted. They are looked for at the end of a pass and, where T costs more than that, once
    there are `checked_from` blocks, whenever they may have become good enough. The check of a
    result takes one pass for `passes_a_check` of those that it took; zero leaves it out.
    `refine` takes the images of the accepted vectors in their place. `best` is how many vectors are
    wanted if not one block. `estimated` residuals are computed only once they seem small enough,
    and a random block has an excess of about `begin`. `grow` adds blocks of A by one call until the
    pairs may be accepted.
    """

    excess: Callable[[RitzPairs], float]
    depth: int
    passes: int
    passes_a_check: int
    expand: Apply | None = None
    checked_from: int = 2
    threads: int = 1
    refine: bool = False
    best: int = 0
    estimated: bool = False
    begin: float = inf
    grow: Grow | None = None


def block_krylov(
    problem: SpectralProblem,
    count: int,
    width: int,
    iteration: Iteration,
    rng: np.random.Generator,
    slack: float,
    start: FloatArray | None = None,
) -> Eigenpairs:
    """Iterate on blocks of `width` vectors until no wanted pair is missing.

    What the iteration accepts is complete if A has no smaller value (larger, at the top) beside
    the wanted vectors than the last of theirs, up to `slack`: that is searched for from random
    vectors, and if it is found, the iteration starts again with it.
    """
    start = problem.first_vectors(width, rng) if start is None else start
    for _ in range(REPAIRS + 1):
        found, vectors, passes = iterate(problem, start, count, iteration)
        values = found.values[:width]
        if not passes:
            return Eigenpairs(values, vectors, converged=False, size=found.size)
        wanted = vectors[:, :count]
        missed = find_missed(problem, values, wanted, iteration, passes, rng, slack)
        if missed is None:
            return Eigenpairs(values, vectors, size=found.size)
        start = np.hstack([missed, vectors])[:, :width]
    return Eigenpairs(values, vectors, converged=False, size=found.size)


def find_missed(
    problem: SpectralProblem,
    values: FloatArray,
    wanted: FloatArray,
    iteration: Iteration,
    passes: int,
    rng: np.random.Generator,
    slack: float,
) -> FloatArray | None:
    """Vectors beside the wanted ones that lie nearer to the end, if a search finds any.

    A vector that it finds is a proof (Courant and Fischer); that it finds none is none, but a
    search from random vectors misses only what is hardly nearer (Kuczyński and Woźniakowski, 1992).
    How many passes the wanted vectors took shows how crowded they are; the search takes a share.
    """
    if not iteration.passes_a_check:
        return None
    sign = 1.0 if problem.end == "bottom" else -1.0
    last = sign * values[wanted.shape[1] - 1] - slack
    beside = replace(problem, trivial=np.hstack([problem.trivial_basis, wanted]), start=None)
    if beside.trivial_basis.shape[1] + PROBES * (iteration.depth + 1) > problem.n:
        return None
    search = replace(
        iteration,
        excess=lambda pairs: 0.0 if sign * pairs.values[0] < last else inf,
        passes=ceil(passes / iteration.passes_a_check),
        checked_from=iteration.depth + 1,
    )
    _, vectors, found = iterate(beside, rng.standard_normal((problem.n, PROBES)), 1, search)
    return vectors if found else None


def iterate(
    problem: SpectralProblem, start: FloatArray, count: int, iteration: Iteration
) -> tuple[RitzPairs, FloatArray, int]:
    """Improve `start` until it is accepted: pairs, vectors, passes taken (0 if it is not)."""
    expand, depth, passes = iteration.expand, iteration.depth, iteration.passes
    width, full = start.shape[1], (depth + 1) * start.shape[1]
    kept = min(KEPT_BLOCKS, depth) if expand is None else 1
    space = KrylovSpace(problem, width, depth + 1, kept, iteration.threads, iteration.best)
    block = space.orthonormal(start)
    for number in range(passes):
        previous: FloatArray = np.eye(width)
        schedule = CheckSchedule(iteration.checked_from, iteration.begin if number == 0 else inf)
        while space.size < full:
            step(number, passes)
            if iteration.grow is None:
                image = space.add(block)
            else:
                image = space.grow(block, (full - space.size) // width, iteration.grow)
            blocks = space.size // width
            # Growth that ended early is not looked at, and goes on from a block with a random part.
            due = blocks >= iteration.checked_from if iteration.grow else schedule.due(blocks)
            if space.size == full or due:
                # Compiled growth has estimated residuals already.
                estimated = iteration.estimated and not (space.mixed or iteration.grow)
                pairs = (space.estimate if estimated else space.ritz)(count, previous)
                previous = pairs.rotation
                excess = iteration.excess(pairs)
                if estimated and excess <= 1:
                    pairs = space.measure(pairs)
                    excess = iteration.excess(pairs)
                if excess <= 1:
                    best = space.refined_vectors if iteration.refine else space.vectors
                    return pairs, best(pairs), number + 1
                schedule.record(blocks, excess)
            if space.size < full:
                if expand is None:
                    block = space.orthonormal(image)
                    continue
                expanded = expand(block)
                space.release(block)
                block = space.orthonormal(expanded, own=True)
        step(number + 1, passes)
        if number + 1 < passes:
            # Beside a random block, residuals of the Ritz vectors do not lie in the last image.
            thick = expand is None and not space.mixed
            block = space.restart(pairs, image) if thick else space.restart_alone(pairs)
    return pairs, space.vectors(pairs), 0


class CheckSchedule:
    """When the Ritz pairs of a growing space are looked for.

    Errors fall about as fast from block to block, so those of two looks predict the next one; for
    small matrices a look costs as much as a block.

    Examples
    --------
    >>> schedule = CheckSchedule(4)
    >>> schedule.record(4, 1e8)
    >>> schedule.record(5, 5e5)
    >>> [schedule.due(blocks) for blocks in (6, 7, 8)]
    [False, True, True]
    """

    def __init__(self, first: int, begin: float = inf) -> None:
        self._next = first
        self._last = 0, begin

    def due(self, blocks: int) -> bool:
        """Whether pairs are looked for in so many blocks."""
        return blocks >= self._next

    def record(self, blocks: int, excess: float) -> None:
        """Plan the next look."""
        self._next = blocks + 1
        if 1 < excess < self._last[1] < inf:
            fall = log(self._last[1] / excess) / (blocks - self._last[0])
            # Early errors fall slowly: no more blocks than there are before the next look.
            self._next = blocks + max(1, min(blocks, int(log(excess) / fall)))
        self._last = blocks, excess


def products(matrix: Matrix, threads: int) -> Apply:
    """Products of a matrix with blocks of vectors."""
    if isinstance(matrix, Formable):
        return matrix.product
    if not is_sparse(matrix) or matrix.dtype != np.float64:
        return lambda block: np.asarray(matrix @ block)
    row, column = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False)

    def apply(block: FloatArray) -> FloatArray:
        image = np.empty(block.shape)
        block = np.ascontiguousarray(block)
        kernels.sparse_product(row, column, matrix.data, block, threads, image)
        return image

    return apply
