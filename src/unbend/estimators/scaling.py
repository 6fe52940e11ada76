"""What metric and non-metric scaling share: input, start, solver, results."""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from unbend.arrays import FloatArray
from unbend.estimators.dissimilarities import (
    Given,
    check_connected,
    gather,
    new_distances,
    whole_space,
)
from unbend.estimators.embedding import Embedding
from unbend.estimators.shepard import (
    Baseline,
    Shepard,
    check_size,
    given_start,
    tolerance,
    way_back,
)
from unbend.extension import Extension
from unbend.mds import (
    Objective,
    OwnStress,
    Pairs,
    Solution,
    majorise,
    matched_pairs,
    quasi_newton,
    sampled_stress,
    starts,
)
from unbend.mds.pairs import euclidean_features
from unbend.neighbors import METRICS, PointSpace
from unbend.report import Report, note, stage, step, warn
from unbend.validation.parameters import (
    FUNCTION,
    MAPPING,
    NOTHING,
    RANDOM,
    Choice,
    Integer,
    Matching,
    Real,
    Threads,
    declare,
    param,
)
from unbend.validation.random_state import generator
from unbend.validation.threads import threads

# Up to here the classical start is taken, which holds all distances in double precision.
CLASSICAL_OBJECTS = 2000
GIVEN = Matching(lambda value: isinstance(value, list | np.ndarray), "an array (n, n_components)")


@declare
class Scaling(Embedding):
    """Abstract: a configuration whose distances are as the dissimilarities say, by stress."""

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
        help="What to do about given distances that are none: None refuses them; 'clean' averages "
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
    random_state: Any = param(
        None, Integer(0), RANDOM, NOTHING, help="Seed of random starts; None is a fixed one."
    )
    n_jobs: int | None = param(
        None,
        Threads(),
        NOTHING,
        help="Number of threads: None means 1, -1 all available cores, -2 all but one; at most four"
        " per core. The result does not depend on it.",
    )

    @abstractmethod
    def _objective(self, pairs: Pairs) -> Objective:
        """Give the stress of a configuration of the scaled pairs."""

    @abstractmethod
    def _finished(
        self, given: Given, pairs: Pairs, scale: float, solution: Solution
    ) -> tuple[FloatArray, Extension, dict[str, Any]]:
        """Coordinates of the fitted objects, their extension, and further attributes."""

    def fit(self, X: Any, y: None = None, *, weights: Any = None, mask: Any = None) -> "Scaling":
        """Fit to points, distances or similarities.

        Parameters
        ----------
        X : array (n_samples, n_features) or (n_samples, n_samples)
            Rows to embed, or the matrix; a sparse matrix of distances holds the known pairs.
        y : ignored
            Present for scikit-learn's sake.
        weights : array (n_samples, n_samples), optional
            Weight of each pair in the stress; zero: the pair is not known.
        mask : array (n_samples, n_samples) of bool, optional
            Which pairs are known.

        Returns
        -------
        self
        """
        with self._fitting() as report:
            rng = generator(self.random_state)
            if self._solver() == "sgd":
                self._fit_matched(report, X, weights is None and mask is None, rng)
                return self
            with stage("dissimilarities"):
                given = gather(self, X, weights, mask, threads(self.n_jobs), listed=True)
                check_connected(given.pairs)
                check_size(self.n_components, given.pairs.n)
                pairs, scale = given.pairs.scaled()
            self._fit(report, given, pairs, scale, rng)
        return self

    def _fit(
        self,
        report: Report,
        given: Given,
        pairs: Pairs,
        scale: float,
        rng: np.random.Generator,
    ) -> None:
        with stage("start"):
            begun = self._starts(given, pairs, scale, rng)
        with stage("stress"):
            objective = self._objective(pairs)
            solution = self._solved(objective, begun)
            note(iterations=len(solution.history) - 1, converged=solution.converged)
            if not solution.converged:
                warn(f"stress was still falling after max_iter={self.max_iter}: raise it")
        with stage("coordinates"):
            embedding, extension, attributes = self._finished(given, pairs, scale, solution)
            note(stress=attributes["stress_"])
            spread = objective.spread(embedding / scale)
            preimage = way_back(given.points, embedding)
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

    def _fit_matched(self, report: Report, X: Any, plain: bool, rng: np.random.Generator) -> None:
        """Fit by stochastic gradient: nothing of size n² is held, and the stress is estimated."""
        if not plain or self.metric == "kernel":
            raise ValueError("solver='sgd' takes neither weights, mask nor similarities: use lbfgs")
        d = self.n_components
        with stage("dissimilarities"):
            space, dtype = whole_space(self, X, threads(self.n_jobs))
            check_size(self.n_components, space.n)
            note(rows=space.n)
        with stage("start"):
            begun = [given_start(self.init, space.n, d)] if not isinstance(self.init, str) else []
            start = begun[0] if begun else starts.pivot(starts.pivots_among(space, rng), d)
        with stage("stress"):
            found = matched_pairs(space.lengths, start, self.max_iter, rng)
            drawn = rng.spawn(1)[0]
            history = [sampled_stress(space.lengths, x, drawn) for x in (start, found)]
            note(iterations=self.max_iter, sampled=True)
        with stage("coordinates"):
            embedding = starts.principal_axes(found)
            points = space if isinstance(space, PointSpace) else None
            extension = OwnStress(embedding.copy(), points, "raw")
            preimage = way_back(points, embedding)
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
        self, given: Given, pairs: Pairs, scale: float, rng: np.random.Generator
    ) -> list[FloatArray]:
        d = self.n_components
        if not isinstance(self.init, str):
            return [given_start(self.init, pairs.n, d) / scale]
        if self.init == "random":
            return [starts.random(pairs, d, rng) for _ in range(self.n_init)]
        whole = pairs.weights is None and pairs.ends is None
        features = None if given.points is None else euclidean_features(given.points)
        if features is not None and whole and self.init != "pivot":
            return [starts.linear(features / scale, d)]
        few = whole or pairs.ends is not None
        if self.init == "pivot" or (self.init == "auto" and few and pairs.n > CLASSICAL_OBJECTS):
            return [starts.pivot(starts.pivots_of(pairs, rng, threads(self.n_jobs)), d)]
        return [starts.classical(pairs, d, rng, threads(self.n_jobs))]

    def _solved(self, objective: Objective, begun: list[FloatArray]) -> Solution:
        solver = majorise if self._solver() == "smacof" else quasi_newton
        tol = tolerance(self.tol, objective.rounding)
        found = [solver(objective, start, tol, self.max_iter) for start in begun]
        return min(found, key=lambda solution: solution.value)

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
        distances = pairs.distances(np.asarray(self.embedding_, dtype=np.float64))
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
        """Compare the stress with that of random data: the dissimilarities, dealt anew.

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
            raise ValueError(f"n_permutations must be a whole number from 1, not {n_permutations}")
        rng = generator(self.random_state)
        random = np.empty(n_permutations)
        for number in range(n_permutations):
            step(number, n_permutations)
            dealt = pairs.dealt(rng)
            again = type(self)(**self.get_params(deep=False))
            if not isinstance(self.init, str):
                again.init = "random"
            given = Given(dealt, None, self.embedding_.dtype)
            again._fit(Report(""), given, *dealt.scaled(), rng)
            random[number] = again.stress_
        share = (1 + np.sum(random <= self.stress_)) / (1 + n_permutations)
        return Baseline(self.stress_, random, float(share))

    def _new_rows(self, X: Any) -> FloatArray:
        return new_distances(self, X, self._points)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.metric == "precomputed"
        return tags
