"""Refine from several starts, keep the best, and see whether others fit as well."""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray
from unbend.report import note, stage
from unbend.sensors.expected import noise_level
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
    """The best layout of a component, and how far others that fit as well put each sensor."""

    springs: Springs
    refined: Refined
    start: str
    ambiguity: FloatArray


def searched(
    edges: Edges, relative: bool, how: str, dim: int, rng: np.random.Generator
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
    ambiguity = alternative(springs, best, [found for found, _ in layouts])
    if relative:
        with stage("reweighting"):
            springs, best = reweighted(springs, best)
    return Searched(springs, best, begun, ambiguity)


def alternative(springs: Springs, best: Refined, layouts: list[Refined]) -> FloatArray:
    """Distance of each sensor from where the farthest layout that fits as well puts it.

    Zero where no other layout is farther away than a small part of a distance.
    """
    noise = noise_level(springs, best.positions)
    farthest = np.zeros(springs.edges.n)
    nothing = SAME * float(np.median(springs.lengths))
    for found in layouts:
        if found.stress - best.stress <= BELIEVED * noise**2:
            apart = np.linalg.norm(
                aligned(found.positions, best.positions) - best.positions, axis=1
            )
            if apart.max() > nothing and np.square(apart).sum() > np.square(farthest).sum():
                farthest = apart
    return np.asarray(farthest)


def aligned(positions: FloatArray, target: FloatArray) -> FloatArray:
    """Move, turn or mirror positions onto others, in the sense of least squares."""
    centre, goal = positions.mean(axis=0), target.mean(axis=0)
    left, _, right = np.linalg.svd((positions - centre).T @ (target - goal))
    return np.asarray((positions - centre) @ (left @ right) + goal)
