"""Localisation of sensor networks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.base.inputs import generator
from unbend.graphs import components
from unbend.report import note, recording, stage, warn
from unbend.sensors.expected import expected_errors, noise_level
from unbend.sensors.network import anchor_positions, symmetric_lengths
from unbend.sensors.result import Localization
from unbend.sensors.search import STARTS, searched
from unbend.unfold.edges import of_graph

WEIGHTS = ("relative", "equal")
# Times its expected error that a sensor lies elsewhere in another layout, to be told of.
UNSURE = 3.0


@dataclass(frozen=True, eq=False)
class _Part:
    """Positions of one component, with their errors and the springs that hold them."""

    positions: FloatArray
    errors: FloatArray
    absolute: bool
    start: str
    stress: float
    noise: float
    misses: FloatArray
    ambiguity: FloatArray


def localize(
    distances: Any,
    anchors: Any = None,
    dim: int = 2,
    *,
    start: str = "auto",
    weights: str = "relative",
    random_state: Any = None,
) -> Localization:
    """Find positions of sensors from noisy distances between some of them.

    A start by landmark Isomap, by maps of neighbourhoods that are glued, or by maximum variance
    unfolding; then the weighted stress is minimised, first with one coordinate too many, so that
    parts can turn over. Sensors that fit better on the other side of their neighbours are moved
    there. Components are placed each on its own; those with enough anchors are moved, turned or
    mirrored onto them.

    Parameters
    ----------
    distances : sparse array or array (n, n)
        Measured distances: absent, or NaN in a dense array, where there is none.
    anchors : mapping from int to position, or array (n, dim), optional
        Known positions; in an array NaN for all other sensors. A component needs dim + 1 of them,
        not all on one line (plane), to be fixed.
    dim : int
        Number of coordinates.
    start : {"auto", "isomap", "patches", "mvu", "best"}
        "auto" refines from Isomap and from the glued maps ("patches"), "best" from all three; the
        lower stress is kept.
    weights : {"relative", "equal"}
        Whether errors of distances grow with these (w = 1/d², with d as found in the end, since
        weights by the noisy distances would shrink the network) or are all alike (w = 1).
    random_state : int, optional
        Chooses landmarks, and draws the noise of the expected errors.

    Returns
    -------
    Localization

    References
    ----------
    Weinberger, Sha, Zhu and Saul, NIPS 19 (2006). Book section 9.3.2.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> places = np.random.default_rng(0).random((60, 2))
    >>> distances = np.linalg.norm(places[:, None] - places, axis=2)
    >>> distances[distances > 0.4] = np.nan
    >>> found = unbend.localize(distances, anchors={i: places[i] for i in range(4)})
    >>> bool(np.abs(found.positions - places).max() < 1e-6)
    True
    """
    _check_options(dim, start, weights)
    with recording("localize") as report:
        with stage("network"):
            lengths = symmetric_lengths(distances)
            n = lengths.shape[0]
            known = anchor_positions(anchors, n, dim)
            label = _largest_first(components(lengths))
            degree = np.diff(lengths.indptr)
            count = int(label.max()) + 1
            note(sensors=n, distances=lengths.nnz // 2, components=count)
        parts: list[_Part] = []
        members: list[IntArray] = [np.flatnonzero(label == number) for number in range(count)]
        for rows in members:
            own = csr_array(lengths[rows][:, rows])
            rng = generator(random_state)
            parts.append(_placed(own, known[rows], dim, start, weights, rng))
        determined = degree > dim
        _tell(members, parts, determined, anchors is not None, dim)
        positions, errors, ambiguity = np.empty((n, dim)), np.empty(n), np.empty(n)
        for rows, part, offset in zip(members, parts, _side_by_side(parts, dim), strict=True):
            positions[rows], errors[rows] = part.positions + offset, part.errors
            ambiguity[rows] = part.ambiguity
    absolute = np.array([part.absolute for part in parts])[label]
    return Localization(
        positions,
        label,
        absolute,
        determined,
        errors,
        _root_mean_square(errors),
        ambiguity,
        _root_mean_square(np.array([part.noise for part in parts])),
        _root_mean_square(np.concatenate([part.misses for part in parts])),
        sum(part.stress for part in parts),
        tuple(part.start for part in parts),
        report,
    )


def _check_options(dim: Any, start: str, weights: str) -> None:
    if isinstance(dim, bool) or not isinstance(dim, int | np.integer) or dim < 1:
        raise ValueError(f"dim must be a whole number of at least 1, but it is {dim!r}")
    if start not in STARTS:
        raise ValueError(f"start must be one of {', '.join(STARTS)}, but it is {start!r}")
    if weights not in WEIGHTS:
        raise ValueError(f"weights must be 'relative' or 'equal', but it is {weights!r}")


def _largest_first(label: IntArray) -> IntArray:
    order = np.argsort(-np.bincount(label), kind="stable")
    return np.asarray(np.argsort(order)[label])


def _root_mean_square(values: FloatArray) -> float:
    known = values[np.isfinite(values)]
    return float(np.sqrt(np.square(known).mean())) if len(known) else np.nan


def _placed(
    lengths: csr_array,
    known: FloatArray,
    dim: int,
    how: str,
    weights: str,
    rng: np.random.Generator,
) -> _Part:
    """Place one component."""
    edges, vertex = of_graph(lengths)
    anchored = ~np.isnan(known[:, 0])
    positions: FloatArray
    errors: FloatArray
    ambiguity: FloatArray = np.zeros(len(vertex))
    if edges.m == 0:
        positions, begun, stress, noise = np.zeros((len(vertex), dim)), "none", 0.0, np.nan
        errors = np.full(len(vertex), np.nan)
    else:
        found = searched(edges, weights == "relative", how, dim, rng)
        springs, begun, ambiguity = found.springs, found.start, found.ambiguity[vertex]
        at_vertices, stress = found.refined.positions, found.refined.stress
        with stage("errors"):
            noise = noise_level(springs, at_vertices)
            errors = np.full(edges.n, np.nan)
            fixed = np.zeros(edges.n, dtype=bool)
            fixed[vertex[anchored]] = True
            if np.isfinite(noise):
                errors = expected_errors(springs, at_vertices, noise, fixed, rng)
        positions, errors = at_vertices[vertex], errors[vertex]
    moved, absolute = _onto_anchors(positions, known, anchored)
    misses = np.linalg.norm(moved - known, axis=1)[anchored] if absolute else np.empty(0)
    return _Part(moved, errors, absolute, begun, stress, noise, misses, ambiguity)


def _onto_anchors(
    positions: FloatArray, known: FloatArray, anchored: BoolArray
) -> tuple[FloatArray, bool]:
    """Move, turn or mirror positions onto the anchors, if these are enough to say how."""
    dim = positions.shape[1]
    if len(positions) == 1 and anchored[0]:
        return known.copy(), True
    if anchored.sum() < dim + 1:
        return positions, False
    here, there = positions[anchored], known[anchored]
    centre, target = here.mean(axis=0), there.mean(axis=0)
    left, values, right = np.linalg.svd((here - centre).T @ (there - target))
    flat = values[-1] <= 1e-9 * values[0] or values[0] == 0
    return (positions - centre) @ (left @ right) + target, not flat


def _tell(
    members: list[IntArray], parts: list[_Part], determined: BoolArray, anchors: bool, dim: int
) -> None:
    if len(parts) > 1:
        sizes = ", ".join(str(len(rows)) for rows in members[:5])
        more = ", …" if len(parts) > 5 else ""
        warn(
            f"the network falls into {len(parts)} components of {sizes}{more} sensors: each is "
            "placed on its own, and without anchors nothing is known of where they are to each "
            "other"
        )
    loose = sum(len(rows) for rows, part in zip(members, parts, strict=True) if not part.absolute)
    if anchors and loose:
        warn(
            f"{loose} sensors are in components with fewer than {dim + 1} anchors, or anchors that "
            "lie flat: their positions are known up to a rigid motion only"
        )
    unsure = sum(int(np.sum(part.ambiguity > UNSURE * part.errors)) for part in parts)
    if unsure:
        warn(
            f"another layout fits the distances as well, in which {unsure} sensors lie elsewhere: "
            "`ambiguity` tells how far; distances across the network would decide"
        )
    few = int((~determined).sum())
    if few:
        warn(
            f"{few} sensors have {dim} distances or fewer, which do not determine a position: "
            "`determined` tells which"
        )


def _side_by_side(parts: list[_Part], dim: int) -> list[FloatArray]:
    """Offsets that put components without anchors beside the others, so that none overlap."""
    fixed = [part.positions for part in parts if part.absolute]
    edge = float(max((found[:, 0].max() for found in fixed), default=-np.inf))
    offsets: list[FloatArray] = []
    for part in parts:
        offset = np.zeros(dim)
        if not part.absolute:
            low, high = part.positions[:, 0].min(), part.positions[:, 0].max()
            if np.isfinite(edge):
                gap = 0.1 * max(high - low, 1e-300)
                offset[0] = edge + gap - low
            edge = float(high + offset[0])
        offsets.append(offset)
    return offsets
