"""The denoising stage of a fit: landmarks on the estimated surface in place of the rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unbend.denoising import (
    Landmarks,
    NoiseMeasurement,
    Sample,
    chart_evenness,
    measure_noise,
    project_landmarks,
)
from unbend.denoising.patches import coefficients
from unbend.estimators.denoising_options import DenoiseOptions
from unbend.neighbors import PointSpace, Space
from unbend.neighbors.metrics import EUCLIDEAN
from unbend.report import Stage, note, trial, warn

# Landmarks of a curve at most: the lowest eigenvalues of its alignment fall with their fourth
# power, so that of many landmarks small faults make up the first coordinate.
CURVE_LANDMARKS = 300
# Landmarks for each patch of rows and neighbour: the neighbourhoods of landmarks are no smaller
# than a third of a patch, whose landmarks share their noise.
PER_PATCH = 3.0
# Neighbours that are reckoned with where their number is left open.
NEIGHBORS = 10
# Share of outliers from which on rows are denoised even without noise.
OUTLIERS = 0.005
# Fewest rows that a measurement is made of, and landmarks for each dimension of the surface.
FEWEST_ROWS, FEWEST_LANDMARKS = 200, 80
# Share of the landmarks asked for that may be missing: few candidates are left out anywhere.
SPARED = 0.05
# Evenness from which on the chart of landmarks is taken without a trial.
EVEN = 0.8
# Landmarks that are tried where the chart of at least twice as many is uneven, and how even theirs
# has to be; and the evenness below which no chart of landmarks is better than one of the rows.
FEWER, EVEN_ENOUGH, TORN = 150, 0.3, 0.1


@dataclass(frozen=True)
class DenoisingStage:
    """Landmarks for one fit: the options, the neighbours of a row and what the method needs."""

    options: DenoiseOptions
    d: int
    n_neighbors: Any
    least_rows: int
    most_landmarks: int
    # Whether landmarks are spread evenly over the surface, and not as dense as the rows.
    spread: bool = True
    # Why 'auto' leaves the rows to this method as they are.
    reluctance: str | None = None

    def run(self, space: Space, obstacle: str | None) -> Landmarks | None:
        """Project landmarks, or return None where there is nothing to denoise.

        An `obstacle` is what of the other parameters leaves nothing to denoise.
        """
        reason = obstacle or _unsuited(space, self.d)
        if reason is None:
            assert isinstance(space, PointSpace)
            sample = Sample.of(space, self.d)
            found = measure_noise(sample, self.d)
            note(**_facts(found))
            reason = self._declined(found, sample)
            if reason is None:
                return self._project(found, sample)
        elif self.options.always:
            raise ValueError(
                f"Landmarks cannot be projected: {reason}. Use denoise=False{self._remedy(space)}."
            )
        note(declined=reason)
        return None

    def _remedy(self, space: Space) -> str:
        """Name the largest dimension that the columns allow, where the surface has too many."""
        if not isinstance(space, PointSpace) or not 1 < space.points.shape[1] <= self.d:
            return ""
        return f", or denoise={{'dimension': {space.points.shape[1] - 1}}}"

    def _declined(self, found: NoiseMeasurement, sample: Sample) -> str | None:
        """Why 'auto' leaves the rows as they are."""
        if self.options.always:
            if self.options.patch_size is None and not len(found.sizes):
                raise ValueError(
                    f"{sample.n} distinct rows are too few to estimate a surface of dimension "
                    f"{self.d} from: use denoise=False"
                )
            return None
        if self.reluctance is not None:
            return self.reluctance
        if sample.n < FEWEST_ROWS or not len(found.sizes):
            return f"{sample.n} distinct rows are too few"
        if found.clustered:
            return "the rows are clusters, which few neighbours do not connect"
        if found.patch_size is None:
            return f"no patches show a surface of dimension {self.d}"
        if found.hides(sample.distinct) < 1 and sample.outlier_share() < OUTLIERS:
            return "noise is narrow against neighbourhoods"
        return None

    def _project(self, found: NoiseMeasurement, sample: Sample) -> Landmarks:
        # Without noise there are outliers.
        narrow = found.choice is not None and found.hides(sample.distinct) < 1
        measured = found.steady_size if narrow else found.patch_size
        size = self.options.patch_size or measured or int(found.sizes[found.ratio.argmin()])
        size = min(max(size, coefficients(self.d)), sample.n - 1)
        count = self._count(found, sample, size)
        landmarks = project_landmarks(sample, size, count, self.d, self.spread)
        taken = len(landmarks.points)
        note(patch_size=size, landmarks=taken, displacement=landmarks.displacement)
        self._check_taken("patch_size", size, sample)
        self._check_taken("n_landmarks", taken, sample)
        return landmarks

    def _check_taken(self, name: str, taken: int, sample: Sample) -> None:
        """Warn of a size that differs from the one that was given."""
        given = getattr(self.options, name)
        if given is not None and not (1 - SPARED) * given <= taken <= given:
            way, limit = ("raised", "need more") if taken > given else ("lowered", "allow no more")
            warn(
                f"denoise[{name!r}]={given} was {way} to {taken}: a surface of dimension {self.d} "
                f"and {sample.n} distinct rows {limit}."
            )

    def _count(self, found: NoiseMeasurement, sample: Sample, size: int) -> int:
        """Choose how many landmarks: of more, neighbourhoods would be small against the noise."""
        if self.options.n_landmarks is not None:
            return max(min(self.options.n_landmarks, sample.n), self.least_rows)
        k = self.n_neighbors if isinstance(self.n_neighbors, int) else NEIGHBORS
        smallest = size if found.first is None else min(size, int(found.sizes[found.first]))
        count = PER_PATCH * k * sample.distinct / smallest
        count = min(count, found.bearable_landmarks(sample.distinct, k), self.most_landmarks)
        if self.d == 1:
            count = min(count, CURVE_LANDMARKS)
        return max(round(count), FEWEST_LANDMARKS * self.d, self.least_rows)


def fit_with_trial(
    fit: Callable[[Landmarks | None], dict[str, Any]], landmarks: Landmarks, record: Stage
) -> dict[str, Any]:
    """Fit landmarks; where their chart is uneven, try others, and take the most even chart.

    The others are that of fewer landmarks, whose neighbourhoods are wider, and that of the rows.
    All are measured on the landmarks. `record` is the stage that projected these.
    """
    with trial() as chosen:
        fitted = fit(landmarks)
    even = of_landmarks = _evenness(fitted, landmarks)
    if even < EVEN and len(landmarks.points) >= 2 * FEWER:
        fewer = landmarks.first(FEWER)
        found = _try(fit, fewer, landmarks)
        if found is not None and found[2] > max(even, EVEN_ENOUGH):
            fitted, chosen, even = found
            record.facts["landmarks"] = len(fewer.points)
    if even < EVEN:
        found = _try(fit, None, landmarks)
        if found is not None and (found[2] > even or even < TORN):
            fitted, chosen, _ = found
            _record_decline(record, found[2], even)
    record.facts["evenness"] = of_landmarks
    chosen.adopt()
    return fitted


def _try(
    fit: Callable[[Landmarks | None], dict[str, Any]], rival: Landmarks | None, measured: Landmarks
) -> tuple[dict[str, Any], Any, float] | None:
    """Fit a rival, and measure its chart; None where it cannot be fitted."""
    try:
        with trial() as tried:
            fitted = fit(rival)
    except ValueError:
        return None
    return fitted, tried, _evenness(fitted, measured)


def _record_decline(record: Stage, even: float, of_landmarks: float) -> None:
    """Record that the chart of the rows was taken, and why."""
    for name in ("patch_size", "landmarks", "displacement"):
        record.facts.pop(name)
    if even > of_landmarks:
        why = "the chart of the rows is more even than that of landmarks"
    else:
        why = "the chart of landmarks is torn or folded, as is that of the rows"
    record.facts["declined"] = f"{why} ({even:.2f}, {of_landmarks:.2f})"


def _evenness(fitted: dict[str, Any], landmarks: Landmarks) -> float:
    """Evenness of the chart that a fit gives to landmarks."""
    chart = np.asarray(fitted["extension"](landmarks.points))
    return chart_evenness(landmarks.points, chart, chart.shape[1])


def _facts(found: NoiseMeasurement) -> dict[str, Any]:
    """Return what the report records of a measurement."""
    facts: dict[str, Any] = {"sizes": len(found.sizes)}
    if found.choice is not None:
        at = found.choice
        facts |= {
            "noise": found.sigma,
            "share": float(found.ratio[at]),
            "curvature": float(found.curvature[at]),
            "radius": float(found.radius[at]),
        }
    return facts


def _unsuited(space: Space, d: int) -> str | None:
    """Why rows of a space cannot be projected onto a surface."""
    if not isinstance(space, PointSpace):
        return "metric='precomputed' gives distances"
    if space.metric is not EUCLIDEAN:
        return f"metric={space.metric.name!r} is not Euclidean"
    if space.points.shape[1] <= d:
        columns = space.points.shape[1]
        leave = "1 column leaves" if columns == 1 else f"{columns} columns leave"
        return f"{leave} no direction across a surface of dimension {d}"
    return None
