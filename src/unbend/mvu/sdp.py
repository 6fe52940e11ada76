"""Maximum variance unfolding of a graph: initial coordinates, solver, certificate, larger rank."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from unbend.arrays import FloatArray
from unbend.mvu.burer_monteiro import StationaryPoint, principal_axes, stationary_point
from unbend.mvu.certificate import (
    EPS,
    Certificate,
    certify,
    escape_directions,
    fiedler_pair,
    least_eigenvalue,
)
from unbend.mvu.coordinates import landmark_isomap
from unbend.mvu.edges import Edges, SubspaceEdges, center
from unbend.mvu.interior import interior_point
from unbend.mvu.relaxation import Inequality, Relaxation, Soft

Constraint = Literal["inequality", "soft", "equality"]
Solver = Literal["auto", "interior", "factored"]
# Stretch at the mean tension for equality constraints.
STIFF = 1e-7
# Edges up to which the interior-point method is tried first, and after the low-rank one.
INTERIOR_EDGES = 150
INTERIOR_AFTER = 600
# Extra columns of the first factor, and the number and size of increases of the rank.
SPARE, SPARE_SOFT = 2, 6
ROUNDS, MORE = 4, 4
# Columns whose eigenvalue is below this fraction of the largest are unused.
UNUSED = 1e-12
# Relative gap of an optimum up to rounding.
SMALL = 1e-4


@dataclass(frozen=True, eq=False)
class Unfolding:
    """Coordinates Y of a kernel YY', tensions of the edges, and bounds of the optimum.

    `factor` (n, r) is in principal axes and feasible in floating point: no upper bound is exceeded.
    `certificate` bounds the optimum. `residual` is the largest relative error of a length, and
    `median_residual` that of half of them; `gradient` is the residual force of the tensions,
    relative to Y.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend import mvu
    >>> cycle = mvu.Edges(6, np.arange(6), (np.arange(6) + 1) % 6, np.ones(6))
    >>> found = mvu.unfold(cycle)
    >>> float(found.eigenvalues.sum().round(6)), bool((found.tensions >= 0).all())
    (6.0, True)
    """

    factor: FloatArray
    eigenvalues: FloatArray
    tensions: FloatArray
    certificate: Certificate
    residual: float
    median_residual: float
    gradient: float
    rank: int
    steps: int
    solver: str


def stiffness(edges: Edges | SubspaceEdges, slack: float) -> Soft:
    """Penalties of equal length errors, which equal tensions would stretch by `slack` on average.

    φ(c) = ½ κ d² c² with squared lengths d² of mean one is about 2κ(|yᵢ − yⱼ| − d)²; the equal
    tension that bounds the variance is 1/λ₂ of the Laplacian with weights 1/d², so κ is
    1/(λ₂ slack).
    """
    ones = np.ones(len(edges.squares))
    if isinstance(edges, SubspaceEdges):
        least = max(float(np.linalg.eigvalsh(edges.laplacian(ones))[0]), EPS)
    else:
        least, _ = fiedler_pair(edges.laplacian(ones))
    return Soft(edges.squares / (least * slack))


def relaxation_of(
    edges: Edges | SubspaceEdges, constraint: Constraint, slack: float, nu: float | None = None
) -> Relaxation:
    """Relaxation of the lengths of normalised edges; ν is in their units."""
    if constraint == "inequality":
        return Inequality()
    if constraint == "soft" and nu is not None:
        # ν (|y|² − d²)² is ½ κ c² of the relative stretch c with κ = 2ν d⁴.
        return Soft(2.0 * nu * np.square(edges.squares))
    return stiffness(edges, slack if constraint == "soft" else STIFF)


def unfold(
    edges: Edges,
    constraint: Constraint = "inequality",
    *,
    dimensions: int = 2,
    slack: float = 0.01,
    nu: float | None = None,
    tolerance: float = 1e-6,
    solver: Solver = "auto",
    rng: np.random.Generator | None = None,
    threads: int = 1,
) -> Unfolding:
    """Maximise the variance of points connected by edges.

    Parameters
    ----------
    edges : Edges
        A connected graph.
    constraint : "inequality", "soft" or "equality"
        Lengths are upper bounds, penalised quadratically, or kept by a very stiff penalty.
    dimensions : int
        Expected embedding dimension; the first factor has a few more columns.
    slack : float
        For "soft": relative stretch of squared lengths at the mean tension.
    nu : float, optional
        For "soft", in place of `slack`: the objective is tr K − ν Σ (‖yᵢ − yⱼ‖² − d²)², each edge
        once (book (9.19)).
    tolerance : float
        Relative duality gap at convergence.
    solver : "auto", "interior" or "factored"
        Interior point on the kernel, for few edges; or a low-rank factor, for many.
    rng : Generator, optional
        Samples the landmarks of the initial coordinates.
    threads : int
        Threads of the factorisations and of the geodesics of the initial coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> cycle = Edges(6, np.arange(6), (np.arange(6) + 1) % 6, np.ones(6))
    >>> found = unfold(cycle)
    >>> float(found.eigenvalues.sum().round(6)), found.certificate.gap < 1e-6
    (6.0, True)
    """
    scaled, size = edges.normalize()
    relaxation = relaxation_of(scaled, constraint, slack, None if nu is None else nu * size)
    rng = np.random.default_rng(0) if rng is None else rng
    spare = SPARE if constraint == "inequality" else SPARE_SOFT
    rank = min(edges.n - 1, max(dimensions, 2) + spare)
    tried: list[Unfolding] = []
    for way in _solver_order(solver, edges.m):
        if way == "interior":
            found = interior_point(scaled, relaxation)
            tried.append(_unfolding(scaled, relaxation, size, *found, way, 0))
        else:
            start = landmark_isomap(scaled, rank, rng, threads)
            tried.append(_increase_rank(scaled, relaxation, start, tolerance, size, threads))
        if tried[-1].certificate.gap <= tolerance:
            break
    return min(tried, key=lambda one: one.certificate.gap)


def _solver_order(solver: Solver, m: int) -> tuple[str, ...]:
    """Solvers in the order in which they are tried until a certificate is tight."""
    if solver != "auto":
        return (solver,)
    if m <= INTERIOR_EDGES:
        return ("interior", "factored")
    return ("factored", "interior") if m <= INTERIOR_AFTER else ("factored",)


def _increase_rank(
    edges: Edges,
    relaxation: Relaxation,
    start: FloatArray,
    tolerance: float,
    size: float,
    threads: int = 1,
) -> Unfolding:
    """Stationary points of increasing rank until the certificate is tight or stagnates."""
    tensions: FloatArray | None = None
    best: Unfolding | None = None
    steps = 0
    for number in range(ROUNDS):
        found = stationary_point(edges, relaxation, start, tensions, threads=threads)
        steps += found.steps
        here = _unfolding(
            edges, relaxation, size, found.coordinates, found.tensions, "factored", steps
        )
        before = 1.0 if best is None else best.certificate.gap
        if best is None or here.certificate.gap < best.certificate.gap:
            best = here
        # A small gap that a larger rank does not close is rounding, not a saddle.
        stuck = max(before, best.certificate.gap) < SMALL and here.certificate.gap > before / 4.0
        if best.certificate.gap <= tolerance or start.shape[1] >= edges.n - 1 or stuck:
            break
        columns = _add_columns(edges, found, tolerance)
        if columns is None:
            break
        start = columns
        # With the last tensions and without them in turn: each escapes saddles of the other.
        tensions = None if number % 2 else _interior(relaxation, found.tensions)
    assert best is not None
    return best


def _interior(relaxation: Relaxation, tensions: FloatArray) -> FloatArray:
    """Return initial tensions, strictly feasible for the barrier."""
    if isinstance(relaxation, Inequality):
        return np.maximum(tensions, 1e-3 * float(tensions.mean()))
    return tensions


def _add_columns(edges: Edges, found: StationaryPoint, tolerance: float) -> FloatArray | None:
    """Replace unused columns by directions in which the variance can grow."""
    laplacian = edges.laplacian(found.tensions)
    coordinates, sizes = principal_axes(center(found.coordinates))
    coordinates = coordinates[:, sizes > UNUSED * sizes[0]]
    room = min(MORE, edges.n - 1 - coordinates.shape[1])
    least = least_eigenvalue(laplacian, coordinates)
    if not np.isfinite(least) or room < 1:
        return None
    directions = escape_directions(laplacian, room, least, 1.0 - tolerance)
    if not directions.shape[1]:
        return None
    spread = float(np.sqrt(np.square(coordinates).sum()))
    return np.hstack((coordinates, 1e-2 * spread * directions))


def gradient(edges: Edges | SubspaceEdges, coordinates: FloatArray, tensions: FloatArray) -> float:
    """‖Y − L(u)Y‖ / ‖Y‖: zero where the tensions balance at every point.

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


def _unfolding(
    edges: Edges,
    relaxation: Relaxation,
    size: float,
    coordinates: FloatArray,
    tensions: FloatArray,
    solver: str,
    steps: int,
) -> Unfolding:
    """Rotate to principal axes, make feasible, and certify."""
    rotated, _ = principal_axes(center(coordinates))
    stretch, margin = edges.stretch(rotated), EPS
    feasible, _ = relaxation.feasible(rotated, stretch)
    # Rounding of the scaling itself may exceed a bound.
    while isinstance(relaxation, Inequality) and edges.stretch(feasible).max() > 0:
        feasible, _ = relaxation.feasible(rotated, stretch + margin)
        margin *= 4.0
    proof = certify(edges, relaxation, feasible, tensions)
    state = edges, relaxation, feasible, tensions
    return unfolding_of(feasible, state, proof, size, solver, steps)


def unfolding_of(
    factor: FloatArray,
    state: tuple[Edges | SubspaceEdges, Relaxation, FloatArray, FloatArray],
    proof: Certificate,
    size: float,
    solver: str,
    steps: int,
) -> Unfolding:
    """Convert a solution (edges, relaxation, coordinates, tensions) to the units of the data."""
    edges, relaxation, coordinates, tensions = state
    residuals = relaxation.residual(edges.stretch(coordinates))
    eigenvalues = np.square(factor).sum(axis=0) * size
    return Unfolding(
        factor * np.sqrt(size),
        eigenvalues,
        tensions * size,
        Certificate(proof.lower * size, proof.upper * size),
        float(residuals.max()),
        float(np.median(residuals)),
        gradient(edges, coordinates, tensions),
        int(np.sum(eigenvalues > 1e-9 * eigenvalues[0])),
        steps,
        solver,
    )
