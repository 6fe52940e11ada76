"""Localisation of sensor networks: positions, expected errors and ambiguity."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.graphs import components
from unbend.localization.component import (
    Component,
    arrange_components,
    place_component,
    root_mean_square,
)
from unbend.localization.multistart import STARTS
from unbend.localization.network import (
    anchor_positions,
    by_number,
    symmetric_lengths,
    without_names,
)
from unbend.report import Report, note, recording, stage, warn
from unbend.validation.random_state import generator
from unbend.validation.scalars import check_choice, check_integer


@dataclass(frozen=True, eq=False)
class Localization:
    """Positions of sensors with their expected errors.

    Attributes
    ----------
    positions : array (n, dim)
        Absolute where `absolute` is true; elsewhere up to a rigid motion of the component.
    component : array (n,)
        Connected component of each sensor, the largest first. Components without anchors are
        placed side by side; their relative positions are meaningless.
    absolute : array (n,) of bool
        Whether the anchors of the sensor's component fix its position.
    determined : array (n,) of bool
        Whether a sensor is in the globally rigid part of its component (the largest, or that of
        the anchors). Others could be reflected or rotated without changing their distances.
    errors : array (n,)
        Expected distance of each sensor from its true position, to first order at the minimum and
        with the noise estimated from the residuals; without anchors up to a rigid motion. NaN for
        a sensor that is not determined.
    expected_error : float
        Root mean square of the finite `errors`.
    ambiguity : array (n,)
        Distance of each sensor to its position in the most different layout that fits the
        distances as well; zero where all such layouts agree.
    noise : float
        Estimated relative (or, with weights given, weighted) error of a distance.
    anchor_error : float
        Root mean square distance of anchors from their given positions; NaN without anchors.
    stress : float
        ½ Σ w (‖yᵢ − yⱼ‖ − d)² over the distances.
    start : tuple of str
        Initial layout of each component.
    report : Report
        Record of every stage.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> places = np.random.default_rng(0).random((30, 2))
    >>> between = np.linalg.norm(places[:, None] - places, axis=2)
    >>> found = unbend.localize(between, {row: places[row] for row in range(4)}, random_state=0)
    >>> bool(found.determined.all()), bool(np.abs(found.positions - places).max() < 1e-6)
    (True, True)
    """

    positions: FloatArray
    component: IntArray
    absolute: BoolArray
    determined: BoolArray
    errors: FloatArray
    expected_error: float
    ambiguity: FloatArray
    noise: float
    anchor_error: float
    stress: float
    start: tuple[str, ...]
    report: Report

    def __str__(self) -> str:
        parts = int(self.component.max()) + 1
        lines = [
            f"{len(self.positions)} sensors in {parts} component{'s' if parts > 1 else ''}",
            f"  expected error {self.expected_error:.3g}, noise of a distance {self.noise:.2g}",
            f"  absolute {int(self.absolute.sum())}, not determined "
            f"{int((~self.determined).sum())}",
        ]
        return "\n".join([*lines, *(f"  warning: {text}" for text in self.report.warnings)])


WEIGHTS = ("relative", "equal")
# A sensor is ambiguous if another layout moves it by this many expected errors and by this
# fraction of the extent of its component.
UNSURE, SMALL_DOUBT = 3.0, 1e-3
# Anchors are inconsistent if they are off by this many expected errors and by this fraction of the
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
    """Localise sensors from noisy distances between some of them.

    Initial positions come from landmark Isomap, from local maps that are glued, or from maximum
    variance unfolding; then the weighted stress is minimised, first with one extra coordinate, so
    that parts can turn over. Sensors that fit better on the other side of their neighbours are
    reflected. Connected components are localised separately, and aligned to their anchors if these
    are enough.

    Parameters
    ----------
    distances : sparse array, array (n, n), data frame, graph, or NamedDistances
        Measured distances; missing ones are absent, or NaN in a dense array. Pairs by name are
        read by `unbend.io.read_named_distances`.
    anchors : mapping from int or name to position, or array (n, dim), optional
        Known positions, by the numbers of sensors, or by their names where the distances have
        some; in an array NaN for all other sensors. dim + 1 anchors, not all on a line (plane),
        fix a component.
    dim : int
        Dimension of the positions.
    start : {"auto", "isomap", "patches", "mvu", "best"}
        "auto" refines Isomap and glued maps ("patches"), "best" all three. The first is kept unless
        another has a significantly lower stress.
    weights : {"relative", "equal"}
        Whether errors are proportional to distances (w = 1/d², with fitted d, since weights from
        noisy distances would shrink the network) or homoscedastic (w = 1).
    random_state : int or Generator, optional
        Seed of the landmarks and of the noise samples of the expected errors.

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
            distances, names = without_names(distances)
            anchors = by_number(anchors, names)
            lengths = symmetric_lengths(distances)
            n = lengths.shape[0]
            known = anchor_positions(anchors, n, dim)
            label = components(lengths)
            # The largest component first.
            order = np.argsort(-np.bincount(label), kind="stable")
            label = np.asarray(np.argsort(order)[label])
            count = int(label.max()) + 1
            note(sensors=n, distances=lengths.nnz // 2, components=count)
        parts: list[Component] = []
        members: list[IntArray] = [np.flatnonzero(label == number) for number in range(count)]
        for rows in members:
            own = csr_array(lengths[rows][:, rows])
            rng = generator(random_state)
            parts.append(place_component(own, known[rows], start, weights, rng))
        positions, errors, ambiguity = np.empty((n, dim)), np.empty(n), np.empty(n)
        determined = np.empty(n, dtype=bool)
        offsets = arrange_components([(part.positions, part.absolute) for part in parts])
        for rows, part, offset in zip(members, parts, offsets, strict=True):
            positions[rows], errors[rows] = part.positions + offset, part.errors
            determined[rows], ambiguity[rows] = part.determined, part.ambiguity
        _warn_uncertainty(members, parts, determined, anchors is not None, dim)
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
    check_integer("dim", dim)
    check_choice("start", start, STARTS)
    check_choice("weights", weights, WEIGHTS)
    generator(random_state)


def _warn_uncertainty(
    members: list[IntArray], parts: list[Component], determined: BoolArray, anchors: bool, dim: int
) -> None:
    if len(parts) > 1:
        sizes = ", ".join(str(len(rows)) for rows in members[:5])
        more = ", …" if len(parts) > 5 else ""
        warn(
            f"The network is disconnected: {len(parts)} components of {sizes}{more} sensors are "
            "localised separately, and their relative positions are meaningless without anchors. "
            "Add distances between them, or anchors."
        )
    loose = sum(len(rows) for rows, part in zip(members, parts, strict=True) if not part.absolute)
    if anchors and loose:
        warn(
            f"{loose} sensors are in components with fewer than {dim + 1} anchors, or collinear "
            "(coplanar) ones: their positions are known up to a rigid motion only. Add anchors."
        )
    for part in parts:
        spread = float(np.ptp(part.positions, axis=0).max())
        miss = root_mean_square(part.misses)
        if miss > max(DISAGREE * part.explained, SMALL_MISS * spread):
            warn(
                f"Anchors are {miss:.2g} from their positions by the distances, and the expected "
                f"error is {part.explained:.2g}. Check the anchors and the units."
            )
    unsure = sum(_unsure(part) for part in parts)
    if unsure:
        warn(
            f"Another layout of {unsure} sensors fits the distances as well: see `ambiguity`. Add "
            "distances across the network."
        )
    few = int((~determined).sum())
    if few:
        warn(
            f"{few} sensors are not determined by their distances and have no expected error: see "
            "`determined`. Add distances to them."
        )


def _unsure(part: Component) -> int:
    """Count the sensors that an equivalent layout moves farther than errors explain."""
    spread = float(np.ptp(part.positions, axis=0).max())
    expected = np.maximum(UNSURE * part.errors, SMALL_DOUBT * spread)
    return int(np.sum(part.ambiguity > expected))
