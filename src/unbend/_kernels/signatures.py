"""What every set of kernels offers: the compiled module and its twin are checked against this."""

from collections.abc import Callable
from typing import Protocol

from unbend.arrays import FloatArray, IntArray

# Called now and then with the work done and the work there is; stops the work by raising.
Poll = Callable[[int, int], None]


class ShortestPaths(Protocol):
    """Shortest paths of one graph in compressed rows, from any sources."""

    def __init__(self, row: IntArray, column: IntArray, length: FloatArray) -> None: ...

    def run(self, sources: IntArray, threads: int, poll: Poll, distances: FloatArray) -> None:
        """Fill `distances` (sources, vertices), infinite where there is no path."""


class Kernels(Protocol):
    """The loops that NumPy cannot do."""

    ShortestPaths32: type[ShortestPaths]
    ShortestPaths64: type[ShortestPaths]
