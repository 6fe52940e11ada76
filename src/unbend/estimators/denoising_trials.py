"""Trials of a denoised fit: of several landmarks and of the rows, the best by evidence taken.

Charts are compared by how evenly they stretch the surface, and other embeddings by the neighbours
on the surface that they keep.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.denoising import Landmarks, chart_evenness, lost_neighbors
from unbend.estimators.denoising import Candidates, describe_landmarks
from unbend.report import Stage, Trial, trial

# Evenness from which on the chart of landmarks is taken without a trial, and below which it is
# torn: of 320 fits for calibration no chart below had an error under 0.69 of the spread. Between
# them it has to be clearly more even than that of the rows, which is this share of it at most.
EVEN, TORN, NEARLY = 0.9, 0.25, 0.9
# Where landmarks were declined none is taken that is less even than this, as all of rows without a
# surface are, nor any if that of the rows is as even as `WHOLE`; of more rows than are tried, nor
# are other landmarks if the chart of the first is.
DOUBTFUL, WHOLE = 0.3, 0.5
# Where noise is mild: the fault of the chart of the rows, over that of landmarks, up to which both
# are alike, and the one that no projection has biased is taken.
ALIKE = 2.0
# Where an embedding is no chart: share of the neighbours that the rows lose up to which those that
# landmarks lose make these the better ones. Of 435 noisy fits for calibration (LLE, Isomap,
# Laplacian eigenmaps and diffusion maps) none was then worse than the rows by more than a tenth.
FEWER_LOST = 0.9
# Rows on which the chart of rows without noise is measured.
MEASURED_ROWS = 1000

Fit = Callable[[Landmarks | None], dict[str, Any]]


@dataclass(frozen=True, eq=False)
class _Chart:
    """A fit of landmarks, or of the rows for None, what it recorded, and how even it is."""

    landmarks: Landmarks | None
    fitted: dict[str, Any]
    recorded: Trial
    even: float

    @classmethod
    def of(cls, fit: Fit, landmarks: Landmarks | None, points: FloatArray) -> "_Chart":
        """Fit, and measure the chart on points of the surface."""
        with trial() as recorded:
            fitted = fit(landmarks)
        return cls(landmarks, fitted, recorded, _evenness(fitted, points))


def fit_with_trial(fit: Fit, candidates: Candidates, record: Stage) -> dict[str, Any]:
    """Fit landmarks; where their chart is uneven, try others, and take the most even chart.

    The others are those of landmarks by smaller patches, of fewer landmarks with wide
    neighbourhoods, and of the rows if they are not too many. All are measured on the first
    landmarks. Where landmarks were declined, the rows come first, and landmarks take their place
    only if their chart is torn.
    `record` is the stage of the candidates.
    """
    chosen = _try_landmarks if candidates.declined is None else _try_rows
    first, taken = chosen(fit, candidates)
    record.facts["evenness"] = first.even
    if taken is not first:
        _record_choice(record, first, taken)
    taken.recorded.adopt()
    return taken.fitted


def fit_and_compare(fit: Fit, candidates: Candidates, record: Stage) -> dict[str, Any]:
    """Fit landmarks and the rows, and take the rows unless landmarks keep clearly more neighbours.

    Neighbours are those on the estimated surface, of which landmarks are a sample: each is the
    projection of a row, and the coordinates of these rows are compared.
    `record` is the stage of the candidates.
    """
    landmarks = candidates.landmarks
    with trial() as denoised:
        fitted = fit(landmarks)
    try:
        with trial() as plain:
            fitted_rows = fit(None)
    except (ValueError, MemoryError):
        denoised.adopt()
        return fitted
    lost, lost_by_rows = (
        lost_neighbors(landmarks.points, np.asarray(found["embedding"])[landmarks.rows])
        for found in (fitted, fitted_rows)
    )
    record.facts["lost_neighbors"] = [lost, lost_by_rows]
    if lost < FEWER_LOST * lost_by_rows:
        denoised.adopt()
        return fitted
    _forget_landmarks(record)
    record.facts["declined"] = (
        "landmarks keep hardly more of the neighbours on the surface than the rows do "
        f"({1 - lost:.2f}, {1 - lost_by_rows:.2f})"
    )
    plain.adopt()
    return fitted_rows


def _try_landmarks(fit: Fit, candidates: Candidates) -> tuple[_Chart, _Chart]:
    """Return the chart of landmarks, and the one that is taken."""
    points = candidates.landmarks.points
    first = _Chart.of(fit, candidates.landmarks, points)
    if first.even >= WHOLE and not candidates.tries_rows:
        return first, first
    best = _most_even(fit, candidates, first)
    if not candidates.tries_rows:
        return first, best if best.even >= TORN else first
    if best.even >= EVEN and not candidates.is_mild:
        return first, best
    try:
        rows = _Chart.of(fit, None, points)
    except (ValueError, MemoryError):
        return first, best
    unclear = best.even < EVEN and (best.even < TORN or rows.even > NEARLY * best.even)
    alike = rows.even >= EVEN and 1 - rows.even <= ALIKE * (1 - best.even)
    declined = unclear or rows.even > best.even or (candidates.is_mild and alike)
    return first, rows if declined else best


def _try_rows(fit: Fit, candidates: Candidates) -> tuple[_Chart, _Chart]:
    """Return the chart of the rows, and the one that is taken."""
    with trial() as recorded:
        fitted = fit(None)
    rows = _Chart(None, fitted, recorded, _evenness_of_rows(fitted, candidates))
    if rows.even >= WHOLE or not candidates.may_be_better:
        return rows, rows
    best = _most_even(fit, candidates, rows, candidates.landmarks)
    return rows, best if best.even >= DOUBTFUL else rows


def _evenness_of_rows(fitted: dict[str, Any], candidates: Candidates) -> float:
    """Evenness on some rows where these have no noise, and on landmarks if that is low."""
    if candidates.found.choice is not None:
        even = _evenness(fitted, candidates.sample.rows.points[:MEASURED_ROWS])
        if even >= WHOLE:
            return even
    return _evenness(fitted, candidates.landmarks.points)


def _most_even(fit: Fit, candidates: Candidates, best: _Chart, *others: Landmarks) -> _Chart:
    """Try landmarks until a chart is even, and return the most even one."""
    points = candidates.landmarks.points
    for rival in () if best.even >= EVEN else chain(others, candidates.rivals()):
        try:
            chart = _Chart.of(fit, rival, points)
        except ValueError:
            continue
        best = chart if chart.even > best.even else best
        if best.even >= EVEN:
            break
    return best


def _record_choice(record: Stage, first: _Chart, taken: _Chart) -> None:
    """Record what was taken in place of what was fitted first, and why."""
    _forget_landmarks(record)
    if taken.landmarks is not None:
        record.facts.update(describe_landmarks(taken.landmarks))
        return
    if taken.even > first.even:
        why = "the chart of the rows is more even than that of landmarks"
    elif taken.even >= EVEN:
        why = "noise is mild, and the chart of the rows about as even as that of landmarks"
    elif taken.even > NEARLY * first.even:
        why = "the chart of the rows is about as even as that of landmarks"
    else:
        why = "the chart of landmarks is torn or folded, as is that of the rows"
    record.facts["declined"] = f"{why} ({taken.even:.2f}, {first.even:.2f})"


def _forget_landmarks(record: Stage) -> None:
    """Remove what was recorded of landmarks that are not taken, or of why they were declined."""
    for name in ("patch_size", "landmarks", "displacement", "declined"):
        record.facts.pop(name, None)


def _evenness(fitted: dict[str, Any], points: FloatArray) -> float:
    """Evenness of the chart that a fit gives to points of the surface."""
    chart = np.asarray(fitted["extension"](points))
    return chart_evenness(points, chart, chart.shape[1])
