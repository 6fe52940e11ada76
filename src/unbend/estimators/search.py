"""The neighbour stage of a fit: how many neighbours, among which rows."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

import numpy as np
from scipy.sparse import coo_array

from unbend.arrays import FloatArray, IntArray, is_sparse
from unbend.cached import cached_property
from unbend.extension import Rule
from unbend.graphs.readers import edges_of
from unbend.neighbors import GraphSpace, Neighbors, PointSpace, Space
from unbend.neighbors.order import spatial_order
from unbend.neighbors.space import COMPARED, mean_spacing
from unbend.report import note, warn

AUTO = "auto"
# Neighbours of a landmark where their number is left open, at least: as many as denoising reckons
# with. In four dimensions and more those are few, and a quadratic has more coefficients.
LANDMARK_NEIGHBORS = 10
# Rows from which on, and columns up to which, rows are sorted by where they are. With more columns
# three of them say little.
ORDERED_ROWS, ORDERED_COLUMNS = 50_000, 15
# One number, one a row, left open, or all within the radius.
Counts = int | IntArray | str | None


@dataclass(frozen=True)
class Needs:
    """What a kernel needs: how many neighbours, and which of the edges as found it uses.

    Some kernels can have all n − 1 eigenvectors beside the trivial one: `spare` rows beyond d.
    `sparse` kernels pay for each edge, and take the fewest that connect the graph. Charts of
    `glued` dimensions need neighbourhoods that share more rows than that; 0 for any overlap.
    """

    neighbors: int = 1
    mutual: bool = False
    edges: Callable[[Neighbors], Neighbors] | None = None
    spare: int = 2
    sparse: bool = False
    glued: int = 0

    def rows(self, d: int) -> int:
        """Fewest rows that can be embedded in d dimensions."""
        return max(d + self.spare, self.neighbors + 1)


@dataclass(frozen=True, eq=False)
class Neighborhoods:
    """Distinct rows and their neighbours, without duplicate rows.

    Distinct row j is row `first[j]` of the data, and row i equals distinct row `inverse[i]`.
    """

    space: Space
    neighbors: Neighbors
    rule: Rule
    first: IntArray
    inverse: IntArray

    @cached_property
    def spacing(self) -> FloatArray:
        """Mean distance of each distinct row to its five nearest others."""
        if self.neighbors.counts.min() < min(COMPARED, self.space.n - 1):
            return self.space.spacing
        return mean_spacing(self.neighbors.nearest(np.full(self.space.n, COMPARED)))


def _range(counts: int | IntArray) -> tuple[int, int]:
    """Fewest and most; NumPy takes longer for one number than a KD-tree for a hundred rows."""
    if isinstance(counts, np.ndarray):
        return int(counts.min()), int(counts.max())
    return counts, counts


def is_ordered(space: Space) -> TypeGuard[PointSpace]:
    """Whether the rows are sorted by where they are: many points in few columns."""
    few = isinstance(space, PointSpace) and space.points.shape[1] <= ORDERED_COLUMNS
    return few and space.n >= ORDERED_ROWS


@dataclass(frozen=True, eq=False)
class NeighborLists:
    """The k nearest of each distinct row that were found elsewhere, as a search would find them.

    `first` and `inverse` are those of `Neighborhoods`.
    """

    neighbors: Neighbors
    k: int
    first: IntArray
    inverse: IntArray


@dataclass(frozen=True, eq=False)
class NeighborSearch:
    """What the user asked for, and the least that the method needs.

    Duplicate rows are embedded once and get equal coordinates: as neighbours of each other they
    would fill whole neighbourhoods without any information about the directions of the data.
    """

    method: str
    n_neighbors: Any
    radius: float | None
    mutual: bool
    graph: Any
    needs: Needs
    d: int
    check_rows: Callable[[int], None]
    # Whether the rows are landmarks, which are chosen for neighbourhoods of some size.
    landmarks: bool = False
    # Fewest neighbours, of landmarks that need wide neighbourhoods.
    least: int = 1

    def run(self, space: Space) -> Neighborhoods:
        """Find the neighbours of every distinct row."""
        n = space.n
        everyone = np.arange(n)
        self.check_rows(n)
        if isinstance(space, GraphSpace):
            if self.graph is not None:
                raise ValueError("X is a graph already: give graph= only with points or distances")
            found = Neighborhoods(space, *self._of_graph(space, space.edges), everyone, everyone)
        elif isinstance(self.graph, NeighborLists):
            found = self._of_lists(space, self.graph)
        elif self.graph is not None:
            found = Neighborhoods(space, *self._of_graph(space, self.graph), everyone, everyone)
        else:
            found = self._search(space, everyone)
        neighbors = self._select_edges(found.neighbors)
        counts = neighbors.counts
        note(
            rows=n,
            distinct=len(found.first),
            edges=len(neighbors.indices),
            fewest=int(counts.min()),
            most=int(counts.max()),
        )
        return replace(found, neighbors=neighbors)

    def _select_edges(self, neighbors: Neighbors) -> Neighbors:
        """Leave out the edges that the user or the kernel has no use for."""
        if self._both_ways:
            # Rows that lose all are a matter of connection; local blocks must stay defined.
            least = self.needs.neighbors if self.needs.neighbors > 1 else 0
            neighbors = neighbors.mutual(least)
        return neighbors if self.needs.edges is None else self.needs.edges(neighbors)

    @property
    def _both_ways(self) -> bool:
        return self.mutual or self.needs.mutual

    def _search(self, space: Space, everyone: IntArray) -> Neighborhoods:
        counts, order, rank = self._counts(len(everyone)), everyone, everyone
        if is_ordered(space):
            # All later stages read rows beside each other that are near each other.
            order = spatial_order(space.points, space.workers)
            rank = np.empty_like(order)
            rank[order] = everyone
            space = space.take(order)
            counts = counts[order] if isinstance(counts, np.ndarray) else counts
        first, inverse = order, rank
        neighbors, rule = self._neighbors(space, counts, len(everyone))
        if neighbors.distances.min(initial=np.inf) == 0:
            distinct, same = space.distinct()
            if len(distinct) < len(everyone):
                self.check_rows(len(distinct))
                first, inverse, space = order[distinct], same[rank], space.take(distinct)
                counts = counts[distinct] if isinstance(counts, np.ndarray) else counts
                neighbors, rule = self._neighbors(space, counts, len(distinct))
        return Neighborhoods(space, neighbors, rule, first, inverse)

    def _counts(self, n: int) -> Counts:
        if isinstance(self.n_neighbors, str):
            return AUTO
        if self.n_neighbors is None or isinstance(self.n_neighbors, int | np.integer):
            if self.n_neighbors is None and self.radius is None:
                raise ValueError("n_neighbors=None needs a radius: give one of the two")
            return None if self.n_neighbors is None else max(int(self.n_neighbors), self.least)
        counts = np.asarray(self.n_neighbors)
        if counts.shape != (n,) or counts.dtype.kind not in "iu" or counts.min() < 1:
            raise ValueError(
                f"n_neighbors must be one number or an array of {n} positive integers, one a row"
            )
        return counts

    @property
    def _least_of_landmarks(self) -> int:
        if not self.landmarks:
            return 1
        from unbend.denoising.patches import coefficients

        return max(LANDMARK_NEIGHBORS, coefficients(self.d), self.least)

    def _neighbors(self, space: Space, counts: Counts, n: int) -> tuple[Neighbors, Rule]:
        radius = np.inf if self.radius is None else self.radius
        if isinstance(counts, str):
            from unbend.neighborhood_sizes import choose_number

            found = choose_number(
                space,
                self.d,
                max(self.needs.neighbors + 1, self._least_of_landmarks),
                mutual=self._both_ways,
                radius=self.radius,
                measured=not (self.needs.sparse or self.landmarks),
                glued=self.needs.glued,
            )
            note(**found.facts())
            self._check_least(found.neighbors, space)
            return found.neighbors, Rule(found.n_neighbors, radius)
        if counts is None:
            neighbors = space.within(radius)
            self._check_least(neighbors, space)
            return neighbors, Rule(int(max(1, neighbors.counts.max())), radius)
        counts = self._adjust_counts(counts, n)
        if isinstance(counts, np.ndarray):
            neighbors = space.nearest(int(counts.max())).nearest(counts)
            counts = int(np.median(counts))
        else:
            neighbors = space.nearest(counts)
        if self.radius is not None:
            neighbors = neighbors.within(self.radius)
            self._check_least(neighbors, space)
        return neighbors, Rule(counts, radius)

    def _adjust_counts(self, counts: int | IntArray, n: int) -> int | IntArray:
        """Raise counts to what the method needs and lower them to what there is, with a warning."""
        fewest, most = _range(counts)
        if fewest < self.needs.neighbors:
            raised = min(self.needs.neighbors + 1, n - 1)
            warn(f"{self.method} needs more neighbours: n_neighbors was raised to {raised}")
            counts = np.maximum(counts, raised) if isinstance(counts, np.ndarray) else raised
            most = max(most, raised)
        if most > n - 1:
            noun = "landmarks" if self.landmarks else "distinct rows"
            warn(f"there are {n} {noun}: n_neighbors was lowered to {n - 1}")
            counts = np.minimum(counts, n - 1) if isinstance(counts, np.ndarray) else n - 1
        return counts

    def _check_least(self, neighbors: Neighbors, space: Space, graph: bool = False) -> None:
        """Rows alone in their radius are a matter of connection; others must have enough."""
        least = self.needs.neighbors
        few = int(np.sum(neighbors.counts < least)) if least > 1 else 0
        if not few:
            return
        advice = "add edges to the graph"
        if not graph:
            reach = float(space.nearest(least).distances[least - 1 :: least].max())
            advice = f"use radius={reach:.4g} or more, or n_neighbors without a radius"
        raise ValueError(
            f"{few} rows have fewer than the {least} neighbours that {self.method} needs: {advice}"
        )

    def _of_lists(self, space: Space, lists: NeighborLists) -> Neighborhoods:
        neighbors, radius = lists.neighbors, np.inf
        if neighbors.n < space.n:
            self.check_rows(neighbors.n)
            space = space.take(lists.first)
        if self.radius is not None:
            neighbors, radius = neighbors.within(self.radius), self.radius
            self._check_least(neighbors, space)
        return Neighborhoods(space, neighbors, Rule(lists.k, radius), lists.first, lists.inverse)

    def _of_graph(self, space: Space, graph: Any) -> tuple[Neighbors, Rule]:
        graph = edges_of(graph)
        if not is_sparse(graph) or graph.shape != (space.n, space.n):
            raise ValueError(
                f"graph must be a graph of {space.n} vertices, or its sparse matrix ({space.n} x "
                f"{space.n})"
            )
        edges = coo_array(graph)
        rows, columns = edges.coords
        apart = rows != columns
        rows, columns = rows[apart], columns[apart]
        lengths = edges.data[apart] if graph is getattr(space, "edges", None) else None
        if lengths is None:
            lengths = space.lengths(rows, columns)
        neighbors = Neighbors.from_edges(space.n, rows, columns, lengths)
        self._check_least(neighbors, space, graph=True)
        return neighbors, Rule(int(max(1, np.median(neighbors.counts))))
