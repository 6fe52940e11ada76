"""Non-metric multidimensional scaling."""

from typing import Any, final

import numpy as np

from unbend.arrays import FloatArray
from unbend.estimators.dissimilarities import DistanceInput
from unbend.estimators.scaling import Scaling
from unbend.extension import Extension
from unbend.mds import (
    Interval,
    InverseStress,
    Monotone,
    Pairs,
    Ratio,
    Replicated,
    Solution,
    Stress1,
    StressExtension,
    Transformation,
    principal_axes,
)
from unbend.mds.object_pairs import sum_of_squares
from unbend.mds.transformations import Curve, rescale_disparities
from unbend.report import warn
from unbend.validation.parameters import Choice, declare, param
from unbend.validation.threads import threads

# Fewer different disparities than this, over many pairs, say that clusters fell into points; pairs
# in which they are looked for at first.
FEW_STEPS, SAMPLE = 3, 1000


def transformation_of(kind: str, ties: str, pairs: Pairs, n_threads: int) -> Transformation:
    """Make the transformation that a word stands for."""
    if kind == "monotone":
        return Monotone(pairs, equal_ties=ties == "secondary", threads=n_threads)
    return Interval(pairs) if kind == "interval" else Ratio(pairs)


@final
@declare
class NonmetricMDS(Scaling):
    """Non-metric multidimensional scaling: only the order of the dissimilarities counts.

    Minimises Kruskal's stress-1, √(Σ w (d − d̂)² / Σ w d²), over the configuration and over the
    disparities d̂: the best monotone function of the dissimilarities, a line ("interval") or a
    line through the origin ("ratio"). Dividing by the distances rules out that all objects
    coincide.

    ``loss="inverse"`` has the monotone function on the other side, √(Σ w (δ − f(d))² / Σ w δ²):
    the dissimilarities δ as well as they can be predicted from the distances, in their own units.
    Only the order of the distances decides it, so it falls in small steps; the descent begins at
    the minimum of stress-1 and takes none that raises it.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates, centered, in principal axes, of the dissimilarities' root mean square.
    stress_ : float
        Stress-1: 0.2 is poor, 0.1 fair, 0.05 good, 0.025 excellent (Kruskal); or the inverse
        form, which `unbend.quality.stress` of kind "inverse" measures for any embedding.
    history_ : array
        The loss at the start and after every iteration; of the inverse form, from the minimum of
        stress-1 on.
    stress_per_object_ : array (n_samples,)
        Share of each object in the squared stress.
    n_iter_ : int
        Iterations taken.

    References
    ----------
    Kruskal, Psychometrika 29 (1964), two papers. Book chapter 6.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> D = np.linalg.norm(X[:, None] - X, axis=2)
    >>> mds = unbend.NonmetricMDS(metric="precomputed").fit(D**3)
    >>> unbend.quality.procrustes(X, mds.embedding_) < 0.001
    True
    """

    transformation: str = param(
        "monotone",
        Choice("monotone", "interval", "ratio"),
        help="What disparities may be: any function of the dissimilarities that does not fall, "
        "a line, or a multiple.",
    )
    ties: str = param(
        "primary",
        Choice("primary", "secondary"),
        help="Whether equal dissimilarities may get different disparities ('primary') or not.",
    )
    solver: str = param(
        "lbfgs",
        Choice("lbfgs", "smacof"),
        help="'lbfgs' is fastest; 'smacof' never raises the stress.",
    )
    loss: str = param(
        "stress1",
        Choice("stress1", "inverse"),
        help="'stress1': a function of the dissimilarities fits the distances; 'inverse': a "
        "monotone function of the distances fits the dissimilarities.",
    )

    def _solver(self) -> str:
        return self.solver

    def _transformation(self, pairs: Pairs) -> Transformation:
        return transformation_of(self.transformation, self.ties, pairs, threads(self.n_jobs))

    def _objective(self, pairs: Pairs) -> Stress1 | InverseStress:
        kind = self._transformation(pairs)
        stress = Stress1(
            pairs.n, kind, threads(self.n_jobs), ends=pairs.ends, precision=pairs.precision
        )
        if self.loss == "stress1":
            return stress
        if self.transformation != "monotone" or self.solver != "lbfgs":
            raise ValueError(
                f"loss='inverse' needs transformation='monotone' and solver='lbfgs', and they are "
                f"{self.transformation!r} and {self.solver!r}. Change them, or use loss='stress1'."
            )
        return InverseStress(pairs, stress, threads(self.n_jobs))

    def _finish(
        self,
        given: DistanceInput,
        objective: Stress1 | InverseStress,
        scale: float,
        solution: Solution,
    ) -> tuple[FloatArray, Extension, dict[str, Any]]:
        before = objective.before if isinstance(objective, InverseStress) else objective
        transformation = before.transformation
        assert not isinstance(transformation, Replicated)
        pairs = transformation.pairs
        # Stress-1 has no scale: the distances get the root mean square of the dissimilarities.
        distances = pairs.distances(solution.coordinates, threads(self.n_jobs))
        size = sum_of_squares(distances, pairs.weights)
        wanted = sum_of_squares(pairs.dissimilarities, pairs.weights)
        stretch = float(np.sqrt(wanted / size)) if size > 0 else 1.0
        distances *= stretch
        turned = principal_axes(solution.coordinates) * (stretch * scale)
        known = slice(None) if pairs.weights is None else pairs.weights > 0
        if isinstance(objective, InverseStress):
            found = objective.regress(distances)
            curve: Curve = objective.curve(distances, found.targets).invert()
        else:
            found = transformation(distances)
            curve = rescale_disparities(transformation.curve(distances, found), solution.value)
        self._warn_if_degenerate(found.targets[known])
        curve = curve.rescale_given(scale).times(scale)
        place = StressExtension(turned.copy(), given.points, "raw", curve)
        history = np.sqrt(solution.history)
        return turned, place, {"stress_": float(history[-1]), "history_": history}

    def _warn_if_degenerate(self, targets: FloatArray) -> None:
        if self.transformation != "monotone" or len(targets) / 10 <= FEW_STEPS:
            return
        digits = 6 - int(np.log10(max(targets.max(), 1e-300)))
        # Mostly a few of the pairs have enough values, and all need not be sorted.
        for some in (targets[:: 1 + len(targets) // SAMPLE], targets):
            steps = len(np.unique(some.round(digits)))
            if steps >= FEW_STEPS:
                return
        warn(
            f"The disparities have only {steps} different values: the solution is degenerate, "
            "for example two clusters that fell into points; use transformation='interval'"
        )

    def _disparities(self, distances: FloatArray) -> FloatArray:
        objective = self._objective(self._pairs())
        if isinstance(objective, InverseStress):
            return objective.curve(distances).invert()(objective.pairs.dissimilarities)
        return objective.transformation(distances).targets
