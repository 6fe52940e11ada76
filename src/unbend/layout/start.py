"""Where a layout starts, and from which exaggeration on it collapses.

Near zero the gradient is linear: ρ (D − P) y − y / (n − 1), with the affinities P and their sums D.
A layout that starts there grows along the eigenvectors of D − P with eigenvalues below
1 / (ρ (n − 1)), fastest along the first, and collapses to a point where there is none
(Linderman and Steinerberger, SIAM J. Math. Data Sci. 1, 2019).
"""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator

from unbend._kernels import kernels
from unbend.arrays import FloatArray
from unbend.eigen import Dense, SpectralProblem, fix_signs, solve
from unbend.eigen.krylov import Iteration, block_krylov
from unbend.graphs import degrees
from unbend.graphs.laplacian import difference
from unbend.layout.order import STEP, mix
from unbend.neighbors import PointSpace, Space

# Standard deviation of the first coordinate of a start, small against the kernel's unit width.
DEVIATION = 1e-4
# Rows nearer to each other than the first share of it are displaced by up to the second: on a
# disconnected graph eigenvectors are constant on each component, and points in one place would
# stay together.
TOGETHER, JITTER = 1e-6, 1e-2
# Rows up to which a start is exact.
EXACT = 1000
# A start need not be accurate, a few degrees do: relative residual, guard vectors, blocks that a
# Krylov space gets before a restart, and restarts at most.
TOLERANCE, GUARD, DEPTH, PASSES = 1e-3, 2, 8, 30
# Bound of the spectrum of a normalised Laplacian.
LARGEST = 2.0


def laplacian_problem(affinities: csr_array, *, normalized: bool = True) -> SpectralProblem:
    """Eigenvectors of D − P at the bottom end, with mass D where `normalized`."""
    degree = degrees(affinities)
    mass = np.maximum(degree, np.finfo(np.float64).tiny) if normalized else None
    constant = np.ones((len(degree), 1))
    return SpectralProblem(difference(degree, affinities), "bottom", constant, mass)


class AffinityLaplacian(LinearOperator):
    """Products with diagonal − scale · P · scale for affinities P in single precision.

    Nothing but P is stored, and threads share the products; they do not depend on how many.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> pair = csr_array(np.array([[0.0, 0.5], [0.5, 0.0]], dtype=np.float32))
    >>> laplacian = AffinityLaplacian(pair)
    >>> laplacian @ np.array([1.0, 0.0]), laplacian.normalized() @ np.array([1.0, 0.0])
    (array([ 0.5, -0.5]), array([ 1., -1.]))
    """

    def __init__(
        self,
        affinities: csr_array,
        threads: int = 1,
        diagonal: FloatArray | None = None,
        scale: FloatArray | None = None,
    ) -> None:
        super().__init__(np.dtype(np.float64), affinities.shape)  # type: ignore[call-arg]
        n = affinities.shape[0]
        self._graph = (
            affinities.indptr.astype(np.int64, copy=False),
            affinities.indices.astype(np.int32, copy=False),
            affinities.data.astype(np.float32, copy=False),
        )
        self._affinities, self._threads = affinities, threads
        self._scale = np.ones(n) if scale is None else scale
        self.diagonal = np.zeros(n) if diagonal is None else diagonal
        if diagonal is None:
            # Sums of the affinities: with no diagonal the image of ones, but for its sign.
            self.diagonal = -(self @ np.ones(n))

    def normalized(self) -> "AffinityLaplacian":
        """I − D^-½ P D^-½; a row without affinities is that of the identity."""
        roots = np.sqrt(np.maximum(self.diagonal, np.finfo(np.float64).tiny))
        ones = np.ones(len(roots))
        return AffinityLaplacian(self._affinities, self._threads, ones, 1.0 / roots)

    def _matmat(self, X: FloatArray) -> FloatArray:
        image = np.empty(X.shape)
        block = np.ascontiguousarray(X, dtype=np.float64)
        kernels.laplacian_product(
            *self._graph, self.diagonal, self._scale, block, self._threads, image
        )
        return image

    def _matvec(self, x: FloatArray) -> FloatArray:
        return self._matmat(x.reshape(-1, 1)).ravel()


def eigenmaps_start(
    affinities: csr_array, d: int, rng: np.random.Generator, threads: int
) -> tuple[FloatArray, FloatArray]:
    """Laplacian eigenmaps (n, d) of the affinities and d or more eigenvalues, to two digits."""
    width = d + GUARD
    if affinities.shape[0] <= max(EXACT, width * (DEPTH + 2) + 1):
        problem = laplacian_problem(affinities)
        assert problem.mass is not None
        roots = np.sqrt(problem.mass)
        values, vectors, *_ = Dense().eigenpairs(problem.standard(), d, rng, threads)
    else:
        laplacian = AffinityLaplacian(affinities, threads)
        roots = np.sqrt(np.maximum(laplacian.diagonal, np.finfo(np.float64).tiny))
        trivial = roots[:, None] / np.linalg.norm(roots)
        operator = laplacian.normalized()
        standard = SpectralProblem(operator, "bottom", trivial, size=LARGEST)
        # Vectors that it misses are no loss: those found are as smooth on the graph.
        iteration = Iteration(
            lambda pairs: float(pairs.residuals.max()) / (TOLERANCE * LARGEST),
            DEPTH, PASSES, passes_a_check=0, checked_from=DEPTH + 1, threads=threads,
        )  # fmt: skip
        values, vectors, *_ = block_krylov(standard, d, width, iteration, rng, 0.0)
    return fix_signs(vectors[:, :d] / roots[:, None]), values


def principal_start(space: Space, d: int) -> FloatArray:
    """Principal components (n, d) of the features of the rows."""
    if not isinstance(space, PointSpace) or space.metric.norm.p != 2:
        raise ValueError(
            "init='pca' needs rows of numbers with a Euclidean distance: use init='eigenmaps'"
        )
    features = np.asarray(space.features, dtype=np.float64)
    centered = features - features.mean(axis=0)
    if centered.shape[1] < d:
        raise ValueError(
            f"init='pca' has only {centered.shape[1]} columns for n_components={d}: use "
            "init='eigenmaps'"
        )
    _, axes = np.linalg.eigh(centered.T @ centered)
    return fix_signs(centered @ axes[:, : -d - 1 : -1])


def rescale(start: FloatArray) -> FloatArray:
    """Scale a start to `DEVIATION`; coordinates keep their proportions."""
    centered = start - start.mean(axis=0)
    deviation = float(centered[:, 0].std())
    largest = float(centered.std(axis=0).max())
    return np.asarray(
        centered * (DEVIATION / max(deviation, 0.1 * largest, np.finfo(np.float64).tiny))
    )


def separate(start: FloatArray) -> FloatArray:
    """Displace rows that start in the place of another, by a hash of the number of each row.

    That number is the one in `canonical_order`, so a hash of the row's affinities.
    """
    _, place, count = np.unique(
        np.round(start / (TOGETHER * DEVIATION)), axis=0, return_inverse=True, return_counts=True
    )
    together = np.flatnonzero(count[place.ravel()] > 1)
    separated, state = start.copy(), mix(together.astype(np.uint64))
    for axis in range(start.shape[1]):
        state = mix(state + STEP)
        numbers = (state >> np.uint64(11)).astype(np.float64) / 2.0**53 - 0.5
        separated[together, axis] += numbers * (JITTER * DEVIATION)
    return separated


def growth_bound(affinities: csr_array, start: FloatArray, threads: int = 1) -> float:
    """Exaggeration up to which every coordinate of a start grows: 1 / ((n − 1) q).

    q is the largest Rayleigh quotient of D − P in the span of the start, so at least λ_{d+1}.
    """
    n = len(start)
    basis = np.linalg.qr(start - start.mean(axis=0))[0]
    quotients = np.linalg.eigvalsh(basis.T @ (AffinityLaplacian(affinities, threads) @ basis))
    return float(1.0 / ((n - 1) * max(quotients.max(), np.finfo(np.float64).tiny)))


def collapse_bounds(affinities: csr_array, d: int, rng: np.random.Generator) -> FloatArray:
    """Exaggerations 1 / ((n − 1) λ), descending, from which on fewer than 1, …, d coordinates grow.

    λ are the eigenvalues λ₂, …, λ_{d+1} of D − P.
    """
    spectrum = solve(laplacian_problem(affinities, normalized=False), d, "auto", rng)
    n = affinities.shape[0]
    return 1.0 / ((n - 1) * np.maximum(spectrum.values, np.finfo(np.float64).tiny))
