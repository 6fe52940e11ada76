"""Search within a span: with some edges first, and then with all that matter."""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.memory import reserve
from unbend.mvu.burer_monteiro import MOST_STEPS, SETTLED, Factored, iterated, principal
from unbend.mvu.certificate import EPS, Certificate, proved
from unbend.mvu.coordinates import landmark_isomap
from unbend.mvu.curvature import DenseCurvature
from unbend.mvu.edges import Edges, Spanned, orthonormal
from unbend.mvu.relaxation import Inequality, Relaxation, Soft
from unbend.mvu.sdp import STIFF, Constraint, Unfolding, gradient

# Columns of the first factor beyond those asked for; how often and by how many they grow.
SPARE, ROUNDS, MORE = 2, 5, 2
# Columns whose eigenvalue is below this share of the largest are free for others.
UNUSED = 1e-8
# Edges a basis vector that a first solution is found with; those added when bounds are exceeded.
FIRST_EDGES, ADDED = 40, 10
# Rounds of adding, and the excess of a squared length that shrinking may take back.
ADDITIONS, EXCESS = 40, 1e-7
UNKNOWN = Certificate(-np.inf, np.inf)


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
    rank = min(columns.shape[1], max(dimensions, 2) + SPARE)
    _reserve(edges, columns.shape[1], rank)
    basis = orthonormal(columns)
    whole = Spanned.of(scaled, basis)
    rng = np.random.default_rng(0) if rng is None else rng
    relaxation = _relaxation(whole, constraint, slack)
    rank = min(basis.shape[1], rank)
    start = basis.T @ landmark_isomap(scaled, rank, rng)
    count = min(edges.m, FIRST_EDGES * basis.shape[1])
    some = np.sort(rng.choice(edges.m, count, replace=False))
    search = _Search(whole, relaxation, tolerance)
    if isinstance(relaxation, Inequality):
        search.within_bounds(start, some)
    else:
        search.of_springs(start, some)
    return _concluded(search, basis, size)


def _reserve(edges: Edges, p: int, rank: int) -> None:
    """Ask for the basis, its differences at the edges, and the curvature with its factors."""
    size = 8 * (3 * edges.n * p + edges.m * p + 3 * (p * rank) ** 2)
    reserve(size, f"the basis of {p} landmarks and its Newton matrix", "use fewer landmarks")


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
            found = self._grown(self.edges.take(some), share, start, MOST_STEPS // 2)
            start, sizes = principal_axes(found.coordinates)
            start = start[:, sizes > UNUSED * sizes[0]]
        self._accept(self._grown(self.edges, self.relaxation, start), np.arange(m))

    def within_bounds(self, start: FloatArray, active: IntArray) -> None:
        """Hold some edges only, and add those that come out too long, until none does."""
        for _ in range(ADDITIONS):
            found = self._grown(self.edges.take(active), self.relaxation, start)
            self._accept(found, active)
            excess = self.edges.stretch(found.coordinates)
            excess[active] = -np.inf
            worst = np.argsort(-excess, kind="stable")[: ADDED * self.edges.p]
            worst = worst[excess[worst] > EXCESS]
            solved = not len(worst) or self.certificate.gap <= self.tolerance
            if solved or self.steps >= MOST_STEPS:
                return
            start = found.coordinates / np.sqrt(1.0 + float(excess[worst].max()))
            active = np.concatenate((active, worst))

    def _accept(self, found: Factored, active: IntArray) -> None:
        """Keep a point, shrunk until it is allowed, if its bounds are the best so far."""
        tensions = np.zeros(len(self.edges.squares))
        tensions[active] = found.tensions
        allowed, _ = self.relaxation.permitted(
            found.coordinates, self.edges.stretch(found.coordinates) + 4.0 * EPS
        )
        proof = proved(self.edges, self.relaxation, allowed, tensions)
        # The first is kept in any case: springs may cost more than the variance that they bound.
        if self.coordinates is None or proof.gap <= self.certificate.gap:
            self.coordinates, self.tensions, self.certificate = allowed, tensions, proof

    def _grown(
        self,
        edges: Spanned,
        relaxation: Relaxation,
        start: FloatArray,
        most_steps: int = MOST_STEPS,
    ) -> Factored:
        """Stationary points of growing rank, until no direction is left in which variance grows.

        At most until so many steps were taken since the search began: what they do not solve is
        not solved by as many again, each of a higher rank and a higher cost. Directions of growth
        mean nothing where the iteration did not settle.
        """
        best = None
        for _ in range(ROUNDS):
            left = most_steps - self.steps
            curvature = DenseCurvature(edges)
            found = iterated(edges, curvature, relaxation, start, most_steps=left)
            self.steps += found.steps
            gap = proved(edges, relaxation, *_permitted(edges, relaxation, found)).gap
            if best is None or gap < best[0]:
                best = (gap, found)
            if best[0] <= self.tolerance:
                break
            wider = _wider(edges, found) if found.error < SETTLED else None
            if wider is None or self.steps >= most_steps:
                break
            start = wider
        assert best is not None
        return best[1]


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


def _concluded(search: _Search, basis: FloatArray, size: float) -> Unfolding:
    assert search.coordinates is not None
    assert search.tensions is not None
    factor, _ = principal(basis @ search.coordinates)
    eigenvalues = np.square(factor).sum(axis=0) * size
    errors = search.relaxation.residual(search.edges.stretch(search.coordinates))
    return Unfolding(
        factor * np.sqrt(size),
        eigenvalues,
        search.tensions * size,
        Certificate(search.certificate.lower * size, search.certificate.upper * size),
        float(errors.max()),
        gradient(search.edges, search.coordinates, search.tensions),
        int(np.sum(eigenvalues > 1e-9 * eigenvalues[0])),
        search.steps,
        "landmarks",
    )
