"""Shortest paths along a graph: their lengths, the paths themselves, Floyd and Warshall."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.csgraph import floyd_warshall as _floyd_warshall

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.docstrings import complete_docstring
from unbend.graphs.graph import PARAMETERS, as_edges
from unbend.memory import reserve
from unbend.report import step
from unbend.validation.arrays import check_finite
from unbend.validation.distances import check_nonnegative
from unbend.validation.scalars import check_threads

Precision = type[np.floating] | np.dtype[np.floating]


def as_lengths(graph: Any) -> csr_array:
    """Compressed rows of edge lengths, none of which is negative."""
    lengths = as_edges(graph, "lengths", "length")
    if np.isnan(lengths.data).any():
        check_finite(lengths, "lengths")
    check_nonnegative(lengths, "lengths")
    return lengths


class Paths:
    """Shortest paths of one graph, made ready for many questions.

    Parameters
    ----------
    lengths : csr_array
        Edge lengths, not negative; a stored zero is an edge of length zero.
    dtype : float32 or float64
        Precision of the distances.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from unbend import graphs
    >>> path = csr_array(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> distances = np.empty((1, 3))
    >>> graphs.Paths(path).fill(distances, np.array([0]))
    >>> distances
    array([[0., 1., 2.]])
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
        """Fill `distances` (sources, vertices); reports progress to the callback."""
        check_threads(threads)
        if len(sources) and not 0 <= np.min(sources) <= np.max(sources) < self.n:
            raise ValueError(f"sources must be vertices, from 0 to {self.n - 1}")
        start = np.ascontiguousarray(sources, dtype=np.int32)
        self._kernel.run(start, threads, step, distances)


@complete_docstring(PARAMETERS)
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
    sources : array of int, optional
        Vertices to start from.
    dtype : float32 or float64
        Precision of the result.
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
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, not {np.dtype(dtype)}")
    paths = Paths(lengths, dtype)
    n = paths.n
    start = np.arange(n) if sources is None else np.asarray(sources)
    if start.ndim != 1 or (len(start) and start.dtype.kind not in "iu"):
        raise ValueError("sources must be a list of vertices (integers)")
    size = len(start) * n * np.dtype(dtype).itemsize
    reserve(size, f"{len(start)} x {n} geodesic distances", instead)
    distances = np.empty((len(start), n), dtype=dtype)
    paths.fill(distances, start, threads)
    step(len(start), len(start))
    return distances


@complete_docstring(PARAMETERS)
def symmetric_geodesics(
    lengths: csr_array,
    sources: IntArray | None = None,
    *,
    dtype: Precision = np.float64,
    threads: int = 1,
    instead: str = "ask for fewer sources",
) -> FloatArray:
    """Shorter of both directed shortest paths, min(d(i, j), d(j, i)), of a directed graph.

    One of the two rules of the book's Isomap for k nearest neighbours, which need not be mutual
    (8.2, step 2); the other is to join both directions first, as `undirected` does, which allows
    more paths.

    Parameters
    ----------
    lengths : csr_array
        Entry (i, j) is the length of an edge from i to j.
    sources : array of int, optional
        Vertices to start from.
    dtype : float32 or float64
        Precision of the result.
    instead : str
        What the error should advise if the result does not fit in memory.

    Returns
    -------
    array (sources, vertices)
        Infinite where no directed path leads either way.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> round_trip = csr_array(np.array([[0.0, 1, 0], [0, 0, 1], [5, 0, 0]]))
    >>> symmetric_geodesics(round_trip)
    array([[0., 1., 2.],
           [1., 0., 1.],
           [2., 1., 0.]])
    """
    there = geodesics(lengths, sources, dtype=dtype, threads=threads, instead=instead)
    reverse = csr_array(as_lengths(lengths).T)
    back = geodesics(reverse, sources, dtype=dtype, threads=threads, instead=instead)
    return np.asarray(np.minimum(there, back, out=there))


@dataclass(frozen=True, eq=False)
class Path:
    """Vertices from the source to the target, and the length; no vertices if there is no path.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from unbend import graphs
    >>> path = csr_array(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> graphs.shortest_paths(path, [(0, 2)])[0]
    Path(vertices=array([0, 1, 2]), length=2.0)
    """

    vertices: IntArray
    length: float


@complete_docstring(PARAMETERS)
def shortest_paths(lengths: csr_array, pairs: ArrayLike, *, threads: int = 1) -> list[Path]:
    """Shortest path between the vertices of each pair.

    Parameters
    ----------
    lengths : csr_array
        Edge lengths, not negative; a stored zero is an edge of length zero. Paths follow the
        direction of the edges.
    pairs : array (m, 2) of int
        Source and target of each path. Pairs with one source share the search.

    Returns
    -------
    list of Path
        In the order of the pairs; the length is the sum of the edges from the source on, to the
        last bit, and infinite where there is no path.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> square = csr_array(np.array([[0.0, 1, 0, 5], [1, 0, 1, 0], [0, 1, 0, 1], [5, 0, 1, 0]]))
    >>> path = shortest_paths(square, [(0, 3)])[0]
    >>> path.vertices, path.length
    (array([0, 1, 2, 3]), 3.0)
    """
    lengths = as_lengths(lengths)
    n = lengths.shape[0]
    ends = np.asarray(pairs)
    if ends.ndim != 2 or ends.shape[1] != 2 or ends.dtype.kind not in "iu":
        raise ValueError("pairs must be an array (m, 2) of vertices: a source and a target each")
    if ends.size and not 0 <= ends.min() <= ends.max() < n:
        raise ValueError(f"pairs must hold vertices, from 0 to {n - 1}")
    sources, which = np.unique(ends[:, 0], return_inverse=True)
    search, arriving = Paths(lengths), csr_array(lengths.T)
    found: list[Path] = [Path(np.zeros(0, dtype=np.intp), np.inf)] * len(ends)
    for chunk in row_chunks(len(sources), 8 * n):
        distances = np.empty((chunk.stop - chunk.start, n))
        search.fill(distances, sources[chunk], threads)
        for pair in np.flatnonzero((which >= chunk.start) & (which < chunk.stop)):
            row = distances[which[pair] - chunk.start]
            source, target = (int(end) for end in ends[pair])
            if np.isfinite(row[target]):
                vertices = _trace(arriving, row, source, target)
                found[pair] = Path(vertices, float(row[target]))
    return found


def _trace(arriving: csr_array, distances: FloatArray, source: int, target: int) -> IntArray:
    """Go back from the target along edges with d[u] + w = d[v].

    There is one at every vertex but the source, exactly: d[v] is the least of the floating-point
    sums d[u] + w.
    """
    path = [target]
    while path[-1] != source:
        path += _step_back(arriving, distances, source, path[-1])
    return np.array(path[::-1], dtype=np.intp)


def _step_back(arriving: csr_array, distances: FloatArray, source: int, vertex: int) -> list[int]:
    """Vertices before `vertex`, last to first, up to one that is nearer to the source.

    Edges of length zero, and those lost in rounding, join vertices of one distance: among these
    the way is found breadth first, so that it cannot go round in a circle.
    """
    after = {vertex: -1}
    queue = [vertex]
    for v in queue:
        for u in _tight(arriving, distances, v):
            if u in after:
                continue
            after[u] = v
            if u == source or distances[u] < distances[vertex]:
                return list(_chain(after, u, vertex))[::-1]
            queue.append(u)
    raise AssertionError("a vertex at a finite distance has a path from the source")


def _tight(arriving: csr_array, distances: FloatArray, v: int) -> list[int]:
    """Vertices whose edge to v is the last of a shortest path, nearest to the source first."""
    edges = slice(arriving.indptr[v], arriving.indptr[v + 1])
    before, lengths = arriving.indices[edges], arriving.data[edges]
    tight = before[distances[before] + lengths == distances[v]]
    return [int(u) for u in tight[np.argsort(distances[tight], kind="stable")]]


def _chain(after: dict[int, int], first: int, last: int) -> Iterator[int]:
    while first != last:
        yield first
        first = after[first]


@complete_docstring(PARAMETERS)
def floyd_warshall(lengths: csr_array) -> FloatArray:
    """Lengths of all shortest paths by Floyd and Warshall: n³ steps, for small or dense graphs.

    SciPy's, as an independent check of `geodesics`, which is faster on sparse graphs.

    Returns
    -------
    array (n, n)
        Infinite where there is no path.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> floyd_warshall(csr_array(np.array([[0.0, 1, 0], [1, 0, 2], [0, 2, 0]])))
    array([[0., 1., 3.],
           [1., 0., 2.],
           [3., 2., 0.]])
    """
    lengths = as_lengths(lengths)
    n = lengths.shape[0]
    reserve(8 * n * n, f"{n} x {n} distances", "use unbend.graphs.geodesics from some sources")
    return np.asarray(_floyd_warshall(lengths.astype(np.float64)))
