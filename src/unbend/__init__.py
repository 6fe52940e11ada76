"""Reduce high-dimensional data to a few coordinates that keep its geometry.

Names are loaded when first used: ``import unbend`` is fast, and the core (``unbend.graphs``,
``unbend.eigen``, …) never needs scikit-learn.

>>> import unbend
>>> surface = unbend.datasets.swiss_roll(1000, random_state=0)
>>> flat = unbend.LTSA(n_neighbors=8).fit_transform(surface.points)
>>> unbend.quality.procrustes(surface.chart, flat, kind="affine") < 0.001
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from unbend.registry import CLASSIFIERS, CLUSTERINGS, METHODS, SEVERAL

__version__ = "0.2.0"

_MODULES = {
    "datasets",
    "dimension",
    "eigen",
    "graphs",
    "io",
    "localization",
    "lowrank",
    "mds",
    "mvu",
    "neighbors",
    "plot",
    "prepare",
    "quality",
    "scale",
    "selection",
}
_NAMES = {
    **{
        entry.class_name: f"unbend.methods.{entry.name}"
        for entry in (*METHODS, *CLUSTERINGS, *CLASSIFIERS, *SEVERAL)
    },
    **dict.fromkeys(
        (
            "choose_bandwidth",
            "choose_dimension",
            "choose_neighbors",
            "compare",
            "stability",
            "suggest",
        ),
        "unbend.selection",
    ),
    **dict.fromkeys(("Fat", "Nystrom"), "unbend.eigen"),
    "Prepare": "unbend.prepare",
    "OutOfDistributionWarning": "unbend.outlyingness",
    "PrecisionWarning": "unbend.validation.conditioning",
    "Report": "unbend.report",
    "ScaleWarning": "unbend.units",
    "denoise": "unbend.denoising",
    "load": "unbend.storage",
    "localize": "unbend.localization",
    "monitoring": "unbend.progress",
    "progress_bar": "unbend.progress_bars",
    "memory_limit": "unbend.memory",
    "show_versions": "unbend.versions",
    "view": "unbend.apps.notebook",
}
__all__ = ["__version__", *sorted(_MODULES), *sorted(_NAMES)]

if TYPE_CHECKING:
    # What type checkers read; a test compares it with `__all__`.
    from unbend import datasets as datasets
    from unbend import dimension as dimension
    from unbend import eigen as eigen
    from unbend import graphs as graphs
    from unbend import io as io
    from unbend import localization as localization
    from unbend import lowrank as lowrank
    from unbend import mds as mds
    from unbend import mvu as mvu
    from unbend import neighbors as neighbors
    from unbend import plot as plot
    from unbend import prepare as prepare
    from unbend import quality as quality
    from unbend import scale as scale
    from unbend import selection as selection
    from unbend.apps.notebook import view as view
    from unbend.denoising import denoise as denoise
    from unbend.eigen import Fat as Fat
    from unbend.eigen import Nystrom as Nystrom
    from unbend.localization import localize as localize
    from unbend.memory import memory_limit as memory_limit
    from unbend.methods.classical_mds import ClassicalMDS as ClassicalMDS
    from unbend.methods.diffusion_maps import DiffusionMaps as DiffusionMaps
    from unbend.methods.hessian_lle import HessianLLE as HessianLLE
    from unbend.methods.isomap import Isomap as Isomap
    from unbend.methods.kernel_pca import KernelPCA as KernelPCA
    from unbend.methods.landmark_isomap import LandmarkIsomap as LandmarkIsomap
    from unbend.methods.landmark_mds import LandmarkMDS as LandmarkMDS
    from unbend.methods.landmark_mvu import LandmarkMVU as LandmarkMVU
    from unbend.methods.laplacian_eigenmaps import LaplacianEigenmaps as LaplacianEigenmaps
    from unbend.methods.lle import LLE as LLE
    from unbend.methods.ltsa import LTSA as LTSA
    from unbend.methods.metric_mds import MetricMDS as MetricMDS
    from unbend.methods.mvu import MVU as MVU
    from unbend.methods.neighbor_embedding import NeighborEmbedding as NeighborEmbedding
    from unbend.methods.nonmetric_mds import NonmetricMDS as NonmetricMDS
    from unbend.methods.pca import PCA as PCA
    from unbend.methods.random_projection import RandomProjection as RandomProjection
    from unbend.methods.replicated_mds import ReplicatedMDS as ReplicatedMDS
    from unbend.methods.rigid_alignment import RigidAlignment as RigidAlignment
    from unbend.methods.spectral_clustering import SpectralClustering as SpectralClustering
    from unbend.methods.subspace_recognizer import SubspaceRecognizer as SubspaceRecognizer
    from unbend.methods.supervised_lle import SupervisedLLE as SupervisedLLE
    from unbend.methods.weighted_mds import WeightedMDS as WeightedMDS
    from unbend.outlyingness import OutOfDistributionWarning as OutOfDistributionWarning
    from unbend.prepare import Prepare as Prepare
    from unbend.progress import monitoring as monitoring
    from unbend.progress_bars import progress_bar as progress_bar
    from unbend.report import Report as Report
    from unbend.selection import choose_bandwidth as choose_bandwidth
    from unbend.selection import choose_dimension as choose_dimension
    from unbend.selection import choose_neighbors as choose_neighbors
    from unbend.selection import compare as compare
    from unbend.selection import stability as stability
    from unbend.selection import suggest as suggest
    from unbend.storage import load as load
    from unbend.units import ScaleWarning as ScaleWarning
    from unbend.validation.conditioning import PrecisionWarning as PrecisionWarning
    from unbend.versions import show_versions as show_versions

else:

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return import_module(f"unbend.{name}")
        if name in _NAMES:
            globals()[name] = found = getattr(import_module(_NAMES[name]), name)
            return found
        raise AttributeError(f"module 'unbend' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
