"""Base of scaling methods for one dissimilarity matrix or several: input, start, solver, result."""

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray, is_sparse
from unbend.estimators.dissimilarities import (
    DistanceInput,
    check_connected,
    complete_space,
    count_missing,
    new_distances,
    read_input,
)
from unbend.estimators.embedding import Embedding, seed_param, threads_param
from unbend.extension import Extension, barycentric_preimage
from unbend.graphs.readers import is_graph, lengths_of
from unbend.mds import (
    InverseStress,
    Objective,
    Pairs,
    Solution,
    StressExtension,
    estimate_stress,
    initialization,
    quasi_newton,
    smacof,
    stochastic_gradient,
)
from unbend.mds.duplicates import Duplicates, JoinedStress, find_duplicates
from unbend.mds.object_pairs import euclidean_features, mean_pairs
from unbend.mds.solvers import Minimised
from unbend.neighbors import METRICS, DistanceSpace, PointSpace, Space
from unbend.neighbors.space import COMPARED
from unbend.outlyingness import UndefinedScore, score_rows
from unbend.report import Report, note, stage, step, warn
from unbend.validation.arrays import real_array
from unbend.validation.parameters import (
    FUNCTION,
    MAPPING,
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
from unbend.validation.threads import threads

# Up to here the classical start is taken, which holds all distances in double precision.
CLASSICAL_OBJECTS = 2000
GIVEN = Matching(lambda value: isinstance(value, list | np.ndarray), "an array (n, n_components)")


class Shepard(NamedTuple):
    """Shepard diagram, one entry per known pair."""

    dissimilarities: FloatArray
    disparities: FloatArray
    distances: FloatArray


class Baseline(NamedTuple):
    """Stress of the fit and of fits to the same dissimilarities, permuted."""

    stress: float
    random: FloatArray
    share: float


def tolerance(tol: float | str, rounding: float) -> float:
    """Relative length of the gradient at which iteration ends, for numbers of some rounding."""
    if isinstance(tol, str):
        return 1e-9 if rounding < 1e-10 else 1e-4
    return tol


def check_start(init: Any, n: int, d: int) -> FloatArray:
    """Check coordinates to start from."""
    start = np.asarray(init, dtype=np.float64)
    if start.shape != (n, d) or not np.isfinite(start).all():
        raise ValueError(
            f"init must hold {n} x {d} finite coordinates, as X and n_components have: its shape "
            f"is {start.shape}"
        )
    if np.all(start == start[0]):
        raise ValueError(
            "init gives all objects the same coordinates, where the gradient of stress is zero: "
            "give different coordinates, or init='random'"
        )
    return start


def minimise(
    objective: Minimised, start: FloatArray, solver: str, tol: float | str, max_iter: int
) -> Solution:
    """Minimise a stress by SMACOF or L-BFGS."""
    limit = tolerance(tol, objective.rounding)
    if isinstance(objective, InverseStress) or (
        isinstance(objective, JoinedStress) and objective.inverse
    ):
        start = minimise(objective.before, start, solver, tol, max_iter).coordinates
    elif solver == "smacof":
        return smacof(objective, start, limit, max_iter)
    return quasi_newton(objective, start, limit, max_iter)


def equal_objects(given: DistanceInput, pairs: Pairs) -> IntArray | None:
    """First object that each one equals; None if all are distinct, or weights differ."""
    if given.points is None or pairs.weights is not None or pairs.ends is not None:
        return find_duplicates(pairs)
    first, inverse = given.points.distinct()
    return first[inverse]


def note_convergence(solution: Solution, solver: str, max_iter: int) -> None:
    """Record the iterations, and warn if they were too few."""
    note(iterations=len(solution.history) - 1, converged=solution.converged)
    if not solution.converged:
        name = "SMACOF" if solver == "smacof" else "L-BFGS"
        warn(f"{name} did not converge in {max_iter} iterations. Increase max_iter.")


@declare
class Scaling(Embedding):
    """Abstract: a configuration whose distances match the dissimilarities, by least stress."""

    metric: Any = param(
        "euclidean",
        Choice(*METRICS, "precomputed", "kernel"),
        FUNCTION,
        help="Distance between rows; 'precomputed': X holds distances, NaN or not stored where "
        "not known; 'kernel': similarities of covariance type, d² = s_ii + s_jj − 2 s_ij.",
    )
    metric_params: dict[str, Any] | None = param(
        None, MAPPING, NOTHING, help="Further arguments of the metric, such as p of 'minkowski'."
    )
    repair: str | None = param(
        None,
        Choice("clean"),
        NOTHING,
        help="How to handle invalid distances: None refuses them; 'clean' averages "
        "both directions and sets the diagonal and negative entries to zero.",
    )
    init: Any = param(
        "auto",
        Choice("auto", "classical", "pivot", "random"),
        GIVEN,
        help="Start: classical scaling; pivot MDS of 100 objects; random ones, the best of which "
        "is kept; or coordinates. 'auto': classical, and pivot beyond 2000 objects that are not "
        "points with Euclidean distances.",
    )
    n_init: int = param(4, Integer(1), help="Number of random starts.")
    max_iter: int = param(1000, Integer(1), help="Most iterations of the solver.")
    tol: Any = param(
        "auto",
        Real(0.0, closed=True),
        Choice("auto"),
        help="Length of the gradient, relative, at which iteration ends. 'auto' is 1e-9, and 1e-4 "
        "where pairs are single precision: beyond 1000 objects with a stress-1 of 0.01 or more.",
    )
    random_state: Any = seed_param("random starts")
    n_jobs: int | None = threads_param()

    @abstractmethod
    def _objective(self, pairs: Pairs) -> Objective:
        """Give the stress of a configuration of the scaled pairs."""

    @abstractmethod
    def _finish(
        self, given: DistanceInput, objective: Any, scale: float, solution: Solution
    ) -> tuple[FloatArray, Extension, dict[str, Any]]:
        """Coordinates of the fitted objects, their extension, and further attributes."""

    def fit(self, X: Any, y: None = None, *, weights: Any = None, mask: Any = None) -> "Scaling":
        """Fit to points, distances or similarities.

        Parameters
        ----------
        X : array (n_samples, n_features) or (n_samples, n_samples)
            Rows to embed, or the matrix; a sparse matrix of distances holds the known pairs.
        weights : array (n_samples, n_samples), optional
            Weight of each pair in the stress; zero: the pair is not known.
        mask : array (n_samples, n_samples) of bool, optional
            Which pairs are known.
        """
        with self._fitting() as report:
            rng = generator(self.random_state)
            if self._solver() == "sgd":
                self._fit_by_matching(report, X, weights is None and mask is None, rng)
                return self
            with kernels.Team(threads(self.n_jobs)):
                with stage("dissimilarities"):
                    given = read_input(self, X, weights, mask, threads(self.n_jobs), listed=True)
                    check_connected(given.pairs)
                    self._check_dimension(given.pairs.n)
                    pairs, scale = given.pairs.normalize()
                self._fit(report, given, pairs, scale, rng)
        return self

    def _fit(
        self,
        report: Report,
        given: DistanceInput,
        pairs: Pairs,
        scale: float,
        rng: np.random.Generator,
    ) -> None:
        with stage("start"):
            configurations = self._starts(given, pairs, scale, rng)
        with stage("stress"):
            objective = self._objective(pairs)
            solution = self._minimise(objective, configurations, equal_objects(given, pairs))
            note_convergence(solution, self._solver(), self.max_iter)
        with stage("coordinates"):
            embedding, extension, attributes = self._finish(given, objective, scale, solution)
            note(stress=attributes["stress_"])
            spread = objective.per_object(embedding / scale)
            preimage = barycentric_preimage(given.points, embedding)
        self._keep(
            report,
            embedding,
            given.dtype,
            extension,
            preimage,
            n_iter_=len(solution.history) - 1,
            stress_per_object_=spread / max(spread.sum(), 1e-300),
            _dissimilarities=given.pairs,
            _points=given.points,
            **attributes,
        )

    def _fit_by_matching(
        self, report: Report, X: Any, plain: bool, rng: np.random.Generator
    ) -> None:
        """Fit by stochastic gradient: nothing of size n² is held, and the stress is estimated."""
        if not plain or self.metric == "kernel":
            raise ValueError("solver='sgd' takes neither weights, mask nor similarities: use lbfgs")
        d = self.n_components
        with stage("dissimilarities"):
            space, dtype = complete_space(self, X, threads(self.n_jobs))
            self._check_dimension(space.n)
            first, copy = space.distinct()
            note(rows=space.n, duplicates=space.n - len(first))
        with stage("start"):
            start = (
                initialization.pivot(initialization.sample_pivot_distances(space, rng), d)
                if isinstance(self.init, str)
                else check_start(self.init, space.n, d)
            )
            # Duplicate rows are one object: the first of them says where it starts.
            start = start[first[copy]]
        with stage("stress"):
            found = stochastic_gradient(space.lengths, start, self.max_iter, rng, copy)
            drawn = rng.spawn(1)[0]
            history = [estimate_stress(space.lengths, x, drawn) for x in (start, found)]
            note(iterations=self.max_iter, sampled=True)
        with stage("coordinates"):
            embedding = initialization.principal_axes(found)[first[copy]]
            points = space if isinstance(space, PointSpace) else None
            extension = StressExtension(embedding.copy(), points, "raw")
            preimage = barycentric_preimage(points, embedding)
        self._keep(
            report,
            embedding,
            dtype,
            extension,
            preimage,
            n_iter_=self.max_iter,
            stress_=history[-1],
            history_=np.array(history),
            _dissimilarities=Pairs(space.n, np.empty(0)),
            _points=points,
        )

    def _starts(
        self, given: DistanceInput, pairs: Pairs, scale: float, rng: np.random.Generator
    ) -> list[FloatArray]:
        d = self.n_components
        if not isinstance(self.init, str):
            return [check_start(self.init, pairs.n, d) / scale]
        if self.init == "random":
            return [initialization.random(pairs, d, rng) for _ in range(self.n_init)]
        whole = pairs.weights is None and pairs.ends is None
        features = None if given.points is None else euclidean_features(given.points)
        if features is not None and whole and self.init != "pivot":
            if features.shape[1] <= pairs.n:
                return [initialization.linear(features / scale, d)]
            # The same from the distances: products of wide rows took longer than their scaling.
            fixed = np.random.default_rng(0)
            return [initialization.classical(pairs, d, fixed, threads(self.n_jobs))]
        few = whole or pairs.ends is not None
        if self.init == "pivot" or (self.init == "auto" and few and pairs.n > CLASSICAL_OBJECTS):
            return [
                initialization.pivot(
                    initialization.pivot_distances(pairs, rng, threads(self.n_jobs)), d
                )
            ]
        return [initialization.classical(pairs, d, rng, threads(self.n_jobs))]

    def _minimise(
        self, objective: Objective, configurations: list[FloatArray], copy: IntArray | None
    ) -> Solution:
        name, tol = self._solver(), self.tol
        joined: Minimised = objective
        duplicates = None if copy is None else Duplicates(copy)
        if duplicates:
            joined = JoinedStress(objective, duplicates)
            # The first of several duplicates says where they start.
            configurations = [x[copy] for x in configurations]
        solutions = (minimise(joined, x, name, tol, self.max_iter) for x in configurations)
        return min(solutions, key=lambda solution: solution.value)

    @abstractmethod
    def _solver(self) -> str:
        """Name of the solver."""

    def shepard(self) -> Shepard:
        """Return dissimilarities, disparities and distances of all known pairs.

        Returns
        -------
        Shepard
            Three arrays of one entry a pair, for a Shepard diagram.
        """
        pairs = self._pairs()
        places = np.asarray(self.embedding_, dtype=np.float64)
        distances = pairs.distances(places, threads(self.n_jobs))
        known = slice(None) if pairs.weights is None else pairs.weights > 0
        found = (pairs.dissimilarities, self._disparities(distances), distances)
        return Shepard(*(np.asarray(values[known], dtype=np.float64) for values in found))

    def _pairs(self) -> Pairs:
        check_is_fitted(self)
        pairs: Pairs = self._dissimilarities
        if not len(pairs.dissimilarities):
            raise ValueError("solver='sgd' keeps no pairs to show: use solver='lbfgs'")
        return pairs

    @abstractmethod
    def _disparities(self, distances: FloatArray) -> FloatArray:
        """Return what the distances of the embedding are compared with."""

    def permutation_baseline(self, n_permutations: int = 10) -> Baseline:
        """Compare the stress with that of permuted dissimilarities.

        Parameters
        ----------
        n_permutations : int
            Number of fits to permuted dissimilarities, with the same settings.

        Returns
        -------
        Baseline
            The stress, those of the permutations, and the share of these that is no greater,
            counting the fit itself.
        """
        pairs = self._pairs()
        if not isinstance(n_permutations, int | np.integer) or n_permutations < 1:
            raise ValueError(f"n_permutations must be an integer from 1, not {n_permutations}")
        rng = generator(self.random_state)
        random = np.empty(n_permutations)
        for number in range(n_permutations):
            step(number, n_permutations)
            shuffled = pairs.shuffle(rng)
            again = type(self)(**self.get_params(deep=False))
            if not isinstance(self.init, str):
                again.init = "random"
            given = DistanceInput(shuffled, None, self.embedding_.dtype)
            again._fit(Report(""), given, *shuffled.normalize(), rng)
            random[number] = again.stress_
        share = (1 + np.sum(random <= self.stress_)) / (1 + n_permutations)
        return Baseline(self.stress_, random, float(share))

    def _new_rows(self, X: Any) -> FloatArray:
        return new_distances(self, X, self._points)

    def _outlyingness(self, X: Any) -> FloatArray:
        new = self._as_stored(self._new_rows(X))
        space: Space | None = self._points
        if space is None:
            if not len(self._dissimilarities.dissimilarities):
                raise UndefinedScore(
                    "outlyingness compares with fitted distances, and solver='sgd' keeps none: use "
                    "solver='lbfgs'"
                )
            known = self._pairs().square().astype(np.float64)
            space = DistanceSpace(np.where(np.isnan(known), np.inf, known))
            new = np.where(np.isnan(new), np.inf, new)
        return score_rows(*space.nearest_of(new, min(COMPARED, space.n)), space.spacing)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.metric == "precomputed"
        return tags


@declare
class MultiScaling(Embedding):
    """Abstract: one configuration for several matrices, or tables, of the same objects."""

    metric: Any = inherit(Scaling, "metric", default="precomputed")
    metric_params: dict[str, Any] | None = inherit(Scaling, "metric_params")
    repair: str | None = inherit(Scaling, "repair")
    max_iter: int = inherit(Scaling, "max_iter")
    tol: Any = inherit(Scaling, "tol")
    random_state: Any = inherit(Scaling, "random_state")
    n_jobs: int | None = inherit(Scaling, "n_jobs")

    @abstractmethod
    def _fit_all(self, report: Report, given: list[DistanceInput]) -> None:
        """Fit to all matrices."""

    def fit(self, X: Any, y: None = None, *, weights: Any = None) -> "MultiScaling":
        """Fit to several matrices.

        Parameters
        ----------
        X : list of arrays, or array (k, n_samples, n_samples)
            A matrix of distances each; with another metric, a table of the same rows each.
        weights : list of arrays, or array (k, n_samples, n_samples), optional
            Weight of each pair in each matrix.
        """
        with self._fitting() as report, kernels.Team(threads(self.n_jobs)):
            with stage("dissimilarities"):
                given = self._read_all(X, weights)
                note(matrices=len(given))
            self._fit_all(report, given)
        return self

    def _read_all(self, X: Any, weights: Any) -> list[DistanceInput]:
        matrices = matrices_of(X)
        weighed = [None] * len(matrices) if weights is None else matrices_of(weights)
        if len(weighed) != len(matrices):
            raise ValueError(f"there are {len(matrices)} matrices and {len(weighed)} of weights")
        given = [
            read_input(self, matrix, weight, None, threads(self.n_jobs))
            for matrix, weight in zip(matrices, weighed, strict=True)
        ]
        sizes = sorted({one.pairs.n for one in given})
        if len(sizes) > 1:
            raise ValueError(
                f"All matrices must describe the same objects and they have {sizes} rows: use NaN "
                "for unknown distances"
            )
        self._check_dimension(sizes[0])
        for number, one in enumerate(given):
            if count_missing(one.pairs) == len(one.pairs.dissimilarities):
                raise ValueError(f"matrix {number} has no known pair: leave it out")
        # A distance that is missing in one matrix may be known from another.
        if all(one.pairs.weights is not None for one in given):
            check_connected(mean_pairs([one.pairs for one in given]))
        return given

    def _outlyingness(self, X: Any) -> FloatArray:
        raise UndefinedScore(
            f"{type(self).__name__} has several distances of each sample, so outlyingness is not "
            "defined: use that of MetricMDS for one matrix"
        )

    def _new_rows(self, X: Any) -> FloatArray:
        matrices = matrices_of(X)
        if len(matrices) != len(self._points):
            raise ValueError(
                f"new samples need one matrix for each of the {len(self._points)} fitted ones and "
                f"there are {len(matrices)}"
            )
        rows = [
            _distances_of(points, new_distances(self, matrix, points))
            for matrix, points in zip(matrices, self._points, strict=True)
        ]
        if len({row.shape for row in rows}) > 1:
            raise ValueError("new samples must be as many in every matrix")
        return np.stack(rows)


def _distances_of(points: PointSpace | None, rows: FloatArray) -> FloatArray:
    return rows if points is None else points.distances_of(rows)


def matrices_of(X: Any) -> list[Any]:
    """Take a list of matrices, a 3-d array, or one matrix."""
    if is_graph(X) or is_sparse(X) or (hasattr(X, "ndim") and X.ndim < 3):
        return [lengths_of(X)]
    if isinstance(X, list | tuple | np.ndarray) and len(X):
        matrices = [lengths_of(matrix) for matrix in X]
        if all(is_sparse(matrix) or real_array(matrix).ndim == 2 for matrix in matrices):
            return matrices
    raise ValueError("X must be a list of matrices, one for each source, or a 3-d array of them")
