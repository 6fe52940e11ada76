"""Localisation of sensor networks."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import BoolArray, IntArray
from unbend.graphs import components
from unbend.localization.alignment import side_by_side
from unbend.localization.component import Part, placed
from unbend.localization.expected import root_mean_square
from unbend.localization.network import anchor_positions, by_number, symmetric_lengths
from unbend.localization.result import Localization
from unbend.localization.search import STARTS
from unbend.report import note, recording, stage, warn
from unbend.validation.parameters import RANDOM, Integer
from unbend.validation.random_state import generator

WEIGHTS = ("relative", "equal")
# Times its expected error, and share of the extent of its component, that a sensor lies elsewhere
# in another layout, to be told of.
UNSURE, SMALL_DOUBT = 3.0, 1e-3
# Anchors disagree that are this many times farther off than expected, and by this share of the
# extent of their component.
DISAGREE, SMALL_MISS = 5.0, 1e-3


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
        "auto" refines from Isomap and from the glued maps ("patches"), "best" from all three. The
        first is kept unless another has a clearly lower stress.
    weights : {"relative", "equal"}
        Whether errors of distances grow with these (w = 1/d², with d as found in the end, since
        weights by the noisy distances would shrink the network) or are all alike (w = 1).
    random_state : int or Generator, optional
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
    _check_options(dim, start, weights, random_state)
    with recording("localize") as report:
        with stage("network"):
            anchors = by_number(anchors, distances)
            lengths = symmetric_lengths(distances)
            n = lengths.shape[0]
            known = anchor_positions(anchors, n, dim)
            label = _largest_first(components(lengths))
            count = int(label.max()) + 1
            note(sensors=n, distances=lengths.nnz // 2, components=count)
        parts: list[Part] = []
        members: list[IntArray] = [np.flatnonzero(label == number) for number in range(count)]
        for rows in members:
            own = csr_array(lengths[rows][:, rows])
            rng = generator(random_state)
            parts.append(placed(own, known[rows], start, weights, rng))
        positions, errors, ambiguity = np.empty((n, dim)), np.empty(n), np.empty(n)
        determined = np.empty(n, dtype=bool)
        offsets = side_by_side([(part.positions, part.absolute) for part in parts])
        for rows, part, offset in zip(members, parts, offsets, strict=True):
            positions[rows], errors[rows] = part.positions + offset, part.errors
            determined[rows], ambiguity[rows] = part.determined, part.ambiguity
        _tell(members, parts, determined, anchors is not None, dim)
    absolute = np.array([part.absolute for part in parts])[label]
    return Localization(
        positions,
        label,
        absolute,
        determined,
        errors,
        root_mean_square(errors),
        ambiguity,
        root_mean_square(np.array([part.noise for part in parts])),
        root_mean_square(np.concatenate([part.misses for part in parts])),
        sum(part.stress for part in parts),
        tuple(part.start for part in parts),
        report,
    )


def _check_options(dim: Any, start: str, weights: str, random_state: Any) -> None:
    if isinstance(dim, bool) or not isinstance(dim, int | np.integer) or dim < 1:
        raise ValueError(f"dim must be a whole number of at least 1, but it is {dim!r}")
    if not isinstance(start, str) or start not in STARTS:
        raise ValueError(f"start must be one of {', '.join(STARTS)}, but it is {start!r}")
    if not isinstance(weights, str) or weights not in WEIGHTS:
        raise ValueError(f"weights must be 'relative' or 'equal', but it is {weights!r}")
    if random_state is not None and not any(
        kind.typed(random_state) and kind.holds(random_state) for kind in (Integer(0), RANDOM)
    ):
        raise ValueError(
            "random_state must be a whole number of at least 0 or a generator, but it is "
            f"{random_state!r}"
        )


def _largest_first(label: IntArray) -> IntArray:
    order = np.argsort(-np.bincount(label), kind="stable")
    return np.asarray(np.argsort(order)[label])


def _tell(
    members: list[IntArray], parts: list[Part], determined: BoolArray, anchors: bool, dim: int
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
    for part in parts:
        spread = float(np.ptp(part.positions, axis=0).max())
        miss = root_mean_square(part.misses)
        if miss > max(DISAGREE * part.explained, SMALL_MISS * spread):
            warn(
                f"anchors lie {miss:.2g} from where the distances put them, and errors of these "
                f"explain {part.explained:.2g}: check the anchors, and that both have one unit"
            )
    unsure = sum(_unsure(part) for part in parts)
    if unsure:
        warn(
            f"another layout fits the distances as well, in which {unsure} sensors lie elsewhere: "
            "`ambiguity` tells how far; distances across the network would decide"
        )
    few = int((~determined).sum())
    if few:
        warn(
            f"{few} sensors are not determined by their distances: some may as well be mirrored or "
            "turned with others; `determined` tells which, and they have no expected error"
        )


def _unsure(part: Part) -> int:
    """Count the sensors that another layout puts farther away than errors explain."""
    spread = float(np.ptp(part.positions, axis=0).max())
    expected = np.maximum(UNSURE * part.errors, SMALL_DOUBT * spread)
    return int(np.sum(part.ambiguity > expected))
