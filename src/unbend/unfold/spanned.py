"""Unfolding within a span: K = Q L Q' with a matrix Q of few columns (9.36).

With an orthonormal basis U of the centred columns of Q, K = U Z U' has the trace of Z, and an edge
sees Z through the difference of two rows of U. The problem is that of all rows, with p × p matrices
in place of n × n ones: the same Newton iteration, with dense factors, and a certificate that takes
the eigenvalues of one small matrix.
"""

from dataclasses import dataclass, replace
from math import fsum
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.unfold.burer_monteiro import Factored, iterated, principal
from unbend.unfold.certificate import EPS, Certificate, dual_value
from unbend.unfold.edges import Edges
from unbend.unfold.newton_matrix import MOST_SHIFT
from unbend.unfold.relaxation import Inequality, Relaxation, Soft
from unbend.unfold.solve import STIFF, Constraint, Unfolding
from unbend.unfold.start import landmark_isomap

# Columns of the first factor beyond those asked for; how often and by how many they grow.
SPARE, ROUNDS, MORE = 2, 5, 2
# Columns whose eigenvalue is below this share of the largest are free for others.
UNUSED = 1e-8
# Edges a basis vector that a first solution is found with; those added when bounds are exceeded.
FIRST_EDGES, ADDED = 40, 10
# Rounds of adding, and the excess of a squared length that shrinking may take back.
ADDITIONS, EXCESS = 40, 1e-7
# Directions of the centred basis below this share of the largest are rounding.
NULL = 1e-9
UNKNOWN = Certificate(-np.inf, np.inf)


@dataclass(frozen=True, eq=False)
class Spanned:
    """Edges of coordinates U R: `vectors` (m, p) are the differences of rows of U.

    Examples
    --------
    >>> import numpy as np
    >>> path = Edges(3, np.array([0, 1]), np.array([1, 2]), np.ones(2))
    >>> straight = Spanned.of(path, np.array([[-1.0], [0.0], [1.0]]) / np.sqrt(2))
    >>> straight.laplacian(np.ones(2)).round(6)
    array([[1.]])
    """

    vectors: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, edges: Edges, basis: FloatArray) -> "Spanned":
        """Edges as orthonormal columns of sum zero see them."""
        return cls(edges.differences(basis), edges.squares)

    @property
    def p(self) -> int:
        """Number of basis vectors."""
        return int(self.vectors.shape[1])

    def take(self, rows: IntArray) -> "Spanned":
        """Restrict to some edges."""
        return Spanned(self.vectors[rows], self.squares[rows])

    def differences(self, coordinates: FloatArray) -> FloatArray:
        """Vectors yᵢ − yⱼ (m, r)."""
        return np.asarray(self.vectors @ coordinates)

    def stretch(self, coordinates: FloatArray) -> FloatArray:
        """|yᵢ − yⱼ|²/d² − 1 for each edge."""
        squares = np.square(self.differences(coordinates)).sum(axis=1)
        return np.asarray(squares / self.squares - 1.0)

    def laplacian(self, tensions: FloatArray) -> FloatArray:
        """U' L(u) U."""
        return np.asarray(self.vectors.T @ ((tensions / self.squares)[:, None] * self.vectors))

    def pull(self, tensions: FloatArray, differences: FloatArray) -> FloatArray:
        """U' L(u) Y, from the differences of Y."""
        return np.asarray(self.vectors.T @ ((tensions / self.squares)[:, None] * differences))

    def centred(self, coordinates: FloatArray) -> FloatArray:
        """Return coordinates as they are: the basis is centred."""
        return coordinates


@dataclass(frozen=True, eq=False)
class _Dense:
    factors: tuple[FloatArray, bool]

    def solve(self, force: FloatArray) -> FloatArray:
        return np.asarray(cho_solve(self.factors, force))


@dataclass
class DenseCurvature:
    """Factors of L(u)⊗I − I + Σ q (v⊗δ)(v⊗δ)' over the edges, shifted until it is convex."""

    edges: Spanned
    shift: float = 1e-6
    factors: int = 0
    concave: float = 0.0

    def factor(
        self, tensions: FloatArray, stiffness: FloatArray, differences: FloatArray, least: float
    ) -> tuple[Any, float]:
        """Return the factors, and the shift that was needed."""
        matrix = self._assembled(tensions, stiffness, differences)
        shift, self.concave = max(self.shift, least), 0.0
        while shift < MOST_SHIFT:
            self.factors += 1
            try:
                found = cho_factor(matrix + shift * np.eye(len(matrix)), lower=True)
            except LinAlgError:
                self.concave, shift = shift, 6.0 * shift
                continue
            self.shift = max(shift / 4.0, 1e-11)
            return _Dense(found), shift
        raise FloatingPointError

    def _assembled(
        self, tensions: FloatArray, stiffness: FloatArray, differences: FloatArray
    ) -> FloatArray:
        edges, rank = self.edges, differences.shape[1]
        size = edges.p * rank
        roots = np.sqrt(2.0 * stiffness) / edges.squares
        matrix = np.kron(edges.laplacian(tensions) - np.eye(edges.p), np.eye(rank))
        for rows in row_chunks(len(roots), 8 * size, 1 << 25):
            scaled = roots[rows, None] * differences[rows]
            products = (edges.vectors[rows, :, None] * scaled[:, None, :]).reshape(-1, size)
            matrix += products.T @ products
        return matrix


def orthonormal(columns: FloatArray) -> FloatArray:
    """Orthonormal basis of the span of centred columns.

    Examples
    --------
    >>> import numpy as np
    >>> orthonormal(np.array([[1.0, 2.0], [1.0, 4.0], [1.0, 6.0]])).shape
    (3, 1)
    """
    left, values, _ = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
    return np.asarray(left[:, values > NULL * values.max(initial=0.0)])


def unfold_spanned(
    edges: Edges,
    columns: FloatArray,
    constraint: Constraint = "soft",
    *,
    dimensions: int = 2,
    slack: float = 0.01,
    tolerance: float = 1e-6,
    rng: np.random.Generator | None = None,
) -> Unfolding:
    """Maximise the variance over kernels Q L Q'; parameters as of `unfold`, Q by its columns.

    Bounds are those of the problem within the span: more variance may be possible outside it.

    Examples
    --------
    >>> import numpy as np
    >>> path = Edges(5, np.arange(4), np.arange(1, 5), np.ones(4))
    >>> found = unfold_spanned(path, np.vander(np.arange(5.0), 3), "inequality")
    >>> found.eigenvalues.round(4)[0], found.certificate.gap < 1e-6
    (np.float64(10.0), True)
    """
    scaled, size = edges.scaled()
    basis = orthonormal(columns)
    whole = Spanned.of(scaled, basis)
    rng = np.random.default_rng(0) if rng is None else rng
    relaxation = _relaxation(whole, constraint, slack)
    rank = min(basis.shape[1], max(dimensions, 2) + SPARE)
    start = basis.T @ landmark_isomap(scaled, rank, rng)
    count = min(edges.m, FIRST_EDGES * basis.shape[1])
    some = np.sort(rng.choice(edges.m, count, replace=False))
    search = _Search(whole, relaxation, tolerance)
    if isinstance(relaxation, Inequality):
        search.within_bounds(start, some)
    else:
        search.of_springs(start, some)
    return _concluded(search, basis, size)


def _relaxation(edges: Spanned, constraint: Constraint, slack: float) -> Relaxation:
    """Springs as stiff as those of `stiffness`, where the least eigenvalue is the span's."""
    if constraint == "inequality":
        return Inequality()
    least = float(np.linalg.eigvalsh(edges.laplacian(np.ones(len(edges.squares))))[0])
    stretch = slack if constraint == "soft" else STIFF
    return Soft(edges.squares / (max(least, EPS) * stretch))


@dataclass
class _Search:
    """The best point so far of all edges, and what it took."""

    edges: Spanned
    relaxation: Relaxation
    tolerance: float
    coordinates: FloatArray | None = None
    tensions: FloatArray | None = None
    certificate: Certificate = UNKNOWN
    steps: int = 0

    def of_springs(self, start: FloatArray, some: IntArray) -> None:
        """Solve with some edges, as many times stiffer, and go on with all of them."""
        assert isinstance(self.relaxation, Soft)
        m = len(self.edges.squares)
        if 2 * len(some) < m:
            share = Soft(self.relaxation.kappa[some] * (m / len(some)))
            found = self._grown(self.edges.take(some), share, start)
            start, sizes = principal_axes(found.coordinates)
            start = start[:, sizes > UNUSED * sizes[0]]
        self._accept(self._grown(self.edges, self.relaxation, start), np.arange(m))

    def within_bounds(self, start: FloatArray, active: IntArray) -> None:
        """Hold some edges only, and add those that come out too long, until none does."""
        tensions: FloatArray | None = None
        for _ in range(ADDITIONS):
            found = self._grown(self.edges.take(active), self.relaxation, start, tensions)
            self._accept(found, active)
            excess = self.edges.stretch(found.coordinates)
            excess[active] = -np.inf
            worst = np.argsort(-excess, kind="stable")[: ADDED * self.edges.p]
            worst = worst[excess[worst] > EXCESS]
            if not len(worst) or self.certificate.gap <= self.tolerance:
                return
            start = found.coordinates / np.sqrt(1.0 + float(excess[worst].max()))
            active = np.concatenate((active, worst))
            tensions = None

    def _accept(self, found: Factored, active: IntArray) -> None:
        """Keep a point, shrunk until it is allowed, if its bounds are the best so far."""
        tensions = np.zeros(len(self.edges.squares))
        tensions[active] = found.tensions
        allowed, _ = self.relaxation.permitted(
            found.coordinates, self.edges.stretch(found.coordinates) + 4.0 * EPS
        )
        proof = proved(self.edges, self.relaxation, allowed, tensions)
        self.steps += found.steps
        if proof.gap <= self.certificate.gap:
            self.coordinates, self.tensions, self.certificate = allowed, tensions, proof

    def _grown(
        self,
        edges: Spanned,
        relaxation: Relaxation,
        start: FloatArray,
        tensions: FloatArray | None = None,
    ) -> Factored:
        """Stationary points of growing rank, until no direction is left in which variance grows."""
        best, steps = None, 0
        for _ in range(ROUNDS):
            found = iterated(edges, DenseCurvature(edges), relaxation, start, tensions)
            steps += found.steps
            gap = proved(edges, relaxation, *_permitted(edges, relaxation, found)).gap
            if best is None or gap < best[0]:
                best = (gap, found)
            if best[0] <= self.tolerance:
                break
            wider = _wider(edges, found)
            if wider is None:
                break
            start = wider
        assert best is not None
        return replace(best[1], steps=steps)


def _permitted(
    edges: Spanned, relaxation: Relaxation, found: Factored
) -> tuple[FloatArray, FloatArray]:
    stretch = edges.stretch(found.coordinates)
    return relaxation.permitted(found.coordinates, stretch)[0], found.tensions


def principal_axes(coordinates: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Turn coordinates R, which are not to be centred, to principal axes; also their sizes."""
    left, values, _ = np.linalg.svd(coordinates, full_matrices=False)
    return np.asarray(left * values), np.square(values)


def _wider(edges: Spanned, found: Factored) -> FloatArray | None:
    """Put eigenvectors along which the variance still grows in place of columns not used."""
    coordinates, sizes = principal_axes(found.coordinates)
    coordinates = coordinates[:, sizes > UNUSED * sizes[0]]
    values, vectors = np.linalg.eigh(edges.laplacian(found.tensions))
    growing = np.flatnonzero(values < 1.0 - 1e-9)[: min(MORE, edges.p - coordinates.shape[1])]
    if not len(growing):
        return None
    spread = float(np.sqrt(np.square(coordinates).sum()))
    return np.hstack((coordinates, 1e-2 * spread * vectors[:, growing]))


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


def _concluded(search: _Search, basis: FloatArray, size: float) -> Unfolding:
    assert search.coordinates is not None
    assert search.tensions is not None
    factor, _ = principal(basis @ search.coordinates)
    eigenvalues = np.square(factor).sum(axis=0) * size
    stretch = search.relaxation.residual(search.edges.stretch(search.coordinates))
    return Unfolding(
        factor * np.sqrt(size),
        eigenvalues,
        search.tensions * size,
        Certificate(search.certificate.lower * size, search.certificate.upper * size),
        float(np.sqrt(1.0 + max(float(stretch.max()), 0.0)) - 1.0),
        int(np.sum(eigenvalues > 1e-9 * eigenvalues[0])),
        search.steps,
        "landmarks",
    )
