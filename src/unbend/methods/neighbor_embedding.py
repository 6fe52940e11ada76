"""Neighbour embedding: t-SNE, its exaggerated relatives, and Laplacian eigenmaps as their limit."""

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from unbend.arrays import FloatArray, IntArray
from unbend.eigen import solve
from unbend.estimators.kernel import affinity_metric, check_degrees, check_spectrum
from unbend.estimators.neighborhood import Component, NeighborhoodEmbedding, refuse_unused
from unbend.estimators.search import Needs, NeighborSearch
from unbend.extension import EmbeddingResult, Rule
from unbend.gram.principal import exact_axes
from unbend.graphs import degrees
from unbend.layout.affinities import (
    Affinities,
    GivenAffinities,
    joint_probabilities,
    normalize,
)
from unbend.layout.descent import Layout, Schedule, Snapshot, minimize
from unbend.layout.order import canonical_form, sample_rows
from unbend.layout.placement import EigenmapsExtension, LayoutExtension
from unbend.layout.repulsion import Repulsion
from unbend.layout.start import (
    collapse_bounds,
    eigenmaps_start,
    growth_bound,
    laplacian_problem,
    principal_start,
    rescale,
    separate,
)
from unbend.neighbors import AffinitySpace, Metric, Neighbors, PointSpace, Space
from unbend.report import note, stage, warn
from unbend.validation.arrays import check_rows
from unbend.validation.parameters import (
    COUNTS,
    NOTHING,
    Choice,
    Integer,
    Matching,
    Real,
    declare,
    inherit,
    param,
)
from unbend.validation.random_state import generator
from unbend.validation.scalars import check_integer, refusal

# Neighbours searched for one unit of perplexity: affinities beyond vanish.
NEIGHBORS_PER_PERPLEXITY = 3
# Iterations with early exaggeration, in which clusters gather.
EARLY_ITERATIONS = 250
# Coordinates of a layout at most: its mesh has as many axes.
MOST_COMPONENTS = 3
# Rows from which a pre-image is combined, at most: affinities reach further than the data are flat.
PREIMAGE_NEIGHBORS = 10
# Rows of which principal components are computed, at most.
PRINCIPAL_ROWS = 20000
# Share of the exaggeration at which a coordinate stops growing, for early exaggeration.
GROWING = 0.9
# Bounds whose multiples and squares are computed; no graph has a layout beyond them: a path of n
# vertices, the longest of all, collapses near n²/10.
MOST_PERPLEXITY, MOST_EXAGGERATION = 1e9, 1e15
ARRAY = Matching(
    lambda value: isinstance(value, list | np.ndarray), "an array (n_samples, n_components)"
)


@final
@declare
class NeighborEmbedding(NeighborhoodEmbedding):
    """Neighbour embedding: attraction along the neighbour graph, repulsion between all points.

    With ``exaggeration=1`` this is t-SNE. More exaggeration gives denser clusters and shows how
    they are connected: about 4 resembles UMAP. ``exaggeration="max"`` is the limit, Laplacian
    eigenmaps of the same affinities. The layout minimises the Kullback–Leibler divergence of
    w = 1 / (1 + ‖y_i − y_j‖²), normalised, from the affinities. It starts from the eigenmaps, so
    it needs no seed and keeps as much of the global arrangement as the neighbour graph has;
    distances between clusters mean little for all that.

    The repulsion is computed over all pairs, on a mesh or by a tree, whichever is the fastest. New
    samples are placed one by one against the fixed layout. Graphs may be given as with other
    methods, by ``fit(X, graph=…)`` or with ``metric="precomputed"``: affinities are then calibrated
    over the edges of each row. With ``metric="affinity"`` X holds the affinities themselves; their
    diagonal is ignored, and their sum does not matter.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates, in units of the kernel's width; centred.
    kl_divergence_ : float
        Kullback–Leibler divergence, with the normaliser summed over all pairs; for the largest
        component, where each is embedded separately. NaN for ``exaggeration="max"``.
    n_iter_ : int
        Iterations taken.
    eigenvalues_ : array (n_components,)
        Bottom eigenvalues of the normalised Laplacian of the affinities, the trivial zero left out:
        those of the start, to two digits, or with ``exaggeration="max"`` of the embedding. NaN
        for another start.

    References
    ----------
    van der Maaten and Hinton, JMLR 9 (2008); Böhm, Berens and Kobak, JMLR 23 (2022); Linderman and
    Steinerberger, SIAM J. Math. Data Sci. 1 (2019); Linderman et al., Nature Methods 16 (2019).

    Examples
    --------
    >>> import unbend
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> picture = unbend.NeighborEmbedding(exaggeration=4).fit(X[:600])
    >>> bool(unbend.quality.neighborhood_hit(picture.embedding_, y[:600]) > 0.9)
    True
    """

    n_neighbors: Any = param(
        None,
        Integer(1),
        COUNTS,
        Choice("auto"),
        NOTHING,
        help="Uniform affinities over this many neighbours of each row (one number, one per row, "
        "or 'auto') instead of `perplexity`; about 15 is faster for many rows.",
    )
    short_circuits: str = inherit(NeighborhoodEmbedding, "short_circuits", default="keep")
    perplexity: float = param(
        30.0,
        Real(1, high=MOST_PERPLEXITY),
        help="Effective number of neighbours, where n_neighbors is None: affinities are calibrated "
        "over three times as many nearest ones, those within `radius`, or the edges of a given "
        "graph. Lowered, with a warning, if there are too few rows.",
    )
    exaggeration: Any = param(
        1.0,
        Real(0, high=MOST_EXAGGERATION),
        Choice("max"),
        help="Factor of the attraction: 1 is t-SNE, about 4 resembles UMAP, 'max' is Laplacian "
        "eigenmaps. Beyond 1/(n λ₂) of the affinities' Laplacian a layout collapses; a warning "
        "says so.",
    )
    metric: Any = affinity_metric()
    init: Any = param(
        "eigenmaps",
        Choice("eigenmaps", "pca"),
        ARRAY,
        help="Start: Laplacian eigenmaps of the affinities, principal components, or an array of "
        "coordinates, which is rescaled.",
    )
    early_exaggeration: float = param(
        12.0,
        Real(0, high=MOST_EXAGGERATION),
        help="Exaggeration of the first 250 iterations, if it is larger; lowered where a "
        "coordinate would collapse.",
    )
    max_iter: int = param(500, Integer(1), help="Iterations after the first 250, at most.")
    tol: float = param(
        1e-4,
        Real(0, closed=True),
        help="The descent stops when the divergence falls by less than this share in 50 "
        "iterations; 0 takes all iterations.",
    )
    gradient_error: float = param(
        0.04,
        Real(1e-4, closed=True, high=0.1),
        help="Error of the repulsion relative to its size, where not all pairs are summed.",
    )
    pca_columns: int | None = param(
        50,
        Integer(1),
        NOTHING,
        help="Euclidean distances of rows with more columns are those of their principal "
        "components, as many as this; None: of all columns.",
    )

    def fit(
        self, X: Any, y: Any = None, *, graph: Any = None, callback: Snapshot | None = None
    ) -> "NeighborEmbedding":
        """Fit to the rows of X.

        Parameters
        ----------
        X : array (n_samples, n_features)
            Rows to embed; with ``metric="precomputed"`` a dense distance matrix, a sparse one
            whose entries are the edges of a graph, or a graph of networkx or igraph.
        y : ignored
            Present for scikit-learn's sake.
        callback : callable, optional
            Called after every iteration with its number and the layout (n, n_components) of the
            distinct rows, for animations; if it returns False, the fit raises
            `unbend.progress.Cancelled`.
        """
        if callback is not None and not callable(callback):
            raise TypeError(refusal("callback", callback, "a function or None"))
        self._callback = callback
        try:
            super().fit(X, y, graph=graph)
        finally:
            del self._callback
        return self

    @property
    def affinities_(self) -> csr_array:
        """Joint probabilities (m, m) of the distinct rows, symmetric, with sum one.

        Edges that join components are not among them.
        """
        check_is_fitted(self)
        neighbors = self._neighborhoods.neighbors
        space = self._neighborhoods.space
        joint = self._joint(space, neighbors, self._affinities(neighbors.n, quiet=True), 1)
        joint.sort_indices()
        return joint

    def _open_space(self, X: Any, workers: int) -> tuple[Space, np.dtype[Any]]:
        if self.exaggeration != "max":
            where = f"with exaggeration={self.exaggeration!r}; 'max' takes more"
            check_integer("n_components", self.n_components, 1, MOST_COMPONENTS, where)
        space, dtype = super()._open_space(X, workers)
        if not isinstance(self.init, str):
            self._check_init(space.n)
        plain = self.metric == "euclidean" and not self.metric_params
        if self.pca_columns is None or not plain or not isinstance(space, PointSpace):
            return space, dtype
        columns = min(self.pca_columns, space.n - 1)
        if space.points.shape[1] > columns:
            space = replace(
                space, metric=_principal_metric(space.points, columns, self.random_state, workers)
            )
        return space, dtype

    def _check_init(self, n: int) -> None:
        shape, expected = check_rows(self.init, name="init").shape, (n, self.n_components)
        if shape != expected:
            raise ValueError(f"init has the shape {shape}: pass an array {expected}")

    def _search(self, graph: Any, needs: Needs) -> NeighborSearch:
        search = super()._search(graph, needs)
        if self.n_neighbors is not None or self.radius is not None:
            return search
        count = int(np.ceil(NEIGHBORS_PER_PERPLEXITY * self.perplexity))
        return PerplexitySearch(**{**vars(search), "n_neighbors": count})

    def _affinities(self, n: int, *, quiet: bool = False) -> Affinities:
        """Conditional affinities of n rows; warns of a perplexity that is lowered."""
        if self.metric == "affinity":
            return GivenAffinities(None)
        if self.n_neighbors is not None:
            return Affinities(None)
        if self.perplexity < n - 1:
            return Affinities(float(self.perplexity))
        lowered = max(1.0, (n - 1) / NEIGHBORS_PER_PERPLEXITY)
        if not quiet:
            warn(f"there are {n} distinct rows: perplexity was lowered to {lowered:.4g}")
        return Affinities(lowered)

    def _joint(
        self, space: Space, neighbors: Neighbors, affinities: Affinities, threads: int
    ) -> csr_array:
        """Joint probabilities of the rows."""
        if isinstance(space, AffinitySpace):
            joint = normalize(space.affinities)
            check_degrees(degrees(joint))
            return joint
        return joint_probabilities(neighbors, affinities, threads)

    def _fit_columns(self, X: Any, graph: Any) -> dict[str, Any] | None:
        if self.metric == "affinity":
            refuse_unused(
                self, "metric='affinity'", n_neighbors=None, radius=None, mutual=False,
                perplexity=30.0,
            )  # fmt: skip
        return None

    def _preimage_count(self, rule: Rule) -> int:
        return min(rule.k, PREIMAGE_NEIGHBORS)

    def _embed(self, component: Component) -> EmbeddingResult:
        with stage("affinities"):
            affinities = self._affinities(component.n)
            joint = self._joint(component.space, component.neighbors, affinities, component.threads)
            note(perplexity=affinities.perplexity, entries=joint.nnz)
        if self.exaggeration == "max":
            return self._eigenmaps(component, affinities, joint)
        with stage("start"):
            joint, order = canonical_form(joint, component.threads)
            start, eigenvalues = self._start(component, joint, order)
            schedule = self._schedule(joint, start, component.threads)
        with stage("layout"):
            layout = minimize(joint, start, schedule, component.threads, self._snapshot(order))
            self._record(layout, schedule)
        points = _rows_of(layout.points, order).astype(np.float64)
        extension = LayoutExtension(
            component.space, self._rule(component), points, affinities,
            float(self.exaggeration), schedule.error,
        )  # fmt: skip
        attributes = {
            "kl_divergence_": layout.divergence,
            "n_iter_": layout.iterations,
            "eigenvalues_": eigenvalues[: self.n_components],
            "_next_eigenvalue": eigenvalues[self.n_components],
        }
        return EmbeddingResult(points, extension, attributes)

    def _eigenmaps(
        self, component: Component, affinities: Affinities, joint: csr_array
    ) -> EmbeddingResult:
        with stage("spectrum"):
            joint.sort_indices()
            problem, rng = laplacian_problem(joint), generator(self.random_state)
            spectrum = solve(problem, self.n_components, self.eigen_solver, rng, component.threads)
            check_spectrum(problem, spectrum)
        extension = EigenmapsExtension(
            component.space, self._rule(component), spectrum.vectors, spectrum.values, affinities
        )
        attributes = {
            "eigenvalues_": spectrum.values,
            "_next_eigenvalue": spectrum.next_value,
            "kl_divergence_": np.nan,
            "n_iter_": 0,
        }
        return EmbeddingResult(spectrum.vectors, extension, attributes)

    def _rule(self, component: Component) -> Rule:
        """Neighbours of a new sample: of given affinities all that are not zero."""
        given = isinstance(component.space, AffinitySpace)
        return Rule(component.n) if given else component.rule

    def _snapshot(self, order: IntArray) -> Snapshot | None:
        """Wrap the callback: it gets rows in the order of the data."""
        callback = self._callback
        if callback is None:
            return None
        return lambda iteration, points: callback(iteration, _rows_of(points, order))

    def _start(
        self, component: Component, joint: csr_array, order: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Coordinates at which the descent starts, each row apart from the others.

        Affinities and coordinates are those of the rows in the given order. The eigenvalues are
        those of a start by eigenmaps, the next one included, else NaN.
        """
        d, rng = self.n_components, generator(self.random_state)
        note(init=self.init if isinstance(self.init, str) else "array")
        values = np.full(d + 1, np.nan)
        if isinstance(self.init, str) and self.init == "eigenmaps":
            start, found = eigenmaps_start(joint, d, rng, component.threads)
            values[: len(found)] = found[: d + 1]
        elif isinstance(self.init, str):
            start = principal_start(component.space, d)[order]
        else:
            # Of duplicate rows the first is embedded.
            start = np.asarray(self.init, dtype=np.float64)[component.rows[order]]
        return separate(rescale(start)), values

    def _schedule(self, joint: csr_array, start: FloatArray, threads: int) -> Schedule:
        """Set forces and length of the descent, and warn of coordinates that collapse."""
        bound, exaggeration = growth_bound(joint, start, threads), float(self.exaggeration)
        if exaggeration >= bound:
            self._warn_of_collapse(joint)
        early = min(float(self.early_exaggeration), round(GROWING * bound, 2))
        note(early_exaggeration=max(early, exaggeration))
        return Schedule(
            exaggeration, early, EARLY_ITERATIONS, self.max_iter, self.tol,
            self.gradient_error,
        )  # fmt: skip

    def _warn_of_collapse(self, joint: csr_array) -> None:
        d = self.n_components
        bounds = collapse_bounds(joint, d, generator(self.random_state))
        note(collapse=[float(bound) for bound in bounds])
        growing = int(np.sum(self.exaggeration < bounds))
        if growing < d:
            result = (
                f"only {growing} of {d} coordinates grow" if growing else "the layout collapses"
            )
            warn(
                f"With exaggeration={self.exaggeration:g} {result}: use less than "
                f"{bounds[-1]:.4g}, or exaggeration='max'."
            )

    def _record(self, layout: Layout, schedule: Schedule) -> None:
        note(
            iterations=layout.iterations,
            converged=layout.converged,
            kl_divergence=layout.divergence,
            repulsion=Repulsion(schedule.error).method(layout.points),
        )


@dataclass(frozen=True, eq=False)
class PerplexitySearch(NeighborSearch):
    """The search for a perplexity: as many neighbours as there are, where they are too few."""

    def _adjust_counts(self, counts: int | IntArray, n: int) -> int | IntArray:
        return np.minimum(counts, n - 1)


def _rows_of(points: FloatArray, order: IntArray) -> FloatArray:
    """Points, given in an order of the rows, in the order of the data."""
    rows = np.empty_like(points)
    rows[order] = points
    return rows


def _principal_metric(points: FloatArray, columns: int, seed: Any, threads: int) -> Metric:
    """Euclidean distance of the principal components of rows, those of a sample where many."""
    with stage("columns"):
        some = sample_rows(points, PRINCIPAL_ROWS, threads).astype(np.float64, copy=False)
        center = some.mean(axis=0)
        # A sample is a copy already.
        centered = some - center if some is points else np.subtract(some, center, out=some)
        found = exact_axes(centered, columns, generator(seed), threads)
        total = max(float(np.vdot(centered, centered)), np.finfo(np.float64).tiny)
        share = float(np.square(found.singular).sum()) / total
        note(
            columns=points.shape[1],
            rows=len(some),
            principal_components=columns,
            variance_share=share,
        )
    return Metric("weighted", constants={"center": center, "matrix": found.axes.T.copy()})
