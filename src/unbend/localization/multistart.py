"""From where the stress is minimised, and how it is led past minima that are not the least."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.localization.patches import from_patches
from unbend.localization.springs import Refined, Springs, relative_weights
from unbend.mvu.coordinates import landmark_isomap
from unbend.mvu.edges import Edges
from unbend.mvu.sdp import unfold
from unbend.report import note, stage

Start = Literal["isomap", "patches", "mvu"]
# Price of the coordinates beyond those wanted, relative to the weights at a sensor, and steps each.
PRICES = (1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 1.0)
SQUEEZE_STEPS = 40
# Slack of the springs of the start: enough to smooth a tenth of noise.
SLACK = 0.1
# Rounds of new weights.
REWEIGHTINGS = 3
# Columns to start with beyond those wanted, and the size, relative to the distances, of what is
# added so that none is zero.
SPARE, JITTER = 1, 1e-3


def start(edges: Edges, how: Start, dim: int, rng: np.random.Generator) -> FloatArray:
    """Coordinates (n, dim + 1) by landmark Isomap, by small maps, or by unfolding with springs."""
    columns = dim + SPARE
    if how == "isomap":
        return landmark_isomap(edges, columns, rng)
    if how == "patches":
        found = from_patches(edges, dim)
    else:
        unfolded = unfold(edges, "soft", dimensions=dim, slack=SLACK, rng=rng)
        found = unfolded.factor[:, :columns]
    wide = np.zeros((edges.n, columns))
    wide[:, : found.shape[1]] = found
    return wide + JITTER * float(np.sqrt(edges.squares.mean())) * rng.standard_normal(wide.shape)


def squeezed(springs: Springs, first: FloatArray) -> Refined:
    """Refine with one coordinate too many, made dearer and dearer, and then without it.

    In one more dimension parts that lie the wrong way round can turn over; in the plane they would
    have to pass through each other.
    """
    dim = springs.dim
    wide = Springs(springs.edges, springs.weights, first.shape[1])
    size = 2.0 * float(springs.weights.sum()) / springs.edges.n
    positions, steps = first, 0
    for price in PRICES:
        penalty = np.zeros(first.shape[1])
        penalty[dim:] = price * size
        found = wide.refined(positions, penalty, SQUEEZE_STEPS)
        positions, steps = found.positions, steps + found.steps
    last = springs.refined(positions[:, :dim])
    return Refined(last.positions, last.stress, steps + last.steps)


def reweighted(springs: Springs, found: Refined) -> tuple[Springs, Refined]:
    """Weigh by the lengths found in place of those measured, and refine again.

    A distance measured too short would weigh more for it, and shrink the network: by about three
    times the squared relative noise.
    """
    for _ in range(REWEIGHTINGS):
        weights = relative_weights(springs.lengths + springs.errors(found.positions))
        springs = Springs(springs.edges, weights, springs.dim)
        again = springs.refined(found.positions)
        found = Refined(again.positions, again.stress, found.steps + again.steps)
    return springs, found


def mirrored(springs: Springs, found: Refined, rounds: int = 5) -> Refined:
    """Turn over single sensors that fit their distances better on the other side of neighbours."""
    for _ in range(rounds):
        tried = _other_side(springs, found.positions)
        before = _own(springs, found.positions, found.positions)
        after = _own(springs, tried, found.positions)
        better = after < 0.9 * before
        if not better.any():
            break
        positions = np.where(better[:, None], tried, found.positions)
        again = springs.refined(positions)
        if again.stress >= found.stress * (1.0 - 1e-9):
            break
        found = Refined(again.positions, again.stress, found.steps + again.steps)
    return found


def _ends(edges: Edges) -> tuple[IntArray, IntArray]:
    """Each edge both ways: the sensor, and its neighbour."""
    return (
        np.concatenate((edges.first, edges.second)),
        np.concatenate((edges.second, edges.first)),
    )


def _own(springs: Springs, positions: FloatArray, around: FloatArray) -> FloatArray:
    """Stress of each sensor at a position among neighbours that stay."""
    here, there = _ends(springs.edges)
    reached = np.linalg.norm(positions[here] - around[there], axis=1)
    errors = np.tile(springs.weights, 2) * np.square(reached - np.tile(springs.lengths, 2))
    return np.asarray(np.bincount(here, weights=errors, minlength=springs.edges.n), np.float64)


def _other_side(springs: Springs, positions: FloatArray) -> FloatArray:
    """Mirror each sensor in the flat in which its neighbours lie best, and settle it there."""
    here, there = _ends(springs.edges)
    n, dim = positions.shape
    degree = np.maximum(np.bincount(here, minlength=n), 1)[:, None]
    near = positions[there]
    means = np.stack([np.bincount(here, column, n) for column in near.T], axis=1) / degree
    apart = near - means[here]
    products = (apart[:, :, None] * apart[:, None, :]).reshape(len(here), -1)
    spread = np.stack([np.bincount(here, column, n) for column in products.T], axis=1)
    normals = np.linalg.eigh(spread.reshape(n, dim, dim))[1][:, :, 0]
    across = np.sum((positions - means) * normals, axis=1, keepdims=True)
    tried = positions - 2.0 * across * normals
    lengths, weights = np.tile(springs.lengths, 2), np.tile(springs.weights, 2)
    total = np.maximum(np.bincount(here, weights, n), np.finfo(float).tiny)[:, None]
    for _ in range(20):
        # Majorisation of one sensor's stress: the mean of where each neighbour wants it.
        away = tried[here] - near
        reached = np.maximum(np.linalg.norm(away, axis=1), 1e-12 * lengths)
        wanted = (near + away * (lengths / reached)[:, None]) * weights[:, None]
        tried = np.stack([np.bincount(here, column, n) for column in wanted.T], axis=1) / total
    return np.asarray(tried)


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
