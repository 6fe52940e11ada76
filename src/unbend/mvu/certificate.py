"""Duality certificates: rigorous bounds of the optimum of the semidefinite program.

By weak duality any tensions u with L(u) ⪰ I on vectors of sum zero bound every variance:
tr K − Σ φ(c) ≤ Σ u + Σ φ*(u). Tensions from a solver are slightly infeasible; here they are made
feasible, by a factor or by adding an equal tension to all edges, and the bound then holds in exact
arithmetic: the least eigenvalue is bounded by the signs of pivots of a factorisation and a bound of
its rounding errors, not by an eigensolver that might have missed one.
"""

from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from unbend.arrays import FloatArray
from unbend.eigen.auto import Auto
from unbend.eigen.problem import SpectralProblem
from unbend.mvu.curvature import negative_pivots, symmetric_factor
from unbend.mvu.edges import Edges, SubspaceEdges, center
from unbend.mvu.relaxation import Relaxation

EPS = float(np.finfo(np.float64).eps)
# Largest number of rows for which all eigenvalues are computed.
DENSE_ROWS = 300
# Lanczos for escape directions, which need few digits.
LANCZOS_VECTORS, ROUGH, RESTARTS = 60, 1e-9, 100
# Shifts below the Ritz value that are tried: first and last relative distance, and their ratio.
FIRST_SLACK, DEEPEST, WIDER = 1e-12, 1e3, 3.0
# Least eigenvalue above which tensions are made feasible by a factor.
WELL = 0.9


@dataclass(frozen=True)
class Certificate:
    """Rigorous bounds: the optimum lies between `lower`, which is attained, and `upper`.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend import mvu
    >>> cycle = mvu.Edges(6, np.arange(6), (np.arange(6) + 1) % 6, np.ones(6))
    >>> found = mvu.unfold(cycle)
    >>> found.certificate.lower <= found.certificate.upper, found.certificate.gap < 1e-6
    (True, True)
    """

    lower: float
    upper: float

    @property
    def gap(self) -> float:
        """Relative duality gap (upper − lower)/|upper|."""
        if self.upper == self.lower:
            return 0.0
        return (self.upper - self.lower) / abs(self.upper) if np.isfinite(self.upper) else 1.0


def certify(
    edges: Edges, relaxation: Relaxation, coordinates: FloatArray, tensions: FloatArray
) -> Certificate:
    """Bound the optimum from below by coordinates and from above by tensions.

    Coordinates must be feasible: see `Relaxation.feasible`.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.mvu.relaxation import Inequality
    >>> path = Edges(3, np.array([0, 1]), np.array([1, 2]), np.array([1.0, 1.0]))
    >>> straight = np.array([[-1.0], [0.0], [1.0]])
    >>> found = certify(path, Inequality(), straight, np.array([1.0, 1.0]))
    >>> round(found.lower, 9), round(found.upper, 9)
    (2.0, 2.0)
    """
    return Certificate(
        variance(edges, relaxation, coordinates),
        upper_bound(edges, relaxation, tensions, coordinates),
    )


def variance(edges: Edges, relaxation: Relaxation, coordinates: FloatArray) -> float:
    """‖Y‖² about the mean, less the cost of the stretch, rounded down."""
    _, cost = relaxation.feasible(coordinates, edges.stretch(coordinates))
    squares = fsum(np.square(center(coordinates)).ravel())
    # Squares, differences and the mean are each correct to a few units in the last place.
    return float(squares - cost - 16.0 * EPS * coordinates.shape[1] * (squares + cost))


def upper_bound(
    edges: Edges, relaxation: Relaxation, tensions: FloatArray, near: FloatArray
) -> float:
    """Best dual bound of feasible tensions near the given ones.

    `near` are coordinates whose span approximates the eigenvectors of the least eigenvalues.
    """
    if not np.isfinite(relaxation.conjugate(tensions)):
        tensions = np.maximum(tensions, 0.0)
    least = least_eigenvalue(edges.laplacian(tensions), near)
    scaled = dual_value(relaxation, tensions / least) if least > 0 else np.inf
    if least > WELL:
        return scaled
    laplacian = edges.laplacian(np.ones(edges.m))
    support = least_eigenvalue(laplacian, fiedler_pair(laplacian)[1])
    if support <= 0:
        return scaled
    added = dual_value(relaxation, tensions + (1.0 - least) / support)
    return min(scaled, added)


def fiedler_pair(laplacian: csr_array) -> tuple[float, FloatArray]:
    """Algebraic connectivity and Fiedler vector (n, 1) of a connected graph."""
    n = laplacian.shape[0]
    problem = SpectralProblem(laplacian, "bottom", np.ones((n, 1))).standard()
    values, vectors, *_ = Auto().eigenpairs(problem, 1, np.random.default_rng(0))
    return float(values[0]), np.asarray(vectors[:, :1])


def dual_value(relaxation: Relaxation, tensions: FloatArray) -> float:
    """Σ u + Σ φ*(u), rounded up."""
    value = fsum(tensions) + relaxation.conjugate(tensions)
    # The scaled tensions are rounded too; sums of at most m products.
    return value + 8.0 * EPS * (
        fsum(np.abs(tensions)) + len(tensions) * relaxation.conjugate(tensions)
    )


def least_eigenvalue(laplacian: csr_array, near: FloatArray) -> float:
    """Rigorous lower bound of the least eigenvalue on vectors of sum zero."""
    n = laplacian.shape[0]
    sizes = np.asarray(abs(laplacian).sum(axis=1)).ravel()
    norm = float(sizes.max())
    if norm == 0:
        return 0.0
    # Rounding of the entries: a sum of one term per incident edge.
    entries = EPS * float((np.diff(laplacian.indptr) * sizes).max())
    if n <= DENSE_ROWS:
        # Deflate the constant vector.
        values = np.linalg.eigvalsh(laplacian.toarray() + (norm + 1.0) / n)
        return float(values[0]) - entries - 4.0 * n * EPS * (2.0 * norm + 1.0)
    guess = _smallest_ritz_value(laplacian, near)
    slack = FIRST_SLACK * max(abs(guess), norm * EPS)
    bound = -np.inf
    # Near eigenvalues pivots are small and their rounding is unpredictably large: try shifts as
    # long as they could improve the bound.
    while guess - slack > bound and slack <= DEEPEST * max(norm, abs(guess)):
        bound = max(bound, _verified_bound(laplacian, guess - slack))
        slack *= WIDER
    return bound - entries


def _smallest_ritz_value(laplacian: csr_array, near: FloatArray) -> float:
    """Least Ritz value on the span of some vectors, an upper bound of the eigenvalue."""
    basis, values, _ = np.linalg.svd(center(near), full_matrices=False)
    basis = basis[:, values > 1e-9 * values[0]]
    return float(np.linalg.eigvalsh(basis.T @ (laplacian @ basis))[0])


def _verified_bound(laplacian: csr_array, value: float) -> float:
    """Return a bound near `value` if the pivots prove that no eigenvalue is below it, or −∞.

    L − λI = PGP' + E, and |E| ≤ γ|G₁||G₂| entry by entry for its triangular factors (Higham, 2002,
    theorem 9.3); the number of negative eigenvalues of PGP' is that of its negative pivots. The
    constant vector has the eigenvalue −λ, one negative pivot if λ > 0.
    """
    n = laplacian.shape[0]
    factor = symmetric_factor(csc_array(laplacian - value * eye_array(n)))
    if factor is None or not np.array_equal(factor.perm_r, factor.perm_c):
        return -np.inf
    if negative_pivots(factor) > (1 if value > 0 else 0):
        return -np.inf
    error = _rounding(factor) + EPS * (abs(value) + float(np.abs(laplacian.diagonal()).max()))
    return value - error if np.isfinite(error) else -np.inf


def _rounding(factor: Any) -> float:
    """Bound of ‖A − G D G'‖ for unpivoted factors G and U ≈ D G'."""
    lower, upper = csr_array(factor.L), csr_array(factor.U)
    pivots = upper.diagonal()
    terms = int(np.diff(lower.indptr).max()) + 2
    asymmetry = abs(upper - csr_array(lower.T.multiply(pivots[:, None])))
    ones = np.ones(lower.shape[0])
    error = abs(lower) @ (terms * EPS * (abs(upper) @ ones) + asymmetry @ ones)
    # The norm of E is bounded by the geometric mean of its largest row and column sums.
    back = terms * EPS * (abs(upper).T @ (abs(lower).T @ ones)) + asymmetry.T @ (
        abs(lower).T @ ones
    )
    return 2.0 * float(np.sqrt(np.max(error) * np.max(back)))


def escape_directions(laplacian: csr_array, count: int, least: float, below: float) -> FloatArray:
    """Eigenvectors (n, q) of sum zero with eigenvalues less than `below`, at most `count`.

    The variance of a kernel of too low a rank grows along them. `least` is a lower bound of all
    eigenvalues.
    """
    n = laplacian.shape[0]
    norm = float(np.asarray(abs(laplacian).sum(axis=1)).max())
    if n <= DENSE_ROWS:
        values, vectors = np.linalg.eigh(laplacian.toarray() + (norm + 1.0) / n)
    else:
        values, vectors = _lowest_eigenpairs(laplacian, count + 2, least)
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
        # All eigenvectors but the constant one have sum zero.
        varying = np.abs(vectors.sum(axis=0)) < 0.5 * np.sqrt(n)
        values, vectors = values[varying], vectors[:, varying]
    return np.asarray(vectors[:, values < below][:, :count])


def _lowest_eigenpairs(
    laplacian: csr_array, count: int, least: float
) -> tuple[FloatArray, FloatArray]:
    """Approximate eigenpairs of the least eigenvalues, as many as converge quickly."""
    start = np.random.default_rng(0).standard_normal(laplacian.shape[0])
    beside = min(least, 0.0) - 0.1 * max(abs(least), 1.0)
    matrix, width = csc_array(laplacian), min(LANCZOS_VECTORS, laplacian.shape[0])
    try:
        return eigsh(matrix, count, sigma=beside, v0=start, ncv=width, tol=ROUGH, maxiter=RESTARTS)
    except ArpackNoConvergence as cut:
        # Eigenvalues of a kernel of too high a rank cluster at one.
        values, vectors = cut.eigenvalues, cut.eigenvectors
    return np.asarray(values, np.float64), np.asarray(vectors, np.float64)


def certify_span(
    edges: SubspaceEdges, relaxation: Relaxation, coordinates: FloatArray, tensions: FloatArray
) -> Certificate:
    """Bound the optimum within a span; U' L(u) U ⪰ I is checked with a bound of rounding."""
    _, cost = relaxation.feasible(coordinates, edges.stretch(coordinates))
    squares = fsum(np.square(coordinates).ravel())
    # A length is a sum of p products, whose rounding a stiff penalty amplifies.
    lower = squares - cost - 16.0 * EPS * edges.p * coordinates.shape[1] * (squares + cost)
    if not np.isfinite(relaxation.conjugate(tensions)):
        tensions = np.maximum(tensions, 0.0)
    values = np.linalg.eigvalsh(edges.laplacian(tensions))
    # Entries are sums over all edges, in which tensions of both signs may cancel.
    sizes = np.abs(tensions) / edges.squares * np.square(edges.vectors).sum(axis=1)
    least = float(values[0]) - EPS * (len(tensions) + 4 * edges.p) * float(sizes.sum())
    if least <= 0:
        return Certificate(lower, np.inf)
    return Certificate(lower, dual_value(relaxation, tensions / least))
