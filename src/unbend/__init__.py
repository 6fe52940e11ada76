"""High-dimensional data as a few coordinates that keep its geometry.

Names are loaded when first used: ``import unbend`` is fast, and the core (``unbend.graphs``,
``unbend.eigen``, …) never needs scikit-learn.

>>> import unbend
>>> surface = unbend.datasets.swiss_roll(1000, random_state=0)
>>> flat = unbend.LTSA(n_neighbors=8).fit_transform(surface.points)
>>> unbend.quality.procrustes(surface.chart, flat, kind="affine") < 0.001
True
"""

from importlib import import_module
from typing import Any

from unbend.registry import CLASSIFIERS, CLUSTERINGS, METHODS, SEVERAL

__version__ = "0.1.0"

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
    "progress_bar": "unbend.bars",
    "memory_limit": "unbend.memory",
    "show_versions": "unbend.versions",
    "view": "unbend.apps.notebook",
}
__all__ = ["__version__", *sorted(_MODULES), *sorted(_NAMES)]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"unbend.{name}")
    if name in _NAMES:
        return getattr(import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'unbend' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
