"""Edges of a graph and positions of a single coordinate, for any plotting library."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from sklearn.utils.validation import check_is_fitted

from unbend.arrays import FloatArray, IntArray, is_sparse
from unbend.graphs.readers import edges_of
from unbend.plot.colors import Coloring, Labels, Values

# Largest number of edges drawn; of more an evenly spaced sample is drawn.
MOST_EDGES = 200_000
# Fraction of a lane's height over which its points are jittered.
SPREAD = 0.7


@dataclass(frozen=True, eq=False)
class Edges:
    """Pairs of rows (m, 2), each once, out of `total`."""

    pairs: IntArray
    total: int

    @property
    def remark(self) -> str:
        """Return how many edges are drawn, if not all."""
        return "" if len(self.pairs) == self.total else f"{len(self.pairs)} of {self.total} edges"

    def segments(self, positions: FloatArray) -> FloatArray:
        """Return the endpoints of the edges (m, 2, dimension)."""
        return positions[self.pairs]


def edges(graph: Any, n: int) -> Edges:
    """Read the edges of a sparse matrix, a graph or `Neighbors`, or a fitted estimator.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> edges(csr_array([[0, 1, 0], [1, 0, 0], [2, 0, 0]]), 3).pairs.tolist()
    [[0, 1], [0, 2]]
    """
    matrix = _matrix(graph)
    if matrix.shape != (n, n):
        raise ValueError(
            f"the graph has {matrix.shape[0]} vertices and the embedding {n} rows: pass the graph "
            "of the same rows"
        )
    # Stored zeros are edges too: read the indices, not the values.
    rows, columns = (part.astype(np.int64) for part in coo_array(matrix).coords)
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    codes = np.unique((low * n + high)[low != high])
    total = len(codes)
    if total > MOST_EDGES:
        codes = codes[np.linspace(0, total - 1, MOST_EDGES).astype(np.int64)]
    return Edges(np.column_stack((codes // n, codes % n)), total)


def _matrix(graph: Any) -> Any:
    graph = edges_of(graph)
    if is_sparse(graph):
        return graph
    if callable(getattr(graph, "fit", None)):
        if not hasattr(type(graph), "graph_"):
            raise ValueError(
                f"{type(graph).__name__} has no graph: pass a fitted neighbourhood method or a "
                "sparse matrix"
            )
        check_is_fitted(graph)
        return graph.graph_
    raise TypeError("graph must be a graph, a sparse matrix or a fitted neighbourhood method")


def strip_positions(coordinate: FloatArray, colors: Coloring) -> tuple[FloatArray, list[str]]:
    """Add a second coordinate to one: the value, or a jittered position in the lane of the class.

    Parameters
    ----------
    coordinate : array (n, 1)
        The coordinate.
    colors : Coloring
        Values are the second coordinate; classes are lanes, the first on top.

    Returns
    -------
    positions : array (n, 2)
        Points in the plane.
    lanes : list of str
        Names of the lanes from bottom to top; empty without classes.

    Examples
    --------
    >>> from unbend.plot.colors import coloring
    >>> positions, lanes = strip_positions(np.array([[5.0], [6.0]]), coloring(["b", "a"], 2))
    >>> positions[:, 0].tolist(), positions[:, 1].round().astype(int).tolist(), lanes
    ([5.0, 6.0], [0, 1], ['b', 'a'])
    """
    n = len(coordinate)
    if isinstance(colors, Values) and colors.known.all():
        return np.column_stack((coordinate, colors.values)), []
    # A low-discrepancy sequence fills the lane evenly in any order of the rows.
    heights = (np.arange(n) * ((np.sqrt(5) - 1) / 2)) % 1 - 0.5
    places, lanes = np.zeros(n), []
    if isinstance(colors, Labels):
        for lane, group in enumerate(reversed(colors.groups())):
            places[group.rows] = lane
            lanes.append(group.name)
    return np.column_stack((coordinate, places + SPREAD * heights)), lanes
