"""The denoising stage of a fit: landmarks on the estimated surface in place of the rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from unbend.cached import cached_property
from unbend.denoising import (
    Landmarks,
    NoiseMeasurement,
    Sample,
    measure_noise,
    project_landmarks,
)
from unbend.denoising.measurement import APART
from unbend.denoising.patches import coefficients
from unbend.estimators.denoising_options import TRIED_ROWS, DenoiseOptions
from unbend.neighbors import PointSpace, Space
from unbend.neighbors.metrics import EUCLIDEAN
from unbend.report import note, warn

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
# Landmarks that are tried where the chart of more is uneven.
FEWER = 150
# How far noise is above what the rows bear (`NoiseMeasurement.hides`) up to which it is mild.
MILD = 10.0


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

    def run(self, space: Space, obstacle: str | None) -> "Candidates | None":
        """Measure the noise, and return what may be fitted; None where only the rows can be.

        An `obstacle` is what of the other parameters leaves nothing to denoise.
        """
        reason = obstacle or _unsuited(space, self.d)
        if reason is not None:
            if self.options.always:
                raise ValueError(
                    f"Landmarks cannot be projected: {reason}. Use "
                    f"denoise=False{self._remedy(space)}."
                )
            note(declined=reason)
            return None
        assert isinstance(space, PointSpace)
        sample = Sample.of(space, self.d)
        found = measure_noise(sample, self.d)
        note(**_facts(found))
        reason = self._declined(found, sample)
        if reason is not None:
            note(declined=reason)
            return None
        candidates = Candidates(self, sample, found, self._doubt(found, sample))
        if candidates.declined is None:
            note(**describe_landmarks(candidates.landmarks))
        else:
            note(declined=candidates.declined)
        return candidates

    def _remedy(self, space: Space) -> str:
        """Name the largest dimension that the columns allow, where the surface has too many."""
        if not isinstance(space, PointSpace) or not 1 < space.points.shape[1] <= self.d:
            return ""
        return f", or denoise={{'dimension': {space.points.shape[1] - 1}}}"

    def _declined(self, found: NoiseMeasurement, sample: Sample) -> str | None:
        """Why 'auto' leaves the rows as they are, whatever their chart is."""
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
            return "the rows are clusters and no surface"
        return None

    def _doubt(self, found: NoiseMeasurement, sample: Sample) -> str | None:
        """Why 'auto' leaves the rows as they are, unless their chart is torn."""
        if self.options.always:
            return None
        if found.patch_size is None:
            return f"no patches show a surface of dimension {self.d}"
        if found.hides(sample.distinct) < 1 and sample.outlier_share() < OUTLIERS:
            return "noise is narrow against neighbourhoods"
        return None

    def project(self, found: NoiseMeasurement, sample: Sample) -> Landmarks:
        """Project landmarks by patches of the size that was asked for or measured."""
        # Without noise there are outliers.
        narrow = found.choice is not None and found.hides(sample.distinct) < 1
        measured = found.steady_size if narrow else found.patch_size
        size = self.options.patch_size or measured or int(found.sizes[found.ratio.argmin()])
        size = min(max(size, coefficients(self.d)), sample.n - 1)
        count = self._count(found, sample, size)
        landmarks = project_landmarks(sample, size, count, self.d, self.spread)
        self._check_taken("patch_size", size, sample)
        self._check_taken("n_landmarks", len(landmarks.points), sample)
        return landmarks

    @property
    def usual_neighbors(self) -> int:
        """Neighbours that the user asked for, or about as many as are taken."""
        return self.n_neighbors if isinstance(self.n_neighbors, int) else NEIGHBORS

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
        k = self.usual_neighbors
        smallest = size if found.first is None else min(size, int(found.sizes[found.first]))
        count = PER_PATCH * k * sample.distinct / smallest
        count = min(count, found.bearable_landmarks(sample.distinct, k), self.most_landmarks)
        if self.d == 1:
            count = min(count, CURVE_LANDMARKS)
        return max(round(count), FEWEST_LANDMARKS * self.d, self.least_rows)


@dataclass(frozen=True, eq=False)
class Candidates:
    """Landmarks for a fit, and others that are tried where the chart of the first is uneven.

    `declined` is why the rows as they are come first, if they do.
    """

    stage: DenoisingStage
    sample: Sample
    found: NoiseMeasurement
    declined: str | None

    @cached_property
    def landmarks(self) -> Landmarks:
        """Landmarks of the sizes that were measured."""
        return self.stage.project(self.found, self.sample)

    @property
    def first(self) -> Landmarks | None:
        """What is fitted first: landmarks, or None for the rows."""
        return None if self.declined is not None else self.landmarks

    @property
    def is_mild(self) -> bool:
        """Whether noise may do the rows less harm than projections do."""
        return self.found.hides(self.sample.distinct) < MILD

    @property
    def tries_rows(self) -> bool:
        """Whether the rows are few enough to be fitted beside landmarks."""
        return self.sample.distinct <= TRIED_ROWS

    @property
    def may_be_better(self) -> bool:
        """Whether landmarks may take the place of rows that have a torn chart.

        Not of a curve, which one gap tears without making its chart uneven, nor of clusters.
        """
        if self.stage.d == 1:
            return False
        return self.found.choice is not None or self.sample.share_apart() <= APART

    def rivals(self) -> Iterator[Landmarks]:
        """Yield landmarks by smaller patches, and few landmarks with wide neighbourhoods.

        Smaller ones are the smallest, or half way to them in the logarithm where rows are many. Of
        few rows in three dimensions and more, patches wide against the noise are wide against
        the bends of the surface, too, and neighbourhoods of ten landmarks hardly overlap.
        """
        d, count = self.stage.d, len(self.landmarks.points)
        smallest, measured = 2 * coefficients(d), self.landmarks.patch_size
        if smallest < measured:
            size = smallest if self.tries_rows else round((smallest * measured) ** 0.5)
            yield project_landmarks(self.sample, size, count, d, self.stage.spread)
        if count > FEWER:
            yield self.landmarks.first(FEWER, max(smallest, self.stage.usual_neighbors))


def describe_landmarks(landmarks: Landmarks) -> dict[str, Any]:
    """Return what the report records of landmarks that were fitted."""
    facts = {
        "patch_size": landmarks.patch_size,
        "landmarks": len(landmarks.points),
        "displacement": landmarks.displacement,
    }
    return facts if landmarks.neighbors == 1 else facts | {"neighbors": landmarks.neighbors}


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
