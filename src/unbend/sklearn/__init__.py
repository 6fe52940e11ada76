"""scikit-learn's names and parameters, computed by `unbend`: change one import.

``from unbend.sklearn import Isomap`` in place of ``from sklearn.manifold import Isomap``. What
scikit-learn does as well is inherited as it is (`PCA`, `KernelPCA`, `ClassicalMDS` and the random
projections); the others differ only in how they compute, and where scikit-learn is wrong
(``LocallyLinearEmbedding(method="hessian")``).
"""

from sklearn.decomposition import PCA, KernelPCA

try:
    from sklearn.manifold import ClassicalMDS
except ImportError:
    raise ImportError(
        "unbend.sklearn needs scikit-learn 1.9 or later, whose classes it stands in for: "
        "pip install -U scikit-learn"
    ) from None
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

from unbend.sklearn.isomap import Isomap
from unbend.sklearn.locally_linear import LocallyLinearEmbedding
from unbend.sklearn.mds import MDS
from unbend.sklearn.spectral import SpectralClustering, SpectralEmbedding
from unbend.sklearn.t_sne import TSNE

__all__ = [
    "MDS",
    "PCA",
    "TSNE",
    "ClassicalMDS",
    "GaussianRandomProjection",
    "Isomap",
    "KernelPCA",
    "LocallyLinearEmbedding",
    "SparseRandomProjection",
    "SpectralClustering",
    "SpectralEmbedding",
]
