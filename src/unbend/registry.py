"""Every method, one line each. The command line, the page, the demo and the tests read this."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Entry:
    """Where a method lives, and what it is called in full."""

    name: str
    class_name: str
    title: str
    package: str = "unbend.methods"

    def load(self) -> Any:
        """Import the class."""
        return getattr(import_module(f"{self.package}.{self.name}"), self.class_name)


METHODS = (
    Entry("pca", "PCA", "Principal component analysis"),
    Entry("kernel_pca", "KernelPCA", "Kernel principal component analysis"),
    Entry("random_projection", "RandomProjection", "Random projection"),
    Entry("classical_mds", "ClassicalMDS", "Classical multidimensional scaling"),
    Entry("landmark_mds", "LandmarkMDS", "Landmark multidimensional scaling"),
    Entry("metric_mds", "MetricMDS", "Metric multidimensional scaling"),
    Entry("nonmetric_mds", "NonmetricMDS", "Non-metric multidimensional scaling"),
    Entry("isomap", "Isomap", "Isometric feature mapping"),
    Entry("landmark_isomap", "LandmarkIsomap", "Landmark Isomap"),
    Entry("mvu", "MVU", "Maximum variance unfolding"),
    Entry("landmark_mvu", "LandmarkMVU", "Landmark maximum variance unfolding"),
    Entry("lle", "LLE", "Locally linear embedding"),
    Entry("supervised_lle", "SupervisedLLE", "Supervised locally linear embedding"),
    Entry("ltsa", "LTSA", "Local tangent space alignment"),
    Entry("hessian_lle", "HessianLLE", "Hessian locally linear embedding"),
    Entry("laplacian_eigenmaps", "LaplacianEigenmaps", "Laplacian eigenmaps"),
    Entry("diffusion_maps", "DiffusionMaps", "Diffusion maps"),
)

# Methods that give clusters, not coordinates.
CLUSTERINGS = (Entry("spectral_clustering", "SpectralClustering", "Spectral clustering"),)

# Methods whose X is several matrices of the same objects.
SEVERAL = (
    Entry("replicated_mds", "ReplicatedMDS", "Replicated multidimensional scaling"),
    Entry("weighted_mds", "WeightedMDS", "Weighted multidimensional scaling"),
)

# The step in front of a method that turns a table into features.
PREPARATION = Entry("prepare", "Prepare", "Preparation of a table", package="unbend")
