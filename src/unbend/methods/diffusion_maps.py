"""Diffusion maps."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted

from unbend.arrays import FloatArray, IntArray
from unbend.eigen import SpectralProblem, Spectrum, solve
from unbend.estimators.denoising_options import denoise_param
from unbend.estimators.kernel import (
    Kernel,
    KernelEmbedding,
    affinity_metric,
    check_degrees,
    later_redundancy,
)
from unbend.estimators.neighborhood import Component, refuse_unused
from unbend.estimators.search import Needs
from unbend.extension import DiffusionExtension, EmbeddingResult, Rule
from unbend.graphs import degrees
from unbend.graphs.laplacian import difference
from unbend.graphs.weights import (
    Affinity,
    Reciprocal,
    diffusion_weights,
    edge_weights,
    gaussian,
    self_tuning,
    without_density,
)
from unbend.neighbors import AffinitySpace, Neighbors
from unbend.report import note, warn
from unbend.validation.parameters import (
    FUNCTION,
    NOTHING,
    Choice,
    Integer,
    Matching,
    Real,
    declare,
    first_param,
    inherit,
    param,
)
from unbend.validation.random_state import generator
from unbend.validation.scalars import check_real

ALPHAS = {"graph_laplacian": 0.0, "laplace_beltrami": 1.0, "self_tuning": 0.0}
INFINITE = Matching(lambda value: isinstance(value, float) and value == np.inf, "infinity")
# Number of the neighbour whose distance is the scale of a row, and the least weight of a
# coordinate, where the user names none.
SCALE_NEIGHBOR, DELTA = 7, 0.1
# Coordinates looked for first where their number follows from the spectrum.
FIRST = 8
# Squared distances below zero by more than this share of the largest are no rounding.
ROUNDING = 1e-9


def eigenvalue_powers(values: FloatArray, power: float, name: str) -> FloatArray:
    """λ to a power, of negative eigenvalues for integers only."""
    if power != int(power) and np.any(values < 0):
        raise ValueError(
            f"{name}={power:g} is fractional and some eigenvalues are negative: use an integer, "
            "or more neighbours"
        )
    return np.asarray(values**power)


@dataclass(frozen=True, eq=False)
class DiffusionKernel(Kernel):
    """D − W with mass D, W affinities without density: the generator of the random walk."""

    affinity: Affinity
    alpha: float
    density: FloatArray
    degree: FloatArray
    time: float
    scaled: bool

    def embed(self, spectrum: Spectrum) -> EmbeddingResult:
        """Scale φ/φ₀, or φ, by λᵗ."""
        # (D − W) f = μ D f is the walk with λ = 1 − μ; f'Df = 1, so φ/φ₀ = f √ΣD.
        values, volume = 1.0 - spectrum.values, float(self.degree.sum())
        vectors = spectrum.vectors * np.sqrt(volume)
        moved = vectors * eigenvalue_powers(values, self.time, "diffusion_time")
        space, rule = self.component.space, self.component.rule
        own = Rule(space.n) if isinstance(space, AffinitySpace) else Rule(rule.k + 1, rule.radius)
        extension = DiffusionExtension(
            space,
            own,
            self.affinity,
            self.density,
            moved,
            values,
            self.alpha,
            None if self.scaled else volume,
            self.component.masses,
        )
        stationary = np.sqrt(self.degree / volume)
        attributes = {
            "bandwidth_": self.affinity.t,
            "eigenvalues_": values,
            "redundancy_": later_redundancy(vectors),
            "_next_eigenvalue": 1.0 - spectrum.next_value,
            "_vectors": vectors,
            "_stationary": stationary,
        }
        coordinates = moved if self.scaled else moved * stationary[:, None]
        return EmbeddingResult(coordinates, extension, attributes)


@final
@declare
class DiffusionMaps(KernelEmbedding):
    """Diffusion maps: rows are near when a random walk goes easily from one to the other.

    Affinities w = exp(−d²/t) between neighbours, each row with itself included, are divided by
    (q_i q_j)^α, q their row sums, and then by the row sums D of the result: a Markov chain with
    eigenvectors ψ = φ/φ₀ and eigenvalues 1 = λ₀ > λ₁ ≥ …. The coordinates are λᵗ ψ at diffusion
    time t; distances between them are diffusion distances. With ``metric="affinity"`` X is the
    matrix of affinities, with its diagonal.

    There are 24 neighbours by default, where other methods take 10: a walk needs more edges than a
    geodesic, and with ten the gaps of a random sample show in its eigenvectors.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates λᵗ φ/φ₀, or λᵗ φ.
    eigenvalues_ : array (n_components,)
        Eigenvalues of the walk, from the top, the trivial one left out.
    bandwidth_ : float
        The t of the affinity, or the factor of self-tuning ones; not a number for other weights.
    redundancy_ : array (min(n_components, 10),)
        R² of each of the first ten coordinates on those before it: near one means that it adds
        nothing.

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

    n_components: Any = first_param(
        Integer(1),
        Choice("auto"),
        default=2,
        help="Embedding dimension; 'auto' keeps the coordinates whose weight λ^(2 diffusion_time) "
        "in the squared diffusion distance is at least `delta`.",
        kw_only=False,
    )
    n_neighbors: Any = inherit(KernelEmbedding, "n_neighbors", default=24)
    short_circuits: str = inherit(KernelEmbedding, "short_circuits", default="keep")
    metric: Any = affinity_metric()
    denoise: Any = denoise_param()
    spread_landmarks: ClassVar[bool] = False
    kind: str = param(
        "laplace_beltrami",
        Choice(*ALPHAS),
        help="'graph_laplacian' (α = 0), 'laplace_beltrami' (α = 1), or 'self_tuning' (α = 0): "
        "exp(−d²/(c σᵢσⱼ)) with a scale σ for each row.",
    )
    alpha: float | None = param(
        None,
        Real(0, closed=True),
        NOTHING,
        help="Power of the density that is divided out; None: as `kind` says.",
    )
    weights: Any = param(
        "gaussian",
        Choice("gaussian"),
        FUNCTION,
        help="Affinity of two rows: exp(−d²/t), or a decreasing function of an array of distances.",
    )
    bandwidth: float | None = param(
        None,
        Real(0),
        INFINITE,
        NOTHING,
        help="The t of exp(−d²/t); None: the mean squared distance of neighbours; infinity: "
        "weight one on every edge. For 'self_tuning' the factor c; None: 1.",
    )
    scale_neighbor: int | None = param(
        None,
        Integer(1),
        NOTHING,
        help="For 'self_tuning': the scale of a row is the distance to its neighbour of this "
        "number, or to its last if it has fewer; None: 7.",
    )
    diffusion_time: float = param(1.0, Real(0, closed=True), help="The power of λ.")
    delta: float | None = param(
        None,
        Real(0, high=1),
        NOTHING,
        help="For n_components='auto': least weight of a coordinate; None: 0.1.",
    )
    threshold: float = param(
        0.0,
        Real(0, closed=True),
        help="Edges of an affinity below this, with the bandwidth used, are left out.",
    )
    normalization: str = param(
        "random_walk",
        Choice("random_walk", "symmetric"),
        help="Coordinates φ/φ₀, eigenvectors of the walk, or φ, of the symmetric kernel.",
    )

    def _fit_columns(self, X: Any, graph: Any) -> None:
        self._check_used()

    def _needs(self) -> Needs:
        return Needs(edges=self._above_threshold if self.threshold > 0 else None, spare=1)

    def _check_used(self) -> None:
        """Refuse parameters that would change nothing."""
        if self.metric == "affinity":
            refuse_unused(
                self,
                "metric='affinity'",
                n_neighbors=24,
                radius=None,
                mutual=False,
                weights="gaussian",
                bandwidth=None,
                scale_neighbor=None,
            )
            if self.kind == "self_tuning":
                raise ValueError(
                    "kind='self_tuning' needs distances, and metric='affinity' has "
                    "none: use 'graph_laplacian' or 'laplace_beltrami'"
                )
        if self.kind != "self_tuning":
            refuse_unused(self, f"kind={self.kind!r}", scale_neighbor=None)
        if callable(self.weights):
            refuse_unused(self, "weights of your own", bandwidth=None)
            if self.kind == "self_tuning":
                raise ValueError("kind='self_tuning' has Gaussian weights: leave weights out")
        if self.n_components != "auto":
            refuse_unused(self, f"n_components={self.n_components}", delta=None)
        elif self.connect == "components":
            raise ValueError(
                "n_components='auto' needs one spectrum, and connect='components' has one for "
                "each component: give a number"
            )

    def _denoising_obstacle(self, graph: Any) -> str | None:
        if self.normalization == "symmetric":
            return "normalization='symmetric' scales by the density of the rows themselves"
        if self.n_components == "auto":
            return "n_components='auto' names no dimension of the surface"
        return super()._denoising_obstacle(graph)

    def _affinity(self, neighbors: Neighbors) -> Affinity:
        if self.metric == "affinity":
            return Affinity(np.nan, function=Reciprocal())
        if callable(self.weights):
            return Affinity(np.nan, function=self.weights)
        if self.kind == "self_tuning":
            return self_tuning(
                neighbors, self.scale_neighbor or SCALE_NEIGHBOR, self.bandwidth or 1.0
            )
        return gaussian(neighbors, self.bandwidth)

    def _above_threshold(self, neighbors: Neighbors) -> Neighbors:
        affinities = edge_weights(neighbors, self._affinity(neighbors))
        return neighbors.select(affinities >= self.threshold)

    def _affinities(self, component: Component, affinity: Affinity) -> csr_array:
        """Affinities of the union graph, each row with itself; given ones above the threshold."""
        space = component.space
        if not isinstance(space, AffinitySpace):
            return diffusion_weights(component.neighbors, affinity, component.threads)
        kept = space.affinities.copy()
        kept.data[kept.data < self.threshold] = 0.0
        kept.eliminate_zeros()
        return kept

    def _kernel(self, component: Component) -> "DiffusionKernel":
        affinity = self._affinity(component.neighbors)
        alpha = ALPHAS[self.kind] if self.alpha is None else self.alpha
        affinities = self._affinities(component, affinity)
        check_degrees(degrees(affinities))
        weights, density = without_density(affinities, alpha, component.masses)
        degree = degrees(weights)
        note(alpha=alpha, bandwidth=affinity.t, edges=weights.nnz)
        # The bottom of the Laplacian, not the top of the walk: where eigenvalues crowd below one,
        # only an inverse separates them.
        constant = np.ones((component.n, 1))
        matrix = difference(degree, weights, 1.0 / np.sqrt(degree))
        problem = SpectralProblem(matrix, "bottom", constant, degree, scaled=True)
        return DiffusionKernel(
            component,
            problem,
            affinity,
            alpha,
            density,
            degree,
            self.diffusion_time,
            self.normalization == "random_walk",
            spectrum=self._significant(problem, component) if self.n_components == "auto" else None,
        )

    def _significant(self, problem: SpectralProblem, component: Component) -> Spectrum:
        """Eigenpairs with λᵐ ≥ δ, at level m = 2t of the squared distance (book (14.13))."""
        delta = DELTA if self.delta is None else self.delta
        most, count = component.n - 1, min(FIRST, component.n - 1)
        while True:
            rng = generator(self.random_state)
            found = solve(problem, count, self.eigen_solver, rng, component.threads)
            values = np.maximum(1.0 - found.values, 0.0)
            kept = max(1, int(np.sum(values ** (2.0 * self.diffusion_time) >= delta)))
            if kept < count or count == most:
                break
            count = min(2 * count, most)
        note(delta=delta, significant=kept)
        following = float(found.values[kept]) if kept < count else found.next_value
        return replace(
            found,
            values=found.values[:kept],
            vectors=found.vectors[:, :kept],
            residuals=found.residuals[:kept],
            next_value=following,
        )

    def at_time(self, diffusion_time: float) -> FloatArray:
        """Coordinates of the fitted rows at another diffusion time.

        Parameters
        ----------
        diffusion_time : float
            The power of λ; fractional ones need eigenvalues that are not negative.

        Returns
        -------
        array (n_samples, n_components)
        """
        time = check_real("diffusion_time", diffusion_time, 0)
        moved = self._walk_vectors() * eigenvalue_powers(self.eigenvalues_, time, "diffusion_time")
        if self.normalization == "symmetric":
            moved = moved * self._stationary[self._neighborhoods.inverse, None]
        return np.asarray(moved, dtype=self.embedding_.dtype)

    def _walk_vectors(self) -> FloatArray:
        """φ/φ₀ of all rows."""
        check_is_fitted(self)
        if len(self._vectors) < len(self._neighborhoods.first):
            raise ValueError("the components were embedded separately: use connect='bridge'")
        if self._is_denoised:
            powers = eigenvalue_powers(self.eigenvalues_, self.diffusion_time, "diffusion_time")
            return np.asarray(self.embedding_ / powers)
        return np.asarray(self._vectors[self._neighborhoods.inverse])

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
            In place of `time`, the level m of the book's (14.12), Σ λᵐ (φ(x) − φ(y))², whose
            first term, j = 0, compares the densities of both rows. Where eigenvalues are
            negative, squares at an odd level may be so, too: these give zero and a warning.

        Returns
        -------
        array (rows, rows)
            With n_components = n − 1 exact; fewer leave out the fast-decaying rest.
        """
        vectors, values = self._walk_vectors(), self.eigenvalues_
        if level is None:
            power = self.diffusion_time if time is None else check_real("time", time, 0)
            weights = np.square(eigenvalue_powers(values, power, "time"))
        elif time is None:
            if self._is_denoised:
                raise ValueError(
                    "level compares the densities of rows, and a denoised fit has those of "
                    "landmarks only: use time, or denoise=False"
                )
            powers = eigenvalue_powers(values, check_real("level", level, 0), "level")
            weights = np.append(1.0, powers)
            walk = np.column_stack((np.ones(len(vectors)), vectors))
            vectors = walk * self._stationary[self._neighborhoods.inverse, None]
        else:
            raise ValueError("time and level were both given: they name two distances, give one")
        return _weighted_distances(vectors if rows is None else vectors[rows], weights)


def _weighted_distances(points: FloatArray, weights: FloatArray) -> FloatArray:
    """Roots of Σ w (xⱼ − yⱼ)², of which weights may be negative."""
    scaled = points * np.sqrt(np.abs(weights))
    squares = cdist(scaled[:, weights >= 0], scaled[:, weights >= 0], "sqeuclidean")
    if np.any(weights < 0):
        squares -= cdist(scaled[:, weights < 0], scaled[:, weights < 0], "sqeuclidean")
        if squares.min() < -ROUNDING * squares.max():
            warn(
                "Some squared diffusion distances are negative, since the affinities are not "
                "positive semidefinite, and were set to zero. Use an even level."
            )
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))
