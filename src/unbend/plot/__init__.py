"""Plots of embeddings: returned as figures, never shown by side effect.

matplotlib and plotly are imported with the functions that use them.

>>> import unbend
>>> roll = unbend.datasets.swiss_roll(300, random_state=0)
>>> figure = unbend.plot.scatter(unbend.Isomap(n_neighbors=8).fit(roll.points), roll)
>>> [axis.get_xlabel() for axis in figure.axes[:1]]
['Isomap 1']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unbend.plot.curves import (
        consistency,
        dimension_fits,
        eigenfunctions,
        residual_variance,
        spectrum,
    )
    from unbend.plot.diagrams import coranking_matrix, quality_curves, shepard
    from unbend.plot.image_plots import feature_images, thumbnails
    from unbend.plot.pages import interactive
    from unbend.plot.panels import before_after, contact_sheet
    from unbend.plot.reliability import point_quality, stability_ellipses
    from unbend.plot.saving import save
    from unbend.plot.scattering import scatter
    from unbend.plot.sheets import eigenimages, image_sheet, reconstructions

# No module may be named like a function: importing it would hide the function.
_NAMES = {
    "before_after": "panels",
    "consistency": "curves",
    "contact_sheet": "panels",
    "coranking_matrix": "diagrams",
    "dimension_fits": "curves",
    "eigenfunctions": "curves",
    "eigenimages": "sheets",
    "feature_images": "image_plots",
    "image_sheet": "sheets",
    "interactive": "pages",
    "point_quality": "reliability",
    "quality_curves": "diagrams",
    "reconstructions": "sheets",
    "residual_variance": "curves",
    "save": "saving",
    "scatter": "scattering",
    "shepard": "diagrams",
    "spectrum": "curves",
    "stability_ellipses": "reliability",
    "thumbnails": "image_plots",
}
__all__ = [
    "before_after",
    "consistency",
    "contact_sheet",
    "coranking_matrix",
    "dimension_fits",
    "eigenfunctions",
    "eigenimages",
    "feature_images",
    "image_sheet",
    "interactive",
    "point_quality",
    "quality_curves",
    "reconstructions",
    "residual_variance",
    "save",
    "scatter",
    "shepard",
    "spectrum",
    "stability_ellipses",
    "thumbnails",
]


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'unbend.plot' has no attribute {name!r}")
    try:
        return getattr(import_module(f"unbend.plot.{_NAMES[name]}"), name)
    except ModuleNotFoundError as error:
        package = str(error.name).split(".")[0]
        if package not in ("matplotlib", "mpl_toolkits", "plotly"):
            raise
        needed = "plotly" if package == "plotly" else "matplotlib"
        raise ImportError(
            f"unbend.plot.{name} needs {needed}: pip install 'unbend[plot]'"
        ) from None


def __dir__() -> list[str]:
    return __all__
