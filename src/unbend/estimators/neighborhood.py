"""Methods built on neighbourhoods: neighbours → connection → kernel → spectrum → coordinates."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import coo_array, csr_array
from sklearn.utils.validation import check_is_fitted

from unbend.arrays import FloatArray, IntArray
from unbend.eigen import SOLVERS, solve
from unbend.eigen.problem import SpectralProblem, Spectrum
from unbend.estimators.components import lay_out
from unbend.estimators.connection import CONNECT, connect
from unbend.estimators.diagnostics import check_spectrum
from unbend.estimators.embedding import Embedding
from unbend.estimators.inputs import class_numbers, new_rows, open_space
from unbend.estimators.search import AUTO, Found, Needs, Search
from unbend.extension import Barycentric, Fitted, Placement, Rule
from unbend.gram import Gram
from unbend.graphs import geodesics, undirected
from unbend.neighbors import (
    METRICS,
    NeighborIndex,
    Neighbors,
    NNDescent,
    PointSpace,
    Space,
    described,
)
from unbend.report import stage
from unbend.validation.parameters import (
    COUNTS,
    FLAG,
    FUNCTION,
    INDEX,
    MAPPING,
    NOTHING,
    RANDOM,
    SOLVER,
    Choice,
    Integer,
    Real,
    Threads,
    declare,
    param,
)
from unbend.validation.random_state import generator
from unbend.validation.threads import threads

Finish = Callable[[Spectrum], Fitted]


@dataclass(frozen=True, eq=False)
class Part:
    """Connected rows: what a method makes its kernel of.

    `rule` says which fitted rows are neighbours of a new one; `labels` are the classes of the
    rows, -1 where not known, for supervised methods only.
    """

    space: Space
    neighbors: Neighbors
    rule: Rule
    labels: IntArray | None = None

    def take(self, rows: IntArray) -> "Part":
        """Restrict to some rows, with all their neighbours."""
        labels = None if self.labels is None else self.labels[rows]
        return Part(self.space.take(rows), self.neighbors.take(rows), self.rule, labels)


@declare
class NeighborhoodEmbedding(Embedding):
    """Abstract estimator of methods that see the data through its neighbourhoods."""

    n_neighbors: Any = param(
        10,
        Integer(1),
        COUNTS,
        Choice(AUTO),
        NOTHING,
        help="Neighbours of each row: one number, one a row, or 'auto' for the fewest that join "
        "the graph; None takes all within `radius`. Lowered, with a warning, if there are too few.",
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
        "exact",
        Choice("exact", "approximate", "kd_tree", "brute"),
        INDEX,
        help="Neighbour search. 'exact' chooses between a KD-tree and blocked brute force; "
        "'approximate' is NN-descent, but few rows, few columns and new samples are searched "
        "exactly; an index may come from another library. The report records the recall.",
    )
    metric: Any = param(
        "euclidean",
        Choice(*METRICS, "precomputed"),
        FUNCTION,
        help="Distance between rows. 'precomputed': X holds distances; a sparse X is a graph, "
        "taken as it is, and absent means not measured.",
    )
    metric_params: dict[str, Any] | None = param(
        None, MAPPING, NOTHING, help=f"Parameters of the metric. {described()}."
    )
    connect: str = param(
        "bridge",
        Choice(*CONNECT),
        help="What to do when the graph falls apart: join the components by the shortest edges, or "
        "by more neighbours for the rows of all but the largest; fit the largest and place the "
        "other rows; embed each on its own side by side; or raise.",
    )
    eigen_solver: Any = param(
        "auto", Choice(*SOLVERS), SOLVER, help="How the spectrum is found; the report tells."
    )
    random_state: Any = param(
        None,
        Integer(0),
        RANDOM,
        NOTHING,
        help="Seed of the solver's start; None is a fixed one, so that fits repeat.",
    )
    n_jobs: int | None = param(
        None,
        Threads(),
        NOTHING,
        help="Number of threads: None means 1, -1 all available cores, -2 all but one; at most four"
        " per core. The result does not depend on it.",
    )

    isometric: ClassVar[bool] = False
    # Whether `fit` learns from the classes of rows.
    supervised: ClassVar[bool] = False
    # Whether the kernel is made of local blocks: both ends of a bridge then share neighbourhoods.
    local_blocks: ClassVar[bool] = False

    @abstractmethod
    def _kernel(self, part: Part) -> tuple[SpectralProblem, Finish]:
        """Spectral problem of connected rows, and what to make of its solution."""

    @abstractmethod
    def _needs(self) -> Needs:
        """Say what the kernel needs of the neighbourhoods to be defined."""

    def fit(self, X: Any, y: Any = None, *, graph: Any = None) -> "NeighborhoodEmbedding":
        """Fit to the rows of X.

        Parameters
        ----------
        X : array (n_samples, n_features)
            Rows to embed; with ``metric="precomputed"`` a dense distance matrix, a sparse one
            whose entries are the edges of a given graph, or a graph of networkx or igraph.
        y : array (n_samples,), optional
            Classes, for supervised methods; ignored by the others.
        graph : sparse array (n_samples, n_samples), or graph of networkx or igraph, optional
            A given graph: the stored entries of row i are its neighbours. Their distances come
            from X; `n_neighbors` and `radius` are then not used.

        Returns
        -------
        self
        """
        with self._fitting() as report:
            space, dtype = open_space(self, X, threads(self.n_jobs), self._index())
            with stage("neighbors"):
                found = self._search(graph).run(space)
            with stage("graph"):
                connected = connect(found.space, found.neighbors, self.connect, self.local_blocks)
                self._check_largest(len(connected.parts[0]))
            whole = Part(found.space, connected.neighbors, found.rule, self._labels(y, found))
            fitted = [
                self._embed(whole if len(rows) == found.space.n else whole.take(rows))
                for rows in connected.parts
            ]
            with stage("coordinates"):
                embedding, placement = lay_out(
                    found.space, connected.parts, [part for part, _ in fitted], self.isometric
                )
                preimage = _preimage(found, embedding)
        _, found_values = fitted[0]
        self._keep(
            report,
            embedding[found.copy],
            dtype,
            placement,
            preimage,
            component_=connected.component[found.copy],
            _found=found,
            **{**found_values, **self._together([part.attributes for part, _ in fitted])},
        )
        return self

    @property
    def next_eigenvalue_(self) -> float:
        """The first eigenvalue left out, as near as the solver came; NaN where there is none."""
        check_is_fitted(self)
        return float(self._next_eigenvalue)

    @property
    def graph_(self) -> csr_array:
        """Neighbours as found (n_samples, n_samples), entries are lengths.

        Of rows that are equal, which are embedded once, the first has the edges.
        """
        check_is_fitted(self)
        first: IntArray = self._found.first
        edges = coo_array(self._found.neighbors.graph())
        rows, columns = edges.coords
        n = len(self._found.copy)
        return csr_array((edges.data, (first[rows], first[columns])), shape=(n, n))

    def _index(self) -> NeighborIndex | str:
        index: NeighborIndex | str = self.neighbors_algorithm
        if index == "approximate":
            return NNDescent(seed=int(generator(self.random_state).integers(2**31)))
        return index

    def _search(self, graph: Any) -> Search:
        method = f"{type(self).__name__} with n_components={self.n_components}"
        return Search(
            method,
            self.n_neighbors,
            self.radius,
            self.mutual,
            graph,
            self._needs(),
            self.n_components,
        )

    def _least_rows(self) -> int:
        return self._needs().rows(self.n_components)

    def _new_rows(self, X: Any) -> FloatArray:
        space: Space = self._found.space
        return space.narrow(new_rows(self, X, space), self._found.first)

    def _check_largest(self, rows: int) -> None:
        if rows < self._least_rows():
            raise ValueError(
                f"the largest component of the graph has {rows} rows and {type(self).__name__} "
                f"needs {self._least_rows()}: use more neighbours, or connect='bridge'"
            )

    def _together(self, parts: list[dict[str, Any]]) -> dict[str, Any]:
        """Fitted attributes, from those of the parts: those of the largest, which is first."""
        return parts[0]

    def _labels(self, y: Any, found: Found) -> IntArray | None:
        if not self.supervised:
            return None
        return class_numbers(y, len(found.copy))[found.first]

    def _embed(self, part: Part) -> tuple[Fitted, dict[str, Any]]:
        """Embed one connected part; also the eigenvalues, as fitted attributes."""
        if part.space.n < self._least_rows():
            return _by_distances(part, self.n_components, self.isometric)
        alone = int(np.sum(part.neighbors.counts == 0))
        if self.local_blocks and alone:
            raise ValueError(
                f"{alone} rows of the graph have no neighbours of their own, though others have "
                f"them: {type(self).__name__} needs some for each row, for example graph + graph.T"
            )
        with stage("kernel"):
            problem, finish = self._kernel(part)
        with stage("spectrum"):
            spectrum = solve(
                problem,
                self.n_components,
                self.eigen_solver,
                generator(self.random_state),
                threads(self.n_jobs),
            )
            check_spectrum(problem, spectrum)
            return finish(spectrum), _eigenvalues(spectrum.values, spectrum.next_value)


def _eigenvalues(values: FloatArray, next_value: float) -> dict[str, Any]:
    return {"eigenvalues_": values, "_next_eigenvalue": next_value}


def _by_distances(part: Part, d: int, isometric: bool) -> tuple[Fitted, dict[str, Any]]:
    """Classical MDS of the geodesics of a part too small for the method."""
    space = part.space
    values, coordinates = np.zeros(d), np.zeros((space.n, d))
    if space.n > 1:
        gram = Gram(geodesics(undirected(part.neighbors).lengths))
        spectrum = solve(gram.problem(), min(d, space.n - 1), "dense")
        found = gram.coordinates(spectrum)
        size = 1.0 if isometric else max(float(np.linalg.norm(found, axis=0).max()), 1e-300)
        coordinates[:, : found.shape[1]] = found / size
        values[: found.shape[1]] = spectrum.values
    fitted = Fitted(coordinates, Barycentric(space, Rule(space.n), coordinates))
    return fitted, _eigenvalues(values, np.nan)


def _preimage(found: Found, embedding: FloatArray) -> Placement | None:
    if not isinstance(found.space, PointSpace):
        return None
    coordinates, points = PointSpace(embedding), found.space.points
    k = max(found.rule.k, embedding.shape[1] + 1)
    return Placement.whole(coordinates, points, Barycentric(coordinates, Rule(k), points))
