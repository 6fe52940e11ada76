"""Centered Gram matrices −½ H S H, S the squared distances and H = I − 11'/n; those of points.

However the entries are known: what is asked of them, and the share of negative eigenvalues.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.linalg.lapack import dpotrf
from scipy.sparse.linalg import LinearOperator

from unbend._kernels import kernels
from unbend._kernels.parts import map_parts
from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.cached import cached_property
from unbend.eigen.dense import eigenpairs_at_end
from unbend.eigen.problem import DENSE_TOP_ROWS, Formable, SpectralProblem, Spectrum
from unbend.report import note

# Eigenvectors of the kernel of some rows, to all rows.
Carry = Callable[[FloatArray], FloatArray]

# Residuals of eigenpairs that are known to rounding, or nearly so.
SOLVED = 1e-10
# Rows whose kernel gives the iteration its first vectors, and how many.
START_ROWS, START_VECTORS = 200, 16
# Up to here the share of negative eigenvalues is exact; beyond, it is estimated from this many
# probes and Lanczos steps.
EXACT_ROWS, PROBES, STEPS = 600, 8, 30
# Up to here a Cholesky factorisation takes less time than the estimate.
PROVED_ROWS = 2000
# Share of the squares of centered rows that the square of their mean may have.
UNCENTERED = 1e-20
# Vectors up to which, and rows between which, one pass over the entries takes less time than BLAS,
# which copies them; from there on its threads count.
FEW_VECTORS, SMALL_ROWS, LARGE_ROWS = 12, 400, 4000
# Columns of the matrix that a thread multiplies by BLAS, and bytes that it reads at once.
PRODUCT_COLUMNS, CHUNK = 4096, 1 << 22
# Rows and columns of a block of inner products.
BLOCK_ROWS = 512


class CenteredGram(ABC):
    """Abstract: −½ H S H + c·H, c the spectrum shift, by products or formed."""

    spectrum_shift: Any = 0.0
    # LAPACK, which takes so few rows, begins nowhere.
    plain_rows: ClassVar[int] = DENSE_TOP_ROWS

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
    def form(self) -> FloatArray:
        """Compute the kernel itself, for the few rows that LAPACK takes as a whole."""

    @abstractmethod
    def _sample(self, rows: IntArray) -> tuple[FloatArray, Carry]:
        """Compute the kernel of some rows, centered among them, and how to carry its vectors."""

    @property
    def accuracy(self) -> float:
        """Relative error of the kernel: eigenvalues below it are rounding."""
        return float(np.finfo(np.float64).eps) * self.n

    def operator(self) -> Formable:
        """Products with the kernel, which is not formed for them."""
        return Formable(self.n, self._product, self.form)

    def problem(self) -> SpectralProblem:
        """Top end of the kernel; the constant vector belongs to eigenvalue zero."""
        problem = SpectralProblem(
            self._unshifted().operator(),
            "top",
            np.ones((self.n, 1)),
            accuracy=self.accuracy,
            shift=float(self.spectrum_shift),
        )
        return problem if self.n <= self.plain_rows else self._with_start(problem)

    def _with_start(self, problem: SpectralProblem) -> SpectralProblem:
        """Add eigenvectors of the kernel of some rows, carried to all: Nyström's approximation."""
        count = min(START_ROWS, self.n // 4)
        small, carry = self._sample(np.linspace(0, self.n - 1, count).astype(np.intp))
        values, vectors = eigenpairs_at_end(small, START_VECTORS, "top")
        start = carry(vectors)
        size = float(np.abs(values).max()) * self.n / count
        return replace(problem, start=start, size=size)

    def _unshifted(self) -> "CenteredGram":
        """Return the same without the spectrum shift."""
        return self

    def coordinates(self, spectrum: Spectrum) -> FloatArray:
        """Vectors of length √λ; directions of eigenvalues that are not positive become zero.

        Where a solver is approximate, they are what new samples are placed among: the image
        of the weights, so that the extension is continuous at fitted rows.
        """
        if spectrum.residuals.max(initial=0.0) > SOLVED:
            return self._unshifted()._product(self.nystrom_weights(spectrum))
        return np.asarray(spectrum.vectors * np.sqrt(self.positive_values(spectrum)))

    def positive_values(self, spectrum: Spectrum) -> FloatArray:
        """Eigenvalues, zero where they are negative or no more than rounding."""
        return np.where(spectrum.values > self.accuracy * spectrum.norm, spectrum.values, 0.0)

    def nystrom_weights(self, spectrum: Spectrum) -> FloatArray:
        """V √λ / (λ − c): the spectrum shift c acts on fitted rows only, not on new samples."""
        kept = self.positive_values(spectrum)
        own = kept - self.spectrum_shift
        usable = (kept > 0) & (own > 0)
        factors = np.sqrt(kept) / np.where(usable, own, 1.0)
        weights = spectrum.vectors * np.where(usable, factors, 0.0)
        # Of sum zero up to the solver's error, which a large constant in new squares would show.
        return np.asarray(weights - weights.mean(axis=0))


def inner_products(points: FloatArray, threads: int = 1) -> FloatArray:
    """Inner products of all rows, by blocks that threads share; symmetric to the bit.

    The blocks do not depend on the number of threads.

    Examples
    --------
    >>> inner_products(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[ 5., 11.],
           [11., 25.]])
    """
    products = np.empty((len(points), len(points)))
    blocks = row_chunks(len(points), 1, BLOCK_ROWS)

    def multiply(pair: tuple[slice, slice]) -> None:
        first, second = pair
        part = np.matmul(points[first], points[second].T, out=products[first, second])
        if first != second:
            products[second, first] = part.T

    pairs = [(first, second) for i, first in enumerate(blocks) for second in blocks[: i + 1]]
    map_parts(multiply, pairs, threads)
    return products


def centered_products(points: FloatArray, threads: int = 1) -> FloatArray:
    """Inner products of all rows about their mean.

    Examples
    --------
    >>> import numpy as np
    >>> centered_products(np.array([[3.0, 1.0], [5.0, 1.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    # The mean by BLAS, which reads wide rows faster than column sums do.
    n = len(points)
    equal = np.full(n, 1.0 / n)
    mean = equal @ points
    centered = points - mean
    products = inner_products(centered, threads)
    # The mean of rows far from the origin is rounded, and the rest would pass for a direction: by
    # at most n + 2 roundings of the root mean square of each column, which is mostly negligible.
    squares = float(np.trace(products))
    rounding = (n + 2) * float(np.finfo(np.float64).eps)
    if n * rounding**2 * (float(mean @ mean) + squares / n) <= UNCENTERED * squares:
        return products
    off = equal @ centered
    if n * float(off @ off) > UNCENTERED * squares:
        centered -= off
        products = inner_products(centered, threads)
    return products


@dataclass(frozen=True, eq=False)
class PointGram(CenteredGram):
    """CC' for centered points C: what −½ H D² H is for the Euclidean distances between them.

    Products go through C, so neither distances nor kernel are computed, and memory is that of the
    points.

    Examples
    --------
    >>> import numpy as np
    >>> PointGram.of(np.array([[3.0], [5.0]])).form()
    array([[ 1., -1.],
           [-1.,  1.]])
    """

    centered: FloatArray

    @classmethod
    def of(cls, points: FloatArray) -> "PointGram":
        """Center points."""
        centered = points - points.mean(axis=0)
        # The mean of rows far from the origin is rounded, and the rest would pass for a direction.
        centered -= centered.mean(axis=0)
        return cls(centered)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.centered)

    @cached_property
    def _lengths(self) -> FloatArray:
        return np.asarray(np.einsum("ij,ij->i", self.centered, self.centered))

    @property
    def mean_squares(self) -> FloatArray:
        """Mean squared distance of each row to all."""
        return np.asarray(self._lengths + self._lengths.mean())

    @property
    def trace(self) -> float:
        """Sum of all eigenvalues."""
        return float(self._lengths.sum())

    def _product(self, vectors: FloatArray) -> FloatArray:
        return np.asarray(self.centered @ (self.centered.T @ vectors))

    def form(self) -> FloatArray:
        """Compute all inner products."""
        return np.asarray(self.centered @ self.centered.T)

    def _sample(self, rows: IntArray) -> tuple[FloatArray, Carry]:
        if self.centered.shape[1] <= len(rows):
            # The same eigenvalues, from all rows, for less than the kernel of some takes.
            small = self.centered.T @ self.centered
            return small * (len(rows) / self.n), lambda vectors: np.asarray(self.centered @ vectors)
        some = self.centered[rows] - self.centered[rows].mean(axis=0)
        return some @ some.T, lambda vectors: np.asarray(self.centered @ (some.T @ vectors))


@dataclass(frozen=True, eq=False)
class FormedGram(CenteredGram):
    """HKH of similarities K, formed: products are those of BLAS.

    Only for similarities no larger than the squared distances that they stand for, from which
    centering takes nothing by cancellation.

    Examples
    --------
    >>> import numpy as np
    >>> gram = FormedGram.of(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> gram.form(), gram.mean_squares, gram.trace
    (array([[ 0.5, -0.5],
           [-0.5,  0.5]]), array([1., 1.]), 1.0)
    """

    centered: FloatArray
    means: FloatArray
    threads: int = 1
    # Up to here the first vectors would cost more than the one product that they save.
    plain_rows: ClassVar[int] = 2000

    @classmethod
    def of(cls, similarities: FloatArray, threads: int = 1) -> "FormedGram":
        """Center similarities, in place."""
        n, own = len(similarities), similarities.diagonal().copy()
        chunks = row_chunks(n, 8 * n, CHUNK)
        means = map_parts(lambda some: similarities[some].mean(axis=1), chunks, threads)
        rows = np.concatenate(means)
        kernels.add_to_pairs(similarities, rows.mean() / 2.0 - rows, threads)
        return cls(similarities, own + own.mean() - 2.0 * rows, threads)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.centered)

    @property
    def mean_squares(self) -> FloatArray:
        """Mean squared distance of each row to all."""
        return self.means

    @property
    def trace(self) -> float:
        """Sum of all eigenvalues."""
        return float(np.trace(self.centered))

    def _product(self, vectors: FloatArray) -> FloatArray:
        # The matrix is symmetric, and BLAS takes twice as long with few columns as with few rows.
        rows = np.ascontiguousarray(vectors.T)
        products = np.empty_like(rows)
        if len(rows) > FEW_VECTORS or not SMALL_ROWS <= self.n <= LARGE_ROWS:
            self._multiply(rows, products)
        else:
            kernels.few_products(self.centered, rows, products, self.threads)
        return products.T

    def _multiply(self, rows: FloatArray, products: FloatArray) -> None:
        """Multiply by BLAS, columns of the matrix by threads: as many whatever their number."""
        chunks = row_chunks(self.n, 1, PRODUCT_COLUMNS)

        def multiply(some: slice) -> None:
            np.matmul(rows, self.centered[:, some], out=products[:, some])

        map_parts(multiply, chunks, self.threads)

    def form(self) -> FloatArray:
        """Copy the kernel."""
        return self.centered.copy()

    def _sample(self, rows: IntArray) -> tuple[FloatArray, Carry]:
        some = self.centered[rows] - self.centered[rows].mean(axis=0)
        small = some[:, rows] - some[:, rows].mean(axis=1, keepdims=True)
        return small, lambda vectors: np.asarray(some.T @ vectors)


def negative_share(gram: CenteredGram, spectrum: Spectrum, rng: np.random.Generator) -> float:
    """Share of the eigenvalues' total magnitude that is negative, Σ_{λ<0}|λ| / Σ|λ|.

    Zero where up to 2000 rows have a Cholesky factorisation, which proves that no eigenvalue is
    negative by more than rounding. Else exact up to 600 rows. Beyond, the sum of the negative
    eigenvalues is estimated by stochastic Lanczos quadrature (Ubaru, Chen and Saad, 2017) beside
    the eigenvectors that are known, and the rest follows from the trace.
    """
    if gram.n <= PROVED_ROWS and _semidefinite(gram, spectrum.norm):
        note(negative_share_by="Cholesky factorisation")
        return 0.0
    if gram.n <= EXACT_ROWS:
        note(negative_share_by="all eigenvalues")
        values = np.linalg.eigvalsh(gram.form())
        negative = float(-values[values < 0].sum())
    else:
        note(negative_share_by=f"quadrature from {PROBES} probes")
        probes = rng.choice((-1.0, 1.0), (gram.n, PROBES))
        probes = probes - spectrum.vectors @ (spectrum.vectors.T @ probes)
        values, weights = _quadrature(gram.operator(), probes)
        rest = gram.n - len(spectrum.values)
        negative = rest * float(weights @ np.maximum(-values, 0.0)) / PROBES
    total = gram.trace + 2.0 * negative
    # An estimate may exceed what there is.
    return min(1.0, negative / total) if total > 0 else 0.0


def _semidefinite(gram: CenteredGram, norm: float) -> bool:
    """Whether no eigenvalue lies below zero by more than the rounding of sums of n terms."""
    kernel = gram.form()
    kernel.flat[:: gram.n + 1] += np.finfo(np.float64).eps * gram.n * norm
    # The transpose is in LAPACK's order, and as good: the matrix is symmetric.
    failed: int = dpotrf(kernel.T, clean=False, overwrite_a=True)[1]
    return failed == 0


def _quadrature(operator: LinearOperator, probes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of the Gauss rules for the spectral measures of the probes (Lanczos)."""
    n, count = probes.shape
    basis = np.empty((count, STEPS + 1, n))
    basis[:, 0] = (probes / np.linalg.norm(probes, axis=0)).T
    diagonal, beside = np.empty((count, STEPS)), np.empty((count, STEPS))
    for number in range(STEPS):
        image = (operator @ basis[:, number].T).T[:, None]
        diagonal[:, number] = np.einsum("ij,ij->i", basis[:, number], image[:, 0])
        against = basis[:, : number + 1]
        for _ in range(2):
            image = image - (image @ against.mT) @ against
        beside[:, number] = np.linalg.norm(image[:, 0], axis=1)
        floor = np.maximum(beside[:, number, None], np.finfo(float).tiny)
        basis[:, number + 1] = image[:, 0] / floor
    nodes, weights = [], []
    for middle, side in zip(diagonal, beside[:, :-1], strict=True):
        values, vectors = np.linalg.eigh(np.diag(middle) + np.diag(side, 1) + np.diag(side, -1))
        nodes.append(values)
        weights.append(np.square(vectors[0]))
    return np.concatenate(nodes), np.concatenate(weights)
