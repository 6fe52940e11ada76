"""What every set of kernels offers: the compiled module and its twin are checked against this."""

from typing import Protocol

from unbend.arrays import FloatArray, IntArray


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
