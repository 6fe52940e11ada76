"""scikit-learn's names and parameters over our stages: changing one import is enough.

``from unbend.sklearn import Isomap`` in place of ``from sklearn.manifold import Isomap``. What
scikit-learn does as well is inherited as it is (`PCA`, `KernelPCA`, `ClassicalMDS` and the random
projections); the others differ only in how they compute, and where scikit-learn is wrong
(``LocallyLinearEmbedding(method="hessian")``).
"""

import warnings
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.cluster import SpectralClustering as ScikitSpectralClustering
from sklearn.cluster import k_means
from sklearn.cluster._spectral import cluster_qr, discretize
from sklearn.decomposition import PCA, KernelPCA
from sklearn.manifold import ClassicalMDS
from sklearn.manifold import Isomap as ScikitIsomap
from sklearn.manifold import LocallyLinearEmbedding as ScikitLLE
from sklearn.manifold import SpectralEmbedding as ScikitSpectralEmbedding
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.neighbors import NearestNeighbors, kneighbors_graph
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from unbend.arrays import FloatArray, IntArray, is_sparse
from unbend.base.inputs import generator, threads
from unbend.eigen import solve
from unbend.graphs import bridge, components, degrees, geodesics, laplacian, undirected
from unbend.methods.hessian_lle import HessianLLE
from unbend.methods.lle import LLE
from unbend.methods.ltsa import LTSA
from unbend.neighbors import DistanceSpace, Metric, Neighbors, PointSpace, Space
from unbend.problem import SpectralProblem

__all__ = [
    "PCA",
    "ClassicalMDS",
    "GaussianRandomProjection",
    "Isomap",
    "KernelPCA",
    "LocallyLinearEmbedding",
    "SparseRandomProjection",
    "SpectralClustering",
    "SpectralEmbedding",
]

APART = "The number of connected components of the neighbors graph is {count} > 1."


class Isomap(ScikitIsomap):
    """scikit-learn's `Isomap` with compiled shortest paths and the shortest bridges.

    Examples
    --------
    >>> import unbend
    >>> from unbend.sklearn import Isomap
    >>> roll = unbend.datasets.swiss_roll(500, random_state=0)
    >>> Isomap(n_neighbors=8).fit_transform(roll.points).shape
    (500, 2)
    """

    def _fit_transform(self, X: Any) -> None:
        if self.n_neighbors is not None and self.radius is not None:
            raise ValueError(
                "Both n_neighbors and radius are provided. Use "
                f"Isomap(radius={self.radius}, n_neighbors=None) for radius-based neighbors"
            )
        shared = {"metric": self.metric, "p": self.p, "metric_params": self.metric_params}
        self.nbrs_ = NearestNeighbors(
            n_neighbors=self.n_neighbors,
            radius=self.radius,
            algorithm=self.neighbors_algorithm,
            n_jobs=self.n_jobs,
            **shared,
        ).fit(X)
        self.n_features_in_ = self.nbrs_.n_features_in_
        if hasattr(self.nbrs_, "feature_names_in_"):
            self.feature_names_in_ = self.nbrs_.feature_names_in_
        by_count = self.nbrs_.kneighbors_graph
        by_radius = self.nbrs_.radius_neighbors_graph
        found = (by_radius if self.n_neighbors is None else by_count)(mode="distance").tocoo()
        n = found.shape[0]
        neighbors = self._connected(X, Neighbors.from_edges(n, found.row, found.col, found.data))
        rows = self.nbrs_._fit_X
        dtype = rows.dtype if rows.dtype == np.float32 else np.dtype(np.float64)
        lengths = undirected(neighbors).lengths
        self.dist_matrix_ = geodesics(lengths, dtype=dtype, threads=threads(self.n_jobs))
        self.kernel_pca_ = KernelPCA(
            n_components=self.n_components,
            kernel="precomputed",
            eigen_solver=self.eigen_solver,
            tol=self.tol,
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
        ).set_output(transform="default")
        self.embedding_ = self.kernel_pca_.fit_transform(-0.5 * self.dist_matrix_**2)
        self._n_features_out = self.embedding_.shape[1]

    def _connected(self, X: Any, neighbors: Neighbors) -> Neighbors:
        labels = components(neighbors.graph())
        count = int(labels.max()) + 1
        if count == 1:
            return neighbors
        if self.metric == "precomputed" and is_sparse(X):
            raise RuntimeError(
                APART.format(count=count) + " The graph cannot be completed with "
                "metric='precomputed' and a sparse graph: use more neighbors or all distances."
            )
        warnings.warn(
            APART.format(count=count) + " The shortest edges between them were added.",
            stacklevel=2,
        )
        return bridge(self._space(), labels).as_edges(neighbors)

    def _space(self) -> Space:
        rows = np.asarray(self.nbrs_._fit_X, dtype=np.float64)
        if self.metric == "precomputed":
            return DistanceSpace(rows)
        name = self.nbrs_.effective_metric_
        return PointSpace(rows, Metric(name, self.nbrs_.effective_metric_params_))


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
        affinity = self._get_affinity_matrix(X)
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
        self.labels_ = self._rounded(rows, random)
        return self

    def _affinities(self, X: Any) -> Any:
        if self.affinity == "precomputed":
            return X
        if self.affinity == "precomputed_nearest_neighbors":
            nearest = NearestNeighbors(n_neighbors=self.n_neighbors, metric="precomputed").fit(X)
            graph = nearest.kneighbors_graph(X, mode="connectivity")
            return 0.5 * (graph + graph.T)
        if X.shape[0] == X.shape[1]:
            warnings.warn(
                "The spectral clustering API has changed: X is square and is taken as rows. Set "
                "``affinity='precomputed'`` for an affinity matrix.",
                stacklevel=3,
            )
        if self.affinity == "nearest_neighbors":
            graph = kneighbors_graph(X, self.n_neighbors, include_self=True, n_jobs=self.n_jobs)
            return 0.5 * (graph + graph.T)
        params = dict(self.kernel_params or {})
        if not callable(self.affinity):
            params |= {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return pairwise_kernels(X, metric=self.affinity, filter_params=True, **params)

    def _rounded(self, rows: FloatArray, random: np.random.RandomState) -> IntArray:
        if self.verbose:
            print(f"Computing label assignment using {self.assign_labels}")  # noqa: T201
        if self.assign_labels == "cluster_qr":
            return np.asarray(cluster_qr(rows))
        if self.assign_labels == "discretize":
            return np.asarray(discretize(rows, random_state=random))
        found = k_means(
            rows, self.n_clusters, random_state=random, n_init=self.n_init, verbose=self.verbose
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
