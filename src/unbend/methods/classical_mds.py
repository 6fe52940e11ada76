"""Classical multidimensional scaling."""

from typing import Any, TypeGuard, final

import numpy as np

from unbend.arrays import FloatArray
from unbend.eigen import Nystrom
from unbend.estimators.gram import (
    ColumnInput,
    GramEmbedding,
    GramInput,
    repair_param,
    similarity_columns,
)
from unbend.estimators.inputs import check_input, new_rows, open_space, square_similarities
from unbend.extension import Extension, LinearInverse, barycentric_preimage
from unbend.gram import FormedGram, Gram, PointGram, SimilaritySquares, Squares
from unbend.gram.centered import centered_products
from unbend.gram.columns import Columns
from unbend.mds.euclidean import decide_euclidean
from unbend.memory import reserve
from unbend.neighbors import METRICS, GraphSpace, PointSpace, Space, describe_parameters
from unbend.neighbors.metrics.norms import PNorm
from unbend.report import Deferred, note
from unbend.validation.parameters import FUNCTION, MAPPING, NOTHING, Choice, declare, param

# Rows up to which all eigenvalues of given distances are computed for the report.
DECIDED_ROWS = 600
# Distance from the origin, over the spread of coordinates, from which on rows are centered before
# they are multiplied.
FAR = 100.0


@final
@declare
class ClassicalMDS(GramEmbedding):
    """Classical multidimensional scaling: points from their distances.

    The coordinates are the top eigenvectors of the Gram matrix K = −½ H D² H, scaled by √λ. On
    Euclidean distances of points they are the principal components, exactly.

    Distances that are not Euclidean give negative eigenvalues, which are dropped:
    `negative_share_` is their share. The report says of a matrix of up to 600 rows whether it is
    Euclidean, and of what dimension (`unbend.mds.euclidean_dimension`).

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates, centered, in principal axes.
    eigenvalues_ : array (n_components,)
        Top eigenvalues of K.
    energy_loss_ : float
        Σ (d²_ij − ‖y_i − y_j‖²) over all ordered pairs = 2n (trace K − Σ λ kept), of the
        repaired distances where they were.
    negative_share_ : float
        Share of the eigenvalues' total magnitude that is negative; zero for Euclidean distances,
        estimated beyond 600 rows for others.
    landmarks_ : array (m,)
        The rows whose columns of K were used: all, or with ``eigen_solver=Nystrom(m)`` some, from
        which the two numbers above are then estimated.

    References
    ----------
    Torgerson, Psychometrika 17 (1952); Gower, Biometrika 53 (1966). Book chapter 6.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> D = np.array([[0.0, 3, 5], [3, 0, 4], [5, 4, 0]])
    >>> Y = unbend.ClassicalMDS(metric="precomputed").fit_transform(D)
    >>> np.linalg.norm(Y[0] - Y[2]).round(6)
    np.float64(5.0)
    """

    metric: Any = param(
        "euclidean",
        Choice(*METRICS, "precomputed", "kernel"),
        FUNCTION,
        help="Distance between rows; 'precomputed': X holds distances; 'kernel': X holds "
        "similarities of covariance type.",
    )
    metric_params: dict[str, Any] | None = param(
        None, MAPPING, NOTHING, help=f"Parameters of the metric. {describe_parameters()}."
    )
    repair: str | None = repair_param()

    def _build(self, X: Any) -> GramInput:
        if self.metric == "kernel":
            return self._build_from_similarities(X)
        space, dtype = self._open(X)
        products = self.repair is None and _euclidean(space)
        # Products through the points where these have fewer columns than rows.
        narrow = products and space.features.shape[1] < space.n  # type: ignore[attr-defined]
        if not narrow:
            reserve(
                8 * space.n**2,
                f"{space.n} x {space.n} distances",
                "use PCA, which gives the same coordinates for Euclidean distances of points",
            )
        if products:
            # Squares from inner products, which have nothing to repair: in a kernel, whose errors
            # are those of its largest entries, they are as good as squares from differences.
            points = np.asarray(space.features, dtype=np.float64)  # type: ignore[attr-defined]
            kernel = PointGram.of(points) if narrow else FormedGram.of(centered_products(points))
            return GramInput(kernel, space.distances_of, Squares(), space, dtype, positive=True)
        distances = space.distances_of(space.rows(np.arange(space.n)))
        if self.metric == "precomputed" and space.n <= DECIDED_ROWS:
            note(distances=str(decide_euclidean(distances, None, dtype)))
        gram = Gram(distances).repair(self.repair)
        return GramInput(gram, space.distances_of, gram.squares, space, dtype)

    def _open(self, X: Any) -> tuple[Space, np.dtype[Any]]:
        space, dtype = open_space(self, X, 1)
        if isinstance(space, GraphSpace):
            raise TypeError(
                "ClassicalMDS needs all distances and a sparse matrix holds some: use Isomap, "
                "which completes them along the graph"
            )
        return space, dtype

    def _build_from_similarities(self, X: Any) -> GramInput:
        if self.repair == "additive_constant":
            raise ValueError(
                "repair='additive_constant' needs distances, not similarities: use "
                "repair='spectrum_shift'"
            )
        kernel, dtype = square_similarities(self, X)
        squares = SimilaritySquares.of(kernel)
        gram = _gram(kernel).repair(self.repair)
        return GramInput(gram, squares, gram.squares, PointSpace(kernel), dtype)

    def _build_columns(self, X: Any, solver: Nystrom, rng: np.random.Generator) -> ColumnInput:
        if self.repair is not None:
            raise ValueError(
                f"repair={self.repair!r} needs all distances and eigen_solver="
                f"{self.eigen_solver!r} takes those to a few rows: use repair=None, or "
                "eigen_solver='auto'"
            )
        if self.metric == "kernel":
            kernel, dtype = square_similarities(self, X)
            chosen = solver.sample_columns(len(kernel), self.n_components, rng)
            return similarity_columns(kernel, chosen, dtype, {})
        space, dtype = self._open(X)
        chosen = solver.sample_columns(space.n, self.n_components, rng)
        distances = space.take(chosen).distances_of
        return ColumnInput(Columns(space, chosen), chosen, distances, Squares(), space, dtype)

    def _preimages(
        self, space: Space, embedding: FloatArray, weights: FloatArray, attributes: dict[str, Any]
    ) -> Extension | Deferred | None:
        if not isinstance(space, PointSpace) or self.metric == "kernel":
            return None
        if self.metric == "euclidean" and self.repair is None:
            # Later: of wide rows it takes a tenth of the fit, and few ask for it.
            return Deferred(lambda: _linear_inverse(space.points, embedding))
        return barycentric_preimage(space, embedding)

    def _new_rows(self, X: Any) -> FloatArray:
        if self.metric == "kernel":
            rows = check_input(self, X, reset=False)
            return self._landmark_columns(np.asarray(rows, dtype=np.float64))
        rows = new_rows(self, X, self._space)
        return self._landmark_columns(rows) if self.metric == "precomputed" else rows


def _linear_inverse(rows: FloatArray, embedding: FloatArray) -> LinearInverse:
    """Regression of rows on coordinates: as principal components, these give them linearly.

    Of a few rows neither is centered: the regression has a constant of its own.
    """
    points, n = np.asarray(rows, dtype=np.float64), len(rows)
    mean, center = np.full(n, 1.0 / n) @ points, embedding.mean(axis=0)
    back = np.linalg.pinv(embedding - center, np.finfo(np.float64).eps * n)
    axes = _back_to_centered(back, points, mean, float(np.abs(embedding).max()))
    return LinearInverse(mean - center @ axes, axes)


def _back_to_centered(
    back: FloatArray, points: FloatArray, mean: FloatArray, spread: float
) -> FloatArray:
    """Return back @ (points − mean); wide rows are centered only where products would cancel."""
    if float(np.abs(mean).max()) > FAR * spread:
        return np.asarray(back @ (points - mean))
    return np.asarray(back @ points - np.outer(back.sum(axis=1), mean))


def _gram(similarities: FloatArray) -> Gram:
    squares = SimilaritySquares.of(similarities).between_fitted(similarities)
    return Gram(squares, Squares(squared=True))


def _euclidean(space: Space) -> TypeGuard[PointSpace]:
    """Whether distances are those between points of a Euclidean space."""
    norm = space.metric.norm if isinstance(space, PointSpace) else None
    return isinstance(norm, PNorm) and norm.p == 2
