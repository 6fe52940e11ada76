"""Classical multidimensional scaling."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from unbend.arrays import FloatArray
from unbend.base.embedding import Embedding
from unbend.base.inputs import generator, new_rows, open_space, rows_of_numbers, square_similarities
from unbend.base.params import (
    FUNCTION,
    MAPPING,
    NOTHING,
    RANDOM,
    SOLVER,
    Choice,
    Integer,
    declared,
    param,
    validate,
)
from unbend.eigen import SOLVERS, solve
from unbend.extend import Barycentric, Nystrom, Piece, Placement
from unbend.gram import Gram, Squares, negative_share
from unbend.memory import reserve
from unbend.neighbors import METRICS, GraphSpace, PointSpace, Space
from unbend.report import note, recording, stage, warn


@dataclass(frozen=True, eq=False)
class SquaredDistances:
    """Squared distances that similarities stand for, up to a constant a row: k_jj − 2 k(x, x_j)."""

    diagonal: FloatArray

    def __call__(self, new: FloatArray) -> FloatArray:
        """Convert rows of similarities to the fitted rows."""
        return np.asarray(self.diagonal - 2.0 * new)


@final
@declared
class ClassicalMDS(Embedding):
    """Classical multidimensional scaling: points from their distances.

    The coordinates are the top eigenvectors of the Gram matrix K = −½ H D² H, scaled by √λ. On
    Euclidean distances of points they are the principal components, exactly.

    Distances that are not Euclidean give negative eigenvalues: these are dropped, and
    `negative_share_` tells how much that is.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates, centred, in principal axes.
    eigenvalues_ : array (n_components,)
        Top eigenvalues of K.
    energy_loss_ : float
        Σ (d²_ij − ‖y_i − y_j‖²) over all ordered pairs = 2n (trace K − Σ λ kept), of the
        repaired distances where they were.
    negative_share_ : float
        Share of the eigenvalues' total magnitude that is negative; estimated beyond 600 rows.
    report_ : Report
        What every stage did.

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
        None, MAPPING, NOTHING, help="Further arguments of the metric, such as p of 'minkowski'."
    )
    repair: str | None = param(
        None,
        Choice("shift", "lift"),
        NOTHING,
        help="What to do about negative eigenvalues: None drops them, 'shift' adds the least "
        "constant to all distances, 'lift' raises all eigenvalues.",
    )
    eigen_solver: Any = param(
        "auto", Choice(*SOLVERS), SOLVER, help="How the spectrum is found; the report tells."
    )
    random_state: Any = param(
        None,
        Integer(0),
        RANDOM,
        NOTHING,
        help="Seed of the solver's start; None is a fixed one, so that fits repeat.",
    )

    def fit(self, X: Any, y: None = None) -> "ClassicalMDS":
        """Fit to the rows of X: points, distances or similarities, as `metric` says.

        Parameters
        ----------
        X : array (n_samples, n_features) or (n_samples, n_samples)
            Rows to embed, or a matrix of distances or similarities.
        y : ignored
            Present for scikit-learn's sake.

        Returns
        -------
        self
        """
        validate(self)
        rng = generator(self.random_state)
        with recording("ClassicalMDS") as report:
            with stage("kernel"):
                space, gram, distances, dtype = self._gram(X)
                gram = gram.repaired(self.repair)
                note(repair=str(self.repair), shift=gram.squares.shift, lift=gram.lift)
            with stage("spectrum"):
                spectrum = solve(gram.problem(), self.n_components, self.eigen_solver, rng)
                share = negative_share(gram, spectrum, rng)
                note(negative_share=share)
            with stage("coordinates"):
                embedding = gram.coordinates(spectrum)
                kept = spectrum.values[spectrum.values > 0]
                if len(kept) < self.n_components:
                    warn(f"only {len(kept)} eigenvalues are positive: further coordinates are zero")
                loss = 2.0 * space.n * (gram.trace - float(kept.sum()))
        weights = gram.nystrom_weights(spectrum)
        extension = Nystrom(distances, gram.squares, gram.mean_squares, weights)
        self._keep(
            report,
            embedding,
            dtype,
            _exact_on_fitted_rows(space, embedding, extension) if gram.lift else extension,
            _preimage(space, embedding) if self.metric != "kernel" else None,
            eigenvalues_=spectrum.values,
            energy_loss_=loss,
            negative_share_=share,
            _space=space,
        )
        return self

    def _gram(self, X: Any) -> tuple[Space, Gram, Any, np.dtype[Any]]:
        """Give the fitted space, its Gram matrix, distances of new rows, and the dtype."""
        if self.metric == "kernel":
            kernel, dtype = square_similarities(self, X)
            distances = SquaredDistances(kernel.diagonal())
            _check_size(len(kernel), self.n_components)
            squares = kernel.diagonal()[:, None] + distances(kernel)
            return PointSpace(kernel), Gram(squares, Squares(squared=True)), distances, dtype
        space, dtype = open_space(self, X, 1)
        if isinstance(space, GraphSpace):
            raise TypeError(
                "ClassicalMDS needs all distances and a sparse matrix holds some: use Isomap, "
                "which completes them along the graph"
            )
        _check_size(space.n, self.n_components)
        reserve(
            8 * space.n**2,
            f"{space.n} x {space.n} distances",
            "use PCA, which gives the same coordinates for Euclidean distances of points",
        )
        everyone = space.rows(np.arange(space.n))
        return space, Gram(space.distances_of(everyone)), space.distances_of, dtype

    def _new_rows(self, X: Any) -> FloatArray:
        if self.metric == "kernel":
            return np.asarray(rows_of_numbers(self, X, reset=False), dtype=np.float64)
        return new_rows(self, X, self._space)


def _check_size(n: int, d: int) -> None:
    if d > n - 1:
        raise ValueError(
            f"n_components={d} and {n} rows span at most {n - 1} dimensions: lower n_components"
        )


def _exact_on_fitted_rows(space: Space, embedding: FloatArray, extension: Nystrom) -> Placement:
    """Send new rows equal to a fitted row to it: raised eigenvalues act on fitted rows only."""
    everyone = np.arange(space.n)
    piece = Piece(everyone, extension, 1.0, np.zeros(embedding.shape[1]))
    return Placement(space, embedding, np.zeros(space.n, dtype=np.intp), (piece,))


def _preimage(space: Space, embedding: FloatArray) -> Barycentric | None:
    if not isinstance(space, PointSpace):
        return None
    return Barycentric(PointSpace(embedding), space.points, embedding.shape[1] + 1)
