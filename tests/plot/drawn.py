"""What a figure shows, read back from its artists."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex


def marks(axes):
    """Every point drawn on axes with its colour and shape, in any order."""
    rows, colors, values = [], [], []
    for drawn in axes.collections:
        if not isinstance(drawn, PathCollection):
            continue
        solid = getattr(drawn, "_offsets3d", None)
        points = np.column_stack(solid) if solid is not None else np.asarray(drawn.get_offsets())
        drawn.update_scalarmappable()
        # In space, `get_facecolor` gives colours in the order of depth.
        faces = drawn.get_facecolor() if solid is None else drawn._facecolors
        faces = np.broadcast_to(faces, (len(points), 4))
        rows.append(points)
        colors += [to_hex(face).upper() for face in faces]
        given = drawn.get_array()
        values.append(np.full(len(points), np.nan) if given is None else np.asarray(given))
    return SimpleNamespace(
        points=np.concatenate(rows), colors=np.array(colors), values=np.concatenate(values)
    )


def order_of(points):
    return np.lexsort(np.asarray(points).T)


def same_points(drawn, given):
    """Whether two sets of points are equal, row for row after sorting."""
    drawn, given = np.asarray(drawn), np.asarray(given)
    return drawn.shape == given.shape and np.array_equal(
        drawn[order_of(drawn)], given[order_of(given)]
    )


def edges_drawn(axes):
    lines = [drawn for drawn in axes.collections if isinstance(drawn, LineCollection)]
    return sum(len(drawn.get_segments()) for drawn in lines)


def texts(figure):
    """Boxes of everything written on a figure, in pixels, with the words."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    artists = []
    for axes in figure.axes:
        three = [axes.xaxis, axes.yaxis] + ([axes.zaxis] if hasattr(axes, "zaxis") else [])
        if axes.axison:
            artists += [axis.label for axis in three]
            artists += [label for axis in three for label in tick_labels(axis)]
        artists += [axes.title, axes._left_title, axes._right_title, *axes.texts]
        if axes.get_legend() is not None:
            artists.append(axes.get_legend())
    artists += [*figure.texts, *figure.legends]
    if figure._suptitle is not None:
        artists.append(figure._suptitle)
    boxes = []
    for artist in dict.fromkeys(artists):
        words = getattr(artist, "get_text", lambda: "legend")()
        if words.strip() and artist.get_visible():
            boxes.append((words, artist.get_window_extent(renderer)))
    return boxes


def tick_labels(axis):
    """Labels of the ticks that are drawn, not those beyond the limits."""
    low, high = sorted(axis.get_view_interval())
    return [
        tick.label1
        for tick in axis.get_major_ticks()
        if low <= tick.get_loc() <= high and tick.label1.get_visible()
    ]


def overlapping(figure):
    """Pairs of texts that cover each other, and texts that leave the figure."""
    boxes = texts(figure)
    width, height = figure.canvas.get_width_height()
    pairs = [
        (one, other)
        for (one, first), (other, second) in combinations(boxes, 2)
        if min(first.x1, second.x1) - max(first.x0, second.x0) > 1
        and min(first.y1, second.y1) - max(first.y0, second.y0) > 1
    ]
    outside = [
        words
        for words, box in boxes
        if box.x0 < -1 or box.y0 < -1 or box.x1 > width + 1 or box.y1 > height + 1
    ]
    return pairs, outside
