"""Objects that kernels hand out, and what they call back."""

from collections.abc import Callable
from typing import Protocol

from unbend.arrays import FloatArray, IntArray

# Called now and then with the work done and the work there is; stops the work by raising.
Poll = Callable[[int, int], None]


class ShortestPaths(Protocol):
    """Shortest paths of one graph in compressed rows, from any sources."""

    def run(self, sources: IntArray, threads: int, poll: Poll, distances: FloatArray) -> None:
        """Fill `distances` (sources, vertices), infinite where there is no path."""


class Analysis(Protocol):
    """What a Cholesky factor will take, known before it is computed."""

    @property
    def entries(self) -> int:
        """Entries of L; as many as were counted if the analysis was given up."""

    @property
    def stored(self) -> int:
        """Numbers that the factor will hold."""

    @property
    def flops(self) -> float:
        """Multiplications with additions that the factorisation takes."""

    @property
    def complete(self) -> bool:
        """False if it was given up because it would take more than `most_flops`."""


class Factor(Protocol):
    """A Cholesky factor."""

    @property
    def entries(self) -> int:
        """Entries of L."""

    @property
    def replaced(self) -> int:
        """Pivots that were zero up to rounding and were raised."""

    def solve(self, right: FloatArray, threads: int, solution: FloatArray) -> None:
        """Fill `solution` (n, w) with the solutions for right-hand sides (n, w)."""


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
