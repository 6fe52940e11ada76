"""Properties of data measured for the suggestion of a method."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.denoising import Sample as NoiseSample
from unbend.denoising import measure_noise
from unbend.denoising.patches import principal_axes
from unbend.graphs import components, consistency
from unbend.graphs.short_circuits import judge_edges
from unbend.neighborhood_sizes import choose_number
from unbend.neighbors import PointSpace
from unbend.neighbors.space import centered_gram
from unbend.progress import monitoring
from unbend.quality import residual_variance
from unbend.selection.dimensions import decide_dimension, describe_dimension, is_narrow
from unbend.selection.inputs import Data, Kind, Sample, make_method
from unbend.selection.relief import Relief
from unbend.selection.trials import (
    FOLDED,
    ROWS,
    ChartMisfit,
    Trials,
    continues,
    denoised_sample,
    try_charts,
)

# Bounds between one answer and another. On the surfaces of `unbend.datasets`, at 1500
# points: variance outside the plane 0.015 at most where flat and 0.10 at least where not; residual
# variance 0.001 at most where convex, 0.005 and more with a hole, 0.1 and more where closed up, of
# which one more coordinate leaves 0.58 at most on spheres and tori and 0.85 at least elsewhere;
# ratio of neighbouring eigenvalues 5 at most where in one piece, 7 and more in clusters.
FLAT, CONVEX, BENT, CLOSED, LEFT, CLUSTERED = 0.03, 0.0025, 0.04, 0.1, 0.6, 6.0
# A ring leaves 0.45 and more, at 200 points or 1500, with noise of 0.05 of its spread or without; a
# curve that does not close leaves nothing but what noise makes.
CLOSED_CURVE = 0.3
# Share of edges between denoised rows, at most, that leave the tangent planes of a surface that
# closes up, and of a curve; in rolls whose sheets noise or few rows join, it is 0.002 and more. Of
# spheres, tubes and rings with noise of a tenth of the radius it is 0.001 at most, and of rings
# 0.009. Sine of the angle, squared, from which on an edge leaves them.
CROSSING, CROSSING_CURVE, STEEP = 0.003, 0.02, 0.5
# Share of noise in the variance from which on closed data are not told from noise.
NOISY_SHARE = 0.1
# Share of the geodesics that the best chart misses at most where it lays the data out, and distance
# between its neighbours on the surface. Of spheres, tori, rings and tubes the second is 0.36 and
# more, or the first 0.18 and more.
LAID_OUT, TOGETHER = 0.1, 0.3
# The chart that is meant by sheets that cannot be flattened.
MEANT: Mapping[Relief, str] = {"waves": "PCA", "bowl": "LTSA"}
# Error of a chart, of its spread, from which on it is unlike the one it is compared with.
UNLIKE = 0.5
# Dimensions up to which charts are tried: neighbourhoods of more are as wide as the data.
MOST_CHARTED = 4
# Neighbours with which the surfaces were measured, and eigenvalues that are looked at.
NEIGHBORS, EIGENVALUES = 10, 8
# Coordinates of a picture.
PICTURE = 2
# Share of rows that a part must have to count as a cluster and not as some outliers.
PART = 0.02


@dataclass(frozen=True, eq=False)
class Findings:
    """What was measured of the data.

    Attributes
    ----------
    kind : {"points", "distances", "graph"}
        What the data are.
    n, columns : int
        Rows and columns of the data, of distances and graphs 0 columns; everything else may come
        from a sample of the rows.
    dimension : int
        Intrinsic dimension.
    low, high : int
        The range of it that the rules of `choose_dimension` leave.
    outside : float
        Share of the variance outside the best plane of that dimension: small where PCA is enough.
    variances : array (m,)
        Variance along each principal axis, largest first.
    residual : float
        Residual variance of Isomap with that many coordinates: what no flat convex sheet explains.
    residuals : array (m,)
        The same of 1, 2, … coordinates.
    parts : int
        Connected components of the neighbourhood graph, outliers not counted.
    clusters : int
        Clusters that are weakly connected, as the widest ratio of the graph's eigenvalues
        has it; 1 where there is no such ratio.
    hidden : float
        How far noise hides a coordinate from local methods; above one it does.
    n_neighbors : int
        Number of neighbours by noise and curvature, as n_neighbors='auto' has it; of graphs ten.
    surface : bool
        Whether patches show a surface of that dimension, as denoising needs it.
    noise : float
        Standard deviation of the noise of a column about that surface; not a number without.
    noise_share : float
        Share of the variance that is noise across the surface; not a number without.
    crossing : float
        Share of edges that leave the tangent planes, where data seem to close up: of a surface
        that does there are none, and between sheets that noise joins there are.
    charts : mapping of str to ChartMisfit
        How badly charts by several methods, fitted to some rows, lay the surface out; empty where
        none were fitted.
    reference : ChartMisfit or None
        How well the chart of these rows does that keeps lengths best.
    short_circuits : int
        Edges of the graph of ten neighbours that jump between sheets; 0 where they are not
        determined, or only some of the rows were measured. Duplicate rows
        count once.
    relief : {"", "waves", "bowl"}
        Whether the rows lie on a sheet that no chart flattens: one that rises and falls about a
        plane, with little noise, or a bowl.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(300, random_state=0)
    >>> found = unbend.suggest(roll.points, for_="chart").findings
    >>> found.kind, found.n, found.columns
    ('points', 300, 3)
    """

    kind: Kind
    n: int
    columns: int
    dimension: int
    low: int
    high: int
    outside: float
    variances: FloatArray
    residual: float
    residuals: FloatArray
    parts: int
    clusters: int
    hidden: float
    n_neighbors: int
    surface: bool = False
    noise: float = float("nan")
    noise_share: float = float("nan")
    crossing: float = 0.0
    charts: Mapping[str, ChartMisfit] = field(default_factory=dict)
    reference: ChartMisfit | None = None
    short_circuits: int = 0
    relief: Relief = ""

    @property
    def verdict(self) -> str:
        """The intrinsic dimension in words, as `choose_dimension` has it."""
        return describe_dimension(self.low, self.high)

    @property
    def determined(self) -> bool:
        """Whether the rules leave one dimension, or a narrow range."""
        return is_narrow(self.low, self.high)

    @property
    def count(self) -> int:
        """Number of clusters, disconnected or connected by thin bridges."""
        return max(self.parts, self.clusters)

    @property
    def flat(self) -> bool:
        """Whether the data lie in a plane, up to noise."""
        return self.outside < FLAT

    @property
    def clustered(self) -> bool:
        """Whether the data are clusters rather than one sheet.

        Bridges are as thin where the rows of a sheet are sparse, and a hole cuts a curve in two.
        """
        return self.count > 1 and not self.laid_out

    @property
    def convex(self) -> bool:
        """Whether the plane can hold the data with all geodesics straight."""
        return self.residual < CONVEX

    @property
    def bent(self) -> bool:
        """Whether as many coordinates as dimensions leave much of the geodesics unexplained."""
        return self.residual > BENT

    @property
    def closed(self) -> bool:
        """Whether the data close up, so that one more coordinate explains what is left.

        Where the rules leave a larger dimension too, that one may explain it instead; and noise
        across a surface leaves much unexplained, too. Edges between sheets of a roll close it.
        """
        d = self.dimension
        if self.crossing > (CROSSING_CURVE if d == 1 else CROSSING):
            return False
        calm = not self.noise_share > NOISY_SHARE and not self.laid_out
        return calm and d == self.high and _closes(self.residuals, d)

    @property
    def chart(self) -> str | None:
        """The chart nearest to the reference; None without any.

        Where even the reference folds, it is the one that keeps neighbours together best. Where no
        chart keeps lengths, it is the plane of waves, and of a bowl LTSA, which keeps lengths from
        the middle better. One that is unlike the reference is not meant: a single outlier makes a
        bowl of a plane.
        """
        known = {name: one for name, one in self.charts.items() if np.isfinite(one.error)}
        if not known:
            return None
        if self.folded:
            return min(known, key=lambda name: known[name].neighbors)
        meant = MEANT.get(self.relief, "")
        if meant in known and known[meant].error <= UNLIKE:
            return meant
        return min(known, key=lambda name: known[name].error)

    @property
    def laid_out(self) -> bool:
        """Whether a chart was found whose distances are the geodesics."""
        best = self.reference
        if best is None or best.torn:
            return False
        return best.geodesics < LAID_OUT and best.neighbors < TOGETHER

    @property
    def folded(self) -> bool:
        """Whether even the chart that keeps lengths best folds: sheets are joined."""
        return self.reference is not None and self.reference.neighbors > FOLDED

    @property
    def noisy(self) -> bool:
        """Whether noise rules the neighbourhoods."""
        return self.hidden > 1


def measure(
    data: Data, sample: Sample, known: int | None, n: int, charted: bool = False
) -> Findings:
    """Measure a sample on behalf of n rows; the dimension may be known, and charts tried."""
    with monitoring(lambda progress: None):
        d, low, high = (known,) * 3 if known else decide_dimension(data)
        d = int(min(d, sample.columns))
        if charted and low < d == sample.columns:
            # As many coordinates as columns are the rows themselves, and no chart.
            d = low
        k = min(NEIGHBORS, len(sample) - 1)
        parts, clusters = _clusters(data, sample, k)
        # Bridges between clusters are thin, and no number of neighbours makes them wide.
        apart = parts > 1 or clusters > 1
        report = None if apart else consistency(sample.space, d, k)
        variances = _variances(sample)
        most = high if is_narrow(low, high) else d
        calm, jumps = _calm(sample, d, k)
        surface = _surface(sample, d, float(variances.sum()))
        shown = bool(surface.get("surface"))
        residuals = _residuals(sample, max(most + 1, PICTURE), calm)
        residuals, crossing = _look_again(sample, d, calm, shown, residuals)
        charted = charted and bool(surface) and d <= MOST_CHARTED and is_narrow(low, high)
        if charted and parts != 1:
            # Of several parts, or small ones alone, only those of one surface have a chart.
            charted = low == high and (shown or continues(sample, d, k))
        trials = try_charts(data.sample(ROWS, 0), d) if charted else Trials()
        return Findings(
            kind=data.kind,
            n=n,
            columns=data.rows.shape[1] if data.kind == "points" else 0,
            dimension=d,
            low=low,
            high=high,
            outside=share_outside(variances, d),
            variances=variances,
            residual=float(residuals[min(d, len(residuals)) - 1]),
            residuals=residuals,
            parts=parts,
            clusters=clusters,
            hidden=0.0 if report is None else report.hidden,
            n_neighbors=_neighbors(data, d, k),
            crossing=crossing,
            charts=trials.charts,
            reference=trials.reference,
            short_circuits=jumps if sample.complete and n == data.n else 0,
            relief=trials.relief,
            **surface,
        )


def _closes(residuals: FloatArray, d: int) -> bool:
    """Whether d coordinates leave much of the geodesics unexplained, of which one more has most."""
    bound = CLOSED_CURVE if d == 1 else CLOSED
    if d >= len(residuals):
        return False
    return bool(residuals[d - 1] > bound and residuals[d] < LEFT * residuals[d - 1])


def _look_again(
    sample: Sample, d: int, k: int, shown: bool, residuals: FloatArray
) -> tuple[FloatArray, float]:
    """Return residual variances and the share of edges across, of denoised rows that seem closed.

    Noise shortens geodesics so that data seem to close up.
    """
    if not _closes(residuals, d):
        return residuals, 0.0
    clean = denoised_sample(sample, d) if shown else None
    if clean is not None:
        residuals = _residuals(clean, len(residuals), k)
    return residuals, _crossing(clean or sample, d, min(NEIGHBORS, len(sample) - 1))


def _crossing(sample: Sample, d: int, k: int) -> float:
    """Share of edges that leave the tangent planes at their first ends; zero of distances."""
    if sample.metric != "euclidean" or sample.columns <= d:
        return 0.0
    near = sample.space.nearest(k).indices.reshape(len(sample), k)
    steps = sample.values[near] - sample.values[:, None]
    patches = np.concatenate((np.zeros_like(steps[:, :1]), steps), axis=1)
    axes = principal_axes(patches - patches.mean(axis=1, keepdims=True), d)
    along = np.square(steps @ axes).sum(axis=2)
    return float(np.mean(along < (1 - STEEP) * np.square(steps).sum(axis=2)))


def _calm(sample: Sample, d: int, k: int) -> tuple[int, int]:
    """Return fewer neighbours than k where as many may jump between sheets, and how many edges do.

    That would look like closed data. The edges tell a jump from an edge that closes a ring; where
    noise hides the difference, fewer neighbours are safe.
    """
    jumps = judge_edges(sample.space, sample.space.nearest(k), d)
    if not len(jumps) and not jumps.undetermined:
        return k, 0
    return min(k, choose_number(sample.space, d).n_neighbors), len(jumps)


def _neighbors(data: Data, d: int, k: int) -> int:
    """Return the number that a fit of all rows would take."""
    if data.kind == "graph":
        return k
    space = data.complete
    return choose_number(space.take(space.distinct()[0]), d, glued=d).n_neighbors


def _surface(sample: Sample, d: int, variance: float) -> dict[str, Any]:
    """Measure noise as denoising does, and its share of the variance of all columns."""
    if sample.metric != "euclidean" or sample.columns <= d:
        return {}
    found = measure_noise(NoiseSample.of(PointSpace(sample.values), d), d)
    # Directions in which rows do not differ have no noise.
    normals = max(sample.spanned.values.shape[1] - d, 0)
    share = normals * found.sigma**2 / max(variance, np.finfo(float).tiny)
    return {"surface": found.patch_size is not None, "noise": found.sigma, "noise_share": share}


def share_outside(variances: FloatArray, d: int) -> float:
    """Share of the variance outside the first d principal axes."""
    return float(variances[d:].sum() / max(variances.sum(), np.finfo(float).tiny))


def _variances(sample: Sample) -> FloatArray:
    """Variance along each principal axis; of distances, those of the configuration they define."""
    if sample.metric == "precomputed":
        values = np.linalg.eigvalsh(centered_gram(sample.values[None])[0])
        return np.sort(np.abs(values))[::-1] / len(sample)
    centered = sample.values - sample.values.mean(axis=0)
    return np.linalg.svd(centered, compute_uv=False) ** 2 / len(sample)


def _residuals(sample: Sample, d: int, k: int) -> FloatArray:
    """Residual variance of 1 to d coordinates, by a graph of enough edges for smooth geodesics."""
    # Dense: where eigenvalues come in pairs or crowd, iterations take long.
    d = min(d, len(sample) - 2)
    model = sample.fit("Isomap", n_components=d, n_neighbors=k, eigen_solver="dense")
    return residual_variance(model.geodesics_, model.embedding_, metric="precomputed")


def _clusters(data: Data, sample: Sample, k: int) -> tuple[int, int]:
    """Parts of the graph, and clusters by the widest ratio of eigenvalues.

    The eigenvalues of a strip grow as 1, 4, 9, …, those of c clusters as c − 1 small ones and then
    others: a ratio well above four separates them.
    """
    graph = data.lengths if data.kind == "graph" else sample.space.nearest(k).graph()
    count = min(EIGENVALUES, graph.shape[0] - 3)
    if data.kind == "graph":
        waves = make_method("LaplacianEigenmaps", n_components=count, metric="precomputed")
        waves.fit(data.rows)
    else:
        waves = sample.fit("LaplacianEigenmaps", n_components=count, n_neighbors=k)
    large = int(np.sum(np.bincount(components(graph)) >= PART * graph.shape[0]))
    values = waves.eigenvalues_
    ratios = values[1:] / np.maximum(values[:-1], np.finfo(float).tiny)
    widest = int(np.argmax(ratios))
    return large, widest + 2 if ratios[widest] > CLUSTERED else 1
