"""What every set of kernels offers: the compiled module and its twin are checked against this."""

from typing import Protocol

from unbend.arrays import FloatArray, IntArray


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

    def analyse(self, row: IntArray, column: IntArray, most_flops: float) -> Analysis:
        """Order a symmetric CSR pattern and predict its Cholesky factor, or give up."""

    def factor(
        self,
        analysis: Analysis,
        row: IntArray,
        column: IntArray,
        values: FloatArray,
        shift: float,
        threads: int,
    ) -> Factor:
        """Factorise A + shift·I; a ValueError if it is not positive definite."""
