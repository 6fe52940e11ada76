"""Refine from several starts, keep the best, and see whether others fit as well."""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import BoolArray, FloatArray
from unbend.report import note, stage
from unbend.sensors.expected import noise_level
from unbend.sensors.rigidity import held
from unbend.sensors.springs import Refined, Springs, relative_weights
from unbend.sensors.starts import Start, mirrored, reweighted, squeezed, start
from unbend.unfold.edges import Edges

STARTS: dict[str, tuple[Start, ...]] = {
    "auto": ("isomap", "patches"),
    "isomap": ("isomap",),
    "patches": ("patches",),
    "mvu": ("mvu",),
    "best": ("isomap", "patches", "mvu"),
}
# Likelihood that two layouts may differ by, as a logarithm, and both be believed.
BELIEVED = 3.0
# Layouts that differ by less than this share of a distance are the same.
SAME = 0.01


@dataclass(frozen=True, eq=False)
class Searched:
    """The best layout of a component, and how far others that fit as well put each sensor.

    `held` tells the sensors that the distances determine.
    """

    springs: Springs
    refined: Refined
    start: str
    held: BoolArray
    ambiguity: FloatArray


def searched(
    edges: Edges,
    relative: bool,
    how: str,
    anchors: BoolArray,
    dim: int,
    rng: np.random.Generator,
) -> Searched:
    """Refine from every start of `how`."""
    lengths = np.sqrt(edges.squares)
    springs = Springs(edges, relative_weights(lengths) if relative else np.ones(edges.m), dim)
    layouts: list[tuple[Refined, str]] = []
    for name in STARTS[how]:
        with stage("start"):
            first = start(edges, name, dim, rng)
            note(start=name)
        with stage("refinement"):
            found = mirrored(springs, squeezed(springs, first))
            note(stress=found.stress, steps=found.steps)
        layouts.append((found, name))
    best, begun = min(layouts, key=lambda one: one[0].stress)
    safe = held(edges, best.positions, anchors, rng)
    ambiguity = alternative(springs, best, [found for found, _ in layouts], safe)
    if relative:
        with stage("reweighting"):
            springs, best = reweighted(springs, best)
    return Searched(springs, best, begun, safe, ambiguity)


def alternative(
    springs: Springs, best: Refined, layouts: list[Refined], safe: BoolArray
) -> FloatArray:
    """Distance of each sensor from where the farthest layout that fits as well puts it.

    Zero where no other layout is farther away than a small part of a distance. Layouts are laid
    over each other by the sensors that are `safe`.
    """
    noise = noise_level(springs, best.positions, safe)
    farthest = np.zeros(springs.edges.n)
    nothing = SAME * float(np.median(springs.lengths))
    for found in layouts:
        if found.stress - best.stress <= BELIEVED * noise**2:
            moved = aligned(found.positions, best.positions, safe)
            apart = np.linalg.norm(moved - best.positions, axis=1)
            if apart.max() > nothing and np.square(apart).sum() > np.square(farthest).sum():
                farthest = apart
    return np.asarray(farthest)


def aligned(positions: FloatArray, target: FloatArray, fixed: BoolArray) -> FloatArray:
    """Move, turn or mirror positions so that some lie as near to others as they can."""
    here, there = positions[fixed], target[fixed]
    centre, goal = here.mean(axis=0), there.mean(axis=0)
    left, _, right = np.linalg.svd((here - centre).T @ (there - goal))
    return np.asarray((positions - centre) @ (left @ right) + goal)
