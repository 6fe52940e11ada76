"""Pictures of embeddings: returned as figures, never shown by side effect.

matplotlib and plotly are loaded with the function that draws with them.

>>> import unbend
>>> roll = unbend.datasets.swiss_roll(300, random_state=0)
>>> figure = unbend.plot.scatter(unbend.Isomap(n_neighbors=8).fit(roll.points), roll)
>>> [axis.get_xlabel() for axis in figure.axes[:1]]
['Isomap 1']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unbend.plot.curves import residual_variance, spectrum
    from unbend.plot.pages import interactive
    from unbend.plot.saving import save
    from unbend.plot.scattering import scatter
    from unbend.plot.sheet import contact_sheet
    from unbend.plot.trust import consistency

# No module may be named like a function: importing it would hide the function.
_NAMES = {
    "consistency": "trust",
    "contact_sheet": "sheet",
    "interactive": "pages",
    "residual_variance": "curves",
    "save": "saving",
    "scatter": "scattering",
    "spectrum": "curves",
}
__all__ = [
    "consistency",
    "contact_sheet",
    "interactive",
    "residual_variance",
    "save",
    "scatter",
    "spectrum",
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
