"""Laplacian eigenmaps."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from unbend.arrays import FloatArray
from unbend.eigen import Nystrom, SpectralProblem, Spectrum, column_solver, fix_signs
from unbend.estimators.denoising_options import denoise_param
from unbend.estimators.inputs import open_space
from unbend.estimators.kernel import (
    Kernel,
    KernelEmbedding,
    affinity_metric,
    check_degrees,
    later_redundancy,
)
from unbend.estimators.neighborhood import Component, refuse_unused
from unbend.estimators.search import Needs, Neighborhoods
from unbend.extension import (
    EmbeddingResult,
    Harmonic,
    Placement,
    Rule,
    barycentric_preimage,
)
from unbend.gram.columns import SimilarityColumns
from unbend.gram.spectral import (
    SpectralColumns,
    SpectralPlaces,
    WeightedDistances,
    spectral_columns,
)
from unbend.graphs import adjacency, heat_kernel
from unbend.graphs.graph import CompressedRows, How, merge_directions
from unbend.graphs.laplacian import difference
from unbend.graphs.weights import Reciprocal, Weight, scale_both_sides, weights_of
from unbend.neighbors import AffinitySpace, Neighbors, PointSpace, Space
from unbend.report import Deferred, note, stage
from unbend.validation.parameters import FUNCTION, NOTHING, Choice, Real, declare, inherit, param
from unbend.validation.random_state import generator
from unbend.validation.threads import threads

# Attribute of an estimator whose eigenvectors are not checked for redundancy.
UNMEASURED = "_redundancy_unmeasured"
# Neighbours from which rows are reconstructed, where no neighbours were searched.
PREIMAGE_NEIGHBORS = 10


@final
@declare
class LaplacianEigenmaps(KernelEmbedding):
    """Laplacian eigenmaps: the slowest vibrations of the graph are the coordinates.

    With weights W on the edges and degrees D, the coordinates solve (D − W) f = λ D f at the
    bottom end, the constant left out. With ``metric="affinity"`` X is W itself, loops included.
    Neighbours stay together; lengths are not preserved, and on a long strip later eigenvectors are
    functions of the first (cos 2x of cos x): `redundancy_` shows which, and more components show
    the other direction.

    With ``n_neighbors=None``, no radius, ``weights="heat"`` and ``eigen_solver=Nystrom(m)`` all
    pairs of rows are joined, and m columns of their weights stand for all (Fowlkes et al., 2004).

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates, orthonormal with respect to D (`random_walk`) or plainly.
    redundancy_ : array (min(n_components, 10),)
        R² of each of the first ten coordinates on those before it: near one means that it adds
        nothing.
    volume_ : float
        Sum of the degrees.

    References
    ----------
    Belkin and Niyogi, Neural Computation 15 (2003). Book chapter 12. All pairs by a few columns:
    Fowlkes, Belongie, Chung and Malik, IEEE PAMI 26 (2004).

    Examples
    --------
    >>> import unbend
    >>> from scipy.stats import spearmanr
    >>> roll = unbend.datasets.swiss_roll(1000, random_state=0)
    >>> waves = unbend.LaplacianEigenmaps(n_neighbors=8).fit_transform(roll.points)
    >>> bool(abs(spearmanr(waves[:, 0], roll.chart[:, 0])[0]) > 0.99)
    True
    """

    short_circuits: str = inherit(KernelEmbedding, "short_circuits", default="keep")
    weights: Any = param(
        "adjacency",
        Choice("adjacency", "heat"),
        FUNCTION,
        help="Weight of an edge: 1, exp(−d²/t), or a decreasing function of the distance.",
    )
    t: float | None = param(
        None, Real(0), NOTHING, help="Time of the heat kernel; None: twice the mean squared edge."
    )
    symmetrization: How = param(
        "max",
        Choice("max", "min", "mean"),
        help="Weights W as found become max(W, W'), min(W, W') or (W + W')/2.",
    )
    normalization: str = param(
        "random_walk",
        Choice("random_walk", "symmetric", "none"),
        help="Solutions f of L f = λ D f, their scaling D^½ f, or solutions of L f = λ f.",
    )

    metric: Any = affinity_metric()
    denoise: Any = denoise_param()
    spread_landmarks: ClassVar[bool] = False

    def _needs(self) -> Needs:
        return Needs(mutual=self.symmetrization == "min")

    def _weight(self, distances: FloatArray) -> Weight:
        if self.metric == "affinity":
            return Reciprocal()
        if self.weights == "adjacency":
            return adjacency
        return heat_kernel(distances, self.t) if self.weights == "heat" else self.weights

    def _kernel(self, component: Component) -> "LaplacianKernel":
        weight = self._weight(component.neighbors.distances)
        weights = self._edge_rows(component.space, component.neighbors, weight, component.threads)
        masses = component.masses
        if masses is not None:
            weights = CompressedRows.of(scale_both_sides(weights.matrix(), masses))
        degree = weights.sums()
        check_degrees(degree)
        mass = masses if self.normalization == "none" else degree
        constant = np.ones((component.n, 1))
        factors = None if mass is None else 1.0 / np.sqrt(mass)
        matrix = difference(degree, weights, factors)
        # Scaled by the degrees, its eigenvalues are at most two.
        size = 2.0 if mass is degree else 0.0
        problem = SpectralProblem(matrix, "bottom", constant, mass, size=size, scaled=True)
        measured = not vars(self).get(UNMEASURED)
        return LaplacianKernel(component, problem, weight, degree, self.normalization, measured)

    def _edge_rows(
        self, space: Space, neighbors: Neighbors, weight: Weight, threads: int = 1
    ) -> CompressedRows:
        """Symmetric weights of the edges; of affinities these themselves, with their loops."""
        if isinstance(space, AffinitySpace):
            return CompressedRows.of(space.affinities)
        weights = weights_of(neighbors.distances, weight)
        rows = neighbors.offsets, neighbors.indices, weights
        return merge_directions(*rows, self.symmetrization, threads)

    def _fit_columns(self, X: Any, graph: Any) -> dict[str, Any] | None:
        """Embed rows by the random walk on all pairs (slides (69)).

        Nothing of size n² is computed: three passes over n × m affinities.
        """
        if self.metric == "affinity":
            self._refuse_edge_parameters()
            return None
        solver = column_solver(self.eigen_solver)
        if solver is None or not (graph is self.n_neighbors is self.radius is None):
            return None
        space, dtype = self._open_all_pairs(X)
        affinities = self._column_affinities(space, solver)
        with stage("spectrum"):
            found = self._column_spectrum(space, affinities)
        with stage("coordinates"):
            coordinates, places, redundancy = self._column_coordinates(affinities, found)
        n, d = space.n, self.n_components
        # No neighbours were looked for: the graph of the model has no edges.
        none = Neighbors(np.zeros(n + 1, dtype=np.int64), np.empty(0, np.int64), np.empty(0))
        rows = np.arange(n)
        return {
            "embedding": coordinates,
            "dtype": dtype,
            "extension": Placement.by_one(space, coordinates, places),
            "preimage": barycentric_preimage(space, coordinates, max(PREIMAGE_NEIGHBORS, d + 1)),
            "component_": np.zeros(n, dtype=np.int64),
            "eigenvalues_": 1.0 - found.values[1 : d + 1],
            "_next_eigenvalue": 1.0 - found.values[d + 1] if len(found.values) > d + 1 else np.nan,
            "redundancy_": redundancy,
            "volume_": found.volume,
            "_edge_weight": None,
            "_neighborhoods": Neighborhoods(space, none, Rule(1), rows, rows),
        }

    def _refuse_edge_parameters(self) -> None:
        """Refuse parameters that choose or weight edges: affinities are given."""
        refuse_unused(
            self,
            "metric='affinity'",
            n_neighbors=10,
            radius=None,
            mutual=False,
            weights="adjacency",
            t=None,
            symmetrization="max",
        )

    def _open_all_pairs(self, X: Any) -> tuple[PointSpace, np.dtype[Any]]:
        """Check that all pairs of rows can be weighted, and open their space."""
        if self.weights == "adjacency" or self.normalization == "none":
            raise ValueError(
                f"weights={self.weights!r} with normalization={self.normalization!r} is undefined "
                "for all pairs of rows: use weights='heat' and 'random_walk', or give n_neighbors"
            )
        space, dtype = open_space(self, X, threads(self.n_jobs))
        if not isinstance(space, PointSpace):
            raise ValueError(
                "all pairs are weighted by the distances between rows, and metric='precomputed' "
                "gives none: give n_neighbors or radius"
            )
        if self.denoise not in (False, "auto"):
            refuse_unused(self, "all pairs of rows", denoise=False)
        self._check_dimension(space.n)
        return space, dtype

    def _column_affinities(self, space: PointSpace, solver: Nystrom) -> WeightedDistances:
        """Affinities of all rows to those whose columns are sampled."""
        with stage("kernel"):
            rng = generator(self.random_state)
            chosen = solver.sample_columns(space.n, self.n_components + 1, rng)
            heat = self.weights == "heat"
            between = _distances_between(space.take(chosen)) if heat else np.empty(0)
            note(rows=space.n, columns=len(chosen), pairs="all")
            return WeightedDistances(space, chosen, self._weight(between))

    def _column_spectrum(self, space: PointSpace, affinities: WeightedDistances) -> SpectralColumns:
        """Eigenvectors of the random walk from the columns, one more than are wanted."""
        chosen, d = affinities.landmarks, self.n_components
        columns = self._passes(SimilarityColumns(space.points, chosen, affinities))
        found = spectral_columns(columns, d + 2)
        note(rows=space.n, end="top", wanted=d, solver=repr(self.eigen_solver), converged=True)
        if len(found.values) <= d:
            raise ValueError(
                f"{len(chosen)} columns of the weights have only {len(found.values)} "
                f"eigenvectors for {d} coordinates: use a larger m, a smaller t or a smaller "
                "n_components"
            )
        return found

    def _column_coordinates(
        self, affinities: WeightedDistances, found: SpectralColumns
    ) -> tuple[FloatArray, SpectralPlaces, Deferred]:
        """Coordinates with fixed signs, the extension to new samples, and their redundancy."""
        wanted, scaled = slice(1, self.n_components + 1), self.normalization == "symmetric"
        vectors = fix_signs(found.vectors[:, wanted])
        turn = np.where(np.sum(found.vectors[:, wanted] * vectors, axis=0) < 0, -1.0, 1.0)
        axes = found.weights[:, wanted] * turn
        places = SpectralPlaces(affinities, axes, found.degree_weights, found.least, scaled)
        coordinates = vectors * np.sqrt(found.degree)[:, None] if scaled else vectors
        return coordinates, places, later_redundancy(vectors)


@dataclass(frozen=True, eq=False)
class LaplacianKernel(Kernel):
    """D − W, with mass D unless the normalization is none."""

    weight: Weight
    degree: FloatArray
    normalization: str
    measured: bool = True

    def embed(self, spectrum: Spectrum) -> EmbeddingResult:
        """Take the eigenvectors f, or D^½ f, as coordinates."""
        vectors, space, rule = spectrum.vectors, self.component.space, self.component.rule
        plain, scaled = self.normalization == "none", self.normalization == "symmetric"
        if isinstance(space, AffinitySpace):
            rule = Rule(space.n)
        masses = self.component.masses
        values = spectrum.values
        extension = Harmonic(space, rule, self.weight, vectors, values, plain, scaled, masses)
        redundancy = later_redundancy(vectors) if self.measured else np.zeros(0)
        attributes = {
            "redundancy_": redundancy,
            "volume_": float(self.degree.sum()),
            "_edge_weight": self.weight,
        }
        coordinates = vectors * np.sqrt(self.degree)[:, None] if scaled else vectors
        return EmbeddingResult(coordinates, extension, attributes)


def _distances_between(landmarks: PointSpace) -> FloatArray:
    """Distances between different landmarks."""
    between = landmarks.distances_of(landmarks.rows(np.arange(landmarks.n)))
    if not np.any(between > 0):
        raise ValueError(
            f"the {landmarks.n} rows whose columns were sampled are all equal: use a larger m"
        )
    return np.asarray(between[~np.eye(landmarks.n, dtype=bool)])
