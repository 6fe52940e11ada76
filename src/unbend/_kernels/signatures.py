"""What every set of kernels offers: the compiled module and its twin are checked against this."""

from typing import Protocol

from unbend.arrays import BoolArray, FloatArray, IntArray


class Tree(Protocol):
    """Rows arranged for neighbour queries; answers are sorted by (distance, index)."""

    @property
    def leaves(self) -> int:
        """Number of groups in which `neighbors` goes through the rows."""

    def neighbors(
        self, first: int, last: int, threads: int, indices: IntArray, distances: FloatArray
    ) -> None:
        """Fill the rows of (n, k) arrays that belong to some leaves with their nearest others."""

    def nearest_of(
        self, points: FloatArray, threads: int, indices: IntArray, distances: FloatArray
    ) -> None:
        """Fill (m, k) arrays with the rows nearest to each new one."""


class Kernels(Protocol):
    """The loops that NumPy cannot do."""

    def shortest_paths(
        self,
        row: IntArray,
        column: IntArray,
        length: FloatArray,
        sources: IntArray,
        threads: int,
        distances: FloatArray,
    ) -> None:
        """Fill `distances` (sources, vertices) with shortest-path lengths in a CSR graph."""

    def KdTree(self, points: FloatArray, norm: float) -> Tree:
        """Build a tree of rows under the 1-, 2- or maximum norm."""

    def smallest(
        self, values: FloatArray, threads: int, indices: IntArray, keys: FloatArray
    ) -> None:
        """Fill (m, k) arrays with the k smallest of each row, sorted by (value, index)."""

    def offer(
        self,
        products: FloatArray,
        row_squares: FloatArray,
        column_squares: FloatArray,
        first_row: int,
        first_column: int,
        to_columns: bool,
        threads: int,
        keys: FloatArray,
        indices: IntArray,
    ) -> None:
        """Offer a tile of keys a_i + b_j − 2 p_ij to the sorted lists of its rows or columns.

        Rows and columns are numbered from `first_row` and `first_column`; a row is not offered
        the column of its own number. The lists are updated in place.
        """

    def rank(
        self,
        points: FloatArray,
        queries: FloatArray,
        scale: float,
        candidates: IntArray,
        bounds: FloatArray,
        complete: bool,
        threads: int,
        indices: IntArray,
        distances: FloatArray,
        sure: BoolArray,
    ) -> None:
        """Fill (m, k) arrays with the nearest candidates by their distances from differences.

        `bounds`, ascending, are lower bounds of the squared distances times scale²; a query is
        sure if they prove that no other row is nearer, or if the candidates are `complete`.
        """

    def both_ways(
        self, row: IntArray, column: IntArray, value: FloatArray, absent: float
    ) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Every pair that is an edge in some direction: offsets, columns, values forth and back."""

    def components(self, row: IntArray, column: IntArray, labels: IntArray) -> None:
        """Fill the component of each vertex, numbered in the order of their first vertices."""

    def barycentric_weights(
        self, coordinates: FloatArray, reg: float, threads: int, weights: FloatArray
    ) -> None:
        """Fill weights (m, s − 1); NaN in rows whose equations are singular to rounding."""
