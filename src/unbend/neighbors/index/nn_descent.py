"""Approximate neighbours: a forest proposes them, a descent improves them, differences decide.

Rows are centred, rounded to single precision and written by their leading principal axes; where
these leave much over, that too, so that most distances are known to be too large after a few
columns. Leaves of random
trees fill the first lists; then neighbours of neighbours are compared until hardly any list changes
(Dong, Moses and Li, 2011). More candidates than wanted are ranked by differences in the precision
of the data, and the recall is measured by the exact neighbours of some rows.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.neighbors.index.brute_force import Cloud, rank
from unbend.neighbors.index.forest import HEAD, grown, leaves, written
from unbend.neighbors.index.protocol import (
    contiguous_points,
    contiguous_queries,
    require_built,
)
from unbend.report import note, step
from unbend.validation.scalars import check_count, check_integer, check_real, check_threads

# Up to here all rows are compared with each other in no time.
FEWEST = 2000
# As many rows for each neighbour asked for: long lists cost a descent more than products do.
EACH = 40
# What marks a place of a list that is still free.
FREE = np.iinfo(np.int32).max


@dataclass(frozen=True)
class NNDescent:
    """Approximate Euclidean search by NN-descent; a `NeighborIndex`. The defaults serve most data.

    `query` compares rows with all points, exactly; only the neighbours of the points themselves,
    `query_self`, are approximate.

    Parameters
    ----------
    trees : int
        Random trees whose leaves fill the first lists.
    leaf : int
        Rows of a leaf at most.
    candidates : int
        Fresh neighbours of a row that are compared in a round, and as many others.
    spare : int
        Neighbours found beyond those asked for, among which differences choose.
    rounds : int
        Rounds of the descent at most.
    tol : float
        Share of the lists' entries that may be fresh when the recall is first looked at; while it
        is too low more trees are grown, and the share is quartered.
    recall : float
        Share of the neighbours that is asked for. Where even that many rounds do not find it, the
        report says so.
    sample : int
        Rows whose exact neighbours the recall is measured by.
    seed : int
        Seed of trees and samples.
    threads : int
        Number of threads; an estimator sets it to its `n_jobs`.
    cloud : Cloud, optional
        Set by `build`.

    References
    ----------
    Dong, Moses and Li, Efficient k-nearest neighbor graph construction for generic similarity
    measures, WWW (2011). The trees follow Dasgupta and Freund, STOC (2008).

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.neighbors import NNDescent, PointSpace
    >>> points = np.random.default_rng(0).normal(size=(3000, 40)) * 0.9 ** np.arange(40)
    >>> exact = PointSpace(points).nearest(10)
    >>> found = PointSpace(points, index=NNDescent()).nearest(10)
    >>> both = (x.graph().astype(bool) for x in (exact, found))
    >>> next(both).multiply(next(both)).nnz / len(exact.indices) > 0.97
    True
    """

    trees: int = 6
    leaf: int = 64
    candidates: int = 16
    spare: int = 8
    rounds: int = 12
    tol: float = 0.2
    recall: float = 0.98
    sample: int = 250
    seed: int = 0
    threads: int = 1
    cloud: Cloud | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_threads(self.threads)
        for name in ("trees", "leaf", "candidates", "rounds", "sample"):
            check_integer(name, getattr(self, name))
        for name in ("spare", "seed"):
            check_integer(name, getattr(self, name), 0)
        for name in ("recall", "tol"):
            check_real(name, getattr(self, name), 0, 1)

    def serves(self, n: int, k: int) -> bool:
        """Whether a search of k among n rows can be approximate: few rows are all compared."""
        return n > max(FEWEST, EACH * (k + self.spare))

    def build(self, points: FloatArray) -> "NNDescent":
        """Return an index of the points."""
        return replace(self, cloud=Cloud.of(contiguous_points(points)))

    def query(self, rows: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Find the k points nearest to each row, exactly."""
        cloud = require_built(self.cloud, self)
        rows = contiguous_queries(rows, k, cloud.points.shape)
        return cloud.nearest_of(rows, k, self.threads)

    def query_self(self, k: int) -> tuple[IntArray, FloatArray]:
        """Find most of the k nearest other points of every point, and report the recall."""
        cloud, rng = require_built(self.cloud, self), np.random.default_rng(self.seed)
        check_count(k, len(cloud.points) - 1)
        if not self.serves(len(cloud.points), k):
            note(search="exact")
            return cloud.neighbors(k, self.threads)
        lists = _Lists.of(cloud, *written(cloud, rng, self.leaf), k + self.spare, self.threads)
        sample = np.sort(rng.choice(lists.n, min(self.sample, lists.n), replace=False))
        indices, distances = np.empty((lists.n, k), dtype=np.int32), np.empty((lists.n, k))
        reach, rounds, tol = None, 0, self.tol
        while True:
            self._plant(lists, rng)
            rounds = self._descend(lists, rng, rounds, tol)
            lists.rank(sample, indices, distances)
            found = distances[lists.order[sample]]
            if reach is None:
                reach = _exact_reach(lists, sample, found)
            shares = np.mean(found <= reach[:, None] * (1 + 1e-12), axis=1)
            enough = np.mean(shares) >= self.recall or tol * lists.fresh.size < 1
            if enough or rounds == self.rounds:
                break
            tol /= 4
        error = float(np.std(shares) / np.sqrt(len(shares)))
        note(search="approximate", rounds=rounds, recall=float(shares.mean()), recall_error=error)
        lists.rank(np.arange(lists.n), indices, distances)
        return indices, distances

    def _plant(self, lists: "_Lists", rng: np.random.Generator) -> None:
        """Fill the lists by the leaves of trees."""
        # Leaves of more rows than a list is long fill it.
        leaf = max(self.leaf, 2 * lists.keys.shape[1] + 2)
        for tree in range(self.trees):
            members, counts = leaves(grown(lists.rows[:, :HEAD], leaf, rng), leaf)
            lists.join(members, counts, counts)
            step(tree + 1, self.trees + self.rounds)

    def _descend(self, lists: "_Lists", rng: np.random.Generator, rounds: int, tol: float) -> int:
        """Compare neighbours of neighbours until few entries are fresh; the rounds in all."""
        while rounds < self.rounds and np.count_nonzero(lists.fresh) > tol * lists.fresh.size:
            lists.join(*lists.proposed(self.candidates, int(rng.integers(2**62))))
            rounds += 1
            step(self.trees + rounds, self.trees + self.rounds)
        return rounds


@dataclass(frozen=True, eq=False)
class _Lists:
    """Sorted lists of near rows by their keys; row i of them is row `order[i]` of the cloud."""

    cloud: Cloud
    rows: FloatArray
    order: IntArray
    keys: FloatArray
    indices: IntArray
    fresh: IntArray
    threads: int

    @classmethod
    def of(
        cls, cloud: Cloud, rows: FloatArray, order: IntArray, length: int, threads: int
    ) -> "_Lists":
        shape = (len(rows), length)
        keys = np.full(shape, np.inf, dtype=np.float32)
        indices = np.full(shape, FREE, dtype=np.int32)
        return cls(cloud, rows, order, keys, indices, np.zeros(shape, dtype=np.uint8), threads)

    @property
    def n(self) -> int:
        return len(self.rows)

    def join(self, members: IntArray, fresh_members: IntArray, counts: IntArray) -> None:
        """Offer the members of each group to each other."""
        lists = self.keys, self.indices, self.fresh
        kernels.join(self.rows, members, fresh_members, counts, self.threads, *lists)

    def proposed(self, limit: int, seed: int) -> tuple[IntArray, IntArray, IntArray]:
        """Choose a group for each row: members, how many of them are fresh, and how many."""
        members = np.zeros((self.n, 2 * limit), dtype=np.int32)
        some, counts = np.empty(self.n, dtype=np.int32), np.empty(self.n, dtype=np.int32)
        kernels.propose(self.indices, seed, self.threads, self.fresh, members, some, counts)
        return members, some, counts

    def rank(self, places: IntArray, indices: IntArray, distances: FloatArray) -> None:
        """Write the nearest of some lists by differences in the precision of the data."""
        rows, near = self.order[places], self.order.astype(np.int32)[self.indices[places]]
        found = _bounds(self.rows, self.keys[places]), near
        k = indices.shape[1]
        rank(self.cloud, self.cloud.points, rows, found, k, self.threads, indices, distances)


def _exact_reach(lists: _Lists, places: IntArray, found: FloatArray) -> FloatArray:
    """Distances of the k-th nearest of some rows.

    Whatever is nearer than the k-th found is no farther by the columns that the search has seen:
    few rows are left to compare. Where many are, as in data that all coincide, all are compared.
    """
    cloud, rows, order, k = lists.cloud, lists.rows, lists.order, found.shape[1]
    squares = np.einsum("ij,ij->i", rows, rows)
    most = np.square(found[:, -1] * cloud.scale) + 1e-4 * squares.max()
    reach = np.full(len(places), np.nan)
    for chunk in row_chunks(len(places), 8 * len(rows)):
        some = places[chunk]
        keys = squares[some, None] + squares - 2 * (rows[some] @ rows.T)
        for number, near in enumerate(keys <= most[chunk, None]):
            place = chunk.start + number
            candidates = order[np.flatnonzero(near)]
            if len(candidates) <= FEWEST:
                itself = order[places[place]]
                apart = cloud.points[candidates[candidates != itself]] - cloud.points[itself]
                away = np.linalg.norm(apart * cloud.scale, axis=1) / cloud.scale
                reach[place] = np.partition(away, k - 1)[k - 1]
    left = np.isnan(reach)
    # The row itself is the nearest of the k + 1, or as near as it.
    everyone = cloud.points[order[places[left]]]
    reach[left] = cloud.nearest_of(everyone, k + 1, lists.threads)[1][:, -1]
    return reach


def _bounds(rows: FloatArray, keys: FloatArray) -> FloatArray:
    """Lower bounds of the squared distances that rounding to single precision made the keys."""
    unit = 32 * float(np.finfo(np.float32).eps)
    largest = float(np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64).max()))
    roots = (1 - unit) * np.sqrt(keys) - unit * largest
    return np.square(np.maximum(roots, 0)).astype(np.float32)
