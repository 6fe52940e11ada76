"""Points in space: a KD-tree in low dimension, blocked matrix products in high."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.spatial import KDTree as ScipyTree

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.memory import reserve
from unbend.neighbors.index import BruteForce, KDTree, NeighborIndex, NNDescent
from unbend.neighbors.index.external import ExternalIndex, norm_order
from unbend.neighbors.index.kd_tree import COMPILED_NORMS
from unbend.neighbors.metrics import EUCLIDEAN, Metric
from unbend.neighbors.metrics.norms import Plain
from unbend.neighbors.neighbors import Neighbors
from unbend.neighbors.space import Space, centered_gram, principal, smallest, without_self
from unbend.report import note, step
from unbend.validation.scalars import check_count, check_radius, check_threads

# Beyond this many columns a KD-tree visits most of its leaves and matrix products win.
TREE_COLUMNS = 15
# SciPy's tree serves other norms than the compiled one does, by powers of differences: those of
# numbers beyond 2^±(ROOM / p), or by a larger p than this, leave double precision.
LARGEST_P, ROOM = 16.0, 400.0
# Searches by name: "exact" chooses between the other two.
ALGORITHMS = ("exact", "kd_tree", "brute")


class Searcher(Protocol):
    """A built index, as the space uses it."""

    def query(self, rows: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Find the k points nearest to each row."""

    def query_self(self, k: int) -> tuple[IntArray, FloatArray]:
        """Find the k nearest other points of every point."""


@dataclass(frozen=True, eq=False)
class PointSpace(Space):
    """Rows of numbers with a metric; every search works on the features that the metric sees.

    `index` is "exact", "kd_tree", "brute" or an unbuilt `NeighborIndex`.

    Examples
    --------
    >>> import numpy as np
    >>> line = PointSpace(np.array([[0.0], [1.0], [3.0]]))
    >>> line.nearest(1).indices
    array([1, 0, 1], dtype=int32)
    """

    points: FloatArray
    metric: Metric = EUCLIDEAN
    workers: int = 1
    index: NeighborIndex | str = "exact"

    def __post_init__(self) -> None:
        points = self.points
        if (
            not isinstance(points, np.ndarray)
            or points.ndim != 2
            or points.dtype.kind not in "fiub"
        ):
            raise TypeError(
                "points must be an array (n, D) of real numbers: pass np.asarray(X, dtype=float)"
            )
        check_threads(self.workers)
        check_index(self.index, self.metric)

    @classmethod
    def seen_as_they_are(
        cls, points: FloatArray, metric: Metric = EUCLIDEAN, workers: int = 1
    ) -> "PointSpace":
        """Build from finite points that the metric does not map; they are not checked again."""
        space = cls(points, metric, workers)
        # The place where the cached property keeps them.
        space.__dict__["features"] = points
        return space

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.points)

    def __getstate__(self) -> dict[str, object]:
        """Leave out the trees, which are built again when they are asked for."""
        return {name: self.__dict__[name] for name in ("points", "metric", "workers", "index")}

    @cached_property
    def features(self) -> FloatArray:
        """The points as the metric sees them."""
        return self.metric.features(self.points)

    def _mapped(self, new: FloatArray) -> FloatArray:
        if new.ndim != 2 or new.shape[1] != self.points.shape[1]:
            raise ValueError(
                f"new points must be rows of {self.points.shape[1]} numbers, as the fitted ones "
                f"are: their shape is {new.shape}"
            )
        return self.metric.features(new)

    @cached_property
    def _low(self) -> bool:
        """Whether a tree serves exact searches."""
        if self.index == "brute" or self.metric.norm.p is None:
            return False
        few = self.features.shape[1] <= TREE_COLUMNS or self.index == "kd_tree"
        return few and self._has_room(self.features)

    def _has_room(self, features: FloatArray) -> bool:
        """Whether a tree can take the powers of differences of these features."""
        p = self.metric.norm.p or 2.0
        if p in COMPILED_NORMS:
            return True
        exponent = float(np.frexp(np.abs(features).max(initial=0.0))[1])
        return p <= LARGEST_P and abs(exponent) <= ROOM / p

    @cached_property
    def _tree(self) -> KDTree:
        return KDTree(self.metric.norm.p or 2.0, self.workers).build(self.features)

    @cached_property
    def _pairs(self) -> ScipyTree:
        # Balanced trees split at medians, which degenerates when many points coincide.
        return ScipyTree(self.features, balanced_tree=False, compact_nodes=False)

    @cached_property
    def _products(self) -> BruteForce:
        return BruteForce(self.workers).build(self.features)

    @cached_property
    def _given(self) -> Searcher:
        """The index that the space was made with, built."""
        if isinstance(self.index, KDTree | BruteForce | NNDescent):
            return replace(self.index, threads=self.workers).build(self.features)
        assert not isinstance(self.index, str)
        return ExternalIndex.build(self.index, self.features, self.workers)

    def _exact(self, rows: FloatArray) -> Searcher | None:
        """Exact search for the neighbours of some rows; None where all distances are computed."""
        if self._low and self._has_room(rows):
            return self._tree
        return self._products if self.metric.norm.p == 2 else None

    def nearest(self, k: int) -> Neighbors:
        """Find the k nearest other points of every point."""
        check_count(k, self.n - 1)
        if isinstance(self.index, str):
            index = self._exact(self.features)
        elif isinstance(self.index, NNDescent) and (self._low or self.metric.norm.p != 2):
            note(search="exact")
            index = self._exact(self.features)
        else:
            index = self._given
        if index is None:
            return without_self(*self._nearest_by_blocks(self.features, k + 1))
        return Neighbors.rectangular(*self._read(self.features, *index.query_self(k)))

    def nearest_of(self, new: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Find the k points nearest to each new point."""
        check_count(k, self.n)
        new = self._mapped(new)
        exact = isinstance(self.index, str | NNDescent)
        index = self._exact(new) if exact else self._given
        if index is None:
            return self._nearest_by_blocks(new, k)
        return self._read(new, *index.query(new, k))

    def _read(
        self, features: FloatArray, indices: IntArray, lengths: FloatArray
    ) -> tuple[IntArray, FloatArray]:
        """Distances of neighbours that were found by a norm of their features."""
        norm = self.metric.norm
        distances = norm.read(lengths)
        if norm.reliable == np.inf:
            return indices, distances
        rough = np.nonzero(lengths > norm.reliable)
        if len(rough[0]):
            distances[rough] = norm.along(features[rough[0]], self.features[indices[rough]])
            order = np.lexsort((indices, distances), axis=1)
            indices = np.take_along_axis(indices, order, axis=1)
            distances = np.take_along_axis(distances, order, axis=1)
        return indices, distances

    def _nearest_by_blocks(self, new: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        found = []
        chunks = row_chunks(len(new), 16 * self.n)
        for number, rows in enumerate(chunks):
            between = self.metric.norm.between(new[rows], self.features)
            found.append(smallest(between, k, self.workers))
            step(number + 1, len(chunks))
        return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])

    def within(self, radius: float) -> Neighbors:
        """Find all other points within `radius` of every point."""
        check_radius(radius)
        if self._low:
            norm = self.metric.norm
            p = norm.p or 2.0
            # A little farther, so that rounding loses no pair at exactly the radius.
            reach = norm.unread(radius) * (1 + 1e-12)
            edges = int(self._pairs.count_neighbors(self._pairs, reach, p))
            reserve(64 * edges, f"{edges} edges within the radius", "use a smaller radius")
            pairs = self._pairs.query_pairs(reach, p, output_type="ndarray")
            lengths = self.lengths(pairs[:, 0], pairs[:, 1])
            pairs, lengths = pairs[lengths <= radius], lengths[lengths <= radius]
            ends = np.concatenate((pairs, pairs[:, ::-1]))
            return Neighbors.from_edges(self.n, ends[:, 0], ends[:, 1], np.tile(lengths, 2))
        rows, columns, distances = [], [], []
        for chunk in row_chunks(self.n, 16 * self.n):
            between = self.metric.norm.between(self.features[chunk], self.features)
            row, column = np.nonzero(between <= radius)
            rows.append(row + chunk.start)
            columns.append(column)
            distances.append(between[row, column])
            step(chunk.stop, self.n)
        return Neighbors.from_edges(
            self.n, np.concatenate(rows), np.concatenate(columns), np.concatenate(distances)
        )

    def distances_of(self, new: FloatArray) -> FloatArray:
        """Distances of the new points to all points."""
        return self.metric.norm.between(self._mapped(new), self.features)

    def lengths(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Distances of pairs of points."""
        first, second = self.features[rows], self.features[columns]
        return self.metric.norm.along(first.astype(np.float64, copy=False), second)

    def coordinates(self, blocks: IntArray) -> FloatArray:
        """Coordinates of the points in each block, up to a rigid motion."""
        return self._local(self.features[blocks].astype(np.float64, copy=False))

    def coordinates_of(self, new: FloatArray, blocks: IntArray) -> FloatArray:
        """Do the same with the new point first."""
        new = self._mapped(new)
        return self._local(np.concatenate((new[:, None], self.features[blocks]), axis=1))

    def _local(self, block: FloatArray) -> FloatArray:
        norm = self.metric.norm
        if not (isinstance(norm, Plain) and norm.p == 2):
            return principal(centered_gram(np.stack([norm.between(b, b) for b in block])))
        # From the first point: points that coincide differ by exactly zero.
        block = block - block[:, :1]
        if block.shape[2] <= block.shape[1]:
            return block
        # s points span at most s - 1 directions: keep those, not all columns.
        return principal(block @ block.transpose(0, 2, 1))

    def take(self, rows: IntArray) -> "PointSpace":
        """Restrict to some points."""
        part = PointSpace(self.points[rows], self.metric, self.workers, self.index)
        # Mapped once: the place where the cached property keeps them.
        part.__dict__["features"] = (
            part.points if self.features is self.points else self.features[rows]
        )
        return part

    def copied(self) -> "PointSpace":
        """Return the same points, which nobody else writes into."""
        same = PointSpace(self.points.copy(), self.metric, self.workers, self.index)
        mapped = self.features is not self.points
        same.__dict__["features"] = self.features.copy() if mapped else same.points
        return same

    def rows(self, rows: IntArray) -> FloatArray:
        """Fitted points as new points."""
        return self.points[rows]

    def narrow(self, new: FloatArray, rows: IntArray) -> FloatArray:
        """Return the points: they do not depend on the fitted ones."""
        return new

    def distinct(self) -> tuple[IntArray, IntArray]:
        """First occurrence of each point that the metric tells apart, and which each equals."""
        _, first, inverse = np.unique(self.features, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return first[order], rank[inverse.ravel()]


def check_index(index: NeighborIndex | str, metric: Metric) -> None:
    """Refuse an index that cannot search by the metric."""
    if isinstance(index, str) and index not in ALGORITHMS:
        raise ValueError(
            f"index={index!r} is not known: it must be one of {', '.join(ALGORITHMS)}, or an index"
        )
    if index in ("exact", "brute") or isinstance(index, NNDescent):
        return
    name = f"{index!r}" if isinstance(index, str) else f"a {type(index).__name__}"
    p = metric.norm.p
    if p is None:
        raise ValueError(
            f"neighbors_algorithm is {name} and metric={metric.name!r} is not a norm, which such "
            "an index needs: use neighbors_algorithm='exact'"
        )
    if index != "kd_tree" and norm_order(index) != p:
        raise ValueError(
            f"neighbors_algorithm is {name}, which searches by the p-norm with "
            f"p={norm_order(index):g}, and metric={metric.name!r} needs p={p:g}: use "
            "neighbors_algorithm='exact', or give the index an attribute p"
        )
