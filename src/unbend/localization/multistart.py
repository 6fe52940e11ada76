"""Multi-start minimisation of the stress: initial positions, escapes from local minima, choice."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.localization.patches import from_patches
from unbend.localization.springs import Layout, Springs, relative_weights
from unbend.mvu.coordinates import landmark_isomap
from unbend.mvu.edges import Edges
from unbend.mvu.sdp import unfold
from unbend.report import note, stage

Start = Literal["isomap", "patches", "mvu"]
# Penalties of the extra coordinates, relative to the weights at a sensor, and steps for each.
PRICES = (1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 1.0)
SQUEEZE_STEPS = 40
# Slack of the initial unfolding, for relative noise up to 0.1.
SLACK = 0.1
# Rounds of reweighting, and at most so many of reflections.
REWEIGHTINGS, REFLECTIONS = 3, 5
# Extra initial columns, and the size, relative to the distances, of a random perturbation.
SPARE, JITTER = 1, 1e-3


def initial_positions(edges: Edges, how: Start, dim: int, rng: np.random.Generator) -> FloatArray:
    """Coordinates (n, dim + 1) by landmark Isomap, local maps, or maximum variance unfolding."""
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


def refine_through_extra_dimension(springs: Springs, first: FloatArray) -> Layout:
    """Refine with one extra coordinate under increasing penalties, then without it.

    In the extra dimension reflected parts can turn over without passing through others.
    """
    dim = springs.dim
    wide = Springs(springs.edges, springs.weights, first.shape[1])
    size = 2.0 * float(springs.weights.sum()) / springs.edges.n
    positions, steps = first, 0
    for price in PRICES:
        penalty = np.zeros(first.shape[1])
        penalty[dim:] = price * size
        found = wide.refine(positions, penalty, SQUEEZE_STEPS)
        positions, steps = found.positions, steps + found.steps
    last = springs.refine(positions[:, :dim])
    return Layout(last.positions, last.stress, steps + last.steps)


def reweight(springs: Springs, found: Layout) -> tuple[Springs, Layout]:
    """Weight by fitted in place of measured lengths, and refine again.

    Distances measured too short would have larger weights and shrink the network, by about three
    times the squared relative noise.
    """
    for _ in range(REWEIGHTINGS):
        weights = relative_weights(springs.lengths + springs.errors(found.positions))
        springs = Springs(springs.edges, weights, springs.dim)
        again = springs.refine(found.positions)
        found = Layout(again.positions, again.stress, found.steps + again.steps)
    return springs, found


def mirror_sensors(springs: Springs, found: Layout) -> Layout:
    """Reflect single sensors that fit better on the other side of their neighbours."""
    for _ in range(REFLECTIONS):
        tried = _other_side(springs, found.positions)
        before = _own(springs, found.positions, found.positions)
        after = _own(springs, tried, found.positions)
        better = after < 0.9 * before
        if not better.any():
            break
        positions = np.where(better[:, None], tried, found.positions)
        again = springs.refine(positions)
        if again.stress >= found.stress * (1.0 - 1e-9):
            break
        found = Layout(again.positions, again.stress, found.steps + again.steps)
    return found


def _ends(edges: Edges) -> tuple[IntArray, IntArray]:
    """Sensor and neighbour of each edge, in both directions."""
    return (
        np.concatenate((edges.first, edges.second)),
        np.concatenate((edges.second, edges.first)),
    )


def _own(springs: Springs, positions: FloatArray, around: FloatArray) -> FloatArray:
    """Stress of each sensor with its neighbours fixed."""
    here, there = _ends(springs.edges)
    reached = np.linalg.norm(positions[here] - around[there], axis=1)
    errors = np.tile(springs.weights, 2) * np.square(reached - np.tile(springs.lengths, 2))
    return np.asarray(np.bincount(here, weights=errors, minlength=springs.edges.n), np.float64)


def _other_side(springs: Springs, positions: FloatArray) -> FloatArray:
    """Reflect each sensor in the best-fitting hyperplane of its neighbours, and refine it alone."""
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
        # Majorisation of one sensor's stress.
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
# Largest difference of log-likelihoods of equivalent layouts.
BELIEVED = 3.0


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The best layout and its springs, the layout before reweighting, and equivalent layouts."""

    springs: Springs
    layout: Layout
    start: str
    first: Layout
    rivals: tuple[Layout, ...]


def search_layouts(
    edges: Edges, relative: bool, how: str, dim: int, rng: np.random.Generator
) -> SearchResult:
    """Refine every initial layout of `how`, and keep the best."""
    lengths = np.sqrt(edges.squares)
    springs = Springs(edges, relative_weights(lengths) if relative else np.ones(edges.m), dim)
    layouts: list[Layout] = []
    for name in STARTS[how]:
        with stage("start"):
            first = initial_positions(edges, name, dim, rng)
            note(start=name)
        with stage("refinement"):
            found = mirror_sensors(springs, refine_through_extra_dimension(springs, first))
            note(stress=found.stress, steps=found.steps)
        layouts.append(found)
    fitting = equivalent_layouts(springs, layouts)
    kept = layouts[fitting[0]]
    layout = kept
    if relative:
        with stage("reweighting"):
            springs, layout = reweight(springs, kept)
    rivals = tuple(layouts[place] for place in fitting[1:])
    return SearchResult(springs, layout, STARTS[how][fitting[0]], kept, rivals)


def equivalent_layouts(springs: Springs, layouts: Sequence[Layout]) -> list[int]:
    """Return the indices of the layouts whose fit does not differ significantly from the best.

    The first of them is kept: a later start must be significantly better.
    """
    least = min(found.stress for found in layouts)
    edges, dim = springs.edges, springs.dim
    spare = max(edges.m - edges.n * dim + dim * (dim + 1) // 2, 1)
    doubt = BELIEVED * 2.0 * least / spare
    return [place for place, found in enumerate(layouts) if found.stress - least <= doubt]


def rival_distances(kept: Layout, rivals: Sequence[Layout], rigid: BoolArray) -> FloatArray:
    """Distance of each sensor to its position in the most different equivalent layout.

    Layouts are aligned and compared by the rigid sensors.
    """
    positions = kept.positions
    farthest = np.zeros(len(positions))
    if not rigid.any():
        return farthest
    for rival in rivals:
        apart = np.linalg.norm(align(rival.positions, positions, rigid) - positions, axis=1)
        if np.square(apart[rigid]).sum() > np.square(farthest[rigid]).sum():
            farthest = apart
    return farthest


def align(positions: FloatArray, target: FloatArray, by: BoolArray) -> FloatArray:
    """Procrustes alignment of positions to a target, over some of the rows."""
    center, goal = positions[by].mean(axis=0), target[by].mean(axis=0)
    left, _, right = np.linalg.svd((positions[by] - center).T @ (target[by] - goal))
    return np.asarray((positions - center) @ (left @ right) + goal)
