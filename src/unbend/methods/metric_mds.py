"""Metric multidimensional scaling."""

from dataclasses import replace
from typing import Any, final

import numpy as np

from unbend.arrays import FloatArray
from unbend.estimators.dissimilarities import DistanceInput
from unbend.estimators.scaling import Scaling
from unbend.extension import Extension
from unbend.mds import MetricStress, Pairs, Solution, StressExtension, principal_axes
from unbend.mds.placement import ScaledExtension
from unbend.validation.parameters import Choice, declare, param
from unbend.validation.threads import threads


@final
@declare
class MetricMDS(Scaling):
    """Metric multidimensional scaling: distances as near as can be to the dissimilarities.

    Minimises the raw stress Σ w (d − δ)² over the pairs, or another loss. Unlike classical
    scaling it takes weights and unknown pairs, and its distances are neither all too short nor
    ruled by the largest.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates, centered, in principal axes.
    stress_ : float
        The loss: Σ w (d − δ)² for "raw"; √(Σ w (d − δ)² / Σ w d²) for "stress1";
        Σ w (d² − δ²)² for "sstress"; Σ w (d − δ)²/δ / Σ w δ for "sammon".
    stress1_ : float
        Kruskal's stress-1 of the configuration at its best scale, to compare any losses.
    history_ : array
        The loss at the start and after every iteration.
    stress_per_object_ : array (n_samples,)
        Share of each object in the stress.
    n_iter_ : int
        Iterations taken.

    References
    ----------
    Kruskal, Psychometrika 29 (1964); Sammon, IEEE Trans. Comput. 18 (1969); Takane, Young and
    de Leeuw, Psychometrika 42 (1977); Borg and Groenen, Modern Multidimensional Scaling (2005).
    Book chapter 6.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> D = np.array([[0.0, 3, 5, np.nan], [3, 0, 4, 5], [5, 4, 0, 3], [np.nan, 5, 3, 0]])
    >>> mds = unbend.MetricMDS(metric="precomputed").fit(D)
    >>> np.linalg.norm(mds.embedding_[0] - mds.embedding_[2]).round(6)
    np.float64(5.0)
    >>> mds.transform([[np.nan, 4.0, 0.0, 3.0]]).shape
    (1, 2)
    """

    loss: str = param(
        "raw",
        Choice("raw", "stress1", "sstress", "sammon"),
        help="What is minimised: squared errors of distances ('raw'), the same relative to the "
        "distances' own squares ('stress1'), errors of squared distances ('sstress'), or squared "
        "errors over dissimilarities ('sammon').",
    )
    solver: str = param(
        "lbfgs",
        Choice("lbfgs", "smacof", "sgd"),
        help="'lbfgs' is fastest; 'smacof' never raises the stress; 'sgd' draws max_iter random "
        "matchings of the objects and never holds all pairs, for very many points.",
    )

    def _solver(self) -> str:
        if self.solver == "smacof" and self.loss == "sstress":
            raise ValueError("solver='smacof' does not minimise 'sstress': use solver='lbfgs'")
        if self.solver == "sgd" and self.loss != "raw":
            raise ValueError(f"solver='sgd' minimises raw stress, not loss={self.loss!r}")
        return self.solver

    def _objective(self, pairs: Pairs) -> MetricStress:
        # At its best scale stress-1 is a function of raw stress: the same configurations are best.
        loss = "raw" if self.loss == "stress1" else self.loss
        return MetricStress(pairs, loss, threads(self.n_jobs))

    def _finish(
        self, given: DistanceInput, objective: MetricStress, scale: float, solution: Solution
    ) -> tuple[FloatArray, Extension, dict[str, Any]]:
        raw = objective if objective.loss == "raw" else replace(objective, loss="raw")
        fit = raw.best_scale(solution.coordinates)
        stretch = fit.factor if self.loss == "stress1" else 1.0
        turned = principal_axes(solution.coordinates) * scale
        loss = "raw" if self.loss == "stress1" else self.loss
        place = StressExtension(turned.copy(), given.points, loss)
        size = objective.size or 1.0
        history = {
            "raw": solution.history * scale**2,
            "stress1": np.sqrt(solution.history / size),
            "sstress": solution.history * scale**4,
            "sammon": solution.history / size,
        }[self.loss]
        attributes = {
            "stress1_": fit.stress1,
            "stress_": fit.stress1 if self.loss == "stress1" else float(history[-1]),
            "history_": history,
        }
        return turned * stretch, ScaledExtension(place, stretch), attributes

    def _disparities(self, distances: FloatArray) -> FloatArray:
        return self._pairs().dissimilarities
