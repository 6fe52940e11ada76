"""Methods whose kernel is one Gram matrix over all rows: classical MDS and kernel PCA."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from unbend.arrays import FloatArray, IntArray
from unbend.eigen import SOLVERS, few_columns, signed, solve
from unbend.eigen import Nystrom as FewColumns
from unbend.estimators.embedding import Embedding
from unbend.estimators.shepard import check_size
from unbend.extension import Distances, Extension, Nystrom, Placement
from unbend.gram import CentredGram, SimilaritySquares, Squares, negative_share
from unbend.gram.columns import ColumnPasses, placed_by_columns
from unbend.gram.similarities import SimilarityColumns
from unbend.neighbors import PointSpace, Space
from unbend.report import Report, note, stage, warn
from unbend.validation.parameters import NOTHING, RANDOM, SOLVER, Choice, Integer, declare, param
from unbend.validation.random_state import generator


@dataclass(frozen=True, eq=False)
class Built:
    """A Gram matrix, what new rows are to it, and the rows as points of some space.

    `squares` squares the `distances` of new rows. `positive` says that such a kernel has no
    negative eigenvalue, whatever the rows.
    """

    gram: CentredGram
    distances: Distances
    squares: Squares
    space: Space
    dtype: np.dtype[Any]
    positive: bool = False
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class BuiltColumns:
    """A few columns of a Gram matrix, in place of the whole, and the rows that they belong to.

    `distances` of new rows are those to these rows only, squared as `squares` says.
    """

    columns: ColumnPasses
    chosen: IntArray
    distances: Distances
    squares: Squares
    space: Space
    dtype: np.dtype[Any]
    attributes: dict[str, Any] = field(default_factory=dict)


def given_columns(
    kernel: FloatArray, chosen: IntArray, dtype: np.dtype[Any], attributes: dict[str, Any]
) -> BuiltColumns:
    """Take some columns of a kernel given as a whole; new rows have the values of these."""
    columns = SimilarityColumns(kernel, chosen, lambda rows: rows[:, chosen])
    squares = SimilaritySquares(np.zeros(len(chosen)))
    space = PointSpace(kernel)
    return BuiltColumns(columns, chosen, squares, Squares(squared=True), space, dtype, attributes)


@declare
class GramEmbedding(Embedding):
    """Abstract: top eigenvectors of a Gram matrix, scaled by √λ; new rows by Nyström."""

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

    @abstractmethod
    def _build(self, X: Any) -> Built:
        """Check X and make its Gram matrix."""

    @abstractmethod
    def _build_columns(self, X: Any, solver: FewColumns, rng: np.random.Generator) -> BuiltColumns:
        """Check X and choose columns."""

    @abstractmethod
    def _preimages(
        self, space: Space, embedding: FloatArray, weights: FloatArray, attributes: dict[str, Any]
    ) -> Extension | None:
        """Way back from coordinates to rows of a space, if there are rows."""

    def fit(self, X: Any, y: None = None) -> "GramEmbedding":
        """Fit to the rows of X: points, or a matrix of distances or similarities.

        Parameters
        ----------
        X : array (n_samples, n_features) or (n_samples, n_samples)
            Rows to embed, or the matrix.
        y : ignored
            Present for scikit-learn's sake.

        Returns
        -------
        self
        """
        with self._fitting() as report:
            rng = generator(self.random_state)
            solver = few_columns(self.eigen_solver)
            if solver is not None:
                with stage("kernel"):
                    few = self._build_columns(X, solver, rng)
                return self._fit_columns(report, few)
            with stage("kernel"):
                built = self._build(X)
                gram, n = built.gram, built.space.n
                note(rows=n, shift=built.squares.shift, lift=gram.lift)
                check_size(self.n_components, n)
            with stage("spectrum"):
                spectrum = solve(gram.problem(), self.n_components, self.eigen_solver, rng)
                share = 0.0 if built.positive else negative_share(gram, spectrum, rng)
                note(negative_share=share)
                if built.positive:
                    note(negative_share_by="the kind of kernel: it has none")
            with stage("coordinates"):
                embedding, kept = gram.coordinates(spectrum), gram.kept(spectrum)
                if not np.all(kept > 0):
                    positive = int(np.sum(kept > 0))
                    warn(f"only {positive} eigenvalues are positive: further coordinates are zero")
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

    def _fit_columns(self, report: Report, few: BuiltColumns) -> "GramEmbedding":
        """Place all rows by Nyström's approximation: memory grows with n, not with n²."""
        n = few.columns.n
        check_size(self.n_components, n)
        with stage("spectrum"):
            note(rows=n, end="top", wanted=self.n_components, solver=repr(self.eigen_solver))
            placed = placed_by_columns(few.columns, self.n_components)
            note(columns=len(few.chosen), converged=True, negative_share=placed.negative)
        with stage("coordinates"):
            embedding = signed(placed.coordinates)
            turn = np.where(np.sum(embedding * placed.coordinates, axis=0) < 0, -1.0, 1.0)
            values, weights = placed.values[: self.n_components], placed.weights * turn
            if not np.all(values > 0):
                positive = int(np.sum(values > 0))
                warn(f"only {positive} eigenvalues are positive: further coordinates are zero")
            some = few.space.take(few.chosen)
            preimage = self._preimages(some, embedding[few.chosen], weights, few.attributes)
        self._keep(
            report,
            embedding,
            few.dtype,
            Nystrom(few.distances, few.squares, placed.mean, weights),
            preimage,
            eigenvalues_=values,
            _next_eigenvalue=placed.values[-1],
            energy_loss_=2.0 * n * (placed.trace - float(values.sum())),
            negative_share_=placed.negative,
            landmarks_=few.chosen,
            _space=few.space,
            **few.attributes,
        )
        return self

    def _narrowed(self, new: FloatArray) -> FloatArray:
        """Keep the entries of given rows that belong to the columns used."""
        return new if len(self.landmarks_) == self._space.n else new[:, self.landmarks_]

    @property
    def next_eigenvalue_(self) -> float:
        """The first eigenvalue left out, as near as the solver came; NaN where there is none."""
        check_is_fitted(self)
        return float(self._next_eigenvalue)


def _extension(built: Built, embedding: FloatArray, weights: FloatArray) -> Extension:
    gram = built.gram
    extension = Nystrom(built.distances, built.squares, gram.mean_squares, weights)
    if not gram.lift:
        return extension
    # Raised eigenvalues act on fitted rows only: a new row that equals one must be sent to it.
    return Placement.whole(built.space, embedding, extension)
