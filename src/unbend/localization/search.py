"""Refine from several starts, keep the best, and see whether others fit as well."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unbend.arrays import BoolArray, FloatArray
from unbend.localization.springs import Refined, Springs, relative_weights
from unbend.localization.starts import Start, mirrored, reweighted, squeezed, start
from unbend.mvu.edges import Edges
from unbend.report import note, stage

STARTS: dict[str, tuple[Start, ...]] = {
    "auto": ("isomap", "patches"),
    "isomap": ("isomap",),
    "patches": ("patches",),
    "mvu": ("mvu",),
    "best": ("isomap", "patches", "mvu"),
}
# Likelihood that two layouts may differ by, as a logarithm, and both be believed.
BELIEVED = 3.0


@dataclass(frozen=True, eq=False)
class Searched:
    """The layout kept, with its springs; as it was before these were weighed anew; its rivals."""

    springs: Springs
    refined: Refined
    start: str
    first: Refined
    rivals: tuple[Refined, ...]


def searched(
    edges: Edges, relative: bool, how: str, dim: int, rng: np.random.Generator
) -> Searched:
    """Refine from every start of `how`, and keep the best."""
    lengths = np.sqrt(edges.squares)
    springs = Springs(edges, relative_weights(lengths) if relative else np.ones(edges.m), dim)
    layouts: list[Refined] = []
    for name in STARTS[how]:
        with stage("start"):
            first = start(edges, name, dim, rng)
            note(start=name)
        with stage("refinement"):
            found = mirrored(springs, squeezed(springs, first))
            note(stress=found.stress, steps=found.steps)
        layouts.append(found)
    fitting = as_good(springs, layouts)
    kept = layouts[fitting[0]]
    refined = kept
    if relative:
        with stage("reweighting"):
            springs, refined = reweighted(springs, kept)
    rivals = tuple(layouts[place] for place in fitting[1:])
    return Searched(springs, refined, STARTS[how][fitting[0]], kept, rivals)


def as_good(springs: Springs, layouts: Sequence[Refined]) -> list[int]:
    """Numbers of the layouts that fit the distances as well as the best, for their noise.

    A later start has to be clearly better than an earlier one: among layouts that fit alike, a
    somewhat lower stress says nothing.
    """
    least = min(found.stress for found in layouts)
    edges, dim = springs.edges, springs.dim
    spare = max(edges.m - edges.n * dim + dim * (dim + 1) // 2, 1)
    doubt = BELIEVED * 2.0 * least / spare
    return [place for place, found in enumerate(layouts) if found.stress - least <= doubt]


def alternative(kept: Refined, rivals: Sequence[Refined], held: BoolArray) -> FloatArray:
    """Distance of each sensor from where the farthest of other layouts puts it.

    Layouts are laid on each other by the sensors that are held, and count by these: others may be
    elsewhere in any case.
    """
    positions = kept.positions
    farthest = np.zeros(len(positions))
    if not held.any():
        return farthest
    for rival in rivals:
        apart = np.linalg.norm(aligned(rival.positions, positions, held) - positions, axis=1)
        if np.square(apart[held]).sum() > np.square(farthest[held]).sum():
            farthest = apart
    return farthest


def aligned(positions: FloatArray, target: FloatArray, by: BoolArray) -> FloatArray:
    """Move, turn or mirror positions onto others, in the sense of least squares over some."""
    centre, goal = positions[by].mean(axis=0), target[by].mean(axis=0)
    left, _, right = np.linalg.svd((positions[by] - centre).T @ (target[by] - goal))
    return np.asarray((positions - centre) @ (left @ right) + goal)
