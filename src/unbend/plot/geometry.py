"""Positions and edges, whatever draws them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from sklearn.utils.validation import check_is_fitted

from unbend.arrays import FloatArray, IntArray, is_sparse
from unbend.graphs.given import edges_of
from unbend.plot.colors import Coloring, Labels, Values

# More lines than this take long to draw and show nothing: an even share of them is taken.
MOST_EDGES = 200_000
# Share of a lane's height over which its points are spread.
SPREAD = 0.7


@dataclass(frozen=True, eq=False)
class Edges:
    """Pairs of rows (m, 2), each once, out of `total`."""

    pairs: IntArray
    total: int

    @property
    def remark(self) -> str:
        """Say what was left out, if anything."""
        return "" if len(self.pairs) == self.total else f"{len(self.pairs)} of {self.total} edges"

    def segments(self, positions: FloatArray) -> FloatArray:
        """Give the ends of the edges (m, 2, dimension)."""
        return positions[self.pairs]


def edges(graph: Any, n: int) -> Edges:
    """Read the edges of a sparse matrix, a graph or neighbours value, or a fitted estimator.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> edges(csr_array([[0, 1, 0], [1, 0, 0], [2, 0, 0]]), 3).pairs.tolist()
    [[0, 1], [0, 2]]
    """
    matrix = _matrix(graph)
    if matrix.shape != (n, n):
        raise ValueError(
            f"the graph has {matrix.shape[0]} vertices and the embedding {n} rows: they must be "
            "the same rows"
        )
    # Stored zeros are edges too, so the coordinates are read and not the values.
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
                f"{type(graph).__name__} holds no graph: give a fitted neighbourhood method or a "
                "sparse matrix"
            )
        check_is_fitted(graph)
        return graph.graph_
    raise TypeError("graph must be a graph, its sparse matrix or a fitted neighbourhood method")


def beside_the_line(coordinate: FloatArray, colors: Coloring) -> tuple[FloatArray, list[str]]:
    """Give one coordinate a second: the value, or a place in the lane of the class.

    Parameters
    ----------
    coordinate : array (n, 1)
        The coordinate.
    colors : Coloring
        Values are drawn against the coordinate; classes get lanes, the first on top.

    Returns
    -------
    positions : array (n, 2)
        Points in the plane.
    lanes : list of str
        Names of the lanes, from below; empty where there are none.

    Examples
    --------
    >>> from unbend.plot.colors import coloring
    >>> positions, lanes = beside_the_line(np.array([[5.0], [6.0]]), coloring(["b", "a"], 2))
    >>> positions[:, 0].tolist(), positions[:, 1].round().astype(int).tolist(), lanes
    ([5.0, 6.0], [0, 1], ['b', 'a'])
    """
    n = len(coordinate)
    if isinstance(colors, Values) and colors.known.all():
        return np.column_stack((coordinate, colors.values)), []
    # Low-discrepancy heights fill the lane evenly, whatever the order of the rows.
    heights = (np.arange(n) * ((np.sqrt(5) - 1) / 2)) % 1 - 0.5
    places, lanes = np.zeros(n), []
    if isinstance(colors, Labels):
        for lane, group in enumerate(reversed(colors.groups())):
            places[group.rows] = lane
            lanes.append(group.name)
    return np.column_stack((coordinate, places + SPREAD * heights)), lanes
