"""Plain twins of the compiled kernels: the oracle of their tests, and the fallback."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from unbend._kernels.signatures import Poll
from unbend.arrays import FloatArray, IntArray, row_chunks


class ShortestPaths64:
    """Dijkstra's algorithm; `threads` is accepted and not used."""

    def __init__(self, row: IntArray, column: IntArray, length: FloatArray) -> None:
        n = len(row) - 1
        self._graph = csr_array((np.asarray(length, dtype=np.float64), column, row), shape=(n, n))

    def run(self, sources: IntArray, threads: int, poll: Poll, distances: FloatArray) -> None:
        """Fill `distances` (sources, vertices), infinite where there is no path."""
        for rows in row_chunks(len(sources), 8 * self._graph.shape[0]):
            distances[rows] = dijkstra(self._graph, directed=True, indices=sources[rows])  # type: ignore[arg-type]
            poll(rows.stop, len(sources))


ShortestPaths32 = ShortestPaths64
