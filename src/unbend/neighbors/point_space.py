"""Points with a metric: KD-tree search in low dimension, blocked matrix products in high."""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.spatial import KDTree as ScipyTree

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.cached import cached_property
from unbend.memory import check_fits, reserve
from unbend.neighbors.index import AutoIndex, BruteForce, KDTree, NeighborIndex, NNDescent
from unbend.neighbors.index.choice import FEW_COLUMNS, FEW_ROWS, cheapest
from unbend.neighbors.index.external import ExternalIndex, norm_order
from unbend.neighbors.index.kd_tree import COMPILED_NORMS
from unbend.neighbors.metrics import EUCLIDEAN, Metric
from unbend.neighbors.metrics.norms import PNorm
from unbend.neighbors.neighbors import Neighbors
from unbend.neighbors.space import (
    Space,
    centered_gram,
    principal_coordinates,
    smallest,
    without_self,
)
from unbend.report import note, step
from unbend.validation.arrays import stored_type
from unbend.validation.parameters import INDEX, Choice
from unbend.validation.scalars import check_count, check_radius, check_threads, refusal

# Of few rows, and by norms that products do not give, a KD-tree searches up to this many columns;
# of more rows the choice is predicted.
TREE_COLUMNS = 15
# Columns for each row of a block from which on eigenvectors of its inner products take less time
# than the columns themselves.
REDUCED_FROM = 8
# SciPy's tree, for norms that the compiled one does not support, computes powers of differences:
# they overflow for numbers beyond 2^±(ROOM / p), or for larger p than this.
LARGEST_P, ROOM = 16.0, 400.0
# Names of searches: "auto" and "exact" choose between the other two.
ALGORITHMS = ("auto", "exact", "kd_tree", "brute")


class Searcher(Protocol):
    """A built index."""

    def query(self, rows: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Find the k points nearest to each row."""

    def query_self(self, k: int) -> tuple[IntArray, FloatArray]:
        """Find the k nearest other points of every point."""


@dataclass(frozen=True, eq=False)
class PointSpace(Space):
    """Rows of numbers with a metric; searches use the features of the metric.

    Points may be stored in single precision: distances, coordinates and `rows` are doubles.

    `index` is "auto" or "exact" (the cheaper of the next two), "kd_tree", "brute" or an unbuilt
    `NeighborIndex`.

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

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.points)

    def __getstate__(self) -> dict[str, object]:
        """Leave out the trees, which are rebuilt on demand."""
        return {name: self.__dict__[name] for name in ("points", "metric", "workers", "index")}

    @cached_property
    def features(self) -> FloatArray:
        """Features of the points."""
        return self.metric.features(self.points, self.workers)

    def features_of(self, new: FloatArray) -> FloatArray:
        """Features of new samples, in double precision."""
        if new.ndim != 2 or new.shape[1] != self.points.shape[1]:
            raise ValueError(
                f"new samples must have {self.points.shape[1]} columns, as the fitted ones: their "
                f"shape is {new.shape}"
            )
        return self.metric.features(np.asarray(new, dtype=np.float64))

    @cached_property
    def _uses_tree(self) -> bool:
        """Whether exact searches use a tree."""
        if self.index == "brute" or self.metric.norm.p is None:
            return False
        n, columns = self.features.shape
        free = self.index in ("auto", "exact") or isinstance(self.index, AutoIndex)
        if free and self.metric.norm.p == 2 and n > FEW_ROWS and columns > FEW_COLUMNS:
            return cheapest(self.features) == "tree"
        few = columns <= TREE_COLUMNS or self.index == "kd_tree"
        return few and self._fits_tree(self.features)

    def _fits_tree(self, features: FloatArray) -> bool:
        """Whether powers of differences of these features do not overflow in a tree."""
        p = self.metric.norm.p or 2.0
        if p in COMPILED_NORMS:
            return True
        exponent = float(np.frexp(np.abs(features).max(initial=0.0))[1])
        return p <= LARGEST_P and abs(exponent) <= ROOM / p

    @cached_property
    def _tree(self) -> KDTree:
        return KDTree(self.metric.norm.p or 2.0, self.workers).build(self.features)

    @cached_property
    def _scipy_tree(self) -> ScipyTree:
        # Balanced trees split at medians, which degenerates with many duplicates.
        return ScipyTree(self.features, balanced_tree=False, compact_nodes=False)

    @cached_property
    def _brute_force(self) -> BruteForce:
        return BruteForce(self.workers).build(self.features)

    @cached_property
    def _built_index(self) -> Searcher:
        """The user's index, built."""
        if isinstance(self.index, AutoIndex | KDTree | BruteForce | NNDescent):
            return replace(self.index, threads=self.workers).build(self.features)
        assert not isinstance(self.index, str)
        return ExternalIndex.build(self.index, self.features, self.workers)

    def _exact(self, rows: FloatArray) -> Searcher | None:
        """Exact index for the neighbours of some rows; None if all distances are computed."""
        if self._uses_tree and self._fits_tree(rows):
            return self._tree
        return self._brute_force if self.metric.norm.p == 2 else None

    @property
    def _descent_is_exact(self) -> bool:
        """Whether an exact search takes the place of NN-descent."""
        return self._uses_tree or self.metric.norm.p != 2

    def nearest(self, k: int) -> Neighbors:
        """Find the k nearest other points of every point."""
        check_count(k, self.n - 1)
        # A number and a distance of each neighbour.
        reserve(12 * self.n * k, f"{self.n} x {k} neighbours", "use fewer neighbours or rows")
        if isinstance(self.index, str) or (
            isinstance(self.index, AutoIndex)
            and (self.index.recall >= 1.0 or self.metric.norm.p != 2)
        ):
            index = self._exact(self.features)
        elif isinstance(self.index, NNDescent) and self._descent_is_exact:
            note(search="exact")
            index = self._exact(self.features)
        else:
            index = self._built_index
        if index is None:
            return without_self(*self._nearest_by_blocks(self.features, k + 1))
        return Neighbors.rectangular(*self._to_distances(self.features, *index.query_self(k)))

    def nearest_of(self, new: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Find the k points nearest to each new sample."""
        check_count(k, self.n)
        new = self.features_of(new)
        exact = isinstance(self.index, str | AutoIndex) or (
            isinstance(self.index, NNDescent) and self._descent_is_exact
        )
        index = self._exact(new) if exact else self._built_index
        if index is None:
            return self._nearest_by_blocks(new, k)
        return self._to_distances(new, *index.query(new, k))

    def _to_distances(
        self, features: FloatArray, indices: IntArray, lengths: FloatArray
    ) -> tuple[IntArray, FloatArray]:
        """Convert norms of features to distances of neighbours."""
        norm = self.metric.norm
        distances = norm.to_distance(lengths)
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
            between = self.metric.norm.between(
                new[rows].astype(np.float64, copy=False), self.features
            )
            found.append(smallest(between, k, self.workers))
            step(number + 1, len(chunks))
        return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])

    def within(self, radius: float) -> Neighbors:
        """Find all other points within `radius` of every point."""
        check_radius(radius)
        if self._uses_tree:
            norm = self.metric.norm
            p = norm.p or 2.0
            # Slightly larger, so that rounding loses no pair at the radius itself.
            reach = norm.to_norm(radius) * (1 + 1e-12)
            edges = int(self._scipy_tree.count_neighbors(self._scipy_tree, reach, p))
            reserve(64 * edges, f"{edges} edges within the radius", "use a smaller radius")
            pairs = self._scipy_tree.query_pairs(reach, p, output_type="ndarray")
            lengths = self.lengths(pairs[:, 0], pairs[:, 1])
            pairs, lengths = pairs[lengths <= radius], lengths[lengths <= radius]
            ends = np.concatenate((pairs, pairs[:, ::-1]))
            return Neighbors.from_edges(self.n, ends[:, 0], ends[:, 1], np.tile(lengths, 2))
        rows, columns, distances, edges = [], [], [], 0
        for chunk in row_chunks(self.n, 16 * self.n):
            own = self.features[chunk].astype(np.float64, copy=False)
            between = self.metric.norm.between(own, self.features)
            row, column = np.nonzero(between <= radius)
            rows.append(row + chunk.start)
            columns.append(column)
            distances.append(between[row, column])
            edges += len(row)
            check_fits(64 * edges, f"{edges} edges within the radius", "use a smaller radius")
            step(chunk.stop, self.n)
        return Neighbors.from_edges(
            self.n, np.concatenate(rows), np.concatenate(columns), np.concatenate(distances)
        )

    def distances_of(self, new: FloatArray) -> FloatArray:
        """Distances of new samples to all points."""
        return self.metric.norm.between(self.features_of(new), self.features)

    def lengths(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Distances of pairs of points."""
        first, second = self.features[rows], self.features[columns]
        return self.metric.norm.along(first.astype(np.float64, copy=False), second)

    def coordinates(self, blocks: IntArray) -> FloatArray:
        """Coordinates of the points of each block, up to a rigid motion."""
        size = blocks.shape[1]
        if not self.is_euclidean or self.has_short_rows(size):
            return self._local(self.features[blocks].astype(np.float64, copy=False))
        gram = np.empty((len(blocks), size, size))
        features = np.ascontiguousarray(self.features, dtype=stored_type(self.features))
        members = np.ascontiguousarray(blocks, dtype=np.int32)
        kernels.local_gram(features, members, self.workers, gram)
        return principal_coordinates(gram)

    def differences(self, blocks: IntArray) -> FloatArray:
        """Coordinates of each block relative to its first point; columns are not reduced if few."""
        few = self.features.shape[1] <= REDUCED_FROM * blocks.shape[1]
        if not (few and self.is_euclidean):
            return self.coordinates(blocks)
        block = self.features[blocks].astype(np.float64, copy=False)
        return np.asarray(block - block[:, :1])

    def coordinates_of(self, new: FloatArray, blocks: IntArray) -> FloatArray:
        """Coordinates of each new sample followed by its block."""
        new = self.features_of(new)
        return self._local(np.concatenate((new[:, None], self.features[blocks]), axis=1))

    @property
    def is_euclidean(self) -> bool:
        """Whether distances are Euclidean norms of differences of features."""
        return isinstance(self.metric.norm, PNorm) and self.metric.norm.p == 2

    def has_short_rows(self, size: int) -> bool:
        """Whether features are coordinates of blocks of so many points, none too many."""
        return self.is_euclidean and self.features.shape[1] <= size

    def _local(self, block: FloatArray) -> FloatArray:
        if not self.is_euclidean:
            between = self.metric.norm.between
            return principal_coordinates(centered_gram(np.stack([between(b, b) for b in block])))
        if block.shape[2] <= block.shape[1]:
            return block - block[:, :1]
        # s points span at most s - 1 dimensions.
        return principal_coordinates(_inner_products(block))

    def take(self, rows: IntArray) -> "PointSpace":
        """Restrict to a subset of the points."""
        return replace(self, points=self.points[rows])

    def copy(self) -> "PointSpace":
        """Copy the points."""
        return replace(self, points=self.points.copy())

    def rows(self, rows: IntArray) -> FloatArray:
        """Fitted points as new samples, in double precision."""
        return np.asarray(self.points[rows], dtype=np.float64)

    def narrow(self, new: FloatArray, rows: IntArray) -> FloatArray:
        """Return the points, which do not depend on the fitted ones."""
        return new

    def distinct(self) -> tuple[IntArray, IntArray]:
        """First occurrence of each point with distinct features, and the inverse indices."""
        copy = np.empty(self.n, dtype=np.int64)
        features = np.ascontiguousarray(self.features, dtype=np.float64)
        if kernels.distinct_rows(features, 0.0, copy)[-1] == self.n:
            everyone = np.arange(self.n)
            return everyone, everyone
        # Distinct rows are numbered in the order of their first occurrence.
        return np.flatnonzero(np.diff(np.maximum.accumulate(copy), prepend=-1)), copy


def check_index(index: NeighborIndex | str, metric: Metric) -> None:
    """Raise if an index cannot search by the metric."""
    named = isinstance(index, str)
    if not (index in ALGORITHMS if named else INDEX.has_type(index)):
        allowed = f"{Choice(*ALGORITHMS)} or {INDEX}"
        raise (ValueError if named else TypeError)(refusal("index", index, allowed))
    if index in ("auto", "exact", "brute") or isinstance(index, AutoIndex | NNDescent):
        return
    name = f"{index!r}" if isinstance(index, str) else f"a {type(index).__name__}"
    p = metric.norm.p
    if p is None:
        raise ValueError(
            f"neighbors_algorithm is {name}, which needs a norm, and metric={metric.name!r} is "
            "not one: use neighbors_algorithm='exact'"
        )
    if index != "kd_tree" and norm_order(index) != p:
        raise ValueError(
            f"neighbors_algorithm is {name}, which searches by the p-norm with "
            f"p={norm_order(index):g}, and metric={metric.name!r} needs p={p:g}: use "
            "neighbors_algorithm='exact', or set the attribute p of the index"
        )


def _inner_products(block: FloatArray) -> FloatArray:
    """Inner products of the points of each block relative to its first one.

    So duplicates differ by exactly zero.
    """
    centered = block.astype(np.float64, copy=False)
    centered = centered - centered[:, :1]
    return np.asarray(centered @ centered.transpose(0, 2, 1))
