"""Methods built on neighbourhoods: neighbours → connection → embedded components → coordinates."""

from abc import abstractmethod
from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.sparse import coo_array, csr_array
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray
from unbend.eigen import solve
from unbend.estimators.arrangement import arrange_components, place_rows
from unbend.estimators.denoising_options import MOST_LANDMARKS, TRIED_ROWS, DenoiseOptions
from unbend.estimators.embedding import SpectralEmbedding, seed_param, solver_param, threads_param
from unbend.estimators.inputs import new_rows, open_space
from unbend.estimators.search import AUTO, Needs, Neighborhoods, NeighborSearch
from unbend.extension import Barycentric, EmbeddingResult, Placement, Rule, barycentric_preimage
from unbend.gram import Gram
from unbend.graphs import geodesics, undirected
from unbend.graphs.connect import CONNECT, connect_components
from unbend.neighbors import (
    METRICS,
    NeighborIndex,
    Neighbors,
    NNDescent,
    PointSpace,
    Space,
    describe_parameters,
)
from unbend.outlyingness import score_rows
from unbend.report import Deferred, Stage, stage
from unbend.validation.arrays import check_distinct, class_numbers
from unbend.validation.parameters import (
    COUNTS,
    FLAG,
    FUNCTION,
    INDEX,
    MAPPING,
    NOTHING,
    Choice,
    Integer,
    Real,
    declare,
    param,
)
from unbend.validation.random_state import generator
from unbend.validation.scalars import check_integer
from unbend.validation.threads import threads

if TYPE_CHECKING:
    from unbend.denoising import Landmarks
    from unbend.estimators.denoising import Candidates


def refuse_unused(estimator: Any, reason: str, **defaults: Any) -> None:
    """Refuse parameters that differ from their defaults though they are not used."""
    for name, default in defaults.items():
        value = getattr(estimator, name)
        if not (value is default or (isinstance(value, str | float) and value == default)):
            raise ValueError(f"{name}={value!r} has no effect with {reason}: leave it out")


@dataclass(frozen=True, eq=False)
class Component:
    """Connected rows, of which a method makes its kernel.

    `rule` says which fitted rows are neighbours of a new sample; `rows` are their numbers in the
    data; `labels` are their classes, -1 where not known, for supervised methods only; `masses` say
    how many rows each stands for, where they are landmarks; `given` says whether the neighbours are
    those of a graph that was passed to `fit`.
    """

    space: Space
    neighbors: Neighbors
    rule: Rule
    threads: int
    rows: IntArray
    labels: IntArray | None = None
    masses: FloatArray | None = None
    given: bool = False

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.neighbors.offsets) - 1

    @property
    def block_threads(self) -> int:
        """Threads that compute neighbourhoods; one where a metric may be a user's function."""
        shared = isinstance(self.space, PointSpace) and self.space.is_euclidean
        return self.threads if shared else 1

    def take(self, rows: IntArray) -> "Component":
        """Restrict to some rows, with all their neighbours."""
        labels = None if self.labels is None else self.labels[rows]
        masses = None if self.masses is None else self.masses[rows]
        space, neighbors = self.space.take(rows), self.neighbors.take(rows)
        chosen = self.rows[rows]
        return Component(
            space, neighbors, self.rule, self.threads, chosen, labels, masses, self.given
        )


@declare
class NeighborhoodEmbedding(SpectralEmbedding):
    """Abstract estimator of methods built on a neighbourhood graph.

    Attributes
    ----------
    eigenvalues_ : array (n_components,)
        Bottom eigenvalues, the trivial zero left out.
    component_ : array (n_samples,)
        Component of the graph that each row was in.
    """

    n_neighbors: Any = param(
        10,
        Integer(1),
        COUNTS,
        Choice(AUTO),
        NOTHING,
        help="Neighbours of each row: one number, one per row, or 'auto' for as many as noise "
        "and curvature ask for, and at least as many as connect the graph; None takes all within "
        "`radius`. Lowered, with a warning, if there are too few rows.",
    )
    radius: float | None = param(
        None,
        Real(0),
        NOTHING,
        help="Neighbours must lie within this distance; with n_neighbors=None all that do.",
    )
    mutual: bool = param(
        False, FLAG, help="Whether two rows must be neighbours of each other to be joined."
    )
    neighbors_algorithm: Any = param(
        "auto",
        Choice("auto", "exact", "approximate", "kd_tree", "brute"),
        INDEX,
        help="Neighbour search. 'auto' (also 'exact') takes the cheaper of a KD-tree and blocked "
        "brute force, predicted from rows, columns and the intrinsic dimension; "
        "'approximate' is NN-descent, but few rows and few columns are searched "
        "exactly; an index may come from another library. The report records the recall.",
    )
    metric: Any = param(
        "euclidean",
        Choice(*METRICS, "precomputed"),
        FUNCTION,
        help="Distance between rows. 'precomputed': X holds distances; a sparse X is a graph, "
        "used unchanged, and absent entries are unknown distances.",
    )
    metric_params: dict[str, Any] | None = param(
        None, MAPPING, NOTHING, help=f"Parameters of the metric. {describe_parameters()}."
    )
    connect: str = param(
        "bridge",
        Choice(*CONNECT),
        help="How to handle a disconnected neighbourhood graph: join its components by the "
        "shortest edges ('bridge') or by more neighbours at their rims ('enlarge'), fit the "
        "'largest' and place the other rows by its extension, embed all 'components' side by "
        "side, or raise an 'error'.",
    )
    # One jump ruins a chart. Where it moves few coordinates, and the search would cost a large part
    # of the fit (docs/graphs.md), methods declare "keep".
    short_circuits: str = param(
        "warn",
        Choice("remove", "warn", "keep"),
        help="How to handle edges that jump between sheets of the data: 'remove' them and warn, "
        "'warn' only, or 'keep' them without a search. A given graph is not changed.",
    )
    eigen_solver: Any = solver_param()
    random_state: Any = seed_param("the eigensolver's start vectors")
    n_jobs: int | None = threads_param()

    isometric: ClassVar[bool] = False
    # Whether `fit` learns from the classes of rows.
    supervised: ClassVar[bool] = False
    # Whether the kernel is made of local blocks: both ends of a bridge then share neighbourhoods.
    local_blocks: ClassVar[bool] = False
    # Landmarks of a denoised fit, at most.
    most_landmarks: ClassVar[int] = MOST_LANDMARKS
    # Rows, at most, that 'auto' fits beside landmarks to compare both.
    most_compared: ClassVar[int] = TRIED_ROWS
    # Whether they are spread evenly; not where the density of the rows has a part in the result.
    spread_landmarks: ClassVar[bool] = True
    # Whether coordinates are a chart that stretches evenly, up to an affine map.
    makes_charts: ClassVar[bool] = False

    @abstractmethod
    def _embed(self, component: Component) -> EmbeddingResult:
        """Embed connected rows, at least as many as the method needs."""

    def _needs(self) -> Needs:
        """Return what the kernel needs of the neighbourhoods to be defined."""
        return Needs()

    @property
    def _least_dimension(self) -> int:
        """The embedding dimension; one where the spectrum decides."""
        return self.n_components if isinstance(self.n_components, int) else 1

    def fit(self, X: Any, y: Any = None, *, graph: Any = None) -> "NeighborhoodEmbedding":
        """Fit to the rows of X.

        Parameters
        ----------
        X : array (n_samples, n_features)
            Rows to embed; with ``metric="precomputed"`` a dense distance matrix, a sparse one
            whose entries are the edges of a graph, or a graph of networkx or igraph.
        y : array (n_samples,), optional
            Classes, -1, NaN or None where unknown: required by supervised methods, ignored by the
            others.
        """
        with self._fitting() as report:
            fitted = self._fit_columns(X, graph)
            if fitted is None:
                with kernels.Team(threads(self.n_jobs)):
                    fitted = self._fit_graph(X, y, graph)
        self._keep(report, **fitted)
        return self

    def _fit_columns(self, X: Any, graph: Any) -> dict[str, Any] | None:
        """Fit without a graph, for methods that can; None where a graph is wanted."""
        return None

    def _fit_graph(self, X: Any, y: Any, graph: Any) -> dict[str, Any]:
        """Run all stages, and return what `_keep` takes."""
        self._check_classes(y)
        space, dtype = self._open_space(X, threads(self.n_jobs))
        candidates, record = self._landmark_candidates(space, graph)
        fit = partial(self._fit_space, space, y, graph)
        if candidates is None or record is None:
            fitted = fit(None)
        elif not self._is_tried(candidates):
            fitted = fit(candidates.first)
        else:
            from unbend.estimators.denoising_trials import fit_and_compare, fit_with_trial

            fit_best = fit_with_trial if self.makes_charts else fit_and_compare
            fitted = fit_best(fit, candidates, record)
        return {"dtype": dtype, **fitted}

    def _fit_space(
        self, space: Space, y: Any, graph: Any, landmarks: "Landmarks | None"
    ) -> dict[str, Any]:
        """Run all stages on the rows of a space, or on landmarks in place of them."""
        workers, needs = threads(self.n_jobs), self._needs()
        least = needs.rows(self._least_dimension)
        rows = space
        if landmarks is not None and isinstance(space, PointSpace):
            space = replace(space, points=landmarks.points)
        with stage("neighbors"):
            search = self._search(graph, needs)
            if landmarks is not None:
                search = replace(search, landmarks=True, least=landmarks.neighbors)
            found = search.run(space)
        space, inverse = found.space, found.inverse
        with stage("graph"):
            found = self._without_short_circuits(found, needs, graph is not None)
            connection = connect_components(
                space,
                found.neighbors,
                self.connect,
                self.local_blocks,
                "rows" if landmarks is None else "landmarks",
            )
            self._check_largest(len(connection.groups[0]), least)
        labels = class_numbers(y, len(inverse))[found.first] if self.supervised else None
        masses = None if landmarks is None else landmarks.masses[found.first]
        whole = Component(
            space,
            connection.neighbors,
            found.rule,
            workers,
            found.first,
            labels,
            masses,
            graph is not None,
        )
        results = [
            self._embed_component(whole if len(rows) == whole.n else whole.take(rows), least)
            for rows in connection.groups
        ]
        with stage("coordinates"):
            embedding, placement = arrange_components(space, connection, results, self.isometric)
            k = max(self._preimage_count(found.rule), embedding.shape[1] + 1)
            preimage = Deferred(partial(barycentric_preimage, space, embedding, k))
            embedding, component = embedding[inverse], connection.component[inverse]
            if landmarks is not None:
                embedding, nearest = place_rows(rows, placement)
                component = connection.component[nearest]
        return {
            "embedding": embedding,
            "extension": placement,
            "preimage": preimage,
            "component_": component,
            "_neighborhoods": found,
            **self._merge_attributes([result.attributes for result in results]),
        }

    def _landmark_candidates(
        self, space: Space, graph: Any
    ) -> "tuple[Candidates | None, Stage | None]":
        """Landmarks on the estimated surface, where `denoise` asks for them, and the stage."""
        options = DenoiseOptions.read(getattr(self, "denoise", False))
        if options is None:
            return None, None
        # Imported by the fits that need it.
        from unbend.estimators.denoising import DenoisingStage

        run = DenoisingStage(
            options,
            options.dimension or self._least_dimension,
            self.n_neighbors,
            self._needs().rows(self._least_dimension),
            self.most_landmarks,
            self.spread_landmarks,
            self._denoising_reluctance(),
        )
        with stage("denoise") as record:
            return run.run(space, self._denoising_obstacle(graph)), record

    def _is_tried(self, candidates: "Candidates") -> bool:
        """Whether 'auto' chooses between fits: rows that come first are not tried if many."""
        if self.denoise != AUTO:
            return False
        if self.makes_charts:
            return candidates.tries_rows or candidates.declined is None
        few = candidates.sample.distinct <= self.most_compared
        return few and candidates.declined is None

    def _denoising_obstacle(self, graph: Any) -> str | None:
        """Name the parameter, if any, that is meant for the rows and not for landmarks."""
        if graph is not None:
            return "graph joins the rows as they are"
        if self.radius is not None:
            return f"radius={self.radius:g} is meant for the rows"
        if not isinstance(self.n_neighbors, int | str):
            return "n_neighbors has one number for each row"
        return None

    def _denoising_reluctance(self) -> str | None:
        """Return why denoise='auto' leaves the rows as they are, whatever they are."""
        return None

    @property
    def _is_denoised(self) -> bool:
        """Whether landmarks were fitted in place of the rows."""
        return any(
            stage.name == "denoise" and "landmarks" in stage.facts for stage in self.report_.stages
        )

    def _without_short_circuits(
        self, found: Neighborhoods, needs: Needs, given: bool
    ) -> Neighborhoods:
        """Handle edges that jump between sheets; those of a given graph stay."""
        if self.short_circuits == "keep":
            return found
        from unbend.graphs.short_circuits import handle_short_circuits

        d = self.n_components if isinstance(self.n_components, int) else None
        neighbors = handle_short_circuits(
            found.space, found.neighbors, self.short_circuits, d, needs.neighbors, given
        )
        return replace(found, neighbors=neighbors)

    def _open_space(self, X: Any, workers: int) -> tuple[Space, np.dtype[Any]]:
        """Space of the rows to fit, and the dtype that results should have."""
        return open_space(self, X, workers, self._index())

    def _preimage_count(self, rule: Rule) -> int:
        """Rows from which a pre-image is combined."""
        return rule.k

    def _check_classes(self, y: Any) -> None:
        """Refuse a supervised fit without classes: it would be an unsupervised one."""
        if self.supervised and y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None. Pass "
                "the classes, -1 where unknown: fit(X, y). Without classes use LLE."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.supervised
        return tags

    @property
    def graph_(self) -> csr_array:
        """The directed neighbour graph (n_samples, n_samples), entries are lengths.

        Of duplicate rows, which are embedded once, the first has the edges. Of a denoised fit it
        is the graph of the landmarks.
        """
        check_is_fitted(self)
        first: IntArray = self._neighborhoods.first
        edges = coo_array(self._neighborhoods.neighbors.graph())
        rows, columns = edges.coords
        n = len(self._neighborhoods.inverse)
        return csr_array((edges.data, (first[rows], first[columns])), shape=(n, n))

    def _index(self) -> NeighborIndex | str:
        index: NeighborIndex | str = self.neighbors_algorithm
        if index == "approximate":
            return NNDescent(seed=int(generator(self.random_state).integers(2**31)))
        return index

    def _search(self, graph: Any, needs: Needs) -> NeighborSearch:
        method = f"{type(self).__name__} with n_components={self.n_components}"
        return NeighborSearch(
            method,
            self.n_neighbors,
            self.radius,
            self.mutual,
            graph,
            needs,
            self._least_dimension,
            self._check_rows,
        )

    def _check_rows(self, n: int) -> None:
        """Refuse fewer distinct rows than the method needs for its number of coordinates."""

        def least(d: int) -> int:
            return int(clone(self).set_params(n_components=d)._needs().rows(d))

        d = self._least_dimension
        if n < self._needs().rows(d):
            check_distinct(n, least(1))
            most = bisect_right(range(1, d), n, key=least)
            check_integer("n_components", d, 1, most, f"with {n} distinct rows")

    def _new_rows(self, X: Any) -> FloatArray:
        space: Space = self._neighborhoods.space
        return space.narrow(new_rows(self, X, space), self._neighborhoods.first)

    def _place(self, X: Any) -> tuple[FloatArray, FloatArray | None]:
        new, placement = self._as_stored(self._new_rows(X)), self._placement
        indices, distances = placement.neighbors(new)
        scores = score_rows(indices, distances, self._spacing)
        return placement.place(new, indices, distances), scores

    def _outlyingness(self, X: Any) -> FloatArray:
        indices, distances = self._placement.neighbors(self._as_stored(self._new_rows(X)))
        return score_rows(indices, distances, self._spacing)

    @property
    def _spacing(self) -> FloatArray:
        """Usual distances of new samples from the fitted rows near them.

        Landmarks lie on the surface, and rows beside it by as much as projection moves them.
        """
        spacing: FloatArray = self._neighborhoods.spacing
        if not self._is_denoised:
            return spacing
        beside = self.report_.stage("denoise").facts["displacement"]
        assert isinstance(beside, float)
        return np.hypot(spacing, beside)

    @property
    def _placement(self) -> Placement:
        """The extension, which knows the neighbours of new samples."""
        assert isinstance(self._extension, Placement)
        return self._extension

    def _check_largest(self, rows: int, least: int) -> None:
        if rows < least:
            raise ValueError(
                f"the largest component of the graph has {rows} rows and {type(self).__name__} "
                f"needs {least}: use more neighbours, or connect='bridge'"
            )

    def _merge_attributes(self, components: list[dict[str, Any]]) -> dict[str, Any]:
        """Fitted attributes, from those of the components: those of the largest, the first."""
        return components[0]

    def _embed_component(self, component: Component, least: int) -> EmbeddingResult:
        if component.n < least:
            return scale_geodesics(component, self._least_dimension, self.isometric)
        return self._embed(component)


def eigenvalue_attributes(values: FloatArray, next_value: float) -> dict[str, Any]:
    """Fitted attributes of a spectrum."""
    return {"eigenvalues_": values, "_next_eigenvalue": next_value}


def scale_geodesics(component: Component, d: int, isometric: bool) -> EmbeddingResult:
    """Classical MDS of the geodesics of a component too small for the method."""
    space, n = component.space, component.n
    values, coordinates = np.zeros(d), np.zeros((n, d))
    if n > 1:
        gram = Gram(geodesics(undirected(component.neighbors).lengths))
        spectrum = solve(gram.problem(), min(d, n - 1), "dense")
        found = gram.coordinates(spectrum)
        size = 1.0 if isometric else max(float(np.linalg.norm(found, axis=0).max()), 1e-300)
        coordinates[:, : found.shape[1]] = found / size
        values[: found.shape[1]] = spectrum.values
    extension = Barycentric(space, Rule(n), coordinates)
    return EmbeddingResult(coordinates, extension, eigenvalue_attributes(values, np.nan))
