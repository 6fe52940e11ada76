"""Shortest paths along a graph."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray
from unbend.graphs.graph import as_edges
from unbend.memory import reserve
from unbend.report import step
from unbend.validation.scalars import check_threads

Precision = type[np.floating] | np.dtype[np.floating]


def as_lengths(graph: Any) -> csr_array:
    """Compressed rows of edge lengths, none of which is negative."""
    lengths = as_edges(graph, "lengths", "length")
    if not np.all(lengths.data >= 0):
        raise ValueError("lengths must be a square matrix of numbers that are not negative")
    return lengths


class Paths:
    """Shortest paths of one graph, made ready for many questions.

    Parameters
    ----------
    lengths : csr_array
        Edge lengths, not negative; a stored zero is an edge of length zero.
    dtype : float32 or float64
        Precision of the distances.
    """

    def __init__(self, lengths: csr_array, dtype: Precision = np.float64) -> None:
        lengths = as_lengths(lengths)
        self.dtype = np.dtype(dtype)
        self.n = int(lengths.shape[0])
        single = self.dtype == np.float32
        self._kernel = (kernels.ShortestPaths32 if single else kernels.ShortestPaths64)(
            lengths.indptr.astype(np.int64),
            lengths.indices.astype(np.int32, copy=False),
            np.ascontiguousarray(lengths.data, dtype=self.dtype),
        )

    def fill(self, distances: FloatArray, sources: IntArray, threads: int = 1) -> None:
        """Fill `distances` (sources, vertices); tells the progress callback."""
        check_threads(threads)
        if len(sources) and not 0 <= np.min(sources) <= np.max(sources) < self.n:
            raise ValueError(f"sources must be vertices, from 0 to {self.n - 1}")
        start = np.ascontiguousarray(sources, dtype=np.int32)
        self._kernel.run(start, threads, step, distances)


def geodesics(
    lengths: csr_array,
    sources: IntArray | None = None,
    *,
    dtype: Precision = np.float64,
    threads: int = 1,
    instead: str = "ask for fewer sources",
) -> FloatArray:
    """Lengths of the shortest paths from `sources` (default: all) to every vertex.

    Parameters
    ----------
    lengths : csr_array
        Edge lengths, not negative; a stored zero is an edge of length zero.
    sources : array of int, optional
        Vertices to start from.
    dtype : float32 or float64
        Precision of the result.
    threads : int
        Sources are shared between this many threads; the result does not depend on it.
    instead : str
        What the error should advise if the result does not fit in memory.

    Returns
    -------
    array (sources, vertices)
        Infinite where there is no path.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> path = csr_array(np.array([[0.0, 1, 0], [1, 0, 2], [0, 2, 0]]))
    >>> geodesics(path)
    array([[0., 1., 3.],
           [1., 0., 2.],
           [3., 2., 0.]])
    """
    lengths = as_lengths(lengths)
    n = lengths.shape[0]
    start = np.arange(n) if sources is None else np.asarray(sources)
    if start.ndim != 1 or (len(start) and start.dtype.kind not in "iu"):
        raise ValueError("sources must be a list of vertices (integers)")
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, not {np.dtype(dtype)}")
    size = len(start) * n * np.dtype(dtype).itemsize
    reserve(size, f"{len(start)} x {n} geodesic distances", instead)
    distances = np.empty((len(start), n), dtype=dtype)
    Paths(lengths, dtype).fill(distances, start, threads)
    step(len(start), len(start))
    return distances
