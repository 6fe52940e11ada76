"""Where a layout starts, and from which exaggeration on it collapses.

Near zero the gradient is linear: ρ (D − P) y − y / (n − 1), with the affinities P and their sums D.
A layout that starts there grows along the eigenvectors of D − P with eigenvalues below
1 / (ρ (n − 1)), fastest along the first, and collapses to a point where there is none
(Linderman and Steinerberger, SIAM J. Math. Data Sci. 1, 2019).
"""

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import FloatArray
from unbend.eigen import Lanczos, SpectralProblem, fix_signs, solve
from unbend.graphs import degrees
from unbend.graphs.laplacian import difference
from unbend.neighbors import PointSpace, Space

# Standard deviation of the first coordinate of a start, small against the kernel's unit width.
DEVIATION = 1e-4
# Random displacement, relative to that: on a disconnected graph eigenvectors are constant on each
# component, and points in one place would stay together.
JITTER = 1e-2
# A start need not be accurate: relative residual, and restarts at most.
TOLERANCE, PASSES = 1e-4, 30


def laplacian_problem(affinities: csr_array, *, normalized: bool = True) -> SpectralProblem:
    """Eigenvectors of D − P at the bottom end, with mass D where `normalized`."""
    degree = degrees(affinities)
    mass = np.maximum(degree, np.finfo(np.float64).tiny) if normalized else None
    constant = np.ones((len(degree), 1))
    return SpectralProblem(difference(degree, affinities), "bottom", constant, mass)


def eigenmaps_start(
    affinities: csr_array, d: int, rng: np.random.Generator, threads: int
) -> FloatArray:
    """Laplacian eigenmaps (n, d) of the affinities, to a few digits."""
    problem = laplacian_problem(affinities)
    solver = Lanczos(tol=TOLERANCE, passes=PASSES)
    _, vectors, _ = solver.eigenpairs(problem.standard(), d, rng, threads)
    assert problem.mass is not None
    return fix_signs(vectors[:, :d] / np.sqrt(problem.mass)[:, None])


def principal_start(space: Space, d: int) -> FloatArray:
    """Principal components (n, d) of the features of the rows."""
    if not isinstance(space, PointSpace) or space.metric.norm.p != 2:
        raise ValueError(
            "init='pca' needs rows of numbers with a Euclidean distance: use init='eigenmaps'"
        )
    centered = space.features - space.features.mean(axis=0)
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
    return centered * (DEVIATION / max(deviation, 0.1 * largest, np.finfo(np.float64).tiny))


def jitter(space: Space, n: int, d: int) -> FloatArray:
    """Displacements (n, d) by a hash of each row, or of its number where there are no points."""
    points = isinstance(space, PointSpace)
    bits = (
        np.ascontiguousarray(space.points, dtype=np.float64).view(np.uint64)
        if points
        else np.arange(n, dtype=np.uint64)[:, None]
    )
    state = np.full(n, 0x9E3779B97F4A7C15, dtype=np.uint64)
    for column in bits.T:
        state = _mix(state ^ column)
    displaced = np.empty((n, d))
    for axis in range(d):
        state = _mix(state + np.uint64(0x9E3779B97F4A7C15))
        displaced[:, axis] = (state >> np.uint64(11)).astype(np.float64) / 2.0**53 - 0.5
    return displaced * (JITTER * DEVIATION)


def _mix(state: "np.typing.NDArray[np.uint64]") -> "np.typing.NDArray[np.uint64]":
    """The finaliser of splitmix64."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def growth_bound(affinities: csr_array, start: FloatArray) -> float:
    """An exaggeration up to which every coordinate of a start grows: 1 / ((n − 1) q).

    q is the largest Rayleigh quotient of D − P in the span of the start, so at least λ_{d+1}.
    """
    n = len(start)
    matrix = laplacian_problem(affinities, normalized=False).matrix
    basis = np.linalg.qr(start - start.mean(axis=0))[0]
    quotients = np.linalg.eigvalsh(basis.T @ (matrix @ basis))
    return float(1.0 / ((n - 1) * max(quotients.max(), np.finfo(np.float64).tiny)))


def collapse_bounds(affinities: csr_array, d: int, rng: np.random.Generator) -> FloatArray:
    """Exaggerations 1 / ((n − 1) λ), descending, from which on fewer than 1, …, d coordinates grow.

    λ are the eigenvalues λ₂, …, λ_{d+1} of D − P.
    """
    spectrum = solve(laplacian_problem(affinities, normalized=False), d, "auto", rng)
    n = affinities.shape[0]
    return 1.0 / ((n - 1) * np.maximum(spectrum.values, np.finfo(np.float64).tiny))
