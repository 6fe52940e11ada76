"""LLE, LTSA and Hessian LLE under scikit-learn's name."""

from typing import Any

import numpy as np
from sklearn.manifold import LocallyLinearEmbedding as ScikitLLE
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from unbend.atomic import atomic_fit
from unbend.methods.hessian_lle import HessianLLE
from unbend.methods.lle import LLE
from unbend.methods.ltsa import LTSA


class LocallyLinearEmbedding(ScikitLLE):
    """scikit-learn's `LocallyLinearEmbedding` with batched blocks and a sparse factorisation.

    ``method="hessian"`` is the method of Donoho and Grimes, which scikit-learn's is not;
    neighbourhoods of "hessian" and "ltsa" contain the point itself. "modified" is scikit-learn's.

    Examples
    --------
    >>> import unbend
    >>> from unbend.sklearn import LocallyLinearEmbedding
    >>> roll = unbend.datasets.swiss_roll(500, random_state=0)
    >>> LocallyLinearEmbedding(n_neighbors=8, method="ltsa").fit_transform(roll.points).shape
    (500, 2)
    """

    @atomic_fit
    def _fit_transform(self, X: Any) -> None:
        if self.method == "modified":
            super()._fit_transform(X)
            return
        X = validate_data(self, X, dtype=float)
        self._check_sizes(*X.shape)
        self.nbrs_ = NearestNeighbors(
            n_neighbors=self.n_neighbors, algorithm=self.neighbors_algorithm, n_jobs=self.n_jobs
        ).fit(X)
        shared = {
            "n_components": self.n_components,
            "n_neighbors": self.n_neighbors,
            "eigen_solver": "dense" if self.eigen_solver == "dense" else "auto",
            "random_state": check_random_state(self.random_state),
            "n_jobs": self.n_jobs,
            # The class has no parameter that a warning could name.
            "short_circuits": "keep",
        }
        if self.method == "standard":
            method: Any = LLE(reg=self.reg, **shared)
        else:
            method = (LTSA if self.method == "ltsa" else HessianLLE)(**shared)
        method.fit(X)
        self.embedding_ = method.embedding_
        self.reconstruction_error_ = float(np.sum(method.eigenvalues_))
        self._n_features_out = self.embedding_.shape[1]

    def _check_sizes(self, n: int, columns: int) -> None:
        if self.n_components > columns:
            raise ValueError("output dimension must be less than or equal to input dimension")
        if self.n_neighbors >= n:
            raise ValueError(
                f"Expected n_neighbors < n_samples, but n_samples = {n}, "
                f"n_neighbors = {self.n_neighbors}"
            )
        least = self.n_components * (self.n_components + 3) // 2
        if self.method == "hessian" and self.n_neighbors <= least:
            raise ValueError(
                "for method='hessian', n_neighbors must be greater than "
                "[n_components * (n_components + 3) / 2]"
            )
