"""Names beside points, as many as have room."""

from typing import Any

import numpy as np
from matplotlib.transforms import Bbox

from unbend.arrays import FloatArray
from unbend.plot.colors import LONGEST_NAME
from unbend.plot.style import INK, SMALL, drawing_order, plain

# Names that are tried; more than some hundred never have room.
TRIED = 400
# Points that names keep clear of; where there are more, these are a fair sample.
MARKS = 5000
# Points between a mark and its name, and where the name may stand: right, left, above, below.
AWAY = 4
PLACES = (
    (1, 0, "left", "center"),
    (-1, 0, "right", "center"),
    (0, 1, "center", "bottom"),
    (0, -1, "center", "top"),
)


def write_names(axes: Any, positions: FloatArray, names: list[str]) -> None:
    """Write names beside their points where they cover neither each other nor leave the axes.

    Parameters
    ----------
    axes : Axes or Axes3D
        Axes of a figure whose other parts are all drawn: room is measured.
    positions : array (n, 2) or (n, 3)
        The points.
    names : list of str
        A name for each; an empty one is not written.
    """
    figure = axes.get_figure()
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    room = axes.get_window_extent(renderer)
    taken = _texts(axes, renderer)
    flat = _flattened(axes, positions)
    marks = axes.transData.transform(flat[drawing_order(len(flat))[:MARKS]])
    for row in np.unique(np.linspace(0, len(names) - 1, TRIED).astype(np.intp)):
        if names[row].strip():
            _write(axes, flat[row], _short(names[row]), room, taken, marks, renderer)


def _texts(axes: Any, renderer: Any) -> list[Bbox]:
    """Boxes of what is written on the axes already."""
    written = [*axes.texts, *axes.get_xticklabels(), *axes.get_yticklabels()]
    if hasattr(axes, "zaxis"):
        written += [*axes.get_zticklabels(), *(axis.label for axis in axes._axis_map.values())]
    if axes.get_legend() is not None:
        written.append(axes.get_legend())
    boxes = [artist.get_window_extent(renderer) for artist in written]
    return [box for box in boxes if box.width > 0]


def _write(
    axes: Any,
    at: FloatArray,
    name: str,
    room: Bbox,
    taken: list[Bbox],
    marks: FloatArray,
    renderer: Any,
) -> None:
    """Write a name at the first place that is free, or not at all."""
    for right, up, horizontal, vertical in PLACES:
        text = axes.annotate(
            plain(name),
            tuple(at),
            (AWAY * right, AWAY * up),
            textcoords="offset points",
            ha=horizontal,
            va=vertical,
            fontsize=SMALL - 1,
            color=INK,
            zorder=3,
        )
        text.set_in_layout(False)
        box = text.get_window_extent(renderer)
        if _is_free(box, room, taken, marks):
            taken.append(box)
            return
        text.remove()


def _is_free(box: Bbox, room: Bbox, taken: list[Bbox], marks: FloatArray) -> bool:
    low, high = np.array(box.min), np.array(box.max)
    if np.any(low < room.min) or np.any(high > room.max):
        return False
    if any(box.overlaps(other) for other in taken):
        return False
    return not np.any(np.all((marks > low) & (marks < high), axis=1))


def _flattened(axes: Any, positions: FloatArray) -> FloatArray:
    """Points as the axes see them: in space, projected in the present view."""
    if positions.shape[1] == 2:
        return positions
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    x, y, _ = proj_transform(*positions.T, axes.get_proj())
    return np.column_stack((x, y))


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
