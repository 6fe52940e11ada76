"""Methods whose kernel is one Gram matrix over all rows: classical MDS and kernel PCA."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from unbend.arrays import FloatArray
from unbend.base.embedding import Embedding
from unbend.base.inputs import generator
from unbend.base.params import NOTHING, RANDOM, SOLVER, Choice, Integer, declared, param
from unbend.base.scaled import check_size
from unbend.eigen import SOLVERS, solve
from unbend.extend import Distances, Extension, Nystrom, Placement
from unbend.gram import Gram, negative_share
from unbend.neighbors import Space
from unbend.report import note, stage, warn


@dataclass(frozen=True, eq=False)
class Built:
    """A Gram matrix, what new rows are to it, and the rows as points of some space."""

    gram: Gram
    distances: Distances
    space: Space
    dtype: np.dtype[Any]
    attributes: dict[str, Any] = field(default_factory=dict)


@declared
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
    def _preimages(
        self, built: Built, embedding: FloatArray, weights: FloatArray
    ) -> Extension | None:
        """Way back from coordinates to rows, if there are rows."""

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
            with stage("kernel"):
                built = self._build(X)
                gram, n = built.gram, built.space.n
                note(rows=n, shift=gram.squares.shift, lift=gram.lift)
                check_size(self.n_components, n)
            with stage("spectrum"):
                spectrum = solve(gram.problem(), self.n_components, self.eigen_solver, rng)
                share = negative_share(gram, spectrum, rng)
                note(negative_share=share)
            with stage("coordinates"):
                embedding, kept = gram.coordinates(spectrum), gram.kept(spectrum)
                if not np.all(kept > 0):
                    positive = int(np.sum(kept > 0))
                    warn(f"only {positive} eigenvalues are positive: further coordinates are zero")
                weights = gram.nystrom_weights(spectrum)
                extension = _extension(built, embedding, weights)
                preimage = self._preimages(built, embedding, weights)
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
            _space=built.space,
            **built.attributes,
        )
        return self

    @property
    def next_eigenvalue_(self) -> float:
        """The first eigenvalue left out, as near as the solver came; NaN where there is none."""
        check_is_fitted(self)
        return float(self._next_eigenvalue)


def _extension(built: Built, embedding: FloatArray, weights: FloatArray) -> Extension:
    gram = built.gram
    extension = Nystrom(built.distances, gram.squares, gram.mean_squares, weights)
    if not gram.lift:
        return extension
    # Raised eigenvalues act on fitted rows only: a new row that equals one must be sent to it.
    return Placement.whole(built.space, embedding, extension)
