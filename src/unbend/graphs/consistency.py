"""Whether a data graph can be trusted: connection, local dimension, local noise (book 4.1.4)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.graphs.gluing import describe_pieces, rigid_pieces
from unbend.graphs.graph import Graph, components, undirected
from unbend.graphs.noise import (
    LocalSpectra,
    energies_by_size,
    extents,
    growth_exponents,
    hiding_ratio,
    local_dimension,
    local_spectra,
)
from unbend.graphs.readers import (
    edges_of,
    is_graph,
    neighbors_of_distinct,
    space_of_points,
)
from unbend.graphs.short_circuits import REMEDY, REMOVE, describe_short_circuits, judge_edges
from unbend.neighbors.neighbors import Neighbors
from unbend.neighbors.precomputed import GraphSpace
from unbend.neighbors.space import Space
from unbend.report import html_table
from unbend.validation.scalars import check_integer

# When neighbourhoods grow, the variance of geodesics along the longest direction may fall to this
# share; where it falls further, an edge has jumped from one fold of the data to another.
KEPT = 0.7


def radii(neighbors: Neighbors) -> FloatArray:
    """Distance of each point to its farthest neighbour, zero where it has none."""
    radius = np.zeros(neighbors.n)
    some = neighbors.counts > 0
    radius[some] = neighbors.distances[neighbors.offsets[1:][some] - 1]
    return radius


def sound_from(graph: Graph, spectra: LocalSpectra, d: int, pieces: IntArray) -> int:
    """Size of neighbourhoods from which on the graph is known to be sound.

    Larger neighbourhoods contain these, if all of these have one size and so are the nearest.
    """
    sizes = spectra.sizes - 1
    whole = not pieces.any() and graph.components.max() == 0 and np.all(spectra.dimension() >= d)
    return int(sizes[0]) if whole and np.ptp(sizes) == 0 else graph.n


def sizes_to_try(d: int, most: int, n: int) -> IntArray:
    """Every number of neighbours from 2d + 2 up to 32, then in steps of an eighth.

    With fewer, an affine function of d variables leaves hardly an equation to a neighbourhood.
    """
    least = min(2 * d + 2, n - 1)
    most = min(max(most, least), n - 1)
    sizes = [least]
    while sizes[-1] < most:
        sizes.append(min(most, sizes[-1] + max(1, sizes[-1] // 8 if sizes[-1] >= 32 else 1)))
    return np.array(sizes, dtype=np.intp)


@dataclass(frozen=True)
class GraphFacts:
    """What is known of the graph in question: its size, and the longest variance in `unit`²."""

    n_neighbors: int
    sound_from: int
    longest: float
    unit: float


def find_smallest_sound(space: Space, d: int, sizes: IntArray, known: GraphFacts) -> int | None:
    """Smallest of the sizes whose graph is sound, if it does not jump between folds."""
    size = _connected_and_wide(space, d, sizes, known.sound_from)
    if size is None or size <= known.n_neighbors:
        return size
    longest = extents(undirected(space.nearest(size)), d, known.unit)[0]
    return size if longest >= KEPT * known.longest else None


def _connected_and_wide(space: Space, d: int, sizes: IntArray, sound: int) -> int | None:
    """Smallest of the sizes whose graph is connected, glued and spans d directions everywhere.

    Larger neighbourhoods contain smaller ones, so all hold from some size on; they are known to
    hold from `sound` on.
    """
    low, high = 0, len(sizes) - 1
    if not len(sizes):
        return None
    # Doubling first: the search for the most neighbours is the dearest.
    reach = 0
    while not _is_sound(space, d, int(sizes[reach]), sound):
        if reach == high:
            return None
        low, reach = reach + 1, min(2 * reach + 1, high)
    high = reach
    while low < high:
        middle = (low + high) // 2
        holds = _is_sound(space, d, int(sizes[middle]), sound)
        low, high = (low, middle) if holds else (middle + 1, high)
    return int(sizes[high])


def _is_sound(space: Space, d: int, k: int, sound: int) -> bool:
    if k >= sound:
        return True
    neighbors = space.nearest(k)
    if components(neighbors.graph()).max() > 0 or rigid_pieces(neighbors, d).any():
        return False
    radius = radii(neighbors)
    spectra = local_spectra(space, neighbors, float(np.median(radius)) or 1.0)
    return bool(np.all(spectra.dimension() >= d))


# A number of neighbours is suggested where the last coordinate costs at most half of what would
# hide it, so that a constant somewhat wrong does no harm; where that many would jump, 0.8 of it.
SAFE = (0.5, 0.8)
# Sizes of neighbourhoods are tried up to this multiple of the one asked about.
REACH = 16


@dataclass(frozen=True, eq=False)
class Consistency:
    """What the neighbourhoods of a data graph can show of d dimensions.

    Attributes
    ----------
    d : int
        The dimensions wanted.
    n_neighbors : int
        Neighbours of a point, in the median.
    component, sizes : array (n,), array (components,)
        Component of each point, largest first, and how many points each has.
    dimension : array (n,), or None
        Number of directions that each neighbourhood spans.
    outside : array (n,), or None
        Share of each neighbourhood's variance outside its best d-plane.
    radius : array (n,)
        Distance to the farthest neighbour.
    hidden : float
        What the last coordinate costs local methods, over the cost of a wave along the longest
        direction. Above one noise rules: the wave takes the place of the coordinate.
    tried, hidden_by_size : array (sizes,)
        Numbers of neighbours that were tried, and `hidden` for each.
    suggested : int, or None
        The smallest number of neighbours that connects the graph, makes one rigid piece, spans d
        directions and bears the noise with room to spare, if one of those tried does. Its edges
        are not judged.
    growth : array (d,)
        How the variance along each principal direction grows from n_neighbors to twice as many,
        as a power of that along the first: 1 along the data, 2 for curvature, 0 for noise. Not a
        number where it is not known.
    short_circuits : int
        Edges that jump between sheets of the data (`find_short_circuits` lists them); 0 where they
        are not determined.
    pieces : array (n,), or None
        Rigid piece of each neighbourhood, largest first: pieces share too few points to be aligned
        with each other.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(1000, random_state=0)
    >>> report = unbend.graphs.consistency(roll.points, d=2, n_neighbors=10)
    >>> len(report.sizes), bool(report.hidden < 0.5)
    (1, True)
    """

    d: int
    n_neighbors: int
    component: IntArray
    sizes: IntArray
    dimension: IntArray | None
    outside: FloatArray | None
    radius: FloatArray
    hidden: float
    tried: IntArray
    hidden_by_size: FloatArray
    suggested: int | None
    growth: FloatArray
    short_circuits: int = 0
    pieces: IntArray | None = None

    @property
    def connected(self) -> bool:
        """Whether the graph has one component."""
        return len(self.sizes) == 1

    @property
    def thin(self) -> IntArray:
        """Points whose neighbourhoods span fewer than d directions."""
        if self.dimension is None:
            return np.zeros(0, dtype=np.intp)
        return np.flatnonzero(self.dimension < self.d)

    @property
    def ruled_by_noise(self) -> bool:
        """Whether noise hides the last coordinate from local methods."""
        return self.hidden > 1

    @property
    def local_dimension(self) -> int:
        """Directions along the data, d at most: those whose variance does not grow as curvature."""
        return local_dimension(self.growth)

    @property
    def passes(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems()

    def problems(self) -> list[str]:
        """Describe what is wrong; empty if nothing is."""
        found = []
        if not self.connected:
            found.append(
                f"the graph has {len(self.sizes)} components (the largest holds {self.sizes[0]} "
                f"of {len(self.component)} points)"
            )
        # Of a disconnected graph the components are known to be pieces.
        if self.connected and self.pieces is not None and self.pieces.any():
            found.append(describe_pieces(self.pieces, self.d))
        if len(self.thin):
            found.append(
                f"{len(self.thin)} neighbourhoods span fewer than {self.d} directions (the first "
                f"is that of point {self.thin[0]})"
            )
        if self.ruled_by_noise:
            found.append(
                f"noise rules the neighbourhoods: coordinate {self.d} costs local methods "
                f"{self.hidden:.1f} times what a function of the first does, which hides it"
            )
        if self.local_dimension < self.d:
            number = self.local_dimension + 1
            found.append(
                f"direction {number} of the neighbourhoods is curvature: its variance grows as the "
                f"power {self.growth[number - 1]:.1f} of that along the first (1 along the data, 2 "
                f"for curvature), so the local dimension is {self.local_dimension}"
            )
        if self.short_circuits:
            found.append(describe_short_circuits(self.short_circuits))
        return found

    def advice(self) -> str:
        """Recommend a dimension or a number of neighbours, or to remove short circuits."""
        if not self.short_circuits:
            return self._advise_sizes()
        return REMEDY if len(self.problems()) == 1 else f"{REMOVE}; {self._advise_sizes()}"

    def _advise_sizes(self) -> str:
        if self.local_dimension < self.d:
            return (
                f"use d = {self.local_dimension}; LTSA and Hessian LLE with more would show the "
                "curvature. A closed curve or surface needs another dimension in DiffusionMaps, "
                "LaplacianEigenmaps or Isomap"
            )
        if self.suggested is not None:
            return (
                "the smallest n_neighbors that connects the graph, spans d directions and bears "
                f"the noise with room to spare is {self.suggested}"
            )
        if not len(self.tried):
            return (
                "give points or distances to estimate the local dimension, the noise and a better k"
            )
        most = int(self.tried[-1])
        if not self.connected and not (self.ruled_by_noise or len(self.thin)):
            return f"no n_neighbors up to {most} connects it: join or embed the components"
        denoise = "denoise='auto', " if self.ruled_by_noise else ""
        return (
            f"no n_neighbors up to {most} passes: use {denoise}fewer rows, or another n_components"
        )

    @property
    def _title(self) -> str:
        return f"consistency of {len(self.component)} points with d = {self.d}"

    def _facts(self) -> list[tuple[str, str]]:
        """Name what was measured, and its value."""
        facts = [
            ("neighbours", f"{self.n_neighbors}, radius {np.median(self.radius):.4g}"),
            ("components", str(len(self.sizes))),
        ]
        if self.dimension is not None and self.outside is not None:
            least, most = int(self.dimension.min()), int(self.dimension.max())
            share = np.median(self.outside)
            powers = ", ".join(f"{power:.2g}" for power in self.growth)
            facts += [
                ("directions", f"{least} to {most} spanned"),
                ("growth", f"{powers} (1 along the data, 2 for curvature)"),
                ("outside d-plane", f"{share:.3g} of the variance, hidden {self.hidden:.2g}"),
            ]
        return facts

    def __str__(self) -> str:
        lines = [self._title, *(f"  {name:<15} {value}" for name, value in self._facts())]
        lines += [f"  wrong: {problem}" for problem in self.problems()]
        return "\n".join([*lines, f"  {self.advice()}"])

    def _repr_html_(self) -> str:
        heads = ("property", "value")
        advice, problems = [self.advice()], self.problems()
        return html_table(self._title, heads, self._facts(), sentences=advice, warnings=problems)


def consistency(X: Any, d: int, n_neighbors: int | Neighbors = 10) -> Consistency:
    """Check a data graph before its embedding is trusted (book section 4.1.4).

    Six things must hold: the graph is connected; neighbourhoods share enough points to be aligned
    (d + 1, one after another); every neighbourhood spans d directions; these
    grow with the neighbourhood as directions of the data do, and not as curvature does, which is
    what d above the local dimension shows; no edge jumps between sheets of the data
    (`find_short_circuits`); and noise does not rule the neighbourhoods. The last is judged by the
    variances of the neighbourhoods inside and outside their best d-planes and by the extents of the
    data: where `hidden` is above one, local methods such as LTSA lose a coordinate, whatever their
    solver.

    Parameters
    ----------
    X : array (n, D), Space, Neighbors or graph
        Points, a space of points or distances, or a graph alone, of which only the components
        are known. Duplicate points count once.
    d : int
        Dimensions wanted.
    n_neighbors : int or Neighbors
        Neighbours of each point, or the graph itself.

    Returns
    -------
    Consistency
        Printable; its arrays are what a plot needs.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(3000, noise=0.2, random_state=0)
    >>> report = consistency(roll.points, d=2, n_neighbors=10)
    >>> report.connected, report.passes
    (True, False)
    >>> print(report.problems()[0][:32])
    noise rules the neighbourhoods:
    >>> report.suggested > 16
    True
    """
    check_integer("d", d)
    if is_graph(X) and not isinstance(X, Neighbors):
        X = GraphSpace(edges_of(X, "length"))
    if isinstance(X, Neighbors | GraphSpace):
        return _of_graph(X if isinstance(X, Neighbors) else X.all_neighbors(), int(d))
    space = X if isinstance(X, Space) else space_of_points(X)
    copy: IntArray = np.arange(space.n)
    if isinstance(n_neighbors, Neighbors):
        neighbors = n_neighbors
        if neighbors.n != space.n:
            raise ValueError(f"the graph has {neighbors.n} points and X has {space.n}")
    else:
        space, neighbors, copy = neighbors_of_distinct(space, n_neighbors)
    return _judge(space, neighbors, int(d), copy)


def _of_graph(neighbors: Neighbors, d: int) -> Consistency:
    """Only the components: a bare graph does not determine where its points lie."""
    component = components(neighbors.graph())
    none: IntArray = np.zeros(0, dtype=np.intp)
    k = int(np.median(neighbors.counts))
    sizes = np.bincount(component)
    radius = radii(neighbors)
    unknown = np.full(d, np.nan)
    return Consistency(
        d, k, component, sizes, None, None, radius, 0.0, none, none + 0.0, None, unknown
    )


def _judge(space: Space, neighbors: Neighbors, d: int, copy: IntArray) -> Consistency:
    graph = undirected(neighbors)
    radius = radii(neighbors)
    unit = float(np.median(radius[radius > 0])) if np.any(radius > 0) else 1.0
    spectra, pieces = local_spectra(space, neighbors, unit), rigid_pieces(neighbors, d)
    variances = extents(graph, d, unit)
    k = max(1, int(np.median(neighbors.counts)))
    tried = sizes_to_try(d, REACH * k, space.n)
    alpha, beta = energies_by_size(space, tried, d, unit)
    hidden_by_size = hiding_ratio(alpha, beta, variances)
    # Ways along fewer neighbours than an affine function needs are detours, and show no extent.
    base = k if k >= tried[0] else int(tried[0])
    longest = variances if base == k else extents(undirected(space.nearest(base)), d, unit)
    known = GraphFacts(base, sound_from(graph, spectra, d, pieces), float(longest[0]), unit)
    within = (tried[hidden_by_size <= share] for share in SAFE)
    suggested = next(
        (size for sizes in within if (size := find_smallest_sound(space, d, sizes, known))), None
    )
    return Consistency(
        d=d,
        n_neighbors=k,
        component=graph.components[copy],
        sizes=np.bincount(graph.components[copy]),
        dimension=spectra.dimension()[copy],
        outside=spectra.outside(d)[copy],
        radius=radius[copy],
        hidden=_hidden(spectra, variances, d),
        tried=tried,
        hidden_by_size=hidden_by_size,
        suggested=suggested,
        growth=growth_exponents(space, d, k),
        short_circuits=len(judge_edges(space, neighbors, d)),
        pieces=pieces[copy],
    )


def _hidden(spectra: LocalSpectra, variances: FloatArray, d: int) -> float:
    alpha, beta = spectra.energies(d)
    return float(hiding_ratio(np.array([alpha]), np.array([beta]), variances)[0])
