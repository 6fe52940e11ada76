"""Spectral clustering."""

import warnings
from typing import Any, final

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import ClusterMixin
from sklearn.utils.validation import _num_samples, check_is_fitted

from unbend.arrays import FloatArray, IntArray
from unbend.estimators.embedding import Model
from unbend.estimators.inputs import graph_lengths
from unbend.graphs import normalized_cut
from unbend.lazy import by_partitions
from unbend.methods.laplacian_eigenmaps import UNMEASURED, LaplacianEigenmaps
from unbend.report import ask, note, stage, warn
from unbend.rounding import discretize, kmeans
from unbend.validation.parameters import (
    Choice,
    Integer,
    check_parameters,
    declare,
    first_param,
    inherit,
    param,
)
from unbend.validation.random_state import generator
from unbend.validation.threads import threads

# What is handed on to the embedding.
EIGENMAPS = (
    "n_neighbors",
    "radius",
    "mutual",
    "neighbors_algorithm",
    "metric",
    "metric_params",
    "weights",
    "t",
    "connect",
    "eigen_solver",
    "random_state",
    "n_jobs",
)


@final
@by_partitions
@declare
class SpectralClustering(ClusterMixin, Model):
    """Spectral clustering: the clusters are where few edges of the graph are cut.

    Laplacian eigenmaps, L f = λ D f, with as many eigenvectors as clusters, the constant one
    included, and then k-means, or the rotation nearest to indicator vectors. ``"shi_malik"``
    rounds the rows of f (normalised cut), as scikit-learn does; ``"njw"`` rounds the rows of D^½ f
    scaled to unit length (Ng, Jordan and Weiss), which makes clusters of more equal sizes. Where
    few rows are nearly cut off, these cut more: `ncut_` of 3000 word vectors in eight clusters is
    1.30 for ``"njw"`` (101 to 689 rows each) and 0.79 for ``"shi_malik"`` (11 to 2203).

    Attributes
    ----------
    labels_ : array (n_samples,)
        Cluster of each row.
    embedding_ : array (n_samples, n_clusters)
        What was rounded.
    eigenvalues_ : array (n_clusters - 1,)
        Eigenvalues of the Laplacian, the trivial zero left out.
    ncut_ : float
        Normalised cut of the clusters, ½ Σ cut(A, Ā)/vol(A), on the graph without bridges; its
        least possible value is at least half the sum of `eigenvalues_`. NaN where no graph is
        formed (all pairs by columns).

    References
    ----------
    Shi and Malik, IEEE PAMI 22 (2000); Ng, Jordan and Weiss, NIPS 14 (2002); rounding by
    discretisation: Yu and Shi, ICCV (2003).

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> angle = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    >>> ring = np.column_stack((np.cos(angle), np.sin(angle)))
    >>> rings = np.concatenate((ring, 3 * ring))
    >>> labels = unbend.SpectralClustering(n_clusters=2).fit_predict(rings)
    >>> len(set(labels[:100])), len(set(labels[100:])), labels[0] != labels[-1]
    (1, 1, np.True_)
    """

    n_clusters: int = first_param(Integer(1), default=8, help="Number of clusters.", kw_only=False)
    method: str = param(
        "njw", Choice("njw", "shi_malik"), help="Ng, Jordan and Weiss, or Shi and Malik."
    )
    assign_labels: str = param(
        "kmeans", Choice("kmeans", "discretize"), help="How eigenvectors are rounded to clusters."
    )
    n_neighbors: Any = inherit(LaplacianEigenmaps, "n_neighbors")
    radius: float | None = inherit(LaplacianEigenmaps, "radius")
    mutual: bool = inherit(LaplacianEigenmaps, "mutual")
    neighbors_algorithm: Any = inherit(LaplacianEigenmaps, "neighbors_algorithm")
    metric: Any = inherit(LaplacianEigenmaps, "metric")
    metric_params: dict[str, Any] | None = inherit(LaplacianEigenmaps, "metric_params")
    weights: Any = inherit(LaplacianEigenmaps, "weights")
    t: float | None = inherit(LaplacianEigenmaps, "t")
    connect: str = inherit(LaplacianEigenmaps, "connect")
    eigen_solver: Any = inherit(LaplacianEigenmaps, "eigen_solver")
    random_state: Any = inherit(LaplacianEigenmaps, "random_state")
    n_jobs: int | None = inherit(LaplacianEigenmaps, "n_jobs")

    def fit(self, X: Any, y: None = None, *, graph: Any = None) -> "SpectralClustering":
        """Find clusters among the rows of X.

        Parameters
        ----------
        X : array (n_samples, n_features)
            Rows, or distances, a graph or affinities as for `LaplacianEigenmaps`.
        """
        check_parameters(self)
        X = graph_lengths(self, X)
        _check_rows(_num_samples(X), self.n_clusters)
        given = {name: getattr(self, name) for name in EIGENMAPS}
        eigenmaps = LaplacianEigenmaps(n_components=max(1, self.n_clusters - 1), **given)
        # Eigenvectors that are rounded to clusters are no coordinates that might repeat others.
        setattr(eigenmaps, UNMEASURED, True)
        with warnings.catch_warnings():
            # Clusters may well be components of the graph; the report keeps the sentence.
            warnings.filterwarnings("ignore", "the neighbourhood graph has")
            eigenmaps.fit(X, graph=graph)
        delattr(eigenmaps, UNMEASURED)
        self._forget_file()
        self._eigenmaps = eigenmaps
        self.n_features_in_ = eigenmaps.n_features_in_
        if hasattr(eigenmaps, "feature_names_in_"):
            self.feature_names_in_ = eigenmaps.feature_names_in_
        self.report_ = eigenmaps.report_
        self.eigenvalues_ = eigenmaps.eigenvalues_
        self.embedding_ = self._rows_to_round(eigenmaps.embedding_)
        with stage("clusters") as rounding:
            self._turn, self._centers = self._round(self.embedding_)
            ask()
            self.labels_ = self._nearest(self.embedding_)
        self._defer("ncut_", self._normalized_cut)
        self.report_.stages.append(rounding)
        return self

    def _normalized_cut(self) -> float:
        eigenmaps, found = self._eigenmaps, self._eigenmaps._neighborhoods
        weight = eigenmaps._edge_weight
        if weight is None:
            return float("nan")
        weights = eigenmaps._edge_rows(found.space, found.neighbors, weight)
        return normalized_cut(weights.matrix(), self.labels_[found.first])

    @property
    def graph_(self) -> csr_array:
        """The directed neighbour graph (n_samples, n_samples), entries are lengths."""
        check_is_fitted(self)
        return self._eigenmaps.graph_

    def predict(self, X: Any) -> IntArray:
        """Assign new samples to the clusters.

        Parameters
        ----------
        X : array (m, n_features)
            New samples.

        Returns
        -------
        array (m,)
        """
        check_is_fitted(self)
        return self._nearest(self._rows_to_round(self._eigenmaps.transform(X)))

    def outlyingness(self, X: Any) -> FloatArray:
        """Score how far new samples are outside the fitted rows; see `Isomap.outlyingness`.

        Parameters
        ----------
        X : array (m, n_features)
            New samples.

        Returns
        -------
        array (m,)
            About 1 for samples like the fitted ones; above 5 a sample is far outside.
        """
        check_is_fitted(self)
        return self._eigenmaps.outlyingness(X)

    def _rows_to_round(self, vectors: FloatArray) -> FloatArray:
        """Eigenvectors with the constant one first; unit rows for Ng, Jordan and Weiss.

        D^½ drops out of rows of unit length.
        """
        vectors = vectors[:, : self.n_clusters - 1]
        volume = self._eigenmaps.volume_
        rows = np.column_stack((np.full(len(vectors), volume**-0.5), vectors))
        if self.method == "njw":
            rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows, dtype=vectors.dtype)

    def _round(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Rotation and centers: a row belongs to the center nearest to it after the rotation."""
        rng = generator(self.random_state)
        identity = np.eye(rows.shape[1])
        if self.assign_labels == "discretize":
            return discretize(rows, rng), identity
        means = kmeans(rows, self.n_clusters, rng, threads(self.n_jobs))
        note(iterations=means.iterations, kmeans_converged=means.converged)
        if not means.converged:
            warn(
                f"k-means did not converge in {means.iterations} iterations. Use "
                "assign_labels='discretize', or another random_state."
            )
        return identity, means.centers

    def _nearest(self, rows: FloatArray) -> IntArray:
        if self.assign_labels == "discretize":
            return np.asarray(np.argmax(_multiply_rows(rows, self._turn), axis=1))
        products = _multiply_rows(rows, self._centers.T)
        squares = np.square(self._centers).sum(axis=1) - 2.0 * products
        return np.asarray(np.argmin(squares, axis=1))


def _multiply_rows(rows: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return rows @ matrix, where each row has the same bits alone as together.

    BLAS rounds differently for another number of rows, and a row as near to one center as to
    another would change its cluster.
    """
    total = rows[:, :1] * matrix[0]
    for j in range(1, len(matrix)):
        total += rows[:, j : j + 1] * matrix[j]
    return np.asarray(total)


def _check_rows(rows: int, clusters: int) -> None:
    if 1 < rows <= clusters:
        raise ValueError(
            f"n_clusters={clusters} needs at least {clusters + 1} rows and X has {rows}: give it "
            "more rows or a smaller n_clusters"
        )
