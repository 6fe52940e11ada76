"""Diffusion maps."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted

from unbend.arrays import FloatArray, IntArray
from unbend.eigen import SpectralProblem, Spectrum
from unbend.estimators.neighborhood import Component, Kernel, NeighborhoodEmbedding
from unbend.estimators.search import Needs
from unbend.extension import DiffusionExtension, EmbeddingResult, Rule
from unbend.graphs import degrees, laplacian
from unbend.graphs.weights import (
    Affinity,
    diffusion_weights,
    edge_weights,
    gaussian,
    self_tuning,
    without_density,
)
from unbend.neighbors import Neighbors
from unbend.report import note
from unbend.validation.parameters import NOTHING, Choice, Matching, Real, declare, inherit, param

ALPHAS = {"graph_laplacian": 0.0, "laplace_beltrami": 1.0, "self_tuning": 0.0}
INFINITE = Matching(lambda value: isinstance(value, float) and value == np.inf, "infinity")


def eigenvalue_powers(values: FloatArray, time: float) -> FloatArray:
    """λᵗ, of negative eigenvalues for integers t only."""
    if time != int(time) and np.any(values < 0):
        raise ValueError(
            f"diffusion_time={time} is fractional and some eigenvalues are negative: use an "
            "integer, or more neighbours"
        )
    return np.asarray(values**time)


@dataclass(frozen=True, eq=False)
class DiffusionKernel(Kernel):
    """D − W with mass D, W affinities without density: the generator of the random walk."""

    affinity: Affinity
    density: FloatArray
    degree: FloatArray
    time: float

    def embed(self, spectrum: Spectrum) -> EmbeddingResult:
        """Scale φ/φ₀ by λᵗ."""
        # (D − W) f = μ D f is the walk with λ = 1 − μ; f'Df = 1, so φ/φ₀ = f √ΣD.
        values = 1.0 - spectrum.values
        vectors = spectrum.vectors * np.sqrt(self.degree.sum())
        scaled = vectors * eigenvalue_powers(values, self.time)
        space, rule = self.component.space, self.component.rule
        one_more = Rule(rule.k + 1, rule.radius)
        extension = DiffusionExtension(space, one_more, self.affinity, self.density, scaled, values)
        attributes = {
            "bandwidth_": self.affinity.t,
            "eigenvalues_": values,
            "_next_eigenvalue": 1.0 - spectrum.next_value,
            "_vectors": vectors,
            "_degree": self.degree,
        }
        return EmbeddingResult(scaled, extension, attributes)


@final
@declare
class DiffusionMaps(NeighborhoodEmbedding):
    """Diffusion maps: rows are near when a random walk goes easily from one to the other.

    Affinities w = exp(−d²/t) between neighbours, each row with itself included, are divided by
    (q_i q_j)^α, q their row sums, and then by the row sums D of the result: a Markov chain with
    eigenvectors ψ = φ/φ₀ and eigenvalues 1 = λ₀ > λ₁ ≥ …. The coordinates are λᵗ ψ at diffusion
    time t; distances between them are diffusion distances.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates λᵗ φ/φ₀.
    eigenvalues_ : array (n_components,)
        Eigenvalues of the walk, from the top, the trivial one left out.
    bandwidth_ : float
        The t of the affinity; not a number for self-tuning ones.

    References
    ----------
    Coifman and Lafon, Appl. Comput. Harmon. Anal. 21 (2006); self-tuning: Zelnik-Manor and Perona,
    NIPS 17 (2004). Book chapter 14.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> helix = unbend.datasets.toroidal_helix(1000, sampling="even")
    >>> circle = unbend.DiffusionMaps().fit_transform(helix.points)
    >>> radius = np.linalg.norm(circle, axis=1)
    >>> bool(radius.std() < 0.01 * radius.mean())
    True
    """

    # A walk needs more edges than a geodesic: with ten, the gaps of a random sample show.
    n_neighbors: Any = inherit(NeighborhoodEmbedding, "n_neighbors", default=24)
    kind: str = param(
        "laplace_beltrami",
        Choice(*ALPHAS),
        help="'graph_laplacian' (α = 0), 'laplace_beltrami' (α = 1), or 'self_tuning': each row "
        "has the distance to its last neighbour as scale.",
    )
    alpha: float | None = param(
        None,
        Real(0, closed=True),
        NOTHING,
        help="Power of the density that is divided out; None: as `kind` says.",
    )
    bandwidth: float | None = param(
        None,
        Real(0),
        INFINITE,
        NOTHING,
        help="The t of exp(−d²/t); None: the mean squared distance of neighbours; infinity: "
        "weight one on every edge.",
    )
    diffusion_time: float = param(1.0, Real(0, closed=True), help="The power of λ.")
    threshold: float = param(
        0.0,
        Real(0, closed=True),
        help="Edges of an affinity below this, with the bandwidth used, are left out.",
    )

    def _needs(self) -> Needs:
        return Needs(edges=self._above_threshold if self.threshold > 0 else None)

    def _affinity(self, neighbors: Neighbors) -> Affinity:
        if self.kind == "self_tuning":
            return self_tuning(neighbors)
        return gaussian(neighbors, self.bandwidth)

    def _above_threshold(self, neighbors: Neighbors) -> Neighbors:
        affinities = edge_weights(neighbors, self._affinity(neighbors))
        return neighbors.select(affinities >= self.threshold)

    def _kernel(self, component: Component) -> "DiffusionKernel":
        affinity = self._affinity(component.neighbors)
        alpha = ALPHAS[self.kind] if self.alpha is None else self.alpha
        affinities = diffusion_weights(component.neighbors, affinity)
        weights, density = without_density(affinities, alpha)
        degree = degrees(weights)
        note(alpha=alpha, bandwidth=affinity.t, edges=weights.nnz)
        # The bottom of the Laplacian, not the top of the walk: where eigenvalues crowd below one,
        # only an inverse separates them.
        constant = np.ones((component.n, 1))
        problem = SpectralProblem(laplacian(weights), "bottom", constant, degree)
        return DiffusionKernel(component, problem, affinity, density, degree, self.diffusion_time)

    def at_time(self, diffusion_time: float) -> FloatArray:
        """Coordinates of the fitted rows at another diffusion time."""
        check_is_fitted(self)
        if len(self._vectors) < len(self._neighborhoods.first):
            raise ValueError("the components were embedded separately: use connect='bridge'")
        scaled = self._vectors * eigenvalue_powers(self.eigenvalues_, diffusion_time)
        return np.asarray(scaled[self._neighborhoods.inverse], dtype=self.embedding_.dtype)

    def diffusion_distances(
        self, rows: IntArray | None = None, *, time: float | None = None, level: float | None = None
    ) -> FloatArray:
        """Diffusion distances between fitted rows, from the coordinates that were kept.

        Parameters
        ----------
        rows : array of int, optional
            Rows between which distances are wanted; all by default.
        time : float, optional
            Diffusion time t of Coifman and Lafon's distance, Σ λ²ᵗ (ψ(x) − ψ(y))²; by default
            `diffusion_time`.
        level : float, optional
            In place of `time`, the level m of the book's (14.12), Σ λᵐ (φ(x) − φ(y))².

        Returns
        -------
        array (rows, rows)
            With n_components = n − 1 exact; fewer leave out the fast-decaying rest.
        """
        check_is_fitted(self)
        if level is None:
            coordinates = self.at_time(self.diffusion_time if time is None else time)
        else:
            stationary = np.sqrt(self._degree / self._degree.sum())[self._neighborhoods.inverse]
            coordinates = self.at_time(level / 2) * stationary[:, None]
        some = coordinates if rows is None else coordinates[rows]
        return np.asarray(cdist(some, some))
