"""One connected part of a network: where its sensors are, and how well that is known."""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.localization.alignment import onto_anchors
from unbend.localization.expected import Answers, noise_level, root_mean_square
from unbend.localization.rigidity import held
from unbend.localization.search import alternative, searched
from unbend.mvu.edges import of_graph
from unbend.report import stage, warn


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
    edges, vertex = of_graph(csr_array(lengths / unit))
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
