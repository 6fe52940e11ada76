"""Kernel principal component analysis."""

from collections.abc import Callable
from typing import Any, ClassVar, final

import numpy as np

from unbend._kernels.parts import copy_rows
from unbend.arrays import FloatArray, row_chunks
from unbend.eigen import Nystrom
from unbend.estimators.embedding import threads_param
from unbend.estimators.gram import ColumnInput, GramEmbedding, GramInput, similarity_columns
from unbend.estimators.inputs import check_input, square_similarities
from unbend.extension import Extension
from unbend.gram import CenteredGram, Gram, PointGram, SimilaritySquares, Squares
from unbend.gram.columns import ColumnPasses, FeatureColumns, SimilarityColumns
from unbend.gram.kernels import (
    FeatureDistances,
    GaussianSimilarities,
    Similarities,
    feature_squares,
    formed_gram,
)
from unbend.memory import reserve
from unbend.neighbors import PointSpace, Space
from unbend.preimage import FixedPoint, LazyRidge
from unbend.validation.parameters import FUNCTION, MAPPING, NOTHING, Choice, Real, declare, param
from unbend.validation.threads import threads

# The parameters that each named kernel takes.
KERNELS = {
    "linear": (),
    "poly": ("gamma", "degree", "coef0"),
    "rbf": ("gamma",),
    "sigmoid": ("gamma", "coef0"),
    "laplacian": ("gamma",),
    "cosine": (),
}
# Bytes of rows that stay in cache from one pass over them to the next.
CACHED = 1 << 18
# Those that are positive semidefinite whatever their parameters.
POSITIVE = ("linear", "rbf", "laplacian", "cosine")


@final
@declare
class KernelPCA(GramEmbedding):
    """Kernel PCA: principal components in the feature space of a kernel.

    The coordinates are the top eigenvectors of the centered kernel H K H, scaled by √λ; new samples
    are embedded by the Nyström formula. With ``eigen_solver=Nystrom(m)`` it is never formed:
    m of its columns are computed, twice, a block of rows at a time, which scales to a million rows.

    Named kernels keep their digits for rows far from the origin. A callable or precomputed kernel
    whose values are much larger than the squared distances that they stand for gives a warning
    with the number of digits lost, and an error where none is left: standardise X first.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates.
    eigenvalues_ : array (n_components,)
        Top eigenvalues of the centered kernel.
    gamma_ : float
        The width that was used.
    energy_loss_ : float
        Squared feature-space distances lost, over all ordered pairs.
    negative_share_ : float
        Share of the eigenvalues' total magnitude that is negative; zero for kernels that are
        positive semidefinite, estimated beyond 600 rows for others.
    landmarks_ : array (m,)
        The rows whose columns of the kernel were used: all, or with `Nystrom` some; the two numbers
        above, and pre-images, then come from these alone.

    References
    ----------
    Schölkopf, Smola and Müller, Neural Computation 10 (1998). Pre-images: Mika et al., NIPS 11
    (1999), fixed point; Bakır, Weston and Schölkopf, NIPS 16 (2004), regression.

    Examples
    --------
    Two rings differ in their second moments, which a quadratic kernel sees:

    >>> import numpy as np
    >>> import unbend
    >>> angle = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    >>> ring = np.column_stack((np.cos(angle), np.sin(angle)))
    >>> model = unbend.KernelPCA(n_components=5, kernel="poly", degree=2)
    >>> Y = model.fit_transform(np.concatenate((ring, 3 * ring)))
    >>> inner, outer = Y[:100, 4], Y[100:, 4]
    >>> bool(inner.max() < outer.min() or outer.max() < inner.min())
    True
    """

    kernel: Any = param(
        "rbf", Choice(*KERNELS, "precomputed"), FUNCTION, help="Kernel, or X holds its values."
    )
    gamma: float | None = param(
        None,
        Real(0),
        NOTHING,
        help="Width of 'rbf', 'poly', 'sigmoid', 'laplacian'; None: one over the mean squared "
        "distance between rows.",
    )
    degree: float = param(3, Real(0), help="Degree of 'poly'.")
    coef0: float = param(1.0, Real(-1e300), help="Constant of 'poly' and 'sigmoid'.")
    kernel_params: dict[str, Any] | None = param(
        None, MAPPING, NOTHING, help="Further arguments of a callable kernel."
    )
    preimage: str = param(
        "ridge",
        Choice("ridge", "fixed_point"),
        help="How `inverse_transform` finds rows: regression from coordinates to rows, or, for "
        "'rbf', the row whose image is nearest, by fixed-point iteration.",
    )
    alpha: float = param(1e-3, Real(0), help="Ridge of the regression of pre-images.")
    n_jobs: int | None = threads_param()
    isometric: ClassVar[bool] = False

    def _build(self, X: Any) -> GramInput:
        self._check_preimage()
        if self.kernel == "precomputed":
            kernel, dtype = square_similarities(self, X)
            squares = SimilaritySquares.of(kernel)
            given = Gram(squares.between_fitted(kernel), Squares(squared=True))
            space = PointSpace(kernel)
            return GramInput(
                given, squares, given.squares, space, dtype, attributes={"gamma_": None}
            )
        rows = check_input(self, X, reset=True)
        workers = threads(self.n_jobs)
        points = copy_rows(rows, workers)
        gamma = self._gamma(points)
        similarities = Similarities.of(points, self.kernel, self._kernel_params(gamma), points)
        gram, of_rows = _gram(similarities, workers)
        space, linear = PointSpace(points), self.kernel == "linear"
        # Products of rows far from the origin would lose what their differences keep.
        distances = space.distances_of if linear else of_rows
        attributes = {"gamma_": gamma}
        of_new = Squares(squared=not linear)
        return GramInput(gram, distances, of_new, space, rows.dtype, self._positive(), attributes)

    def _positive(self) -> bool:
        """Whether the kernel is positive semidefinite for any rows."""
        if self.kernel == "poly":
            return float(self.degree).is_integer() and self.coef0 >= 0
        return self.kernel in POSITIVE

    def _build_columns(self, X: Any, solver: Nystrom, rng: np.random.Generator) -> ColumnInput:
        self._check_preimage()
        if self.kernel == "precomputed":
            kernel, dtype = square_similarities(self, X)
            chosen = solver.sample_columns(len(kernel), self.n_components, rng)
            return similarity_columns(kernel, chosen, dtype, {"gamma_": None})
        rows = check_input(self, X, reset=True)
        points = np.array(rows, dtype=np.float64)
        chosen = solver.sample_columns(len(points), self.n_components, rng)
        gamma = self._gamma(points)
        params = self._kernel_params(gamma)
        similarities = Similarities.of(points[chosen], self.kernel, params, points)
        exact = feature_squares(similarities)[2]
        distances = FeatureDistances(similarities, SimilaritySquares(np.zeros(len(chosen))), exact)
        made: Callable[[FloatArray], FloatArray] = similarities
        if self.kernel == "rbf":
            products = GaussianSimilarities.of(points[chosen], gamma)
            made = products if products.safe(points) else similarities
        columns: ColumnPasses = SimilarityColumns(points, chosen, made)
        return ColumnInput(
            FeatureColumns(points, chosen, distances) if exact else columns,
            chosen,
            distances,
            Squares(squared=True),
            PointSpace(points),
            rows.dtype,
            {"gamma_": gamma},
        )

    def _check_preimage(self) -> None:
        if self.preimage == "fixed_point" and self.kernel != "rbf":
            raise ValueError("preimage='fixed_point' needs kernel='rbf': use preimage='ridge'")

    def _gamma(self, points: FloatArray) -> float:
        if self.gamma:
            return self.gamma
        n, center = len(points), points.mean(axis=0)
        chunks = row_chunks(n, 8 * points.shape[1], budget=CACHED)
        total, off = 0.0, np.zeros(points.shape[1])
        for rows in chunks:
            differences = points[rows] - center
            total += float(np.square(differences).sum())
            off += differences.sum(axis=0)
        # Far from the origin the center is rounded, and so off the mean.
        return 1.0 / max(2.0 * (total - float(off @ off) / n) / n, 1e-300)

    def _kernel_params(self, gamma: float) -> dict[str, Any]:
        if callable(self.kernel):
            return self.kernel_params or {}
        if self.kernel_params:
            raise ValueError(
                "kernel_params are for a callable kernel: give gamma, degree and coef0 by name"
            )
        values = {"gamma": gamma, "degree": self.degree, "coef0": self.coef0}
        return {name: values[name] for name in KERNELS[self.kernel]}

    def _preimages(
        self, space: Space, embedding: FloatArray, weights: FloatArray, attributes: dict[str, Any]
    ) -> Extension | None:
        if self.kernel == "precomputed":
            return None
        points: FloatArray = space.points  # type: ignore[attr-defined]
        ridge = LazyRidge(embedding, points, self.alpha)
        if self.preimage == "ridge":
            return ridge
        # The projection of φ(x) on the kept directions is Σ γᵢ φ(xᵢ) with γ = W y + 1/n, since
        # the coordinates y have the directions V/√λ, which are the Nyström weights.
        return FixedPoint(ridge, points, weights, attributes["gamma_"])

    def _new_rows(self, X: Any) -> FloatArray:
        rows = np.asarray(check_input(self, X, reset=False), dtype=np.float64)
        return self._landmark_columns(rows) if self.kernel == "precomputed" else rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _gram(similarities: Similarities, threads: int) -> tuple[CenteredGram, FeatureDistances]:
    """Gram matrix of the fitted rows in feature space, and squared distances of new samples."""
    points = similarities.points
    if similarities.kernel in ("linear", "cosine"):
        # Features that can be written down: inner products need no array of all pairs.
        features = similarities.features(points)
        lengths = np.asarray(np.square(features).sum(axis=1))
        of_rows = FeatureDistances(similarities, SimilaritySquares(lengths))
        return PointGram.of(features), of_rows
    n = len(points)
    reserve(16 * n * n, f"{n} x {n} kernel values", "use eigen_solver=Nystrom(500), or PCA")
    if similarities.kernel == "rbf" and (found := formed_gram(similarities, threads)):
        return found[0], FeatureDistances(similarities, found[1])
    between, squares, exact = feature_squares(similarities)
    of_rows = FeatureDistances(similarities, squares, exact)
    return Gram(between, Squares(squared=True)), of_rows
