"""Methods whose kernel is one Gram matrix over all rows: classical MDS and kernel PCA."""

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray
from unbend.eigen import Nystrom as ColumnSolver
from unbend.eigen import column_solver, solve
from unbend.estimators.embedding import SpectralEmbedding, seed_param, solver_param
from unbend.extension import Distances, Extension, Nystrom, Placement
from unbend.gram import CenteredGram, SimilaritySquares, Squares, negative_share
from unbend.gram.columns import ColumnPasses, SimilarityColumns, scale_by_columns
from unbend.neighbors import PointSpace, Space
from unbend.report import Deferred, Report, note, stage, warn
from unbend.validation.parameters import NOTHING, Choice, declare, param
from unbend.validation.random_state import generator
from unbend.validation.threads import threads


def repair_param() -> Any:
    """Declare `repair` of indefinite kernels."""
    return param(
        None,
        Choice("additive_constant", "spectrum_shift"),
        NOTHING,
        help="How to handle negative eigenvalues: None drops them (best on curved data), "
        "'additive_constant' adds the smallest constant to all distances that removes them, "
        "'spectrum_shift' adds the magnitude of the smallest to all eigenvalues.",
    )


@dataclass(frozen=True, eq=False)
class GramInput:
    """A Gram matrix, distances of new samples to its rows, and the rows as points of some space.

    `squares` squares the `distances` of new samples. `positive` says that such a kernel has no
    negative eigenvalue, whatever the rows.
    """

    gram: CenteredGram
    distances: Distances
    squares: Squares
    space: Space
    dtype: np.dtype[Any]
    positive: bool = False
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ColumnInput:
    """A few columns of a Gram matrix, in place of the whole, and the rows that they belong to.

    `distances` of new samples are those to these rows only, squared as `squares` says.
    """

    columns: ColumnPasses
    chosen: IntArray
    distances: Distances
    squares: Squares
    space: Space
    dtype: np.dtype[Any]
    attributes: dict[str, Any] = field(default_factory=dict)


def similarity_columns(
    kernel: FloatArray, chosen: IntArray, dtype: np.dtype[Any], attributes: dict[str, Any]
) -> ColumnInput:
    """Take some columns of a precomputed kernel; new samples have the values of these."""
    columns = SimilarityColumns(kernel, chosen, lambda rows: rows[:, chosen])
    squares = SimilaritySquares(np.zeros(len(chosen)))
    space = PointSpace(kernel)
    return ColumnInput(columns, chosen, squares, Squares(squared=True), space, dtype, attributes)


@declare
class GramEmbedding(SpectralEmbedding):
    """Abstract: top eigenvectors of a Gram matrix, scaled by √λ and extended by Nyström."""

    eigen_solver: Any = solver_param()
    random_state: Any = seed_param("the eigensolver's start vectors")

    @abstractmethod
    def _build(self, X: Any) -> GramInput:
        """Validate X and form its Gram matrix."""

    @abstractmethod
    def _build_columns(self, X: Any, solver: ColumnSolver, rng: np.random.Generator) -> ColumnInput:
        """Validate X and choose columns."""

    @abstractmethod
    def _preimages(
        self, space: Space, embedding: FloatArray, weights: FloatArray, attributes: dict[str, Any]
    ) -> Extension | Deferred | None:
        """Return the pre-images of coordinates, if there are rows to reconstruct."""

    def fit(self, X: Any, y: None = None) -> "GramEmbedding":
        """Fit to the rows of X: points, or a matrix of distances or similarities.

        Parameters
        ----------
        X : array (n_samples, n_features) or (n_samples, n_samples)
            Rows to embed, or the matrix.
        """
        with self._fitting() as report:
            rng = generator(self.random_state)
            solver = column_solver(self.eigen_solver)
            if solver is not None:
                with stage("kernel"):
                    few = self._build_columns(X, solver, rng)
                few = replace(few, columns=self._passes(few.columns))
                return self._fit_columns(report, few)
            with stage("kernel"):
                built = self._build(X)
                gram, n = built.gram, built.space.n
                constant, shift = built.squares.constant, gram.spectrum_shift
                note(rows=n, additive_constant=constant, spectrum_shift=shift)
                self._check_dimension(n)
            with stage("spectrum"):
                problem, workers = gram.problem(), threads(getattr(self, "n_jobs", None))
                with kernels.Team(workers):
                    spectrum = solve(problem, self.n_components, self.eigen_solver, rng, workers)
                share = 0.0 if built.positive else negative_share(gram, spectrum, rng)
                note(negative_share=share)
                if built.positive:
                    note(negative_share_by="the kind of kernel: it has none")
            with stage("coordinates"):
                embedding, kept = gram.coordinates(spectrum), gram.positive_values(spectrum)
                _check_positive(kept)
                weights = gram.nystrom_weights(spectrum)
                extension = _extension(built, embedding, weights)
                preimage = self._preimages(built.space, embedding, weights, built.attributes)
        self._keep(
            report,
            embedding,
            built.dtype,
            extension,
            preimage,
            eigenvalues_=spectrum.values,
            _next_eigenvalue=spectrum.next_value,
            energy_loss_=2.0 * n * (gram.trace - float(kept.sum())),
            negative_share_=share,
            landmarks_=np.arange(n),
            _space=built.space,
            **built.attributes,
        )
        return self

    def _fit_columns(self, report: Report, few: ColumnInput) -> "GramEmbedding":
        """Place all rows by Nyström's approximation: memory grows with n, not with n²."""
        n, d = few.columns.n, self.n_components
        self._check_dimension(n)
        with stage("spectrum"):
            note(rows=n, end="top", wanted=d, solver=repr(self.eigen_solver), converged=True)
            scaling = scale_by_columns(few.columns, d)
        with stage("coordinates"):
            embedding, weights, values = scaling.coordinates, scaling.weights, scaling.values[:d]
            _check_positive(values)
            some = few.space.take(few.chosen)
            preimage = self._preimages(some, embedding[few.chosen], weights, few.attributes)
        self._keep(
            report,
            embedding,
            few.dtype,
            Nystrom(few.distances, few.squares, scaling.mean, weights),
            preimage,
            eigenvalues_=values,
            _next_eigenvalue=scaling.values[-1],
            energy_loss_=2.0 * n * (scaling.trace - float(values.sum())),
            negative_share_=scaling.negative_share,
            landmarks_=few.chosen,
            _space=few.space,
            **few.attributes,
        )
        return self

    def _landmark_columns(self, new: FloatArray) -> FloatArray:
        """Keep the entries of new samples that belong to the columns used."""
        return new if len(self.landmarks_) == self._space.n else new[:, self.landmarks_]


def _check_positive(values: FloatArray) -> None:
    """Warn of coordinates that are zero."""
    positive = int(np.sum(values > 0))
    if positive < len(values):
        warn(
            f"The kernel has only {positive} positive eigenvalues, so further coordinates are "
            "zero. Lower n_components."
        )


def _extension(built: GramInput, embedding: FloatArray, weights: FloatArray) -> Extension:
    gram = built.gram
    extension = Nystrom(built.distances, built.squares, gram.mean_squares, weights)
    if not gram.spectrum_shift:
        return extension
    # A spectrum shift acts on fitted rows only: duplicates of one must be sent to it.
    return Placement.by_one(built.space, embedding, extension)
