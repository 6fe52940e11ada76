"""Methods of several matrices that tell of the same objects."""

from abc import abstractmethod
from typing import Any

import numpy as np

from unbend.arrays import FloatArray, is_sparse
from unbend.estimators.dissimilarities import (
    Given,
    check_connected,
    gather,
    new_distances,
    unknown,
)
from unbend.estimators.embedding import Embedding
from unbend.estimators.scaling import Scaling
from unbend.estimators.shepard import check_size
from unbend.graphs.given import is_graph, lengths_of
from unbend.mds.pairs import mean_pairs
from unbend.neighbors import PointSpace
from unbend.report import Report, note, stage
from unbend.validation.parameters import declare, inherit
from unbend.validation.threads import threads


@declare
class SeveralScaling(Embedding):
    """Abstract: one configuration for several matrices, or tables, of the same objects."""

    metric: Any = inherit(Scaling, "metric", default="precomputed")
    metric_params: dict[str, Any] | None = inherit(Scaling, "metric_params")
    repair: str | None = inherit(Scaling, "repair")
    max_iter: int = inherit(Scaling, "max_iter")
    tol: Any = inherit(Scaling, "tol")
    random_state: Any = inherit(Scaling, "random_state")
    n_jobs: int | None = inherit(Scaling, "n_jobs")

    @abstractmethod
    def _fit_all(self, report: Report, given: list[Given]) -> None:
        """Fit to all matrices."""

    def fit(self, X: Any, y: None = None, *, weights: Any = None) -> "SeveralScaling":
        """Fit to several matrices.

        Parameters
        ----------
        X : list of arrays, or array (k, n_samples, n_samples)
            A matrix of distances each; with another metric, a table of the same rows each.
        y : ignored
            Present for scikit-learn's sake.
        weights : list of arrays, or array (k, n_samples, n_samples), optional
            Weight of each pair in each matrix.

        Returns
        -------
        self
        """
        with self._fitting() as report:
            with stage("dissimilarities"):
                given = self._gather_all(X, weights)
                note(matrices=len(given))
            self._fit_all(report, given)
        return self

    def _gather_all(self, X: Any, weights: Any) -> list[Given]:
        matrices = matrices_of(X)
        weighed = [None] * len(matrices) if weights is None else matrices_of(weights)
        if len(weighed) != len(matrices):
            raise ValueError(f"there are {len(matrices)} matrices and {len(weighed)} of weights")
        given = [
            gather(self, matrix, weight, None, threads(self.n_jobs))
            for matrix, weight in zip(matrices, weighed, strict=True)
        ]
        sizes = sorted({one.pairs.n for one in given})
        if len(sizes) > 1:
            raise ValueError(
                f"all matrices must tell of the same objects and they have {sizes} rows: give NaN "
                "for what a matrix does not tell"
            )
        check_size(self.n_components, sizes[0])
        for number, one in enumerate(given):
            if unknown(one.pairs) == len(one.pairs.dissimilarities):
                raise ValueError(f"matrix {number} has no known pair: leave it out")
        # What one matrix does not tell another may.
        check_connected(mean_pairs([one.pairs for one in given]))
        return given

    def _new_rows(self, X: Any) -> FloatArray:
        matrices = matrices_of(X)
        if len(matrices) != len(self._points):
            raise ValueError(
                f"new rows need one matrix for each of the {len(self._points)} fitted ones and "
                f"there are {len(matrices)}"
            )
        rows = [
            _measured(points, new_distances(self, matrix, points))
            for matrix, points in zip(matrices, self._points, strict=True)
        ]
        if len({row.shape for row in rows}) > 1:
            raise ValueError("new rows must be as many in every matrix")
        return np.stack(rows)


def _measured(points: PointSpace | None, rows: FloatArray) -> FloatArray:
    return rows if points is None else points.distances_of(rows)


def matrices_of(X: Any) -> list[Any]:
    """Take a list of matrices, a 3-d array, or one matrix."""
    if is_graph(X) or is_sparse(X) or (hasattr(X, "ndim") and X.ndim < 3):
        return [lengths_of(X)]
    if isinstance(X, list | tuple | np.ndarray) and len(X):
        matrices = [lengths_of(matrix) for matrix in X]
        if all(is_sparse(matrix) or np.ndim(matrix) == 2 for matrix in matrices):
            return matrices
    raise ValueError("X must be a list of matrices, one for each source, or a 3-d array of them")
