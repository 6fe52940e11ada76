"""Landmark and pivot multidimensional scaling."""

from typing import Any, final

import numpy as np

from unbend.arrays import FloatArray
from unbend.eigen import fix_signs, solve
from unbend.estimators.embedding import Embedding, seed_param, threads_param
from unbend.estimators.inputs import new_rows, open_space
from unbend.estimators.landmarks import landmark_count, landmarks_of_space, landmarks_param
from unbend.extension import Nystrom, barycentric_preimage
from unbend.gram import Gram, Squares
from unbend.gram.columns import Columns, pivot_weights
from unbend.neighbors import METRICS, GraphSpace, Space, describe_parameters
from unbend.report import note, stage, warn
from unbend.validation.parameters import (
    FUNCTION,
    MAPPING,
    NOTHING,
    Choice,
    Integer,
    declare,
    param,
)
from unbend.validation.random_state import generator
from unbend.validation.threads import threads

# Landmarks taken where the user names no number.
AUTO = 100


@final
@declare
class LandmarkMDS(Embedding):
    """Landmark multidimensional scaling: classical scaling from the distances to a few rows.

    Only the distances of all rows to m landmarks are computed, a block at a time, so time and
    memory grow with n·m and n, which scales to a million rows. `variant="landmark"` scales the
    landmarks and places every row from them by Nyström's formula; "pivot" takes the singular
    vectors of all n × m distances, which averages over more of them. Both are classical scaling
    itself where every row is a landmark.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates, centered, in principal axes, in the units of the distances.
    eigenvalues_ : array (n_components,)
        Squared lengths of the coordinates: about the eigenvalues of the whole kernel.
    landmarks_ : array (m,)
        The landmarks, as rows.

    References
    ----------
    de Silva and Tenenbaum, Stanford technical report (2004); Brandes and Pich, Graph Drawing 2006,
    LNCS 4372 (2007).

    Examples
    --------
    >>> import unbend
    >>> square = unbend.datasets.square(2000, random_state=0)
    >>> flat = unbend.LandmarkMDS(n_landmarks=20).fit_transform(square.points)
    >>> unbend.quality.procrustes(square.chart, flat) < 1e-12
    True
    """

    metric: Any = param(
        "euclidean",
        Choice(*METRICS, "precomputed"),
        FUNCTION,
        help="Distance between rows; 'precomputed': X holds distances.",
    )
    metric_params: dict[str, Any] | None = param(
        None, MAPPING, NOTHING, help=f"Parameters of the metric. {describe_parameters()}."
    )
    n_landmarks: Any = param(
        "auto",
        Integer(2),
        Choice("auto"),
        help="Number of landmarks; 'auto' takes 100, or all rows if there are fewer.",
    )
    landmarks: str = landmarks_param(", among 100 sampled rows for each landmark")
    variant: str = param(
        "landmark",
        Choice("landmark", "pivot"),
        help="Whether the landmarks alone give the axes, or all distances to them.",
    )
    n_jobs: int | None = threads_param()
    random_state: Any = seed_param("the choice of landmarks")

    def fit(self, X: Any, y: None = None) -> "LandmarkMDS":
        """Fit to the rows of X: points, or a matrix of distances.

        Parameters
        ----------
        X : array (n_samples, n_features) or (n_samples, n_samples)
            Rows to embed, or their distances.
        """
        with self._fitting() as report:
            rng = generator(self.random_state)
            space, dtype = self._open(X)
            with stage("landmarks"):
                d = self.n_components
                count = landmark_count(self.n_landmarks, AUTO, space.n, d + 1, d)
                landmarks = landmarks_of_space(self.landmarks, count, space, rng)
                note(rows=space.n, landmarks=len(landmarks), chosen=self.landmarks)
            columns = self._passes(Columns(space, landmarks, threads(self.n_jobs)))
            few = space.take(landmarks)
            with stage("spectrum"):
                mean = columns.mean()
                weights = self._weights(columns, few, mean, rng)
            with stage("coordinates"):
                found = columns.coordinates(mean, weights)
                # One rotation for fitted rows and new samples: to principal axes, with fixed signs.
                scatter = columns.scatter(mean, weights)
                turn = np.linalg.eigh(scatter)[1][:, ::-1]
                turned = found @ turn
                embedding = fix_signs(turned)
                turn = turn * np.sign(np.sum(embedding * turned, axis=0))
                values = np.sum(turn * (scatter @ turn), axis=0)
                _check_zeros(values)
        self._keep(
            report,
            embedding,
            dtype,
            Nystrom(few.distances_of, Squares(), mean, weights @ turn),
            barycentric_preimage(space, embedding),
            eigenvalues_=values,
            landmarks_=landmarks,
            _space=space,
        )
        return self

    def _open(self, X: Any) -> tuple[Space, np.dtype[Any]]:
        space, dtype = open_space(self, X, 1)
        if isinstance(space, GraphSpace):
            raise TypeError(
                "LandmarkMDS needs all distances to its landmarks and a sparse matrix holds some: "
                "use LandmarkIsomap, which completes them along the graph"
            )
        self._check_dimension(space.n)
        return space, dtype

    def _weights(
        self, columns: Columns, few: Space, mean: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        if self.variant == "pivot":
            return pivot_weights(columns, mean, self.n_components)
        gram = Gram(few.distances_of(few.rows(np.arange(few.n))))
        return gram.nystrom_weights(solve(gram.problem(), self.n_components, "dense", rng))

    def _new_rows(self, X: Any) -> FloatArray:
        space: Space = self._space
        return space.narrow(new_rows(self, X, space), self.landmarks_)


def _check_zeros(values: FloatArray) -> None:
    """Warn where distances to the landmarks do not resolve some of the coordinates."""
    positive = int(np.sum(values > np.finfo(np.float64).eps * values[0]))
    if positive < len(values):
        warn(
            f"The kernel has only {positive} positive eigenvalues, so further coordinates are "
            "zero. Lower n_components, or standardise X if its columns have different units."
        )
