"""A proof of how far an unfolding is from the best one.

By weak duality any tensions u with L(u) ⪰ I on vectors of sum zero bound every variance:
tr K − Σ φ(c) ≤ Σ u + Σ φ*(u). Tensions from a solver miss the condition by a little; here they are
repaired, by a factor or by a little of equal tension in all edges, and what is then claimed holds
in exact arithmetic: the least eigenvalue is bounded by the signs of pivots of a factorisation and a
bound of its rounding errors, not by an eigenvalue solver that might have missed one.
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
from unbend.mvu.curvature import centred, negative_pivots, symmetric_factor
from unbend.mvu.edges import Edges, Spanned
from unbend.mvu.relaxation import Relaxation

EPS = float(np.finfo(np.float64).eps)
# Up to here all eigenvalues are computed.
DENSE_ROWS = 300
# Directions to try need few digits, and a search that does not end is ended.
LANCZOS_VECTORS, ROUGH, RESTARTS = 60, 1e-9, 100
# Least eigenvalues are sought from the first to the last share of the norm below a guess, in steps.
FIRST_SLACK, DEEPEST, WIDER = 1e-12, 1e3, 3.0
# Above this least eigenvalue, tensions are repaired by a factor.
WELL = 0.9


@dataclass(frozen=True)
class Certificate:
    """Proved bounds: the optimum lies between `lower`, which is reached, and `upper`."""

    lower: float
    upper: float

    @property
    def gap(self) -> float:
        """(upper − lower)/|upper|; springs that cannot rest may cost more than the variance."""
        if self.upper == self.lower:
            return 0.0
        return (self.upper - self.lower) / abs(self.upper) if np.isfinite(self.upper) else 1.0


def certify(
    edges: Edges, relaxation: Relaxation, coordinates: FloatArray, tensions: FloatArray
) -> Certificate:
    """Bound the optimum from below by coordinates and from above by tensions.

    Coordinates are claimed as they are: pass them through `Relaxation.permitted` first.

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
    """‖Y‖² about the mean, less the price of the stretch, rounded down."""
    _, price = relaxation.permitted(coordinates, edges.stretch(coordinates))
    squares = fsum(np.square(centred(coordinates)).ravel())
    # Squares, differences and the centre are each right to a few units of the last place.
    return float(squares - price - 16.0 * EPS * coordinates.shape[1] * (squares + price))


def upper_bound(
    edges: Edges, relaxation: Relaxation, tensions: FloatArray, near: FloatArray
) -> float:
    """Best of the bounds that repaired tensions prove.

    `near` are coordinates whose span is close to the eigenvectors of the least eigenvalues.
    """
    if not np.isfinite(relaxation.conjugate(tensions)):
        tensions = np.maximum(tensions, 0.0)
    least = least_eigenvalue(edges.laplacian(tensions), near)
    scaled = dual_value(relaxation, tensions / least) if least > 0 else np.inf
    if least > WELL:
        return scaled
    laplacian = edges.laplacian(np.ones(edges.m))
    support = least_eigenvalue(laplacian, slowest(laplacian)[1])
    if support <= 0:
        return scaled
    added = dual_value(relaxation, tensions + (1.0 - least) / support)
    return min(scaled, added)


def slowest(laplacian: csr_array) -> tuple[float, FloatArray]:
    """Least eigenvalue on vectors of sum zero, and its vector (n, 1); all weights positive."""
    n = laplacian.shape[0]
    problem = SpectralProblem(laplacian, "bottom", np.ones((n, 1))).standard()
    values, vectors, _ = Auto().eigenpairs(problem, 1, np.random.default_rng(0))
    return float(values[0]), np.asarray(vectors[:, :1])


def dual_value(relaxation: Relaxation, tensions: FloatArray) -> float:
    """Σ u + Σ φ*(u), rounded up."""
    value = fsum(tensions) + relaxation.conjugate(tensions)
    # The tensions themselves were rounded when they were scaled; sums of m products at the most.
    return value + 8.0 * EPS * (
        fsum(np.abs(tensions)) + len(tensions) * relaxation.conjugate(tensions)
    )


def least_eigenvalue(laplacian: csr_array, near: FloatArray) -> float:
    """Lower bound, proved, of the least eigenvalue on vectors of sum zero."""
    n = laplacian.shape[0]
    sizes = np.asarray(abs(laplacian).sum(axis=1)).ravel()
    norm = float(sizes.max())
    if norm == 0:
        return 0.0
    # Rounding of the entries themselves: a sum of one term for each edge at a vertex.
    entries = EPS * float((np.diff(laplacian.indptr) * sizes).max())
    if n <= DENSE_ROWS:
        # The constant vector is moved out of the way.
        values = np.linalg.eigvalsh(laplacian.toarray() + (norm + 1.0) / n)
        return float(values[0]) - entries - 4.0 * n * EPS * (2.0 * norm + 1.0)
    guess = _smallest_ritz_value(laplacian, near)
    slack = FIRST_SLACK * max(abs(guess), norm * EPS)
    proved = -np.inf
    # Near eigenvalues pivots are small and their rounding is large, and how large is chance: shifts
    # are tried as long as they could give more.
    while guess - slack > proved and slack <= DEEPEST * max(norm, abs(guess)):
        proved = max(proved, _proved(laplacian, guess - slack))
        slack *= WIDER
    return proved - entries


def _smallest_ritz_value(laplacian: csr_array, near: FloatArray) -> float:
    """Least eigenvalue of the Laplacian seen on the span of some vectors: never too small."""
    basis, values, _ = np.linalg.svd(centred(near), full_matrices=False)
    basis = basis[:, values > 1e-9 * values[0]]
    return float(np.linalg.eigvalsh(basis.T @ (laplacian @ basis))[0])


def _proved(laplacian: csr_array, value: float) -> float:
    """Return a bound next to `value` if pivots show that no eigenvalue lies below, or −∞.

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
    # The largest row sum bounds the norm of a symmetric matrix, and the columns of E are as its
    # rows to the same bound.
    back = terms * EPS * (abs(upper).T @ (abs(lower).T @ ones)) + asymmetry.T @ (
        abs(lower).T @ ones
    )
    return 2.0 * float(np.sqrt(np.max(error) * np.max(back)))


def escaping(laplacian: csr_array, count: int, least: float, below: float) -> FloatArray:
    """Eigenvectors (n, q) of sum zero with eigenvalues less than `below`, `count` at the most.

    They are directions in which a kernel of too low a rank can still grow. `least` is a lower
    bound of all eigenvalues.
    """
    n = laplacian.shape[0]
    norm = float(np.asarray(abs(laplacian).sum(axis=1)).max())
    if n <= DENSE_ROWS:
        values, vectors = np.linalg.eigh(laplacian.toarray() + (norm + 1.0) / n)
    else:
        values, vectors = _lowest(laplacian, count + 2, least)
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
        # All eigenvectors but the constant one have sum zero.
        varying = np.abs(vectors.sum(axis=0)) < 0.5 * np.sqrt(n)
        values, vectors = values[varying], vectors[:, varying]
    return np.asarray(vectors[:, values < below][:, :count])


def _lowest(laplacian: csr_array, count: int, least: float) -> tuple[FloatArray, FloatArray]:
    """Eigenpairs of the least eigenvalues, as directions to try: those that are found soon."""
    start = np.random.default_rng(0).standard_normal(laplacian.shape[0])
    beside = min(least, 0.0) - 0.1 * max(abs(least), 1.0)
    matrix, width = csc_array(laplacian), min(LANCZOS_VECTORS, laplacian.shape[0])
    try:
        return eigsh(matrix, count, sigma=beside, v0=start, ncv=width, tol=ROUGH, maxiter=RESTARTS)
    except ArpackNoConvergence as cut:
        # Eigenvalues of a kernel of too high a rank crowd at one.
        values, vectors = cut.eigenvalues, cut.eigenvectors
    return np.asarray(values, np.float64), np.asarray(vectors, np.float64)


def proved(
    edges: Spanned, relaxation: Relaxation, coordinates: FloatArray, tensions: FloatArray
) -> Certificate:
    """Bound the optimum of the span: tensions count once U' L(u) U ⪰ I holds, rounding included."""
    _, price = relaxation.permitted(coordinates, edges.stretch(coordinates))
    squares = fsum(np.square(coordinates).ravel())
    # A length is a sum of p products, whose errors the price of a stiff spring shows.
    lower = squares - price - 16.0 * EPS * edges.p * coordinates.shape[1] * (squares + price)
    if not np.isfinite(relaxation.conjugate(tensions)):
        tensions = np.maximum(tensions, 0.0)
    values = np.linalg.eigvalsh(edges.laplacian(tensions))
    # Entries are sums over all edges, in which tensions of both signs may cancel.
    sizes = np.abs(tensions) / edges.squares * np.square(edges.vectors).sum(axis=1)
    least = float(values[0]) - EPS * (len(tensions) + 4 * edges.p) * float(sizes.sum())
    if least <= 0:
        return Certificate(lower, np.inf)
    return Certificate(lower, dual_value(relaxation, tensions / least))
