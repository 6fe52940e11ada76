"""Points, edges and names on axes, in the plane and in space."""

from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.transforms import Bbox

from unbend.arrays import FloatArray
from unbend.plot.colors import GREY, LONGEST_NAME, PALETTE, Chart, Coloring, Labels, Plain, Values
from unbend.plot.positions import Edges
from unbend.plot.style import (
    INK,
    SMALL,
    VECTOR_MARKS,
    drawing_order,
    plain,
    point_alpha,
    point_size,
    value_colormap,
)

# Rounds in which classes with different markers are drawn.
TURNS = 8


def draw_points(
    axes: Any, positions: FloatArray, coloring: Coloring, *, size: float | None = None
) -> Any:
    """Draw points in their colours; return the collection coloured by value, if any.

    Parameters
    ----------
    axes : Axes or Axes3D
        Where to draw.
    positions : array (n, 2) or (n, 3)
        The points.
    coloring : Coloring
        Their colours.
    size : float, optional
        Area of a point; by default it depends on their number.

    Returns
    -------
    Collection or None
        Mappable of a colour bar.
    """
    n = len(positions)
    look: dict[str, Any] = {
        "s": point_size(n) if size is None else size,
        "alpha": point_alpha(n),
        "linewidths": 0,
        "rasterized": n > VECTOR_MARKS,
        "zorder": 2,
    }
    if positions.shape[1] == 3:
        look["depthshade"] = False
    order = drawing_order(n)
    points = positions[order]
    if isinstance(coloring, Values):
        return _draw_values(axes, points, coloring.values[order], coloring.known[order], look)
    if isinstance(coloring, Labels):
        _draw_labels(axes, positions, coloring, look)
    elif isinstance(coloring, Chart):
        axes.scatter(*points.T, c=coloring.colors[order], **look)
    elif isinstance(coloring, Plain):
        axes.scatter(*points.T, color=PALETTE[0], **look)
    return None


def _draw_values(axes: Any, points: FloatArray, values: Any, known: Any, look: Any) -> Any:
    if not known.all():
        axes.scatter(*points[~known].T, color=GREY, **{**look, "zorder": 1.9})
    if not known.any():
        return None
    return axes.scatter(*points[known].T, c=values[known], cmap=value_colormap(), **look)


def _draw_labels(axes: Any, positions: FloatArray, labels: Labels, look: dict[str, Any]) -> None:
    """Draw classes interleaved, so that none is on top; grey ones below."""
    n = len(positions)
    colors, markers = np.empty(n, dtype="<U7"), np.empty(n, dtype="<U1")
    for group in labels.groups():
        colors[group.rows], markers[group.rows] = group.color, group.markers[0]
    grey = colors == GREY
    shapes = dict.fromkeys(markers.tolist())
    # A collection has one marker: several are drawn in rounds, a fraction of each at a time.
    turns = np.array_split(drawing_order(n), 1 if len(shapes) == 1 else TURNS)
    for order in turns:
        for marker in shapes:
            for below in (True, False):
                rows = order[(markers[order] == marker) & (grey[order] == below)]
                if len(rows):
                    style = {**look, "zorder": 1.9 if below else 2, "marker": marker}
                    axes.scatter(*positions[rows].T, c=_rgb(colors[rows]), **style)


def _rgb(colors: Any) -> FloatArray:
    """Convert colour names to RGB, each distinct one once."""
    different, place = np.unique(colors, return_inverse=True)
    parts = [[int(name[at : at + 2], 16) / 255 for at in (1, 3, 5)] for name in different.tolist()]
    return np.asarray(np.array(parts)[place])


def draw_edges(axes: Any, positions: FloatArray, edges: Edges) -> None:
    """Draw a graph below the points."""
    segments, m = edges.segments(positions), max(1, len(edges.pairs))
    look: dict[str, Any] = {
        "colors": "0.55",
        "linewidths": float(np.clip(40 / np.sqrt(m), 0.2, 0.8)),
        "alpha": float(np.clip(60 / np.sqrt(m), 0.15, 0.7)),
        "rasterized": m > VECTOR_MARKS,
        "zorder": 1,
    }
    if positions.shape[1] == 3:
        from mpl_toolkits.mplot3d.art3d import Line3DCollection

        axes.add_collection3d(Line3DCollection(segments, **look))
        axes.text2D(0, 0, edges.remark, transform=axes.transAxes, fontsize=SMALL)
    else:
        axes.add_collection(LineCollection(list(segments), **look))
        axes.annotate(
            edges.remark,
            (1, 0),
            (-2, 2),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="right",
            fontsize=SMALL,
        )


# Largest number of names tried; there is never room for more than some hundred.
TRIED = 400
# Points that names must not cover; of more a random sample.
MARKS = 5000
# Offset of a name in points, and its possible positions: right, left, above, below.
AWAY = 4
PLACES = (
    (1, 0, "left", "center"),
    (-1, 0, "right", "center"),
    (0, 1, "center", "bottom"),
    (0, -1, "center", "top"),
)


def write_names(axes: Any, positions: FloatArray, names: list[str]) -> None:
    """Write names beside their points where they do not overlap or leave the axes.

    Parameters
    ----------
    axes : Axes or Axes3D
        Axes of a figure that is otherwise complete, since free space is measured.
    positions : array (n, 2) or (n, 3)
        The points.
    names : list of str
        A name for each point; empty ones are not written.
    """
    figure = axes.get_figure()
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    room = axes.get_window_extent(renderer)
    taken = _texts(axes, renderer)
    flat = _project(axes, positions)
    marks = axes.transData.transform(flat[drawing_order(len(flat))[:MARKS]])
    for row in np.unique(np.linspace(0, len(names) - 1, TRIED).astype(np.intp)):
        if names[row].strip():
            _write(axes, flat[row], _short(names[row]), room, taken, marks, renderer)


def _texts(axes: Any, renderer: Any) -> list[Bbox]:
    """Boxes of the text on the axes."""
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
    """Write a name at the first free position, if any."""
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


def _project(axes: Any, positions: FloatArray) -> FloatArray:
    """Project three-dimensional points in the current view."""
    if positions.shape[1] == 2:
        return positions
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    x, y, _ = proj_transform(*positions.T, axes.get_proj())
    return np.column_stack((x, y))


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
