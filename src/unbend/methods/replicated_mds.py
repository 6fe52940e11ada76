"""Replicated multidimensional scaling."""

from typing import final

import numpy as np
from sklearn.utils.validation import check_is_fitted

from unbend.arrays import FloatArray
from unbend.estimators.dissimilarities import DistanceInput
from unbend.estimators.scaling import MultiScaling, Shepard, minimise, note_convergence
from unbend.mds import Pairs, Replicated, Stress1, StressExtension, initialization, principal_axes
from unbend.mds.object_pairs import mean_pairs, sum_of_squares
from unbend.mds.placement import MeanDisparityExtension
from unbend.mds.transformations import Disparities, rescale_disparities
from unbend.methods.nonmetric_mds import NonmetricMDS, transformation_of
from unbend.report import Report, stage
from unbend.validation.parameters import Choice, declare, inherit, param
from unbend.validation.random_state import generator
from unbend.validation.threads import threads


@final
@declare
class ReplicatedMDS(MultiScaling):
    """Replicated multidimensional scaling: one configuration for several matrices.

    Minimises √(Σ_k Σ w_k (d − d̂_k)² / Σ_k Σ w_k d²), where d̂_k is the best function, of the given
    kind, of the dissimilarities of matrix k: every matrix may have a scale, or a response curve,
    of its own.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates, centered, in principal axes, of the root mean square of all dissimilarities.
    stress_ : float
        The minimum, a stress-1.
    stress_per_matrix_ : array (k,)
        Stress-1 of each matrix alone.
    history_ : array
        The stress at the start and after every iteration.
    curves_ : list of callables
        What each matrix's dissimilarities became.

    References
    ----------
    McGee, Multivariate Behavioral Research 3 (1968); Young and Hamer, Multidimensional Scaling
    (1987). Book chapter 6, notes.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> D = np.linalg.norm(X[:, None] - X, axis=2)
    >>> mds = unbend.ReplicatedMDS().fit([D, 2.0 * D, 0.5 * D])
    >>> unbend.quality.procrustes(X, mds.embedding_) < 1e-6
    True
    """

    transformation: str = inherit(NonmetricMDS, "transformation", default="ratio")
    ties: str = inherit(NonmetricMDS, "ties")
    solver: str = param("lbfgs", Choice("lbfgs", "smacof"), help="As in NonmetricMDS.")

    def _fit_all(self, report: Report, given: list[DistanceInput]) -> None:
        pairs, jobs = [one.pairs for one in given], threads(self.n_jobs)
        # Stress-1 has no unit: each matrix in its own, so that squares stay in range.
        scaled, scales = zip(*(one.normalize() for one in pairs), strict=True)
        parts = [transformation_of(self.transformation, self.ties, one, jobs) for one in scaled]
        single = all(one.precision is np.float32 for one in pairs)
        objective = Stress1(
            pairs[0].n,
            Replicated(parts),
            jobs,
            precision=np.float32 if single else np.float64,
        )
        with stage("start"):
            rng = generator(self.random_state)
            mean = mean_pairs(pairs, jobs)
            unit = mean.normalize()[0]
            start = initialization.classical(unit, self.n_components, rng, jobs)
        with stage("stress"):
            solution = minimise(objective, start, self.solver, self.tol, self.max_iter)
            note_convergence(solution, self.solver, self.max_iter)
        with stage("coordinates"):
            x = solution.coordinates
            distances = mean.distances(x, jobs)
            size = sum_of_squares(distances, mean.weights)
            wanted = sum_of_squares(mean.dissimilarities, mean.weights)
            stretch = float(np.sqrt(wanted / size)) if size > 0 else 1.0
            embedding = principal_axes(x) * stretch
            distances *= stretch
            found = [part(distances) for part in parts]
            curves = [
                part.curve(distances, one).rescale_given(scale)
                for part, one, scale in zip(parts, found, scales, strict=True)
            ]
            sized = [rescale_disparities(curve, solution.value) for curve in curves]
            own = StressExtension(embedding.copy(), None, "raw")
            history = np.sqrt(solution.history)
        self._keep(
            report,
            embedding,
            given[0].dtype,
            MeanDisparityExtension(sized, own),
            None,
            stress_=float(history[-1]),
            stress_per_matrix_=np.array(
                [_stress1(p, one, distances) for p, one in zip(pairs, found, strict=True)]
            ),
            history_=history,
            n_iter_=len(history) - 1,
            curves_=curves,
            _pairs=pairs,
            _points=[one.points for one in given],
        )

    def shepard(self, matrix: int) -> Shepard:
        """Return the Shepard diagram of one matrix.

        Parameters
        ----------
        matrix : int
            Its place in the list that was fitted.

        Returns
        -------
        Shepard
            Dissimilarities, disparities and distances of its known pairs.
        """
        check_is_fitted(self)
        pairs = self._pairs[matrix]
        jobs = threads(self.n_jobs)
        distances = pairs.distances(np.asarray(self.embedding_, dtype=np.float64), jobs)
        kind = transformation_of(self.transformation, self.ties, pairs, jobs)
        found = kind(distances).targets
        known = slice(None) if pairs.weights is None else pairs.weights > 0
        return Shepard(pairs.dissimilarities[known], found[known], distances[known])


def _stress1(pairs: Pairs, found: Disparities, distances: FloatArray) -> float:
    size = sum_of_squares(distances, pairs.weights)
    return float(np.sqrt(found.residual / size)) if size > 0 else 0.0
