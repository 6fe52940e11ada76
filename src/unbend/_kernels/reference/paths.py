"""Shortest paths, and products and places that come of them."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from unbend.arrays import FloatArray, IntArray, row_chunks, with_short_indices
from unbend.progress import Poll


class ShortestPaths64:
    """Shortest paths of one graph in compressed rows, from any sources, by Dijkstra's algorithm."""

    def __init__(self, row: IntArray, column: IntArray, length: FloatArray) -> None:
        n = len(row) - 1
        lengths = np.asarray(length, dtype=np.float64)
        self._graph = with_short_indices(csr_array((lengths, column, row), shape=(n, n)))

    def run(self, sources: IntArray, threads: int, poll: Poll, distances: FloatArray) -> None:
        """Fill `distances` (sources, vertices), infinite where there is no path."""
        for rows in row_chunks(len(sources), 8 * self._graph.shape[0]):
            distances[rows] = dijkstra(self._graph, directed=True, indices=sources[rows])
            poll(rows.stop, len(sources))


ShortestPaths32 = ShortestPaths64


def squared_products(
    distances: FloatArray,
    squared: bool,
    shift: float,
    vectors: FloatArray,
    threads: int,
    poll: Poll,
    result: FloatArray,
) -> None:
    """Fill `result` with (distances + shift)² @ vectors, or distances @ vectors if `squared`."""
    for rows in row_chunks(len(distances), 8 * distances.shape[1], 1 << 22):
        entries = distances[rows].astype(np.float64)
        result[rows] = (entries if squared else np.square(entries + shift)) @ vectors
        poll(rows.stop, len(distances))


def place_by_paths(
    paths: FloatArray,
    neighbors: IntArray,
    distances: FloatArray,
    shift: float,
    weights: FloatArray,
    threads: int,
    poll: Poll,
    placed: FloatArray,
) -> None:
    """Fill `placed` (m, d) with (s + shift)² @ weights.T (d, ends).

    s (m, ends) are the shortest ways of new rows through any of their neighbours (m, k), from
    which `paths` (n, ends) lead on; an infinite distance is no neighbour.
    """
    for rows in row_chunks(len(neighbors), 16 * paths.shape[1]):
        shortest = np.full((rows.stop - rows.start, paths.shape[1]), np.inf, dtype=paths.dtype)
        for near, far in zip(neighbors[rows].T, distances[rows].T, strict=True):
            np.minimum(shortest, far[:, None] + paths[near], out=shortest)
        placed[rows] = np.square(shortest.astype(np.float64) + shift) @ weights.T
        poll(rows.stop, len(neighbors))
