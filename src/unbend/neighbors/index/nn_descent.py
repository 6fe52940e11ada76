"""Approximate neighbours by NN-descent (Dong, Moses and Li, 2011).

Rows of overlapping cells are compared by matrix products, which fills most lists; then neighbours
of neighbours are compared until the recall, estimated on a sample of rows, is reached. More
candidates than needed are ranked by exact distances. New samples are compared with the rows of
the nearest cells, as many as give the recall for a sample of the fitted rows.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.cached import cached_property
from unbend.neighbors.index.brute_force import Cloud, in_range, rank
from unbend.neighbors.index.cells import CellIndex, Cells, PackedCells
from unbend.neighbors.index.protocol import (
    contiguous_points,
    contiguous_queries,
    drop_self,
    note_recall,
    require_built,
)
from unbend.report import note, step
from unbend.validation.scalars import check_count, check_integer, check_real, check_threads

# Largest number of rows for which an exact search is used.
FEWEST = 2000
# Least number of rows per neighbour: for long lists matrix products are faster.
EACH = 40
# Extra neighbours are at most so many times those asked for.
MOST_SPARE = 8
# Rows, by distances in the projection, among which a bound of the k-th distance is searched first,
# and a bound of the rounding of these squared distances, relative to the squares of the rows.
SHORT, ROUNDING = 64, 1e-4
# Bound of the relative rounding of keys in single precision.
UNIT = 32 * float(np.finfo(np.float32).eps)
# Index of an empty entry of a list.
FREE = np.iinfo(np.int32).max


@dataclass(frozen=True)
class NNDescent:
    """Approximate Euclidean search by NN-descent; a `NeighborIndex`.

    Parameters
    ----------
    overlap : int
        Largest number of cells to which a row belongs; rows of a cell are compared with each other
        first. Fewer are used if they are predicted to take less time.
    cell : int
        Number of rows for each cell; with overlap it has so many times more.
    candidates : int
        Number of new neighbours of a row that are compared in a round, and as many old ones.
    spare : int
        Extra neighbours, which are then ranked by exact distances. Up to eight times as many are
        used where rows are projected to fewer columns and the sample shows that it takes them.
    rounds : int
        Largest number of rounds.
    tol : float
        Fraction of new entries below which other cells are compared in place of neighbours.
    recall : float
        Target recall. `report_` records the recall, which is lower if `rounds` do not suffice.
    sample : int
        Number of rows on which the recall is estimated.
    seed : int
        Random seed.
    threads : int
        Number of threads; an estimator sets it to its `n_jobs`.
    cloud : Cloud, optional
        Set by `build`.

    References
    ----------
    Dong, Moses and Li, Efficient k-nearest neighbor graph construction for generic similarity
    measures, WWW (2011). The cells follow Jégou, Douze and Schmid, PAMI (2011).

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

    overlap: int = 6
    cell: int = 250
    candidates: int = 20
    spare: int = 8
    rounds: int = 12
    tol: float = 0.05
    recall: float = 0.98
    sample: int = 250
    seed: int = 0
    threads: int = 1
    cloud: Cloud | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_threads(self.threads)
        for name in ("overlap", "cell", "candidates", "rounds", "sample"):
            check_integer(name, getattr(self, name))
        for name in ("spare", "seed"):
            check_integer(name, getattr(self, name), 0)
        for name in ("recall", "tol"):
            check_real(name, getattr(self, name), 0, 1)

    def serves(self, n: int, k: int) -> bool:
        """Whether a search of k among n rows is approximate: few rows are compared exactly."""
        return n > max(FEWEST, EACH * (k + self.spare))

    def build(self, points: FloatArray) -> "NNDescent":
        """Return an index of the points."""
        return replace(self, cloud=Cloud.of(contiguous_points(points)))

    def __getstate__(self) -> dict[str, object]:
        """Leave out the cells, which are found again on demand."""
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}

    @cached_property
    def _index(self) -> CellIndex:
        """Rows in the order of their cells."""
        cloud = require_built(self.cloud, self)
        n = len(cloud.points)
        # Cells of few rows are smaller, or they would compare all pairs; cells of many are larger,
        # or there would be more centres to compare a row with than rows in its cells.
        size = max(min(self.cell, n // 64), int(np.sqrt(n) / 4), 1)
        rng = np.random.default_rng(self.seed)
        return CellIndex.build(cloud, size, self.overlap, rng, self.threads)

    @cached_property
    def _packed(self) -> PackedCells:
        return PackedCells.of(self._index)

    @cached_property
    def _samples(self) -> "dict[int, _Sample]":
        """Rows on which the recall is estimated, for each number of neighbours."""
        return {}

    def _sample(self, k: int) -> "_Sample":
        """Find the exact neighbours of some rows, and the list length that can hold them."""
        if k not in self._samples:
            index, rng = self._index, np.random.default_rng(self.seed)
            places = np.sort(rng.choice(index.n, min(self.sample, index.n), replace=False))
            near, ranks, reach = _exact_neighbors(index, places, k, self.threads)
            length = k + self.spare
            if index.rows.shape[1] < index.projection.cloud.points.shape[1]:
                most = min(k + MOST_SPARE * self.spare, index.n - 1)
                length = _list_length(ranks, length, most, self.recall)
            self._samples[k] = _Sample(places, near, reach, length, float(np.mean(ranks < length)))
        return self._samples[k]

    @cached_property
    def _probes(self) -> dict[int, tuple[int, float]]:
        """Cells compared for each number of neighbours, and the recall of the sample."""
        return {}

    def query(self, rows: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Find the approximate k points nearest to each row, and report the recall.

        It is that of a sample of the fitted rows in the place of new ones.
        """
        cloud = require_built(self.cloud, self)
        rows = contiguous_queries(rows, k, cloud.points.shape)
        if not self.serves(len(cloud.points), k) or not in_range(cloud, rows):
            return cloud.nearest_of(rows, k, self.threads)
        if k not in self._probes:
            self._probes[k] = self._choose_probes(k)
        probes, recall = self._probes[k]
        note(search="approximate", cells=probes, recall=recall)
        if probes > len(self._index.centers) // 2:
            return cloud.nearest_of(rows, k, self.threads)
        return self._probe(rows, k, probes)

    def _choose_probes(self, k: int) -> tuple[int, float]:
        """Find how many cells give the recall for a sample of the fitted rows."""
        cloud, n = self._index.projection.cloud, self._index.n
        rng = np.random.default_rng(self.seed)
        some = cloud.points[np.sort(rng.choice(n, min(self.sample, n), replace=False))]
        reach = cloud.nearest_of(some, k, self.threads)[1][:, -1:]
        # A fitted row on the border of two cells may be rounded into either.
        probes = 2
        while probes <= len(self._index.centers) // 2:
            found = self._probe(some, k, probes)[1]
            recall = float(np.mean(found <= reach * (1 + 1e-12)))
            if recall >= self.recall:
                return probes, recall
            probes += max(1, probes // 3)
        return len(self._index.centers), 1.0

    def _probe(self, rows: FloatArray, k: int, probes: int) -> tuple[IntArray, FloatArray]:
        """Find the nearest rows in some cells; exactly for rows whose cells have too few."""
        cloud = self._index.projection.cloud
        length = self._sample(k).length
        keys, near = self._packed.candidates(rows, probes, length, self.threads)
        few = np.flatnonzero(near[:, -1] < 0)
        near[few] = 0
        indices, distances = np.empty((len(rows), k), dtype=np.int32), np.empty((len(rows), k))
        everyone = np.arange(len(rows))
        rank(cloud, rows, everyone, (keys, near), self.threads, indices, distances)
        if len(few):
            indices[few], distances[few] = cloud.nearest_of(rows[few], k, self.threads)
        return indices, distances

    def query_self(self, k: int) -> tuple[IntArray, FloatArray]:
        """Find the approximate k nearest other points of every point, and report the recall."""
        cloud = require_built(self.cloud, self)
        check_count(k, len(cloud.points) - 1)
        if not self.serves(len(cloud.points), k):
            note(search="exact")
            return cloud.neighbors(k, self.threads)
        sample, near, reach, length, held = self._sample(k)
        lists = _Lists.of(self._index, length, self.threads)
        indices, distances = np.empty((lists.n, k), dtype=np.int32), np.empty((lists.n, k))
        rng, rounds = np.random.default_rng(self.seed + 1), 0
        # Neighbours must share a cell, and be held by a list.
        wanted = min(1.0, self.recall / max(held, self.recall))
        overlap = self._index.choose_overlap(sample, near, wanted, length)
        lists.join_cells(self._index.cells(overlap))
        while True:
            step(rounds + 1, self.rounds + 1)
            lists.rank(sample, indices, distances)
            found = distances[lists.order[sample]]
            recall = note_recall("approximate", found, reach, cells=overlap, rounds=rounds)
            if recall >= self.recall or rounds == self.rounds:
                break
            if np.count_nonzero(lists.fresh) > self.tol * lists.fresh.size:
                lists.join(*lists.propose(self.candidates, int(rng.integers(2**62))))
            else:
                lists.join_cells(
                    self._index.with_other_cells(rng, self.threads).cells(self.overlap)
                )
            rounds += 1
        lists.rank(np.arange(lists.n), indices, distances)
        return indices, distances


@dataclass(frozen=True, eq=False)
class _Lists:
    """Sorted lists of neighbours and keys of the rows in the order of their cells."""

    index: CellIndex
    keys: FloatArray
    indices: IntArray
    fresh: IntArray
    threads: int

    @classmethod
    def of(cls, index: CellIndex, length: int, threads: int) -> "_Lists":
        shape = (index.n, length)
        keys = np.full(shape, np.inf, dtype=np.float32)
        indices = np.full(shape, FREE, dtype=np.int32)
        return cls(index, keys, indices, np.zeros(shape, dtype=np.uint8), threads)

    @property
    def n(self) -> int:
        return self.index.n

    @property
    def order(self) -> IntArray:
        return self.index.order

    def join_cells(self, cells: Cells) -> None:
        """Offer the members of each cell to each other's lists."""
        lists = self.keys, self.indices, self.fresh
        kernels.join_cells(self.index.rows, cells.members, cells.first, self.threads, *lists)

    def join(self, members: IntArray, fresh_members: IntArray, counts: IntArray) -> None:
        """Offer the members of each group to each other's lists."""
        lists = self.keys, self.indices, self.fresh
        kernels.join(self.index.rows, members, fresh_members, counts, self.threads, *lists)

    def propose(self, limit: int, seed: int) -> tuple[IntArray, IntArray, IntArray]:
        """Choose a group for each row: members, number of new ones, and number of all."""
        members = np.zeros((self.n, 2 * limit), dtype=np.int32)
        some, counts = np.empty(self.n, dtype=np.int32), np.empty(self.n, dtype=np.int32)
        kernels.propose(self.indices, seed, self.threads, self.fresh, members, some, counts)
        return members, some, counts

    def rank(self, places: IntArray, indices: IntArray, distances: FloatArray) -> None:
        """Rank some lists by exact distances."""
        near, k, cloud = self.indices[places], indices.shape[1], self.index.projection.cloud
        few = near[:, -1] == FREE
        rows, full = self.order[places[few]], places[~few]
        near = self.order.astype(np.int32)[near[~few]]
        found = self._bounds(self.keys[full]), near
        rank(cloud, cloud.points, self.order[full], found, self.threads, indices, distances)
        if len(rows):
            # Their cells have fewer rows than a list.
            exact = cloud.nearest_of(cloud.points[rows], k + 1, self.threads)
            indices[rows], distances[rows] = drop_self(*exact, rows)

    @cached_property
    def _rounding(self) -> float:
        """Bound of the rounding of distances in single precision."""
        rows = self.index.rows
        return UNIT * float(np.sqrt(np.einsum("ij,ij->i", rows, rows).max()))

    def _bounds(self, keys: FloatArray) -> FloatArray:
        """Lower bounds of the squared distances, given keys rounded to single precision."""
        roots = np.sqrt(keys)
        roots *= np.float32(1 - UNIT)
        roots -= np.float32(self._rounding)
        np.maximum(roots, 0, out=roots)
        return np.square(roots, out=roots)


class _Sample(NamedTuple):
    """Places of some rows, of their exact neighbours, and how far the last is.

    And a length of lists, with the share of the neighbours that lists of this length can hold.
    """

    places: IntArray
    near: IntArray
    reach: FloatArray
    length: int
    held: float


def _list_length(ranks: IntArray, length: int, most: int, recall: float) -> int:
    """Return a length of lists, by distances in the projection, that holds the neighbours.

    Of those that the recall allows to be missed, the projection may push half out of the lists.
    """
    while length < most and np.mean(ranks < length) < (1 + recall) / 2:
        length += 1
    return length


def _exact_neighbors(
    index: CellIndex, places: IntArray, k: int, threads: int
) -> tuple[IntArray, IntArray, FloatArray]:
    """Places and ranks of the exact k nearest other rows of some rows, and the last distance.

    Ranks are those by distances in the projection. Rows nearer than the k-th of any others are
    also nearer in the projection, so few have to be compared.
    """
    cloud, rows, n = index.projection.cloud, index.rows, index.n
    numbers, place_of = index.order.astype(np.int32), np.argsort(index.order)
    squares = (1 - ROUNDING) * np.einsum("ij,ij->i", rows, rows)
    near, ranks = (np.empty((len(places), k), dtype=np.int64) for _ in range(2))
    reach = np.empty(len(places))
    chunks = row_chunks(len(places), 4 * n)
    products = np.empty((chunks[0].stop, n), dtype=np.float32)
    for chunk in chunks:
        some = places[chunk]
        keys = np.matmul(-2 * rows[some], rows.T, out=products[: len(some)])
        keys += squares
        keys += squares[some, None]
        keys[np.arange(len(some)), some] = np.inf
        first = np.empty((len(some), max(k, SHORT)), dtype=np.int32)
        kernels.smallest(keys, threads, first, np.empty(first.shape, dtype=np.float32))
        asked = cloud.points[numbers[some]]
        bounds = cloud.rank_candidates(asked, numbers[first], k, threads)[1][:, -1]
        for number, own in enumerate(keys):
            candidates = np.flatnonzero(own <= np.square(bounds[number] * cloud.scale))
            found, away = cloud.rank_candidates(
                asked[number, None], numbers[candidates][None], k, threads
            )
            at = chunk.start + number
            near[at], reach[at] = place_of[found[0]], away[0, -1]
            ranks[at] = np.searchsorted(np.sort(own[candidates]), own[near[at]])
    return near, ranks, reach
