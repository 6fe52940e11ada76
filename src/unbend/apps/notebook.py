"""Linked maps in notebooks, drawn by jupyter-scatter."""

from typing import Any, final

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.plot.colors import Labels, coloring
from unbend.plot.inputs import drawable
from unbend.quality import trustworthiness
from unbend.validation.scalars import check_integer

MOST_MAPS = 6
# Points up to which each has its trustworthiness; of more a sample has.
MOST_MEASURED = 5000
WITHOUT_EXTRA = (
    "unbend.view needs jupyter-scatter, which is not installed: run pip install 'unbend[notebook]'"
)


@final
class View:
    """Linked maps of the same rows: displayed by a notebook, and asked for the selection.

    Attributes
    ----------
    scatters : tuple of jscatter.Scatter
        One for each map, to be changed further.
    selection : array of int
        Rows that are selected, in any of the maps; it can be set.
    """

    def __init__(self, scatters: tuple[Any, ...], widget: Any) -> None:
        self.scatters, self._widget = scatters, widget

    @property
    def selection(self) -> IntArray:
        """Rows that are selected."""
        return np.sort(np.asarray(self.scatters[0].selection(), dtype=np.intp).ravel())

    @selection.setter
    def selection(self, rows: Any) -> None:
        for scatter in self.scatters:
            scatter.selection(np.asarray(rows, dtype=np.intp).tolist())

    def _ipython_display_(self) -> None:
        from IPython.display import display  # type: ignore[import-not-found, unused-ignore]

        display(self._widget)  # type: ignore[no-untyped-call, unused-ignore]


def view(models: Any, X: Any = None, labels: Any = None, *, height: int = 360) -> View:
    """Show maps beside each other in a notebook: a lasso in one selects the rows in all.

    Parameters
    ----------
    models : fitted estimator, array (n, 2), Table, or a list or mapping of these
        Up to six maps of the same rows; names of a mapping are titles. Of more coordinates the
        first two are shown.
    X : array (n, D), optional
        The data behind the maps: each point then shows its trustworthiness, which is low where its
        neighbours on the map are not neighbours in the data.
    labels : array (n,), optional
        Classes or values to colour by.
    height : int
        Height of a map in pixels.

    Returns
    -------
    View
        Shown as the result of a cell; its `selection` are the rows that are selected.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(200, random_state=0)
    >>> models = [unbend.PCA().fit(roll.points), unbend.Isomap(n_neighbors=8).fit(roll.points)]
    >>> shown = unbend.view(models, roll.points, roll.chart[:, 0])
    >>> shown.selection = [3, 5]
    >>> shown.selection.tolist()
    [3, 5]
    """
    try:
        import jscatter
        import pandas as pd
    except ImportError:
        raise ImportError(WITHOUT_EXTRA) from None
    check_integer("height", height)
    maps = _titled(models)
    frames = [drawable(each, None, None) for each in maps.values()]
    rows = {frame.n for frame in frames}
    if len(rows) > 1:
        raise ValueError(f"All maps must have the same rows; they have {sorted(rows)}.")
    colors = None if labels is None else coloring(labels, frames[0].n)
    scatters = []
    for frame in frames:
        data = pd.DataFrame(_axes(frame.coordinates))
        keywords: dict[str, Any] = {"data": data, "x": "x", "y": "y", "height": height}
        if colors is not None:
            words = isinstance(colors, Labels)
            data["label"] = pd.Categorical(labels) if words else np.asarray(labels)
            keywords |= {"color_by": "label", "legend": True}
        if X is not None:
            data["trustworthiness"] = _trust(X, frame.coordinates)
        shown = [name for name in ("label", "trustworthiness") if name in data]
        scatters.append(jscatter.Scatter(**keywords))
        if shown:
            scatters[-1].tooltip(True, properties=shown)
    named = list(zip(scatters, maps, strict=True))
    widget = jscatter.compose(named, sync_selection=True, sync_hover=True, row_height=height)
    return View(tuple(scatters), widget)


def _titled(models: Any) -> dict[str, Any]:
    """Return the maps by title; several of one method are numbered."""
    given = models if isinstance(models, dict | list | tuple) else [models]
    if not 1 <= len(given) <= MOST_MAPS:
        raise ValueError(f"models must be 1 to {MOST_MAPS} maps, not {len(given)}.")
    if isinstance(given, dict):
        return {str(name): each for name, each in given.items()}
    titles: dict[str, Any] = {}
    for each in given:
        name = type(each).__name__ if hasattr(each, "embedding_") else "map"
        count = sum(title.split(" (")[0] == name for title in titles)
        titles[name if not count else f"{name} ({count + 1})"] = each
    return titles


def _trust(X: Any, coordinates: Any) -> FloatArray:
    """Trustworthiness of every point; NaN outside the sample that is measured."""
    found = trustworthiness(X, coordinates, max_rows=MOST_MEASURED)
    values = np.full(len(coordinates), np.nan)
    values[found.rows] = found.local
    return values


def _axes(coordinates: Any) -> dict[str, Any]:
    second = coordinates[:, 1] if coordinates.shape[1] > 1 else np.zeros(len(coordinates))
    return {"x": coordinates[:, 0].astype(np.float32), "y": second.astype(np.float32)}
