"""Isomap under scikit-learn's name."""

import warnings
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.manifold import Isomap as ScikitIsomap
from sklearn.neighbors import NearestNeighbors

from unbend.arrays import is_sparse
from unbend.atomic import atomic_fit
from unbend.graphs import bridge, components, geodesics, undirected
from unbend.neighbors import DistanceSpace, Metric, Neighbors, PointSpace, Space
from unbend.validation.threads import in_new_thread, threads

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

    @atomic_fit
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
        graph = by_radius if self.n_neighbors is None else by_count
        found = in_new_thread(lambda: graph(mode="distance")).tocoo()
        n = found.shape[0]
        neighbors = self._connect(X, Neighbors.from_edges(n, found.row, found.col, found.data))
        rows = self.nbrs_._fit_X
        dtype = rows.dtype if rows.dtype == np.float32 else np.dtype(np.float64)
        lengths = undirected(neighbors).lengths
        # In double precision, or small coordinates of single-precision rows would be rounding.
        distances = geodesics(lengths, threads=threads(self.n_jobs))
        self.kernel_pca_ = KernelPCA(
            n_components=self.n_components,
            kernel="precomputed",
            eigen_solver=self.eigen_solver,
            tol=self.tol,
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
        ).set_output(transform="default")
        embedding = self.kernel_pca_.fit_transform(-0.5 * distances**2)
        self.dist_matrix_ = distances.astype(dtype, copy=False)
        self.embedding_ = embedding.astype(dtype, copy=False)
        self._n_features_out = self.embedding_.shape[1]

    def _connect(self, X: Any, neighbors: Neighbors) -> Neighbors:
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
        return PointSpace(rows, Metric(name, self.nbrs_.effective_metric_params_).fit(rows))
