"""Laplacian eigenmaps and spectral clustering under scikit-learn's names."""

import warnings
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.cluster import SpectralClustering as ScikitSpectralClustering
from sklearn.cluster import k_means
from sklearn.cluster._spectral import cluster_qr, discretize
from sklearn.manifold import SpectralEmbedding as ScikitSpectralEmbedding
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.neighbors import NearestNeighbors, kneighbors_graph
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from unbend.arrays import FloatArray, IntArray, is_sparse
from unbend.atomic import atomic_fit
from unbend.eigen import solve
from unbend.eigen.problem import SpectralProblem
from unbend.graphs import components, degrees, laplacian
from unbend.validation.random_state import generator
from unbend.validation.threads import in_new_thread


class SpectralEmbedding(ScikitSpectralEmbedding):
    """scikit-learn's `SpectralEmbedding` with our eigensolvers.

    Examples
    --------
    >>> import unbend
    >>> from unbend.sklearn import SpectralEmbedding
    >>> roll = unbend.datasets.swiss_roll(500, random_state=0)
    >>> SpectralEmbedding(n_neighbors=8).fit_transform(roll.points).shape
    (500, 2)
    """

    @atomic_fit
    def fit(self, X: Any, y: None = None) -> "SpectralEmbedding":
        """Fit to the rows of X, or to an affinity matrix.

        Parameters
        ----------
        X : array (n_samples, n_features) or (n_samples, n_samples)
            Rows, or affinities as `affinity` says.
        y : ignored
            Present for scikit-learn's sake.

        Returns
        -------
        self
        """
        self._validate_params()
        X = validate_data(self, X, accept_sparse="csr", ensure_min_samples=2)
        affinity = in_new_thread(lambda: self._get_affinity_matrix(X))
        embedding = _eigenmaps(affinity, self.n_components, self.random_state, True)
        self.embedding_ = embedding.astype(np.float32) if X.dtype == np.float32 else embedding
        return self


class SpectralClustering(ScikitSpectralClustering):
    """scikit-learn's `SpectralClustering` with our eigensolvers.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from unbend.sklearn import SpectralClustering
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> SpectralClustering(2, affinity="nearest_neighbors", random_state=0).fit(X).labels_.shape
    (200,)
    """

    @atomic_fit
    def fit(self, X: Any, y: None = None) -> "SpectralClustering":
        """Find clusters among the rows of X, or of an affinity matrix.

        Parameters
        ----------
        X : array (n_samples, n_features) or (n_samples, n_samples)
            Rows, or affinities or distances as `affinity` says.
        y : ignored
            Present for scikit-learn's sake.

        Returns
        -------
        self
        """
        self._validate_params()
        sparse = ["csr", "csc", "coo"]
        X = validate_data(self, X, accept_sparse=sparse, dtype=np.float64, ensure_min_samples=2)
        self.affinity_matrix_ = self._affinities(X)
        random = check_random_state(self.random_state)
        count = self.n_clusters if self.n_components is None else self.n_components
        rows = _eigenmaps(self.affinity_matrix_, count, random, False)
        self.labels_ = self._assign_labels(rows, random)
        return self

    def _affinities(self, X: Any) -> Any:
        if self.affinity == "precomputed":
            return X
        if self.affinity == "precomputed_nearest_neighbors":
            nearest = NearestNeighbors(n_neighbors=self.n_neighbors, metric="precomputed").fit(X)
            graph = in_new_thread(lambda: nearest.kneighbors_graph(X, mode="connectivity"))
            return 0.5 * (graph + graph.T)
        if X.shape[0] == X.shape[1]:
            warnings.warn(
                "The spectral clustering API has changed: X is square and is taken as rows. Set "
                "``affinity='precomputed'`` for an affinity matrix.",
                stacklevel=3,
            )
        if self.affinity == "nearest_neighbors":
            graph = in_new_thread(
                lambda: kneighbors_graph(X, self.n_neighbors, include_self=True, n_jobs=self.n_jobs)
            )
            return 0.5 * (graph + graph.T)
        params = dict(self.kernel_params or {})
        if not callable(self.affinity):
            params |= {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return pairwise_kernels(X, metric=self.affinity, filter_params=True, **params)

    def _assign_labels(self, rows: FloatArray, random: np.random.RandomState) -> IntArray:
        if self.verbose:
            print(f"Computing label assignment using {self.assign_labels}")  # noqa: T201
        if self.assign_labels == "cluster_qr":
            return np.asarray(cluster_qr(rows))
        if self.assign_labels == "discretize":
            return np.asarray(discretize(rows, random_state=random))
        found = in_new_thread(
            lambda: k_means(
                rows, self.n_clusters, random_state=random, n_init=self.n_init, verbose=self.verbose
            )
        )
        return np.asarray(found[1])


def _eigenmaps(affinity: Any, count: int, random_state: Any, drop_first: bool) -> FloatArray:
    """Solutions of L f = λ D f without self-affinities, as scikit-learn scales them."""
    sparse = is_sparse(affinity)
    weights = csr_array(affinity, dtype=np.float64, copy=True)
    weights.setdiag(0.0)
    weights.eliminate_zeros()
    if components(weights).max() > 0:
        warnings.warn(
            "Graph is not fully connected, spectral embedding may not work as expected.",
            stacklevel=3,
        )
    degree = degrees(weights)
    degree = np.where(degree > 0, degree, 1.0)
    n = len(degree)
    constant = np.ones((n, 1))
    wanted = min(count if drop_first else max(count - 1, 1), n - 1)
    # All pairs are weighed: the top of the weights has the same vectors and needs products only.
    problem = (
        SpectralProblem(laplacian(weights), "bottom", constant, degree)
        if sparse
        else SpectralProblem(weights.toarray(), "top", constant, degree)
    )
    vectors = solve(problem, wanted, "auto", generator(check_random_state(random_state))).vectors
    if drop_first:
        return vectors
    return np.column_stack((constant / np.sqrt(degree.sum()), vectors))[:, :count]
