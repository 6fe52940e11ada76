"""What every estimator has: coordinates, new rows, pre-images, a report."""

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from unbend.arrays import FloatArray
from unbend.estimators.model import Model
from unbend.estimators.scoring import kept_neighbors
from unbend.extension import Extension
from unbend.report import Report, recording, stage
from unbend.validation.parameters import Integer, check_parameters, declare, param


@declare
class Embedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Model):
    """Abstract estimator: rows in, as many rows of `n_components` coordinates out."""

    n_components: int = param(2, Integer(1), help="Number of coordinates.", kw_only=False)

    # Whether coordinates have the scale of the data; else every vector has unit length.
    isometric: ClassVar[bool] = True

    @abstractmethod
    def fit(self, X: Any, y: None = None) -> "Embedding":
        """Fit to the rows of X; y is ignored."""

    @abstractmethod
    def _new_rows(self, X: Any) -> FloatArray:
        """Check new rows and give them the form that the extension takes."""

    def fit_transform(self, X: Any, y: None = None, **fit_params: Any) -> FloatArray:
        """Fit to X and return its coordinates.

        Parameters
        ----------
        X : array (n_samples, n_features)
            Rows to embed, as in `fit`.
        y : ignored
            Present for scikit-learn's sake.
        **fit_params
            Passed to `fit`.

        Returns
        -------
        array (n_samples, n_components)
        """
        return self.fit(X, y, **fit_params).embedding_

    def transform(self, X: Any) -> FloatArray:
        """Place new rows among the fitted ones, each on its own.

        Parameters
        ----------
        X : array (m, n_features)
            New rows; with ``metric="precomputed"`` their distances to the fitted rows (m, n).

        Returns
        -------
        array (m, n_components)
            A row that equals a fitted row gets that row's coordinates.
        """
        check_is_fitted(self)
        with stage("transform"):
            placed = self._extension(self._as_stored(self._new_rows(X)))
        return np.asarray(placed, dtype=self.embedding_.dtype)

    def inverse_transform(self, X: Any) -> FloatArray:
        """Find rows that would have the given coordinates.

        Parameters
        ----------
        X : array (m, n_components)
            Coordinates.

        Returns
        -------
        array (m, n_features)
            Exact for linear methods on the fitted subspace; for the others each row is written
            by its nearest neighbours among the fitted coordinates, with the same weights.
        """
        check_is_fitted(self)
        if self._preimage is None:
            raise ValueError(
                f"{type(self).__name__} was fitted to distances, which have no rows to go back to: "
                "fit it to points"
            )
        coordinates = check_array(X, dtype=[np.float64, np.float32], input_name="X")
        width = self.embedding_.shape[1]
        if coordinates.shape[1] != width:
            raise ValueError(f"X has {coordinates.shape[1]} columns and the embedding has {width}")
        return np.asarray(self._preimage(coordinates), dtype=self.embedding_.dtype)

    def score(self, X: Any, y: None = None) -> float:
        """Share of neighbours that the coordinates of X keep, beyond chance.

        The criterion is `unbend.quality.neighborhood_preservation` with ten neighbours: among the
        rows of X, which are best held out of the fit, or with ``metric="precomputed"`` among the
        fitted rows. 1 is perfect and 0 as good as chance, so `GridSearchCV` can use it. It
        judges neighbourhoods only: between numbers of components, more is nearly always better.

        Parameters
        ----------
        X : array (m, n_features)
            Rows, as for `transform`; at least three.
        y : ignored
            Present for scikit-learn's sake.

        Returns
        -------
        float
            At most 1.
        """
        return kept_neighbors(self, X)

    @contextmanager
    def _fitting(self) -> Iterator[Report]:
        """Check parameters and record a fit."""
        check_parameters(self)
        with recording(type(self).__name__) as report:
            yield report

    def _keep(
        self,
        report: Report,
        embedding: FloatArray,
        dtype: np.dtype[Any],
        extension: Extension,
        preimage: Extension | None,
        **fitted: Any,
    ) -> None:
        """Set the fitted attributes."""
        self._forget_file()
        self.embedding_ = embedding.astype(dtype)
        self.report_ = report
        self._extension = extension
        self._preimage = preimage
        for name, value in fitted.items():
            setattr(self, name, value)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = getattr(self, "metric", None) in ("precomputed", "kernel")
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])
