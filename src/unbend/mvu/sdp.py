"""Unfold a graph: start, search, certificate, and more rank where the certificate asks for it."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from unbend.arrays import FloatArray
from unbend.mvu.burer_monteiro import Factored, principal, stationary
from unbend.mvu.certificate import (
    Certificate,
    certify,
    escaping,
    least_eigenvalue,
    slowest,
)
from unbend.mvu.coordinates import landmark_isomap
from unbend.mvu.edges import Edges, Spanned
from unbend.mvu.interior import central
from unbend.mvu.relaxation import Inequality, Relaxation, Soft

Constraint = Literal["inequality", "soft", "equality"]
Solver = Literal["auto", "interior", "factored"]
# Stretch at the mean tension where lengths are to be kept.
STIFF = 1e-7
# Edges up to which the kernel itself is a match for its factors; springs have kernels of high rank.
INTERIOR_EDGES = 150
INTERIOR_AFTER = 600
# Columns of the first factor beyond those asked for, and how often and how far they are increased.
SPARE, SPARE_SOFT = 2, 6
ROUNDS, MORE = 4, 4
# Columns whose eigenvalue is below this share of the largest are free for others.
UNUSED = 1e-12
# A relative gap that shows an optimum, if not to tolerance.
SMALL = 1e-4


@dataclass(frozen=True, eq=False)
class Unfolding:
    """Coordinates Y of a kernel YY', tensions of the edges, and what is proved of both.

    `factor` (n, r) is in principal axes and may be claimed as it is: where lengths are bounds, none
    is exceeded. `certificate` bounds the optimum. `residual` is the largest relative error of a
    length, `gradient` the force that the tensions leave unbalanced, relative to Y.
    """

    factor: FloatArray
    eigenvalues: FloatArray
    tensions: FloatArray
    certificate: Certificate
    residual: float
    gradient: float
    rank: int
    steps: int
    solver: str


def stiffness(edges: Edges, slack: float) -> Soft:
    """Springs of equal length errors, which equal tensions would stretch by `slack` on average.

    φ(c) = ½ κ d² c² with squared lengths d² of mean one is about 2κ(|yᵢ − yⱼ| − d)²; the equal
    tension that bounds the variance is 1/λ₂ of the Laplacian with weights 1/d², so κ is
    1/(λ₂ slack).
    """
    least, _ = slowest(edges.laplacian(np.ones(edges.m)))
    return Soft(edges.squares / (least * slack))


def relaxation_of(edges: Edges, constraint: Constraint, slack: float) -> Relaxation:
    """How the lengths of scaled edges are held."""
    if constraint == "inequality":
        return Inequality()
    return stiffness(edges, slack if constraint == "soft" else STIFF)


def unfold(
    edges: Edges,
    constraint: Constraint = "inequality",
    *,
    dimensions: int = 2,
    slack: float = 0.01,
    tolerance: float = 1e-6,
    solver: Solver = "auto",
    rng: np.random.Generator | None = None,
) -> Unfolding:
    """Maximise the variance of points joined by edges.

    Parameters
    ----------
    edges : Edges
        A connected graph.
    constraint : "inequality", "soft" or "equality"
        No edge may grow; every edge is a spring; or a very stiff one.
    dimensions : int
        How many are expected: the first factor has some more columns.
    slack : float
        For springs: relative stretch of squared lengths at the mean tension.
    tolerance : float
        Relative gap at which no more rank is tried.
    solver : "auto", "interior" or "factored"
        The kernel itself, for few edges; or a factor of it, for many.
    rng : Generator, optional
        Chooses the landmarks of the start.

    Examples
    --------
    >>> import numpy as np
    >>> cycle = Edges(6, np.arange(6), (np.arange(6) + 1) % 6, np.ones(6))
    >>> found = unfold(cycle)
    >>> float(found.eigenvalues.sum().round(6)), found.certificate.gap < 1e-6
    (6.0, True)
    """
    scaled, size = edges.scaled()
    relaxation = relaxation_of(scaled, constraint, slack)
    rng = np.random.default_rng(0) if rng is None else rng
    spare = SPARE if constraint == "inequality" else SPARE_SOFT
    rank = min(edges.n - 1, max(dimensions, 2) + spare)
    tried: list[Unfolding] = []
    for way in _ways(solver, edges.m):
        if way == "interior":
            found = central(scaled, relaxation)
            tried.append(_concluded(scaled, relaxation, size, *found, way, 0))
        else:
            start = landmark_isomap(scaled, rank, rng)
            tried.append(_grown(scaled, relaxation, start, tolerance, size))
        if tried[-1].certificate.gap <= tolerance:
            break
    return min(tried, key=lambda one: one.certificate.gap)


def _ways(solver: Solver, m: int) -> tuple[str, ...]:
    """Solvers in the order in which they are tried until one proves its result."""
    if solver != "auto":
        return (solver,)
    if m <= INTERIOR_EDGES:
        return ("interior", "factored")
    return ("factored", "interior") if m <= INTERIOR_AFTER else ("factored",)


def _grown(
    edges: Edges, relaxation: Relaxation, start: FloatArray, tolerance: float, size: float
) -> Unfolding:
    """Stationary points of growing rank, until one is proved to be the best or none is better."""
    tensions: FloatArray | None = None
    best: Unfolding | None = None
    steps = 0
    for number in range(ROUNDS):
        found = stationary(edges, relaxation, start, tensions)
        steps += found.steps
        here = _concluded(
            edges, relaxation, size, found.coordinates, found.tensions, "factored", steps
        )
        before = 1.0 if best is None else best.certificate.gap
        if best is None or here.certificate.gap < best.certificate.gap:
            best = here
        # A small gap that more rank does not close is rounding, and no saddle.
        stuck = max(before, best.certificate.gap) < SMALL and here.certificate.gap > before / 4.0
        if best.certificate.gap <= tolerance or start.shape[1] >= edges.n - 1 or stuck:
            break
        wider = _wider(edges, found, tolerance)
        if wider is None:
            break
        start = wider
        # Along the old tensions or anew, in turn: each leaves saddles that the other returns to.
        tensions = None if number % 2 else _inner(relaxation, found.tensions)
    assert best is not None
    return best


def _inner(relaxation: Relaxation, tensions: FloatArray) -> FloatArray:
    """Tensions to start from: a barrier cannot start on the boundary."""
    if isinstance(relaxation, Inequality):
        return np.maximum(tensions, 1e-3 * float(tensions.mean()))
    return tensions


def _wider(edges: Edges, found: Factored, tolerance: float) -> FloatArray | None:
    """Put columns along which the variance can still grow in place of those not used."""
    laplacian = edges.laplacian(found.tensions)
    coordinates, sizes = principal(found.coordinates)
    coordinates = coordinates[:, sizes > UNUSED * sizes[0]]
    room = min(MORE, edges.n - 1 - coordinates.shape[1])
    least = least_eigenvalue(laplacian, coordinates)
    if not np.isfinite(least) or room < 1:
        return None
    directions = escaping(laplacian, room, least, 1.0 - tolerance)
    if not directions.shape[1]:
        return None
    spread = float(np.sqrt(np.square(coordinates).sum()))
    return np.hstack((coordinates, 1e-2 * spread * directions))


def _allowed(edges: Edges, relaxation: Relaxation, coordinates: FloatArray) -> FloatArray:
    """Shrink coordinates until no bound is exceeded, rounding of the shrinking included."""
    stretch, margin = edges.stretch(coordinates), np.finfo(float).eps
    allowed, _ = relaxation.permitted(coordinates, stretch)
    while isinstance(relaxation, Inequality) and edges.stretch(allowed).max() > 0:
        allowed, _ = relaxation.permitted(coordinates, stretch + margin)
        margin *= 4.0
    return allowed


def gradient(edges: Edges | Spanned, coordinates: FloatArray, tensions: FloatArray) -> float:
    """‖Y − L(u)Y‖ over ‖Y‖: zero where the tensions hold every point.

    Examples
    --------
    >>> import numpy as np
    >>> path = Edges(3, np.array([0, 1]), np.array([1, 2]), np.array([1.0, 1.0]))
    >>> gradient(path, np.array([[-1.0], [0.0], [1.0]]), np.array([1.0, 1.0]))
    0.0
    """
    size = float(np.linalg.norm(coordinates))
    if size == 0 or not np.all(np.isfinite(tensions)):
        return np.inf
    pull = edges.pull(tensions, edges.differences(coordinates))
    return float(np.linalg.norm(coordinates - pull)) / size


def _concluded(
    edges: Edges,
    relaxation: Relaxation,
    size: float,
    coordinates: FloatArray,
    tensions: FloatArray,
    solver: str,
    steps: int,
) -> Unfolding:
    """Turn to principal axes, shrink what may not be stretched, and prove the bounds."""
    turned, _ = principal(coordinates)
    allowed = _allowed(edges, relaxation, turned)
    proof = certify(edges, relaxation, allowed, tensions)
    eigenvalues = np.square(allowed).sum(axis=0) * size
    errors = relaxation.residual(edges.stretch(allowed))
    return Unfolding(
        allowed * np.sqrt(size),
        eigenvalues,
        tensions * size,
        Certificate(proof.lower * size, proof.upper * size),
        float(errors.max()),
        gradient(edges, allowed, tensions),
        int(np.sum(eigenvalues > 1e-9 * eigenvalues[0])),
        steps,
        solver,
    )
