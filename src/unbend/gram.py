"""Gram matrices of distances, never formed: −½ H S H with S the squared distances.

H = I − 11'/n centres. The kernel of classical MDS and of Isomap.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs

from unbend._kernels import kernels
from unbend.arrays import FloatArray
from unbend.eigen import solve
from unbend.problem import SpectralProblem, Spectrum
from unbend.report import step

# Up to here the share of negative eigenvalues is exact; beyond, it is estimated from this many
# probes and Lanczos steps.
EXACT_ROWS, PROBES, STEPS = 600, 8, 30
# Rows whose kernel gives the iteration its first vectors, and how many.
START_ROWS, START_VECTORS = 200, 16


@dataclass(frozen=True)
class Squares:
    """(d + shift)², or the argument itself where it is squared already."""

    squared: bool = False
    shift: float = 0.0

    def __call__(self, distances: FloatArray) -> FloatArray:
        """Square distances."""
        if self.squared:
            return distances.astype(np.float64, copy=False)
        wide = distances.astype(np.float64)
        wide += self.shift
        return np.square(wide, out=wide)


@dataclass(frozen=True, eq=False)
class SimilaritySquares:
    """Squared distances that similarities k stand for: k(x, x) + k_jj − 2 k(x, x_j).

    For new rows k(x, x) is left out: centring drops any constant of a row.
    """

    diagonal: FloatArray

    @classmethod
    def of(cls, kernel: FloatArray) -> "SimilaritySquares":
        """Take the diagonal of a kernel, as a copy: a view would hold all of it in memory."""
        return cls(kernel.diagonal().copy())

    def __call__(self, new: FloatArray) -> FloatArray:
        """Convert rows of similarities to the fitted rows."""
        return np.asarray(self.diagonal - 2.0 * new)

    def between_fitted(self, kernel: FloatArray) -> FloatArray:
        """Squared distances between the fitted rows themselves."""
        return np.asarray(self(kernel) + self.diagonal[:, None])


@dataclass(frozen=True, eq=False)
class Gram:
    """−½ H (D + shift)² H + lift·H, of distances D or, where `squares` says so, of D² itself.

    `shift` and `lift` repair an indefinite kernel. The constant-shift technique (book section
    8.1.3) adds τ to every distance but the zeros on the diagonal, which is ``shift = τ`` with
    ``lift = τ²/2``; raising every eigenvalue by c is ``lift = c``.

    Examples
    --------
    >>> import numpy as np
    >>> gram = Gram(np.array([[0.0, 2.0], [2.0, 0.0]]))
    >>> gram.operator() @ np.eye(2)
    array([[ 1., -1.],
           [-1.,  1.]])
    """

    distances: FloatArray
    squares: Squares = Squares()
    lift: float = 0.0
    threads: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "distances", np.ascontiguousarray(self.distances))

    @cached_property
    def mean_squares(self) -> FloatArray:
        """Mean of each row of S."""
        n = len(self.distances)
        return self._times(np.full((n, 1), 1.0 / n))[:, 0]

    def _times(self, vectors: FloatArray) -> FloatArray:
        """S @ vectors, in double precision whatever that of the distances."""
        result = np.empty((len(self.distances), vectors.shape[1]))
        squared, shift = self.squares.squared, self.squares.shift
        kernels.squared_products(
            self.distances, squared, shift, vectors, self.threads, step, result
        )
        return result

    @property
    def trace(self) -> float:
        """Sum of all eigenvalues."""
        n = len(self.distances)
        diagonal = float(self.squares(self.distances.diagonal()).sum())
        return (n * float(self.mean_squares.mean()) - diagonal) / 2 + self.lift * (n - 1)

    def operator(self) -> LinearOperator:
        """Products with the kernel, row block by row block."""
        n = len(self.distances)

        def product(vectors: FloatArray) -> FloatArray:
            centred = vectors.reshape(n, -1) - vectors.reshape(n, -1).mean(axis=0)
            result = self._times(np.ascontiguousarray(centred, dtype=np.float64))
            result = -0.5 * (result - result.mean(axis=0)) + self.lift * centred
            return np.asarray(result.reshape(vectors.shape))

        return LinearOperator((n, n), matvec=product, matmat=product, dtype=np.float64)

    @property
    def accuracy(self) -> float:
        """Relative error of the kernel: eigenvalues below it are rounding.

        Two ways along one path may be rounded apart, which single precision shows as asymmetry.
        """
        single = 2.0 * float(np.finfo(self.distances.dtype).eps)
        return max(single, float(np.finfo(np.float64).eps) * len(self.distances))

    def problem(self) -> SpectralProblem:
        """Top end of the kernel; the constant vector belongs to eigenvalue zero."""
        constant = np.ones((len(self.distances), 1))
        problem = SpectralProblem(self.operator(), "top", constant, accuracy=self.accuracy)
        return problem if len(self.distances) < 2 * START_ROWS else self._begun(problem)

    def _begun(self, problem: SpectralProblem) -> SpectralProblem:
        """Add eigenvectors of the kernel of some rows, carried to all: Nyström's approximation."""
        n = len(self.distances)
        rows = np.linspace(0, n - 1, START_ROWS).astype(np.intp)
        centred = self.squares(self.distances[rows])
        centred -= centred.mean(axis=0)
        small = centred[:, rows] - centred[:, rows].mean(axis=1, keepdims=True)
        values, vectors = np.linalg.eigh(-0.5 * small)
        start = centred.T @ vectors[:, : -START_VECTORS - 1 : -1]
        size = float(np.abs(values).max()) * n / START_ROWS + self.lift
        return replace(problem, start=start, size=size)

    def coordinates(self, spectrum: Spectrum) -> FloatArray:
        """Vectors of length √λ; directions of eigenvalues that are not positive become zero."""
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
        return np.asarray(spectrum.vectors * np.where(usable, factors, 0.0))

    def repaired(self, how: str | None) -> "Gram":
        """Return the kernel as it is (None), `shifted` ("shift") or `lifted` ("lift")."""
        return self if how is None else self.shifted() if how == "shift" else self.lifted()

    def shifted(self) -> "Gram":
        """Add the least constant that makes the kernel positive semidefinite (Cailliez, 1983)."""
        if self.lowest() >= 0:
            return self
        tau = additive_constant(self)
        return replace(self, squares=Squares(shift=tau), lift=tau**2 / 2)

    def lifted(self) -> "Gram":
        """Raise all eigenvalues by the size of the smallest, if that is negative."""
        lowest = self.lowest()
        return replace(self, lift=self.lift - lowest) if lowest < 0 else self

    def lowest(self) -> float:
        """Smallest eigenvalue on centred vectors; zero where it is negative by rounding alone."""
        constant = np.ones((len(self.distances), 1))
        bottom = solve(SpectralProblem(-1.0 * self.operator(), "top", constant), 1)
        lowest = -float(bottom.values[0])
        rounding = np.finfo(np.float64).eps * len(self.distances) * float(self.mean_squares.max())
        return 0.0 if abs(lowest) <= rounding else lowest


def additive_constant(gram: Gram) -> float:
    """Largest eigenvalue of [[0, 2G], [−I, −4F]], G = −½HD²H and F = −½HDH (Cailliez, 1983)."""
    n = len(gram.distances)
    of_squares = gram.operator()
    of_distances = replace(gram, squares=Squares(squared=True), lift=0.0).operator()

    def product(stacked: FloatArray) -> FloatArray:
        upper, lower = stacked[:n], stacked[n:]
        return np.concatenate((2.0 * (of_squares @ lower), -upper - 4.0 * (of_distances @ lower)))

    if n <= 200:
        return float(np.linalg.eigvals(product(np.eye(2 * n))).real.max())
    operator = LinearOperator((2 * n, 2 * n), matvec=product, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(2 * n)
    try:
        values = eigs(operator, 1, which="LR", v0=start, ncv=40, maxiter=2000, tol=1e-10)[0]
    except ArpackNoConvergence as failure:
        raise RuntimeError(
            "the additive constant was not found to tolerance: use repair='lift' or none"
        ) from failure
    return float(values.real.max())


def negative_share(gram: Gram, spectrum: Spectrum, rng: np.random.Generator) -> float:
    """Share of the eigenvalues' total magnitude that is negative, Σ_{λ<0}|λ| / Σ|λ|.

    Exact up to 600 rows. Beyond, the sum of the negative eigenvalues is estimated by stochastic
    Lanczos quadrature (Ubaru, Chen and Saad, 2017) beside the eigenvectors that are known, and
    the rest follows from the trace.
    """
    n = len(gram.distances)
    operator = gram.operator()
    if n <= EXACT_ROWS:
        values = np.linalg.eigvalsh(operator @ np.eye(n))
        negative = float(-values[values < 0].sum())
    else:
        probes = rng.choice((-1.0, 1.0), (n, PROBES))
        probes = probes - spectrum.vectors @ (spectrum.vectors.T @ probes)
        values, weights = _quadrature(operator, probes)
        negative = (n - len(spectrum.values)) * float(weights @ np.maximum(-values, 0.0)) / PROBES
    total = gram.trace + 2.0 * negative
    return negative / total if total > 0 else 0.0


def _quadrature(operator: LinearOperator, probes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of the Gauss rules for the spectral measures of the probes (Lanczos)."""
    basis = [probes / np.linalg.norm(probes, axis=0)]
    diagonal, beside = [], []
    for _ in range(STEPS):
        image = operator @ basis[-1]
        diagonal.append(np.einsum("ij,ij->j", basis[-1], image))
        for vectors in (*basis, *basis):
            image = image - vectors * np.einsum("ij,ij->j", vectors, image)
        beside.append(np.linalg.norm(image, axis=0))
        basis.append(image / np.maximum(beside[-1], np.finfo(float).tiny))
    nodes, weights = [], []
    for middle, side in zip(np.transpose(diagonal), np.transpose(beside)[:, :-1], strict=True):
        values, vectors = np.linalg.eigh(np.diag(middle) + np.diag(side, 1) + np.diag(side, -1))
        nodes.append(values)
        weights.append(np.square(vectors[0]))
    return np.concatenate(nodes), np.concatenate(weights)
