"""One connected component of a network: positions, alignment to anchors, expected errors."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.localization.multistart import rival_distances, search_layouts
from unbend.localization.rigidity import rigid_sensors
from unbend.localization.springs import Springs
from unbend.mvu.edges import graph_edges
from unbend.report import stage, warn

# Noise samples of the expected errors, which have a relative standard error of about 0.1.
DRAWS = 64
# Relative ridge of the curvature, which is singular for rigid motions.
RIDGE = 1e-9


def root_mean_square(values: FloatArray) -> float:
    """Root mean square of the finite values; NaN if there are none."""
    known = values[np.isfinite(values)]
    if not known.any():
        return 0.0 if len(known) else np.nan
    largest = np.abs(known).max()
    return float(largest * np.sqrt(np.square(known / largest).mean()))


def noise_level(springs: Springs, positions: FloatArray, rigid: BoolArray) -> float:
    """Estimate the standard deviation of √w (‖yᵢ − yⱼ‖ − d) from the residuals.

    Only among rigid sensors: distances of others are fitted whatever their errors.
    """
    edges, dim = springs.edges, positions.shape[1]
    inside = rigid[edges.first] & rigid[edges.second]
    spare = int(inside.sum()) - (int(rigid.sum()) * dim - dim * (dim + 1) // 2)
    if spare < 1 or not rigid.any():
        return np.nan
    squares = springs.weights * np.square(springs.errors(positions))
    return float(np.sqrt(squares[inside].sum() / spare))


@dataclass(frozen=True, eq=False)
class NoiseResponse:
    """First-order response of the positions to sampled noise of the distances: moves (n, dim, q).

    Their covariance is the Gauss–Markov covariance noise² (J'WJ)⁺, up to a rigid motion.
    """

    positions: FloatArray
    moves: FloatArray

    @classmethod
    def sample(
        cls, springs: Springs, positions: FloatArray, noise: float, rng: np.random.Generator
    ) -> "NoiseResponse":
        """Sample noise and compute the response of the positions."""
        edges = springs.edges
        differences = edges.differences(positions)
        reached = np.maximum(np.linalg.norm(differences, axis=1), 1e-9 * springs.lengths)
        drawn = rng.standard_normal((edges.m, DRAWS)) * (noise * np.sqrt(springs.weights))[:, None]
        units = differences / reached[:, None]
        forces = np.stack(
            [edges.incidence @ (units[:, [c]] * drawn) for c in range(springs.dim)], 1
        )
        matrix = springs.curvature(positions, 0.0)
        solver = springs.solver(matrix, RIDGE * float(matrix.diagonal().mean()))
        return cls(positions, solver.solve(forces))

    def errors(self, fixed: BoolArray) -> FloatArray:
        """Root mean square of moves (n,) after removing the rigid motion of some sensors."""
        if not fixed.any() or np.isnan(self.moves).any():
            return np.full(len(self.positions), np.nan)
        motions = _rigid_motions(self.positions)
        seen = motions[fixed].reshape(-1, motions.shape[2])
        wanted = self.moves[fixed].reshape(len(seen), -1)
        taken, *_ = np.linalg.lstsq(seen, wanted, rcond=None)
        left = self.moves - np.einsum("ijk,kl->ijl", motions, taken)
        return np.asarray(np.sqrt(np.square(left).sum(axis=1).mean(axis=1)))


def _rigid_motions(positions: FloatArray) -> FloatArray:
    """Velocities (n, dim, q) of translations and of rotations in every plane."""
    n, dim = positions.shape
    found = [np.tile(np.eye(dim)[axis], (n, 1)) for axis in range(dim)]
    centered = positions - positions.mean(axis=0)
    for first in range(dim):
        for second in range(first + 1, dim):
            turn = np.zeros((n, dim))
            turn[:, first], turn[:, second] = -centered[:, second], centered[:, first]
            found.append(turn)
    return np.stack(found, axis=2)


# Relative tolerance for anchors in a line (plane).
ROUNDING = 1e-9
# Least improvement of the fit over that of mirrored anchors, in squared errors per coordinate.
EVIDENCE = 18.0


def align_to_anchors(
    positions: FloatArray, known: FloatArray, anchored: BoolArray, error: float
) -> tuple[FloatArray, bool]:
    """Align positions to the anchors by a rigid motion or reflection, if these determine it.

    Anchors within their `error` of a line (plane) fit the mirror image as well.

    Examples
    --------
    >>> import numpy as np
    >>> corner = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> align_to_anchors(corner, corner[:, ::-1] + 5.0, np.ones(3, dtype=bool), 0.1)
    (array([[5., 5.],
           [5., 6.],
           [7., 5.]]), True)
    """
    dim = positions.shape[1]
    if anchored.sum() < dim + 1:
        return positions, False
    here, there = positions[anchored], known[anchored]
    center, target = here.mean(axis=0), there.mean(axis=0)
    left, values, right = np.linalg.svd((here - center).T @ (there - target))
    # Reflecting the last axis adds this to the squared distance from the anchors.
    mirror_sensors = 4.0 * values[-1]
    doubt = EVIDENCE * error**2 / dim if np.isfinite(error) else 0.0
    fixed = mirror_sensors > max(4.0 * ROUNDING * values[0], doubt)
    return (positions - center) @ (left @ right) + target, bool(fixed)


def arrange_components(parts: Sequence[tuple[FloatArray, bool]]) -> list[FloatArray]:
    """Offsets that place components without anchors beside the others, without overlap."""
    fixed = [positions for positions, absolute in parts if absolute]
    edge = float(max((found[:, 0].max() for found in fixed), default=-np.inf))
    offsets: list[FloatArray] = []
    for positions, absolute in parts:
        offset = np.zeros(positions.shape[1])
        if not absolute:
            low, high = positions[:, 0].min(), positions[:, 0].max()
            if np.isfinite(edge):
                gap = 0.1 * max(high - low, 1e-300)
                offset[0] = edge + gap - low
            edge = float(high + offset[0])
        offsets.append(offset)
    return offsets


@dataclass(frozen=True, eq=False)
class Component:
    """Positions of one component, distances from the anchors, and their expected size."""

    positions: FloatArray
    errors: FloatArray
    determined: BoolArray
    absolute: bool
    ambiguity: FloatArray = field(default_factory=lambda: np.zeros(1))
    misses: FloatArray = field(default_factory=lambda: np.empty(0))
    explained: float = np.nan
    start: str = "none"
    stress: float = 0.0
    noise: float = np.nan


def place_component(
    lengths: csr_array,
    known: FloatArray,
    how: str,
    weights: str,
    rng: np.random.Generator,
) -> Component:
    """Localise one component; `known` (n, dim) are positions of anchors, NaN for others."""
    n, dim = known.shape
    anchored = ~np.isnan(known[:, 0])
    if anchored.all() and n <= dim:
        # Too few to be aligned, and all positions are known.
        return Component(known.copy(), np.zeros(n), np.ones(n, dtype=bool), True)
    # Lengths near one, so that squares do not overflow.
    apart = lengths.data[lengths.data > 0]
    unit = float(2.0 ** np.round(np.log2(np.median(apart)))) if len(apart) else 1.0
    edges, vertex = graph_edges(csr_array(lengths / unit))
    _warn_merged(n - edges.n)
    if edges.m == 0:
        return Component(np.zeros((n, dim)), np.full(n, np.nan), np.zeros(n, dtype=bool), False)
    search = search_layouts(edges, weights == "relative", how, dim, rng)
    springs, found = search.springs, search.layout
    with stage("errors"):
        preferred = np.zeros(edges.n, dtype=bool)
        preferred[vertex[anchored]] = True
        safe = rigid_sensors(edges, found.positions, preferred, rng)
        noise = noise_level(springs, found.positions, safe)
        answers = NoiseResponse.sample(springs, found.positions, noise, rng)
        ambiguity = rival_distances(search.first, search.rivals, safe)[vertex] * unit
    # Relative errors, and their stress, are dimensionless.
    size = 1.0 if weights == "relative" else unit
    part = _align_component(answers, safe, vertex, known, unit)
    return replace(
        part,
        start=search.start,
        stress=found.stress * size**2,
        noise=noise * size,
        ambiguity=ambiguity,
    )


def _align_component(
    answers: NoiseResponse, safe: BoolArray, vertex: IntArray, known: FloatArray, unit: float
) -> Component:
    """Align positions to the anchors, to the rigid ones if these are enough."""
    anchored, determined = ~np.isnan(known[:, 0]), safe[vertex]
    if (anchored & determined).sum() > known.shape[1]:
        anchored &= determined
    fixed = np.zeros(len(safe), dtype=bool)
    fixed[vertex[anchored]] = True
    free = np.where(determined, answers.errors(safe)[vertex], np.nan) * unit
    explained = root_mean_square(free[anchored])
    moved, absolute = align_to_anchors(answers.positions[vertex] * unit, known, anchored, explained)
    if not absolute:
        return Component(moved, free, determined, False)
    errors = np.where(determined, answers.errors(fixed)[vertex], np.nan) * unit
    misses = np.linalg.norm((moved - known)[anchored], axis=1)
    return Component(moved, errors, determined, True, misses=misses, explained=explained)


def _warn_merged(merged: int) -> None:
    if merged:
        warn(
            f"{merged} sensors are at distance zero from others and get the same positions. Use "
            "NaN, not 0, for missing distances in a dense array."
        )
