"""Refine from several starts, keep the best, and see whether others fit as well."""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import BoolArray, FloatArray
from unbend.report import note, stage
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


@dataclass(frozen=True, eq=False)
class Searched:
    """The best layout of a component, and all that were found, each with its stress."""

    springs: Springs
    refined: Refined
    start: str
    layouts: tuple[Refined, ...]

    def rivals(self, noise: float) -> list[FloatArray]:
        """Layouts that fit the distances about as well as the best, for their noise."""
        least = min(found.stress for found in self.layouts)
        return [
            found.positions for found in self.layouts if found.stress - least <= BELIEVED * noise**2
        ]


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
    if relative:
        with stage("reweighting"):
            springs, best = reweighted(springs, best)
    return Searched(springs, best, begun, tuple(found for found, _ in layouts))


def alternative(positions: FloatArray, rivals: list[FloatArray], held: BoolArray) -> FloatArray:
    """Distance of each sensor from where the farthest of other layouts puts it.

    Layouts are laid on each other by the sensors that are held, and count by these: others may be
    elsewhere in any case.
    """
    farthest = np.zeros(len(positions))
    if not held.any():
        return farthest
    for found in rivals:
        apart = np.linalg.norm(aligned(found, positions, held) - positions, axis=1)
        if np.square(apart[held]).sum() > np.square(farthest[held]).sum():
            farthest = apart
    return farthest


def aligned(positions: FloatArray, target: FloatArray, by: BoolArray) -> FloatArray:
    """Move, turn or mirror positions onto others, in the sense of least squares over some."""
    centre, goal = positions[by].mean(axis=0), target[by].mean(axis=0)
    left, _, right = np.linalg.svd((positions[by] - centre).T @ (target[by] - goal))
    return np.asarray((positions - centre) @ (left @ right) + goal)
