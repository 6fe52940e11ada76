"""Pytest plugin: scikit-learn's own tests run on our classes in the place of its own."""

import sklearn.cluster
import sklearn.manifold

import unbend.sklearn

# The other names of `unbend.sklearn` are scikit-learn's own objects.
SWAPPED = {
    sklearn.manifold: ("Isomap", "LocallyLinearEmbedding", "SpectralEmbedding"),
    sklearn.cluster: ("SpectralClustering",),
}
for module, names in SWAPPED.items():
    for name in names:
        setattr(module, name, getattr(unbend.sklearn, name))
