"""How far positions are expected to be from the truth."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.localization.multistart import alternative, searched
from unbend.localization.rigidity import held
from unbend.localization.springs import Springs
from unbend.mvu.edges import graph_edges
from unbend.report import stage, warn

# Draws of noise by which errors are estimated: each is known to about a tenth.
DRAWS = 64
# Added to the curvature, relative, so that rigid motions do not make it singular.
RIDGE = 1e-9


def root_mean_square(values: FloatArray) -> float:
    """Of the values that are known; NaN if none is."""
    known = values[np.isfinite(values)]
    if not known.any():
        return 0.0 if len(known) else np.nan
    largest = np.abs(known).max()
    return float(largest * np.sqrt(np.square(known / largest).mean()))


def noise_level(springs: Springs, positions: FloatArray, held: BoolArray) -> float:
    """Estimate the standard deviation of √w (|yᵢ − yⱼ| − d), by what is left of the errors.

    Only among sensors that are held: the distances of others are met whatever their errors.
    """
    edges, dim = springs.edges, positions.shape[1]
    inside = held[edges.first] & held[edges.second]
    spare = int(inside.sum()) - (int(held.sum()) * dim - dim * (dim + 1) // 2)
    if spare < 1 or not held.any():
        return np.nan
    squares = springs.weights * np.square(springs.errors(positions))
    return float(np.sqrt(squares[inside].sum() / spare))


@dataclass(frozen=True, eq=False)
class Answers:
    """How positions answer, to first order, to noise drawn for the distances: moves (n, dim, q).

    Their covariance is that of Gauss–Markov, noise² (J'WJ)⁺, up to a rigid motion.
    """

    positions: FloatArray
    moves: FloatArray

    @classmethod
    def to_noise(
        cls, springs: Springs, positions: FloatArray, noise: float, rng: np.random.Generator
    ) -> "Answers":
        """Draw noise, and see how positions answer."""
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
        """Root mean square of moves (n,), once some sensors have taken a rigid motion back."""
        if not fixed.any() or np.isnan(self.moves).any():
            return np.full(len(self.positions), np.nan)
        motions = _rigid_motions(self.positions)
        seen = motions[fixed].reshape(-1, motions.shape[2])
        wanted = self.moves[fixed].reshape(len(seen), -1)
        taken, *_ = np.linalg.lstsq(seen, wanted, rcond=None)
        left = self.moves - np.einsum("ijk,kl->ijl", motions, taken)
        return np.asarray(np.sqrt(np.square(left).sum(axis=1).mean(axis=1)))


def _rigid_motions(positions: FloatArray) -> FloatArray:
    """Velocities (n, dim, q) of translations and of turns in every plane."""
    n, dim = positions.shape
    found = [np.tile(np.eye(dim)[axis], (n, 1)) for axis in range(dim)]
    centred = positions - positions.mean(axis=0)
    for first in range(dim):
        for second in range(first + 1, dim):
            turn = np.zeros((n, dim))
            turn[:, first], turn[:, second] = -centred[:, second], centred[:, first]
            found.append(turn)
    return np.stack(found, axis=2)


# Spread of anchors across the flat nearest to them, relative, that is rounding.
ROUNDING = 1e-9
# How much better anchors must fit than mirrored ones, in squared errors of one coordinate.
EVIDENCE = 18.0


def onto_anchors(
    positions: FloatArray, known: FloatArray, anchored: BoolArray, error: float
) -> tuple[FloatArray, bool]:
    """Move, turn or mirror positions onto the anchors, if these are enough to say how.

    Anchors within their `error` of a line (plane) fit a mirror image as well, and do not say how.

    Examples
    --------
    >>> import numpy as np
    >>> corner = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> onto_anchors(corner, corner[:, ::-1] + 5.0, np.ones(3, dtype=bool), 0.1)
    (array([[5., 5.],
           [5., 6.],
           [7., 5.]]), True)
    """
    dim = positions.shape[1]
    if anchored.sum() < dim + 1:
        return positions, False
    here, there = positions[anchored], known[anchored]
    centre, target = here.mean(axis=0), there.mean(axis=0)
    left, values, right = np.linalg.svd((here - centre).T @ (there - target))
    # Turning the last axis round adds four times its share to the squared distance from anchors.
    mirrored = 4.0 * values[-1]
    doubt = EVIDENCE * error**2 / dim if np.isfinite(error) else 0.0
    fixed = mirrored > max(4.0 * ROUNDING * values[0], doubt)
    return (positions - centre) @ (left @ right) + target, bool(fixed)


def side_by_side(parts: Sequence[tuple[FloatArray, bool]]) -> list[FloatArray]:
    """Offsets that put components without anchors beside the others, so that none overlap."""
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
class Part:
    """Positions of one component, how far anchors are off, and how much of that is explained."""

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


def placed(
    lengths: csr_array,
    known: FloatArray,
    how: str,
    weights: str,
    rng: np.random.Generator,
) -> Part:
    """Place one component; `known` (n, dim) are the positions of its anchors, NaN for others."""
    n, dim = known.shape
    anchored = ~np.isnan(known[:, 0])
    if anchored.all() and n <= dim:
        # Too few to be aligned, and nothing is to be found.
        return Part(known.copy(), np.zeros(n), np.ones(n, dtype=bool), True)
    # Near one, so that no square of a length leaves double precision.
    apart = lengths.data[lengths.data > 0]
    unit = float(2.0 ** np.round(np.log2(np.median(apart)))) if len(apart) else 1.0
    edges, vertex = graph_edges(csr_array(lengths / unit))
    _tell_merged(n - edges.n)
    if edges.m == 0:
        return Part(np.zeros((n, dim)), np.full(n, np.nan), np.zeros(n, dtype=bool), False)
    search = searched(edges, weights == "relative", how, dim, rng)
    springs, found = search.springs, search.refined
    with stage("errors"):
        favoured = np.zeros(edges.n, dtype=bool)
        favoured[vertex[anchored]] = True
        safe = held(edges, found.positions, favoured, rng)
        noise = noise_level(springs, found.positions, safe)
        answers = Answers.to_noise(springs, found.positions, noise, rng)
        elsewhere = alternative(search.first, search.rivals, safe)[vertex] * unit
    # Errors of relative lengths have no unit, nor has the stress that they add up to.
    size = 1.0 if weights == "relative" else unit
    part = _aligned(answers, safe, vertex, known, unit)
    return replace(
        part,
        start=search.start,
        stress=found.stress * size**2,
        noise=noise * size,
        ambiguity=elsewhere,
    )


def _aligned(
    answers: Answers, safe: BoolArray, vertex: IntArray, known: FloatArray, unit: float
) -> Part:
    """Move positions of vertices onto the anchors, those that are held if they are enough."""
    anchored, determined = ~np.isnan(known[:, 0]), safe[vertex]
    if (anchored & determined).sum() > known.shape[1]:
        anchored &= determined
    fixed = np.zeros(len(safe), dtype=bool)
    fixed[vertex[anchored]] = True
    free = np.where(determined, answers.errors(safe)[vertex], np.nan) * unit
    explained = root_mean_square(free[anchored])
    moved, absolute = onto_anchors(answers.positions[vertex] * unit, known, anchored, explained)
    if not absolute:
        return Part(moved, free, determined, False)
    errors = np.where(determined, answers.errors(fixed)[vertex], np.nan) * unit
    misses = np.linalg.norm((moved - known)[anchored], axis=1)
    return Part(moved, errors, determined, True, misses=misses, explained=explained)


def _tell_merged(merged: int) -> None:
    if merged:
        warn(
            f"{merged} sensors are at distance zero from others and share their places: in a dense "
            "array NaN, not 0, stands for what was not measured"
        )
