"""Unfolding within the span of some columns, by an active set of edges."""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.memory import reserve
from unbend.mvu.burer_monteiro import (
    MAX_STEPS,
    NEARLY_STATIONARY,
    StationaryPoint,
    newton_iteration,
    principal_axes,
)
from unbend.mvu.certificate import EPS, Certificate, certify_span
from unbend.mvu.coordinates import landmark_isomap
from unbend.mvu.curvature import DenseCurvature
from unbend.mvu.edges import Edges, SubspaceEdges, center, orthonormal_basis
from unbend.mvu.relaxation import Inequality, Relaxation, Soft
from unbend.mvu.sdp import Constraint, Unfolding, relaxation_of, stiffness, unfolding_of
from unbend.report import ask, note

# Extra columns of the first factor; number and size of increases of the rank.
SPARE, ROUNDS, MORE = 2, 5, 2
# Columns whose eigenvalue is below this fraction of the largest are unused.
UNUSED = 1e-8
# Edges per basis vector of the first active set, and edges added when bounds are exceeded.
FIRST_EDGES, ADDED = 40, 10
# Rounds of adding edges, and the excess of a squared length that scaling corrects.
ADDITIONS, EXCESS = 40, 1e-7
# Slack of a span that keeps all lengths.
LEAST_SLACK = 0.01
UNKNOWN = Certificate(-np.inf, np.inf)


def unfold_in_span(
    edges: Edges,
    columns: FloatArray,
    constraint: Constraint = "soft",
    *,
    dimensions: int = 2,
    slack: float | None = 0.01,
    nu: float | None = None,
    tolerance: float = 1e-6,
    rng: np.random.Generator | None = None,
    threads: int = 1,
) -> Unfolding:
    """Maximise the variance over kernels Q L Q' with given columns Q.

    Parameters are those of `unfold`; without a slack it is chosen by what the span can keep. The
    certificate bounds the problem within the span, not outside it.

    Examples
    --------
    >>> import numpy as np
    >>> path = Edges(5, np.arange(4), np.arange(1, 5), np.ones(4))
    >>> found = unfold_in_span(path, np.vander(np.arange(5.0), 3), "inequality")
    >>> found.eigenvalues.round(4)[0], found.certificate.gap < 1e-6
    (np.float64(10.0), True)
    """
    scaled, size = edges.normalize()
    rank = min(columns.shape[1], max(dimensions, 2) + SPARE)
    _reserve(edges, columns.shape[1], rank, threads)
    basis = orthonormal_basis(columns)
    ask()
    whole = SubspaceEdges.of(scaled, basis, threads)
    ask()
    rng = np.random.default_rng(0) if rng is None else rng
    rank = min(basis.shape[1], rank)
    start = basis.T @ landmark_isomap(scaled, rank, rng, threads)
    slack = _span_slack(whole, start) if slack is None else slack
    relaxation = relaxation_of(whole, constraint, slack, None if nu is None else nu * size)
    count = min(edges.m, FIRST_EDGES * basis.shape[1])
    some = np.sort(rng.choice(edges.m, count, replace=False))
    search = _Search(whole, relaxation, tolerance)
    if isinstance(relaxation, Inequality):
        search.solve_bounds(start, some)
    else:
        search.solve_penalties(start, some)
    assert search.coordinates is not None
    assert search.tensions is not None
    factor, _ = principal_axes(center(basis @ search.coordinates))
    state = whole, relaxation, search.coordinates, search.tensions
    return unfolding_of(factor, state, search.certificate, size, "landmarks", search.steps)


def _span_slack(edges: SubspaceEdges, start: FloatArray) -> float:
    """Slack at which the lengths that a first layout in the span changes cost its variance.

    So the best objective, variance less penalty, is positive: springs as stiff as those of a span
    that keeps all lengths would cost many times the variance there is.
    """
    penalty = stiffness(edges, 1.0).cost(edges.stretch(start), 0.0)
    slack = max(LEAST_SLACK, penalty / float(np.square(start).sum()))
    note(slack=slack)
    return slack


def _reserve(edges: Edges, p: int, rank: int, threads: int) -> None:
    """Reserve memory for the basis, its differences at the edges, and the Newton matrix."""
    size = 8 * (3 * edges.n * p + edges.m * p + (2 + threads) * (p * rank) ** 2)
    reserve(size, f"the basis of {p} landmarks and its Newton matrix", "use fewer landmarks")


@dataclass
class _Search:
    """Best point so far for all edges, and the number of steps."""

    edges: SubspaceEdges
    relaxation: Relaxation
    tolerance: float
    coordinates: FloatArray | None = None
    tensions: FloatArray | None = None
    certificate: Certificate = UNKNOWN
    steps: int = 0

    def solve_penalties(self, start: FloatArray, some: IntArray) -> None:
        """Solve with a sample of the edges, proportionally stiffer, then with all of them."""
        assert isinstance(self.relaxation, Soft)
        m = len(self.edges.squares)
        if 2 * len(some) < m:
            share = Soft(self.relaxation.kappa[some] * (m / len(some)))
            found = self._increase_rank(self.edges.take(some), share, start, MAX_STEPS // 2)
            start, sizes = principal_axes(found.coordinates)
            start = start[:, sizes > UNUSED * sizes[0]]
        self._accept(self._increase_rank(self.edges, self.relaxation, start), np.arange(m))

    def solve_bounds(self, start: FloatArray, active: IntArray) -> None:
        """Solve with an active set of edges, and add violated ones until there are none."""
        for _ in range(ADDITIONS):
            found = self._increase_rank(self.edges.take(active), self.relaxation, start)
            self._accept(found, active)
            excess = self.edges.stretch(found.coordinates)
            excess[active] = -np.inf
            worst = np.argsort(-excess, kind="stable")[: ADDED * self.edges.p]
            worst = worst[excess[worst] > EXCESS]
            solved = not len(worst) or self.certificate.gap <= self.tolerance
            if solved or self.steps >= MAX_STEPS:
                return
            start = found.coordinates / np.sqrt(1.0 + float(excess[worst].max()))
            active = np.concatenate((active, worst))

    def _accept(self, found: StationaryPoint, active: IntArray) -> None:
        """Keep a point, made feasible, if its certificate is the best so far."""
        tensions = np.zeros(len(self.edges.squares))
        tensions[active] = found.tensions
        feasible, _ = self.relaxation.feasible(
            found.coordinates, self.edges.stretch(found.coordinates) + 4.0 * EPS
        )
        proof = certify_span(self.edges, self.relaxation, feasible, tensions)
        # The first is kept in any case: penalties may cost more than the variance.
        if self.coordinates is None or proof.gap <= self.certificate.gap:
            self.coordinates, self.tensions, self.certificate = feasible, tensions, proof

    def _increase_rank(
        self,
        edges: SubspaceEdges,
        relaxation: Relaxation,
        start: FloatArray,
        max_steps: int = MAX_STEPS,
    ) -> StationaryPoint:
        """Stationary points of increasing rank until the variance grows in no direction.

        `max_steps` limits the steps of the whole search, since further ones of a higher rank
        cost more and rarely help. Directions of growth need a nearly stationary point.
        """
        best = None
        for _ in range(ROUNDS):
            left = max_steps - self.steps
            curvature = DenseCurvature(edges)
            found = newton_iteration(edges, curvature, relaxation, start, max_steps=left)
            self.steps += found.steps
            feasible, _ = relaxation.feasible(found.coordinates, edges.stretch(found.coordinates))
            gap = certify_span(edges, relaxation, feasible, found.tensions).gap
            if best is None or gap < best[0]:
                best = (gap, found)
            if best[0] <= self.tolerance:
                break
            columns = _add_columns(edges, found) if found.error < NEARLY_STATIONARY else None
            if columns is None or self.steps >= max_steps:
                break
            start = columns
        assert best is not None
        return best[1]


def _add_columns(edges: SubspaceEdges, found: StationaryPoint) -> FloatArray | None:
    """Replace unused columns by eigenvectors along which the variance grows."""
    coordinates, sizes = principal_axes(found.coordinates)
    coordinates = coordinates[:, sizes > UNUSED * sizes[0]]
    values, vectors = np.linalg.eigh(edges.laplacian(found.tensions))
    growing = np.flatnonzero(values < 1.0 - 1e-9)[: min(MORE, edges.p - coordinates.shape[1])]
    if not len(growing):
        return None
    spread = float(np.sqrt(np.square(coordinates).sum()))
    return np.hstack((coordinates, 1e-2 * spread * vectors[:, growing]))
