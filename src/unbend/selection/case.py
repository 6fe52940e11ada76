"""What was found of data and what the embedding is for; methods that suit both."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from unbend.cached import cached_property
from unbend.methods.neighbor_embedding import MOST_COMPONENTS, NEIGHBORS_PER_PERPLEXITY
from unbend.neighbors import MetricName
from unbend.selection.findings import PICTURE, Findings, share_outside
from unbend.selection.format import pluralize
from unbend.selection.inputs import make_method
from unbend.selection.trials import CHARTS

Purpose: TypeAlias = Literal["picture", "features", "chart", "clusters"]

# Rows beyond which no n × n matrix is proposed.
MANY = 6000
# Perplexity of a picture, where there are rows enough.
PERPLEXITY = 30
# Share of the variance that features hold where the dimension is not determined.
ENOUGH = 0.95
# Principal variances fall where the next is at most this share of the last.
PLANAR = 0.5
# Share of the geodesics that coordinates of a picture leave unexplained from which on they cannot
# hold the data, whatever dimension neighbourhoods show: digits, of five dimensions or more, leave
# 0.47 in two coordinates, and surfaces of two dimensions and tables of the tests 0.1 at most.
UNHELD = 0.25
# Methods that take a graph without further distances, and those that take nothing but points.
OF_GRAPHS = (
    "Isomap",
    "LandmarkIsomap",
    "LaplacianEigenmaps",
    "DiffusionMaps",
    "NeighborEmbedding",
    "SpectralClustering",
)
OF_POINTS = ("PCA",)
# Methods that need the number of neighbours for which the graph is consistent.
LOCAL = ("Isomap", "LandmarkIsomap", "LTSA", "HessianLLE", "RigidAlignment")


@dataclass(frozen=True, eq=False)
class Case:
    """What was found of the data, and what the embedding is for.

    Attributes
    ----------
    found : Findings
        What was measured.
    purpose : {"picture", "features", "chart", "clusters"}
        What the embedding is for.
    asked : int or None
        Number of coordinates, if it is prescribed.
    metric : str or callable
        Metric of the methods.
    """

    found: Findings
    purpose: Purpose
    asked: int | None
    metric: MetricName

    @cached_property
    def coordinates(self) -> int:
        """Number of coordinates for the purpose."""
        found = self.found
        if self.asked is not None:
            return self.asked
        if self.purpose == "picture":
            return min(PICTURE, found.columns or PICTURE)
        if self.purpose == "clusters":
            return max(1, found.count - 1)
        if self.purpose == "features":
            return found.high + found.closed if found.determined else self._enough
        return found.dimension + found.closed

    @cached_property
    def _enough(self) -> int:
        """Principal components that hold enough of the variance."""
        held = np.cumsum(self.found.variances) / max(self.found.variances.sum(), 1e-300)
        return int(np.searchsorted(held, ENOUGH)) + 1

    @property
    def lossy(self) -> bool:
        """Whether the data have more dimensions than there are coordinates."""
        return self.coordinates < self.found.dimension

    @property
    def overfull(self) -> bool:
        """Whether the coordinates leave too much of the geodesics unexplained to hold the data."""
        residuals = self.found.residuals
        return bool(residuals[min(self.coordinates, len(residuals)) - 1] > UNHELD)

    @property
    def small(self) -> bool:
        """Whether all distances are known and fit in memory."""
        return self.found.n <= MANY and self.found.kind != "graph"

    @property
    def explained(self) -> float:
        """Share of the variance that as many principal components hold."""
        return 1 - share_outside(self.found.variances, self.coordinates)

    def headline(self) -> str:
        """Describe the data, their dimension, and how many coordinates are used and why."""
        found, m = self.found, self.coordinates
        rows = {
            "points": f"{found.n} rows, {pluralize(found.columns, 'feature')}",
            "distances": f"distances between {found.n} rows",
            "graph": f"graph of {found.n} vertices",
        }[found.kind]
        closed = ", closed" if found.closed else ""
        text = f"{rows}, intrinsic dimension {found.verdict}{closed}: "
        if self.purpose == "clusters" and self.asked is None:
            return text + (f"{found.count} clusters" if found.clustered else "no clusters")
        return text + f"{pluralize(m, 'coordinate')}{self._reason_for_number()}"

    def _reason_for_number(self) -> str:
        found = self.found
        if self.asked is not None:
            return ", as requested"
        if self.purpose == "picture":
            return " for a picture"
        if not found.determined:
            held = f"which hold {self.explained:.0%} of the variance"
            return f", {held if self.purpose == 'features' else 'the median of the rules'}"
        return ", since closed data need one more than they have dimensions" * found.closed

    def make(self, name: str, **parameters: Any) -> Any:
        """Make a method with as many coordinates; None if it does not take such data."""
        kind = self.found.kind
        plain = kind == "points" and self.metric == "euclidean"
        if (kind == "graph" and name not in OF_GRAPHS) or (not plain and name in OF_POINTS):
            return None
        if name == "Isomap" and self.found.n > MANY:
            name = "LandmarkIsomap"
        given: dict[str, Any] = (
            {} if name == "SpectralClustering" else {"n_components": self.coordinates}
        )
        given |= {} if plain else {"metric": self.metric}
        if name in LOCAL and kind != "graph":
            given["n_neighbors"] = self.found.n_neighbors
        return make_method(name, **{**given, **parameters})

    def first(self, *names: str) -> Any:
        """Make the first of some methods that takes the data."""
        made = (self.make(name) for name in names)
        return next(method for method in made if method is not None)

    def neighbor_embedding(self) -> Any:
        """Make a neighbour embedding that the rows allow; None for too many coordinates."""
        if self.coordinates > MOST_COMPONENTS:
            return None
        most = (self.found.n - 1) // NEIGHBORS_PER_PERPLEXITY
        few = {} if most >= PERPLEXITY else {"perplexity": float(max(most, 2))}
        return self.make("NeighborEmbedding", **few)

    def denoise(self) -> Any:
        """Make a chart of the surface that patches show; None for other data than points."""
        if self.found.kind != "points" or self.metric != "euclidean":
            return None
        return self.make("RigidAlignment", n_neighbors="auto", denoise="auto")

    @property
    def best_chart(self) -> str | None:
        """The best of the charts that were tried, if they have as many coordinates."""
        return self.found.chart if self.coordinates == self.found.dimension else None

    def make_chart(self, name: str) -> Any:
        """Make the method of a chart that was tried."""
        return self.make(name, **CHARTS[name])

    def other_charts(self) -> list[Any]:
        """Make the methods of the other charts that were tried, best first."""
        tried = self.found.charts
        return [self.make_chart(name) for name in sorted(tried, key=lambda name: tried[name].error)]

    @property
    def hidden(self) -> bool:
        """Whether what is bent is hidden by noise, as far as patches show."""
        found = self.found
        return self.planar or not found.determined or (found.noisy and not found.surface)

    @property
    def planar(self) -> bool:
        """Whether the principal variances fall after as many as there are dimensions."""
        variances, d = self.found.variances, self.found.dimension
        return len(variances) <= d or bool(variances[d] <= PLANAR * variances[d - 1])

    def hessian_lle(self) -> Any:
        """Make Hessian LLE with as many neighbours as its quadratic forms need."""
        d = self.coordinates
        least = (d + 1) * (d + 2) // 2
        return self.make("HessianLLE", n_neighbors=max(self.found.n_neighbors, least))
