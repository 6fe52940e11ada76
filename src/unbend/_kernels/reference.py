"""Plain twins of the compiled kernels: the oracle of their tests, and the fallback."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from unbend.arrays import FloatArray, IntArray


def shortest_paths(
    row: IntArray,
    column: IntArray,
    length: FloatArray,
    sources: IntArray,
    threads: int,
    distances: FloatArray,
) -> None:
    """Fill `distances` (sources, vertices); `threads` is accepted and not used."""
    n = len(row) - 1
    graph = csr_array((np.asarray(length, dtype=np.float64), column, row), shape=(n, n))
    distances[...] = dijkstra(graph, directed=True, indices=sources)  # type: ignore[arg-type]
