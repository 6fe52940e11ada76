"""Every method, one line each. The command line, the page, the demo and the tests read this."""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Entry:
    """The module and class of a method, and its full name."""

    name: str
    class_name: str
    title: str
    package: str = "unbend.methods"

    @cache  # noqa: B019 (entries are constants)
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
    Entry("rigid_alignment", "RigidAlignment", "Rigid alignment of tangent spaces"),
    Entry("laplacian_eigenmaps", "LaplacianEigenmaps", "Laplacian eigenmaps"),
    Entry("diffusion_maps", "DiffusionMaps", "Diffusion maps"),
    Entry("neighbor_embedding", "NeighborEmbedding", "Neighbour embedding (t-SNE)"),
)

# Clustering methods, which have no embedding.
CLUSTERINGS = (Entry("spectral_clustering", "SpectralClustering", "Spectral clustering"),)

# Classifiers, which need labels.
CLASSIFIERS = (Entry("subspace_recognizer", "SubspaceRecognizer", "Recognition in a subspace"),)

# Methods whose X is several matrices of the same objects.
SEVERAL = (
    Entry("replicated_mds", "ReplicatedMDS", "Replicated multidimensional scaling"),
    Entry("weighted_mds", "WeightedMDS", "Weighted multidimensional scaling"),
)

EMBEDDINGS = (*METHODS, *SEVERAL)

# The step in front of a method that turns a table into features.
PREPARATION = Entry("prepare", "Prepare", "Preparation of a table", package="unbend")

# Names of columns that are labels more often than features.
LABEL_NAMES = ("class", "cluster", "diagnosis", "label", "labels", "outcome", "species", "target")

# Parameters of many methods, under the names that a command line has for them.
GENERAL = {
    "n_components": "--components",
    "n_clusters": "--clusters",
    "random_state": "--seed",
    "n_jobs": "--jobs",
}


def option_name(parameter: str) -> str:
    """Return the option under which a parameter is given."""
    return GENERAL.get(parameter, f"--{parameter.replace('_', '-')}")


@cache
def find_entry(name: str, among: tuple[Entry, ...] = EMBEDDINGS) -> Entry | None:
    """Find a method by the name of its module or class, whatever joins the words.

    Examples
    --------
    >>> find_entry("laplacian eigenmaps").class_name, find_entry("HessianLLE").name
    ('LaplacianEigenmaps', 'hessian_lle')
    """
    letters = _letters(name)
    known = (e for e in among if letters in (_letters(e.name), _letters(e.class_name)))
    return next(known, None)


def _letters(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")


def entry_of(estimator: object) -> Entry | None:
    """Return the entry of an estimator, or None for one of another package."""
    kind = type(estimator).__name__
    return next((entry for entry in EMBEDDINGS if entry.class_name == kind), None)
