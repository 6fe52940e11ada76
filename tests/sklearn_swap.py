"""Pytest plugin: scikit-learn's own tests run on our classes in the place of its own."""

import sklearn.cluster
import sklearn.manifold
import sklearn.manifold._mds

import unbend.sklearn

# The other names of `unbend.sklearn` are scikit-learn's own objects.
SWAPPED = {
    sklearn.manifold: ("MDS", "Isomap", "LocallyLinearEmbedding", "SpectralEmbedding", "TSNE"),
    sklearn.manifold._mds: ("MDS",),  # its tests take the class from there
    sklearn.cluster: ("SpectralClustering",),
}
for module, names in SWAPPED.items():
    for name in names:
        setattr(module, name, getattr(unbend.sklearn, name))
