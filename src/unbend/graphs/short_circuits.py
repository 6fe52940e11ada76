"""Short circuits: edges of a neighbourhood graph that jump from one sheet of the data to another.

Tangent planes propose, geodesics decide. An edge is suspicious where more than half of its squared
length lies outside the tangent planes of both ends, in the mean, or of one end if it is longer than
others there, or where it is longer than the others of both ends. All suspicious edges are removed
at once, since those of a bundle would support each other, and one is a short circuit if its ends
are then still connected, but only by a path several times as long as the edge. Planes are estimated
again without the short circuits, which had tilted them, until no more are found.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import FloatArray, IntArray
from unbend.cached import cached_property
from unbend.graphs.detours import without_detour
from unbend.graphs.edge_pairs import NOTHING, drop_pairs, join_pairs
from unbend.graphs.graph import undirected
from unbend.graphs.readers import edges_of, is_graph, neighbors_of_distinct, space_of_points
from unbend.graphs.tangent_tilts import (
    TILTED,
    Undetermined,
    is_local,
    plane_dimension,
    planes_fit,
    suspicious_pairs,
)
from unbend.neighbors import GraphSpace, Neighbors, Space
from unbend.report import html_table, note, warn
from unbend.validation.scalars import check_integer

# Rounds of judgement, and edges that are printed.
ROUNDS, SHOWN = 5, 10
# Neighbours for each dimension, and some more, from which on fits warn: sparse graphs have long
# ways around. Of graphs without jumps in two dimensions (six sheets, 100 to 1000 rows) some edge
# was found in 11 % with 5 neighbours, in 2 % with 6, and in 1 of 254 with 8, 10 or 12.
SUPPORT, SPARE = 2, 4
# What to do where a graph has short circuits.
REMOVE = "pass short_circuits='remove' to the method"
REMEDY = f"{REMOVE}, or use fewer neighbours"


@dataclass(frozen=True, eq=False)
class ShortCircuits:
    """Edges that jump between sheets of the data, the longest detours first.

    Attributes
    ----------
    first, second : array (m,)
        Ends of each edge, the smaller number first.
    lengths : array (m,)
        Lengths of the edges.
    tilts : array (m,)
        Sine between the edge and the tangent plane of one end, the larger of both: 0 along the
        data, 1 across. NaN where only a graph is known.
    detours : array (m,)
        Score: length of the shortest path without suspicious edges, over that of the edge. Paths
        are followed up to 16 times the edge or its surroundings.
    n_edges : int
        Edges of the graph, each direction counted.
    d : int or None
        Dimension of the tangent planes; None where there are none.
    undetermined : str
        Why nothing was judged; empty where the edges were.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(500, sampling="parameter", random_state=0)
    >>> jumps = unbend.graphs.find_short_circuits(roll.points, d=2, n_neighbors=10)
    >>> len(jumps), bool(jumps.detours.min() > 5)
    (4, True)
    """

    first: IntArray
    second: IntArray
    lengths: FloatArray
    tilts: FloatArray
    detours: FloatArray
    n_edges: int
    d: int | None
    undetermined: str = ""

    def __len__(self) -> int:
        return len(self.first)

    @property
    def edges(self) -> IntArray:
        """Ends of each edge, (m, 2)."""
        return np.column_stack((self.first, self.second))

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """What made each edge suspicious: "tilt" or "length"."""
        tilted = np.square(self.tilts) > TILTED
        return tuple("tilt" if here else "length" for here in tilted)

    def remove_from(self, neighbors: Neighbors) -> Neighbors:
        """Remove the edges, in both directions, from the neighbours they were found in."""
        return drop_pairs(neighbors, self.first, self.second)

    def summary(self) -> str:
        """Describe the result in one sentence."""
        if self.undetermined:
            return f"short circuits are not determined: {self.undetermined}"
        if not len(self):
            return f"none of {self.n_edges} edges is a short circuit"
        count = "1 edge jumps" if len(self) == 1 else f"{len(self)} edges jump"
        return (
            f"{count} between sheets of the data (of {self.n_edges}; up to "
            f"{self.lengths.max():.4g} long, paths around them at least {self.detours.min():.1f} "
            "times as long)"
        )

    def _rows(self) -> list[tuple[str, ...]]:
        columns = (self.first, self.second, self.lengths, self.tilts, self.detours, self.reasons)
        shown = list(zip(*columns, strict=True))[:SHOWN]
        return [
            (str(i), str(j), f"{length:.4g}", f"{tilt:.2f}", f"{detour:.1f}", reason)
            for i, j, length, tilt, detour, reason in shown
        ]

    def __str__(self) -> str:
        lines = [self.summary()]
        if len(self):
            lines.append("     first   second     length  tilt  detour  reason")
        for i, j, length, tilt, detour, reason in self._rows():
            lines.append(f"  {i:>8} {j:>8} {length:>10} {tilt:>5} {detour:>7}  {reason}")
        if len(self) > SHOWN:
            lines.append(f"  … and {len(self) - SHOWN} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        heads = ("first", "second", "length", "tilt", "detour", "reason")
        return html_table(self.summary(), heads if len(self) else (), self._rows())


def find_short_circuits(
    X: Any, d: int | None = None, n_neighbors: int | Neighbors = 10
) -> ShortCircuits:
    """Find the edges of a neighbourhood graph that jump between sheets of the data.

    One such edge is enough to ruin an unrolled sheet: Isomap's geodesics take it, and local methods
    hold its ends together. Edges along loops, holes, creases and between clusters are none: they
    lie along the data, or no other path joins their ends.

    Parameters
    ----------
    X : array (n, D), Space, Neighbors or graph
        Points, a space of points or distances, or a graph alone. A graph alone has no tangent
        planes: only edges several times as long as all others at both ends are found.
    d : int, optional
        Dimension of the data. What the neighbourhoods show is taken instead if it is smaller, if
        planes of d dimensions hold less than three quarters of their variance, or if d is None.
    n_neighbors : int or Neighbors
        Neighbours of each point, or the graph itself. Duplicate points count once, as the first.

    Returns
    -------
    ShortCircuits
        Printable; `remove_from` removes the edges from `Neighbors`.

    See Also
    --------
    unbend.graphs.consistency : Whether a graph is connected, and what noise hides.

    Notes
    -----
    An edge across the gap of a sheet that nearly closes lies along the sheet and is not found; nor
    are sheets nearer to each other than their own points are.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(500, sampling="parameter", random_state=0)
    >>> jumps = unbend.graphs.find_short_circuits(roll.points, d=2, n_neighbors=10)
    >>> len(jumps), sorted(set(jumps.reasons))
    (4, ['tilt'])
    >>> arc = roll.chart[:, 0]
    >>> bool(np.abs(arc[jumps.first] - arc[jumps.second]).min() > 40)
    True
    """
    if d is not None:
        d = check_integer("d", d)
    if is_graph(X) and not isinstance(X, Neighbors):
        X = GraphSpace(edges_of(X, "length"))
    if isinstance(X, Neighbors):
        return judge_edges(GraphSpace(X.graph()), X, d)
    space = X if isinstance(X, Space) else space_of_points(X)
    if isinstance(space, GraphSpace):
        return judge_edges(space, space.all_neighbors(), d)
    if isinstance(n_neighbors, Neighbors):
        if n_neighbors.n != space.n:
            raise ValueError(f"the graph has {n_neighbors.n} points and X has {space.n}")
        return judge_edges(space, n_neighbors, d)
    distinct, neighbors, copy = neighbors_of_distinct(space, n_neighbors)
    found = judge_edges(distinct, neighbors, d)
    first = np.unique(copy, return_index=True)[1]
    return ShortCircuits(
        first[found.first],
        first[found.second],
        found.lengths,
        found.tilts,
        found.detours,
        found.n_edges,
        found.d,
        found.undetermined,
    )


def describe_short_circuits(count: int) -> str:
    """Say that so many edges of a graph look like short circuits."""
    if count == 1:
        return "1 edge of the graph looks like a short circuit between sheets of the data"
    return f"{count} edges of the graph look like short circuits between sheets of the data"


def judge_edges(space: Space, neighbors: Neighbors, d: int | None = None) -> ShortCircuits:
    """Find short circuits of neighbours without duplicate rows; d is an upper bound."""
    plane, suspicious, cut, reason = None, NOTHING, NOTHING, ""
    detours: FloatArray = np.zeros(0)
    try:
        if not isinstance(space, GraphSpace):
            if not is_local(neighbors):
                raise Undetermined("neighbourhoods are a large part of the rows")
            plane = plane_dimension(space, neighbors, d)
        for _ in range(ROUNDS):
            # What was cut is judged again: its ends may be connected by suspicious edges only.
            more = suspicious_pairs(space, drop_pairs(neighbors, cut.first, cut.second), plane)
            before, suspicious = len(suspicious), join_pairs(suspicious, more)
            if len(suspicious) == before:
                break
            cut, detours = without_detour(neighbors, suspicious)
            if not len(cut):
                break
    except Undetermined as cause:
        cut, detours, reason = NOTHING, np.zeros(0), str(cause)
    order = np.lexsort((cut.second, cut.first, -detours))
    cut, detours = cut.select(order), detours[order]
    count, tilts = len(neighbors.indices), np.sqrt(cut.tilts)
    return ShortCircuits(cut.first, cut.second, cut.lengths, tilts, detours, count, plane, reason)


def handle_short_circuits(
    space: Space, neighbors: Neighbors, policy: str, d: int | None, least: int, given: bool
) -> Neighbors:
    """Remove short circuits or warn of them, by the policy "remove" or "warn".

    Rows left with fewer than `least` neighbours get the nearest of their neighbours' neighbours.
    The edges of a `given` graph stay as they are. A graph without points or distances is not
    searched: it is the data, and nothing says which of its edges are neighbours.
    """
    if isinstance(space, GraphSpace):
        return neighbors
    # Data of more dimensions than the embedding are no sheet that a jump would fold.
    if policy == "warn" and d is not None and not planes_fit(space, neighbors, d):
        note(short_circuits="not determined")
        return neighbors
    found = judge_edges(space, neighbors, d)
    enough = SUPPORT * (found.d or 0) + SPARE
    sparse = policy == "warn" and np.median(neighbors.counts) < enough
    # Edges along the planes may cross a gap of the sheet: alone they are no reason to warn.
    along = policy == "warn" and len(found) and "tilt" not in found.reasons
    note(short_circuits="not determined" if found.undetermined or sparse or along else len(found))
    if not len(found) or sparse or along:
        return neighbors
    if given or policy == "warn":
        remedy = (
            "Remove them by graphs.find_short_circuits(...).remove_from(neighbors)"
            if given
            else "Pass short_circuits='remove', or use fewer neighbours or more rows"
        )
        warn(f"{found.summary()}: the embedding may fold or tear there. {remedy}.")
        return neighbors
    warn(
        f"{found.summary()}: they were removed from the neighbourhood graph. Use fewer neighbours "
        "or more rows to avoid them, or short_circuits='keep' to keep them."
    )
    return _fill_up(space, found.remove_from(neighbors), found, least)


def _fill_up(space: Space, neighbors: Neighbors, found: ShortCircuits, least: int) -> Neighbors:
    """Give rows with too few neighbours the nearest rows that their neighbours lead to."""
    few = np.flatnonzero(neighbors.counts < least)
    if not len(few):
        return neighbors
    graph = undirected(neighbors).lengths
    rows, columns, lengths = [], [], []
    for row in few:
        across = np.concatenate(
            (found.second[found.first == row], found.first[found.second == row])
        )
        reached = np.array([row])
        # The graph is as connected as before: as many rows are reached as its component has.
        while len(reached) <= least:
            wider = np.unique(np.concatenate((reached, *(_row_of(graph, i)[0] for i in reached))))
            if len(wider) == len(reached):
                break
            reached = wider
        others = np.setdiff1d(reached, np.append(across, row))
        away = space.lengths(np.full(len(others), row), others)
        nearest = np.argsort(away, kind="stable")[:least]
        rows.append(np.full(len(nearest), row))
        columns.append(others[nearest])
        lengths.append(away[nearest])
    return neighbors.add_edges(*(np.concatenate(part) for part in (rows, columns, lengths)))


def _row_of(graph: csr_array, row: int) -> tuple[IntArray, FloatArray]:
    """Neighbours of a vertex, and the lengths of the edges to them."""
    entries = slice(graph.indptr[row], graph.indptr[row + 1])
    return graph.indices[entries], graph.data[entries]
