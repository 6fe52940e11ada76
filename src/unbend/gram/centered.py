"""What all centred Gram matrices share, however their entries are known.

−½ H S H with S the squared distances and H = I − 11'/n, which centres.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.eigen.problem import DENSE_ROWS, Formable, SpectralProblem, Spectrum

# Eigenvectors of the kernel of some rows, to all rows.
Carry = Callable[[FloatArray], FloatArray]

# Residuals of eigenpairs that are known to rounding, or nearly so.
SOLVED = 1e-10
# Rows whose kernel gives the iteration its first vectors, and how many.
START_ROWS, START_VECTORS = 200, 16


class CentredGram(ABC):
    """Abstract: −½ H S H + lift·H, by products or formed."""

    lift: Any = 0.0

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def mean_squares(self) -> FloatArray:
        """Mean of each row of S."""

    @property
    @abstractmethod
    def trace(self) -> float:
        """Sum of all eigenvalues."""

    @abstractmethod
    def _product(self, vectors: FloatArray) -> FloatArray:
        """Products with the kernel."""

    @abstractmethod
    def formed(self) -> FloatArray:
        """Compute the kernel itself, for the few rows that LAPACK takes as a whole."""

    @abstractmethod
    def _sample(self, rows: IntArray) -> tuple[FloatArray, Carry]:
        """Compute the kernel of some rows, centred among them, and how to carry its vectors."""

    @property
    def accuracy(self) -> float:
        """Relative error of the kernel: eigenvalues below it are rounding."""
        return float(np.finfo(np.float64).eps) * self.n

    def operator(self) -> Formable:
        """Products with the kernel, which is not formed for them."""
        return Formable(self.n, self._product, self.formed)

    def problem(self) -> SpectralProblem:
        """Top end of the kernel; the constant vector belongs to eigenvalue zero."""
        constant, matrix = np.ones((self.n, 1)), self._unlifted().operator()
        problem = SpectralProblem(
            matrix, "top", constant, accuracy=self.accuracy, lift=float(self.lift)
        )
        # LAPACK, which takes fewer rows, begins nowhere.
        return problem if self.n <= DENSE_ROWS else self._begun(problem)

    def _begun(self, problem: SpectralProblem) -> SpectralProblem:
        """Add eigenvectors of the kernel of some rows, carried to all: Nyström's approximation."""
        rows = np.linspace(0, self.n - 1, START_ROWS).astype(np.intp)
        small, carry = self._sample(rows)
        values, vectors = np.linalg.eigh(small)
        start = carry(vectors[:, : -START_VECTORS - 1 : -1])
        size = float(np.abs(values).max()) * self.n / START_ROWS
        return replace(problem, start=start, size=size)

    def _unlifted(self) -> "CentredGram":
        """Return the same without what the lift adds."""
        return self

    def coordinates(self, spectrum: Spectrum) -> FloatArray:
        """Vectors of length √λ; directions of eigenvalues that are not positive become zero.

        Where a solver only comes near the vectors, they are what new rows are placed among: the
        image of the weights, so that the extension is continuous at fitted rows.
        """
        if spectrum.residuals.max(initial=0.0) > SOLVED:
            return self._unlifted()._product(self.nystrom_weights(spectrum))
        return np.asarray(spectrum.vectors * np.sqrt(self.kept(spectrum)))

    def kept(self, spectrum: Spectrum) -> FloatArray:
        """Eigenvalues, zero where they are negative or no more than rounding."""
        return np.where(spectrum.values > self.accuracy * spectrum.norm, spectrum.values, 0.0)

    def nystrom_weights(self, spectrum: Spectrum) -> FloatArray:
        """V √λ / (λ − lift): the lift acts on fitted rows only, so it takes no part in new ones."""
        kept = self.kept(spectrum)
        own = kept - self.lift
        usable = (kept > 0) & (own > 0)
        factors = np.sqrt(kept) / np.where(usable, own, 1.0)
        weights = spectrum.vectors * np.where(usable, factors, 0.0)
        # Of sum zero up to the solver's error, which a large constant in new squares would show.
        return np.asarray(weights - weights.mean(axis=0))
