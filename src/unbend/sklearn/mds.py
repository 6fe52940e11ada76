"""Metric and non-metric scaling under scikit-learn's name."""

import warnings
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.manifold import MDS as ScikitMDS
from sklearn.manifold import ClassicalMDS
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_random_state, check_symmetric
from sklearn.utils.validation import check_array, validate_data

from unbend.arrays import FloatArray
from unbend.atomic import atomic_fit
from unbend.mds import MetricStress, Monotone, Pairs, Solution, Stress1, quasi_newton
from unbend.mds.initialization import pair_precision, random
from unbend.validation.random_state import generator
from unbend.validation.threads import threads

RENAMED = "The `dissimilarity` parameter is deprecated and will be removed in 1.10. Use `metric`."
DEFAULT = (
    "The default value of `init` will change from 'random' to 'classical_mds' in 1.10. To suppress "
    "this warning, provide some value of `init`."
)
SQUARE = (
    "The provided input is a square matrix. Note that ``fit`` constructs a dissimilarity matrix "
    "from data and will treat rows as samples and columns as features. To use a pre-computed "
    "dissimilarity matrix, set ``metric='precomputed'``."
)


class MDS(ScikitMDS):
    """scikit-learn's `MDS`, by a quasi-Newton method on a compiled kernel.

    `eps` is the relative length of the gradient at which it stops. As in scikit-learn, the
    non-metric variant takes zeros for missing values; its disparities have mean square one.

    Examples
    --------
    >>> import unbend
    >>> from unbend.sklearn import MDS
    >>> curve = unbend.datasets.s_curve(200, random_state=0)
    >>> MDS(init="classical_mds").fit_transform(curve.points).shape
    (200, 2)
    """

    @atomic_fit
    def fit_transform(self, X: Any, y: None = None, init: Any = None) -> FloatArray:
        """Fit to the rows of X and return their coordinates.

        Parameters
        ----------
        X : array (n_samples, n_features) or (n_samples, n_samples)
            Rows, or dissimilarities with ``metric="precomputed"``.
        y : ignored
            Present for scikit-learn's sake.
        init : array (n_samples, n_components), optional
            Start.

        Returns
        -------
        array (n_samples, n_components)
        """
        self._validate_params()
        metric, metric_mds = self._resolve_metric()
        X = validate_data(self, X)
        if X.shape[0] == X.shape[1] and metric != "precomputed":
            warnings.warn(SQUARE, stacklevel=2)
        self.dissimilarity_matrix_ = (
            check_symmetric(X, raise_exception=True)
            if metric == "precomputed"
            else pairwise_distances(X, metric=metric, **(self.metric_params or {}))
        )
        square = self.dissimilarity_matrix_
        dtype = pair_precision(len(square), lambda i: square[np.ix_(i, i)], self.n_components)
        pairs, scale = Pairs.from_matrix(square, dtype=dtype).normalize()
        begun = self._initial_configurations(pairs, scale, init)
        monotone = Monotone(_without_zeros(pairs), equal_ties=True)
        workers = threads(self.n_jobs)
        objective: MetricStress | Stress1 = MetricStress(pairs, "raw", workers)
        if not metric_mds:
            objective = Stress1(pairs.n, monotone, workers, precision=dtype)
        found = [quasi_newton(objective, start, self.eps, self.max_iter) for start in begun]
        best = min(found, key=lambda solution: solution.value)
        self.n_iter_ = max(len(best.history) - 1, 1)
        normalized = self.normalized_stress
        normalized = not metric_mds if normalized == "auto" else normalized
        if metric_mds:
            self._keep_metric(pairs, scale, best, normalized)
        else:
            self._keep_ordinal(monotone, best, normalized)
        return np.asarray(self.embedding_)

    def _resolve_metric(self) -> tuple[Any, bool]:
        """Metric and kind, with the words that scikit-learn is about to drop."""
        if self.init == "warn":
            warnings.warn(DEFAULT, FutureWarning, stacklevel=3)
        metric, metric_mds = self.metric, self.metric_mds
        if self.dissimilarity != "deprecated":
            if not isinstance(metric, bool) and metric != "euclidean":
                raise ValueError(
                    "You provided both `dissimilarity` and `metric`. Please use only `metric`."
                )
            warnings.warn(RENAMED, FutureWarning, stacklevel=3)
        if isinstance(metric, bool):
            warnings.warn(
                f"Use metric_mds={metric} instead of metric={metric}. The support for "
                "metric={True/False} will be dropped in 1.10.",
                FutureWarning,
                stacklevel=3,
            )
            metric, metric_mds = "euclidean", metric
        return (metric if self.dissimilarity == "deprecated" else self.dissimilarity), metric_mds

    def _initial_configurations(self, pairs: Pairs, scale: float, init: Any) -> list[FloatArray]:
        """Make starts in units of the scaled pairs."""
        if init is None and self.init == "classical_mds":
            scaled = ClassicalMDS(metric="precomputed", n_components=self.n_components)
            init = scaled.fit_transform(self.dissimilarity_matrix_)
        if init is not None:
            start = check_array(init, dtype=np.float64)
            if start.shape[0] != pairs.n:
                raise ValueError(f"init matrix should be of shape ({pairs.n}, {self.n_components})")
            return [start / scale]
        rng = generator(check_random_state(self.random_state))
        return [random(pairs, self.n_components, rng) for _ in range(self.n_init)]

    def _keep_metric(self, pairs: Pairs, scale: float, best: Solution, normalized: bool) -> None:
        self.embedding_ = best.coordinates * scale
        size = float(np.square(pdist(best.coordinates)).sum())
        relative = float(np.sqrt(best.value / size)) if size > 0 else 0.0
        self.stress_ = relative if normalized else best.value * scale**2

    def _keep_ordinal(self, monotone: Monotone, best: Solution, normalized: bool) -> None:
        """Scale disparities to mean square one, and distances to the least of the stress asked."""
        targets = monotone(pdist(best.coordinates)).targets
        size = float(np.sqrt(np.square(targets).mean())) or 1.0
        # Distances are 1/√(1 − f) times as long as their disparities; raw stress is least where
        # they are √(1 − f) times as long.
        factor = 1.0 if normalized else 1.0 - best.value
        self.embedding_ = best.coordinates * (factor / size)
        raw = best.value * len(targets)
        self.stress_ = float(np.sqrt(best.value)) if normalized else raw


def _without_zeros(pairs: Pairs) -> Pairs:
    """Take zeros for missing values."""
    given = pairs.dissimilarities
    weights = (given > 0).astype(given.dtype) if np.any(given == 0) else None
    return Pairs(pairs.n, given, weights)
