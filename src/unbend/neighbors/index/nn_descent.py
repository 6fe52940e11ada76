"""Approximate neighbours by NN-descent (Dong, Moses and Li, 2011).

Rows are centred, rounded to single precision and projected to their leading principal axes, with
the residual if it is large, so that most distances are rejected after a few columns. Leaves of
random trees initialise the lists; then neighbours of neighbours are compared until few lists
change. More candidates than needed are ranked by exact distances, and the recall is estimated on a
sample of rows.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.neighbors.index.brute_force import Cloud, rank
from unbend.neighbors.index.protocol import (
    contiguous_points,
    contiguous_queries,
    note_recall,
    require_built,
)
from unbend.report import note, step
from unbend.validation.scalars import check_count, check_integer, check_real, check_threads

# Columns that the kernel compares first; rows have a multiple of them.
HEAD = 32
# Number of principal axes of the projection, and of rows from which they are estimated.
AXES, AXES_ROWS = 160, 2048
# Explained variance above which only the projection is used: for handwritten digits (0.95) the
# first 23 candidates contain 0.998 of 15 neighbours.
ENOUGH = 0.9
# Rows with norms beyond this multiple of the median are outliers, ignored for the axes.
FARTHEST = 64.0


def project_rows(cloud: Cloud, rng: np.random.Generator, leaf: int) -> tuple[FloatArray, IntArray]:
    """Project rows to principal axes, with the residual if it is large, in order of a tree."""
    n, d = cloud.points.shape
    axes, share = _axes(cloud, rng)
    along = np.empty((n, axes.shape[1]), dtype=np.float32)
    for chunk in row_chunks(n, 12 * d):
        along[chunk] = _single(cloud, chunk) @ axes
    order = grow_tree(along[:, :HEAD], leaf, rng)
    left = d if share < ENOUGH else 0
    rows = np.zeros((n, _multiple(axes.shape[1]) + _multiple(left)), dtype=np.float32)
    for chunk in row_chunks(n, 12 * d):
        some = order[chunk]
        rows[chunk, : axes.shape[1]] = along[some]
        if left:
            rows[chunk, -_multiple(left) :][:, :d] = _single(cloud, some) - along[some] @ axes.T
    return rows, order


def _multiple(columns: int) -> int:
    return -(-columns // HEAD) * HEAD


def _single(cloud: Cloud, rows: slice | IntArray) -> FloatArray:
    """Centred and scaled rows in single precision."""
    return np.asarray((cloud.points[rows] - cloud.center) * cloud.scale, dtype=np.float32)


def _axes(cloud: Cloud, rng: np.random.Generator) -> tuple[FloatArray, float]:
    """Approximate leading principal axes and their explained variance.

    By two steps of orthogonal iteration on the covariance of a sample.
    """
    n, d = cloud.points.shape
    sample = _single(cloud, np.sort(rng.choice(n, min(n, AXES_ROWS), replace=False)))
    # Outliers would dominate the axes.
    lengths = np.linalg.norm(sample, axis=1)
    if lengths.any():
        sample = sample[lengths <= FARTHEST * np.median(lengths[lengths > 0])]
    # Scaled to at most one, so that products do not overflow in single precision.
    sample = sample / max(float(np.abs(sample).max()), 1e-30)
    found = rng.standard_normal((d, min(d, AXES))).astype(np.float32)
    for _ in range(2):
        found = np.linalg.qr(sample.T @ (sample @ found))[0]
    along = (sample @ found).astype(np.float64)
    values, turn = np.linalg.eigh(along.T @ along)
    total = float(np.square(sample, dtype=np.float64).sum())
    share = float(values.sum()) / total if total > 0 and len(found) > AXES else 1.0
    return np.asarray(np.linalg.qr(found @ turn[:, ::-1])[0], dtype=np.float32), share


def _parts(n: int, leaf: int) -> list[IntArray]:
    """Offsets of the nodes at each level of a balanced tree, down to the leaves."""
    depth = max(0, int(np.ceil(np.log2(n / leaf))))
    return [np.linspace(0, n, 2**level + 1).astype(np.int64) for level in range(depth + 1)]


def grow_tree(head: FloatArray, leaf: int, rng: np.random.Generator) -> IntArray:
    """Order of the rows by the leaves of a random tree.

    Every node is split at its median along a random direction, the same for a level.
    """
    levels = _parts(len(head), leaf)[:-1]
    along = head @ rng.standard_normal((head.shape[1], len(levels))).astype(np.float32)
    places = along / (2.5 * max(float(np.abs(along).max(initial=0.0)), 1e-30))
    order: IntArray = np.arange(len(head))
    for level, offsets in enumerate(levels):
        part = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        order = order[np.argsort(part + places[order, level], kind="stable")]
    return order


def leaves(order: IntArray, leaf: int) -> tuple[IntArray, IntArray]:
    """Members of each leaf, padded to one width, and their number."""
    counts = np.diff(_parts(len(order), leaf)[-1]).astype(np.int32)
    members = np.zeros((len(counts), counts.max()), dtype=np.int32)
    members[np.arange(members.shape[1]) < counts[:, None]] = order
    return members, counts


# Largest number of rows for which an exact search is used.
FEWEST = 2000
# Least number of rows per neighbour: for long lists matrix products are faster.
EACH = 40
# Index of an empty entry of a list.
FREE = np.iinfo(np.int32).max


@dataclass(frozen=True)
class NNDescent:
    """Approximate Euclidean search by NN-descent; a `NeighborIndex`.

    `query` is exact; only `query_self`, the neighbours of the points themselves, is approximate.

    Parameters
    ----------
    trees : int
        Number of random trees that initialise the lists.
    leaf : int
        Largest number of rows of a leaf.
    candidates : int
        Number of new neighbours of a row that are compared in a round, and as many old ones.
    spare : int
        Extra neighbours, which are then ranked by exact distances.
    rounds : int
        Largest number of rounds.
    tol : float
        Fraction of new entries at which the recall is first estimated; while it is too low, more
        trees are grown and the fraction is quartered.
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
        """Whether a search of k among n rows is approximate: few rows are compared exactly."""
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
        """Find the approximate k nearest other points of every point, and report the recall."""
        cloud, rng = require_built(self.cloud, self), np.random.default_rng(self.seed)
        check_count(k, len(cloud.points) - 1)
        if not self.serves(len(cloud.points), k):
            note(search="exact")
            return cloud.neighbors(k, self.threads)
        lists = _Lists.of(cloud, *project_rows(cloud, rng, self.leaf), k + self.spare, self.threads)
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
            recall = note_recall("approximate", found, reach, rounds=rounds)
            enough = recall >= self.recall or tol * lists.fresh.size < 1
            if enough or rounds == self.rounds:
                break
            tol /= 4
        lists.rank(np.arange(lists.n), indices, distances)
        return indices, distances

    def _plant(self, lists: "_Lists", rng: np.random.Generator) -> None:
        """Initialise the lists by the leaves of random trees."""
        # Leaves have more rows than a list has entries.
        leaf = max(self.leaf, 2 * lists.keys.shape[1] + 2)
        for tree in range(self.trees):
            members, counts = leaves(grow_tree(lists.rows[:, :HEAD], leaf, rng), leaf)
            lists.join(members, counts, counts)
            step(tree + 1, self.trees + self.rounds)

    def _descend(self, lists: "_Lists", rng: np.random.Generator, rounds: int, tol: float) -> int:
        """Compare neighbours of neighbours until few entries are new; return all rounds."""
        while rounds < self.rounds and np.count_nonzero(lists.fresh) > tol * lists.fresh.size:
            lists.join(*lists.propose(self.candidates, int(rng.integers(2**62))))
            rounds += 1
            step(self.trees + rounds, self.trees + self.rounds)
        return rounds


@dataclass(frozen=True, eq=False)
class _Lists:
    """Sorted lists of neighbours and keys; row i is row `order[i]` of the cloud."""

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
        """Offer the members of each group to each other's lists."""
        lists = self.keys, self.indices, self.fresh
        kernels.join(self.rows, members, fresh_members, counts, self.threads, *lists)

    def propose(self, limit: int, seed: int) -> tuple[IntArray, IntArray, IntArray]:
        """Choose a group for each row: members, number of new ones, and number of all."""
        members = np.zeros((self.n, 2 * limit), dtype=np.int32)
        some, counts = np.empty(self.n, dtype=np.int32), np.empty(self.n, dtype=np.int32)
        kernels.propose(self.indices, seed, self.threads, self.fresh, members, some, counts)
        return members, some, counts

    def rank(self, places: IntArray, indices: IntArray, distances: FloatArray) -> None:
        """Rank some lists by exact distances."""
        rows, near = self.order[places], self.order.astype(np.int32)[self.indices[places]]
        found = _bounds(self.rows, self.keys[places]), near
        k = indices.shape[1]
        rank(self.cloud, self.cloud.points, rows, found, k, self.threads, indices, distances)


def _exact_reach(lists: _Lists, places: IntArray, found: FloatArray) -> FloatArray:
    """Distances of the exact k-th nearest neighbour of some rows.

    Rows nearer than the k-th found are also nearer in the projection, so few have to be compared;
    with many candidates, as for duplicates, an exact search is used.
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
    # The row itself is one of the k + 1 nearest.
    everyone = cloud.points[order[places[left]]]
    reach[left] = cloud.nearest_of(everyone, k + 1, lists.threads)[1][:, -1]
    return reach


def _bounds(rows: FloatArray, keys: FloatArray) -> FloatArray:
    """Lower bounds of the squared distances, given keys rounded to single precision."""
    unit = 32 * float(np.finfo(np.float32).eps)
    largest = float(np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64).max()))
    roots = (1 - unit) * np.sqrt(keys) - unit * largest
    return np.square(np.maximum(roots, 0)).astype(np.float32)
