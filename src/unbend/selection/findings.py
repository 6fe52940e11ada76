"""Properties of data measured for the suggestion of a method."""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray
from unbend.graphs import components, consistency
from unbend.neighbors import PointSpace
from unbend.progress import monitoring
from unbend.quality import residual_variance
from unbend.selection._common import make_method
from unbend.selection.dimensions import choose_dimension

# Bounds between one answer and another. On the surfaces of `unbend.datasets`, at 1500
# points: variance outside the plane 0.015 at most where flat and 0.10 at least where not; residual
# variance 0.001 at most where convex, 0.005 and more with a hole, 0.1 and more where closed up;
# ratio of neighbouring eigenvalues 5 at most where in one piece, 7 and more in clusters.
FLAT, CONVEX, CLOSED, CLUSTERED = 0.03, 0.0025, 0.04, 6.0
# Neighbours with which the surfaces were measured, and eigenvalues that are looked at.
NEIGHBORS, EIGENVALUES = 10, 8
# Share of rows that a part must have to count as a cluster and not as some outliers.
PART = 0.02


@dataclass(frozen=True, eq=False)
class Findings:
    """What was measured of the data.

    Attributes
    ----------
    n, columns : int
        Rows and columns of the data; everything else may come from a sample of the rows.
    dimension : int
        Intrinsic dimension.
    rival : int or None
        Another dimension that as many rules see, where there is one.
    outside : float
        Share of the variance outside the best plane of that dimension: small where PCA is enough.
    residual : float
        Residual variance of Isomap with that many coordinates: what no flat convex sheet explains.
    parts : int
        Connected components of the neighbourhood graph, outliers not counted.
    clusters : int
        Clusters that are weakly connected, as the widest ratio of the graph's eigenvalues
        has it; 1 where there is no such ratio.
    hidden : float
        How far noise hides a coordinate from local methods; above one it does.
    n_neighbors : int
        The smallest consistent number of neighbours, or ten.
    """

    n: int
    columns: int
    dimension: int
    rival: int | None
    outside: float
    residual: float
    parts: int
    clusters: int
    hidden: float
    n_neighbors: int

    @property
    def flat(self) -> bool:
        """Whether the data lie in a plane, up to noise."""
        return self.outside < FLAT

    @property
    def clustered(self) -> bool:
        """Whether the data are clusters rather than one sheet."""
        return self.parts > 1 or self.clusters > 1

    @property
    def convex(self) -> bool:
        """Whether the data can be laid out in the plane with all geodesics straight."""
        return self.residual < CONVEX

    @property
    def closed(self) -> bool:
        """Whether the data close up or curve too much for as many coordinates as dimensions."""
        return self.residual > CLOSED

    @property
    def noisy(self) -> bool:
        """Whether noise rules the neighbourhoods."""
        return self.hidden > 1


def measure(points: FloatArray, sample: FloatArray, dimension: int | None) -> Findings:
    """Measure the sample on behalf of all points."""
    with monitoring(lambda progress: None):
        d, rival = (dimension, None) if dimension else intrinsic_dimension(sample)
        d = min(d, sample.shape[1])
        k = min(NEIGHBORS, len(sample) - 1)
        parts, clusters = _clusters(sample, k)
        # Bridges between clusters are thin, and no number of neighbours makes them wide.
        apart = parts > 1 or clusters > 1
        report = None if apart else consistency(sample, d, k)
        return Findings(
            n=len(points),
            columns=points.shape[1],
            dimension=d,
            rival=rival,
            outside=_variance_outside(sample, d),
            residual=_residual(sample, d, k),
            parts=parts,
            clusters=clusters,
            hidden=0.0 if report is None else report.hidden,
            n_neighbors=k if report is None else max(k, report.suggested or k),
        )


def intrinsic_dimension(sample: FloatArray) -> tuple[int, int | None]:
    """Dimensions, not coordinates: closed data need more of the latter, noise inflates them.

    And another number where the rules disagree.
    """
    choice = choose_dimension(sample)
    local = [vote for name, vote in choice.votes.items() if not name.startswith(("spec", "resid"))]
    typical = round(float(np.median(local))) if local else choice.dimension
    chosen = max(1, min(choice.dimension, typical))
    return chosen, choice.rival if chosen == choice.dimension else choice.dimension


def _variance_outside(sample: FloatArray, d: int) -> float:
    values = np.linalg.svd(sample - sample.mean(axis=0), compute_uv=False) ** 2
    return float(values[d:].sum() / max(values.sum(), np.finfo(float).tiny))


def _residual(sample: FloatArray, d: int, k: int) -> float:
    """Residual variance with d coordinates, by a graph of enough edges for smooth geodesics."""
    # Dense: where eigenvalues come in pairs or crowd, iterations take long.
    model = make_method("Isomap", n_components=d, n_neighbors=k, eigen_solver="dense").fit(sample)
    curve = residual_variance(model.geodesics_, model.embedding_, metric="precomputed")
    return float(curve[-1])


def _clusters(sample: FloatArray, k: int) -> tuple[int, int]:
    """Parts of the graph, and clusters by the widest ratio of eigenvalues.

    The eigenvalues of a strip grow as 1, 4, 9, …, those of c clusters as c − 1 small ones and then
    others: a ratio well above four separates them.
    """
    labels = components(PointSpace(sample).nearest(k).graph())
    large = int(np.sum(np.bincount(labels) >= PART * len(sample)))
    count = min(EIGENVALUES, len(sample) - 3)
    waves = make_method("LaplacianEigenmaps", n_components=count, n_neighbors=k).fit(sample)
    values = waves.eigenvalues_
    ratios = values[1:] / np.maximum(values[:-1], np.finfo(float).tiny)
    widest = int(np.argmax(ratios))
    return large, widest + 2 if ratios[widest] > CLUSTERED else 1
