"""Numbers of neighbours to try, and the smallest whose graph holds the data together."""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.graphs.graph import Graph, components, undirected
from unbend.graphs.noise import LocalSpectra, extents, local_spectra
from unbend.neighbors.neighbors import Neighbors
from unbend.neighbors.space import Space

# When neighbourhoods grow, the variance of geodesics along the longest direction may fall to this
# share; where it falls further, an edge has jumped from one fold of the data to another.
KEPT = 0.7


def radii(neighbors: Neighbors) -> FloatArray:
    """Distance of each point to its farthest neighbour, zero where it has none."""
    radius = np.zeros(neighbors.n)
    some = neighbors.counts > 0
    radius[some] = neighbors.distances[neighbors.offsets[1:][some] - 1]
    return radius


def sound_from(graph: Graph, spectra: LocalSpectra, d: int) -> int:
    """Size of neighbourhoods from which on the graph is known to be connected and wide enough.

    Larger neighbourhoods contain these, if all of these have one size and so are the nearest.
    """
    sizes = spectra.sizes - 1
    whole = graph.components.max() == 0 and np.all(spectra.dimension() >= d)
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
class Known:
    """What is known of the graph in question: its size, and the longest variance in `unit`²."""

    n_neighbors: int
    sound_from: int
    longest: float
    unit: float


def smallest_sound(space: Space, d: int, sizes: IntArray, known: Known) -> int | None:
    """Smallest of the sizes whose graph is sound, if it does not jump between folds."""
    size = _connected_and_wide(space, d, sizes, known.sound_from)
    if size is None or size <= known.n_neighbors:
        return size
    longest = extents(undirected(space.nearest(size)), d, known.unit)[0]
    return size if longest >= KEPT * known.longest else None


def _connected_and_wide(space: Space, d: int, sizes: IntArray, sound: int) -> int | None:
    """Smallest of the sizes whose graph is connected and spans d directions everywhere.

    Larger neighbourhoods contain smaller ones, so both hold from some size on; they are known to
    hold from `sound` on.
    """
    low, high = 0, len(sizes) - 1
    if not len(sizes):
        return None
    # Doubling first: the search for the most neighbours is the dearest.
    reach = 0
    while not _sound(space, d, int(sizes[reach]), sound):
        if reach == high:
            return None
        low, reach = reach + 1, min(2 * reach + 1, high)
    high = reach
    while low < high:
        middle = (low + high) // 2
        holds = _sound(space, d, int(sizes[middle]), sound)
        low, high = (low, middle) if holds else (middle + 1, high)
    return int(sizes[high])


def _sound(space: Space, d: int, k: int, sound: int) -> bool:
    if k >= sound:
        return True
    neighbors = space.nearest(k)
    if components(neighbors.graph()).max() > 0:
        return False
    radius = radii(neighbors)
    spectra = local_spectra(space, neighbors, float(np.median(radius)) or 1.0)
    return bool(np.all(spectra.dimension() >= d))
