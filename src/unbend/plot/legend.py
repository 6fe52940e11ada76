"""Legends, colour bars, and the key of a bivariate colour map."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colorbar import make_axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from unbend.plot.colors import Chart, Coloring, Labels, Values, bivariate
from unbend.plot.style import FAINT, INK, LABEL, ROUND, SMALL, plain

# Entries per column of a legend in a figure of default height, and inches per entry.
COLUMN, ENTRY = 20, 0.2


def add_legend(axes: list[Axes], coloring: Coloring, marks: Any, *, outside: bool = True) -> None:
    """Add a legend, a colour bar or the key of a chart.

    Parameters
    ----------
    axes : list of Axes
        The axes of one figure that make room for the legend.
    coloring : Coloring
        The colours.
    marks : Collection or None
        Points coloured by value, for a colour bar.
    outside : bool
        Whether a legend may be beside the axes, as in a figure of its own; otherwise it is inside
        the first axes.
    """
    figure: Any = axes[0].get_figure()
    if isinstance(coloring, Labels) and outside:
        figure.legend(*_entries(coloring), loc="outside right upper", **_style(coloring))
    elif isinstance(coloring, Labels):
        axes[0].legend(*_entries(coloring), loc="best", **{**_style(coloring), "frameon": True})
    elif isinstance(coloring, Values) and marks is not None:
        _style_bar(figure.colorbar(marks, ax=axes, aspect=30, pad=0.03), coloring)
    elif isinstance(coloring, Chart):
        style: Any = {"fraction": 0.15, "shrink": 0.3, "aspect": 1, "anchor": (0, 1)}
        _fill_square(make_axes(axes, location="right", **style)[0], coloring)


def legend_width(coloring: Coloring, height: float) -> float:
    """Width in inches of the legend of a contact sheet beside panels of a given height."""
    if not isinstance(coloring, Labels):
        return 1.1
    groups = coloring.groups()
    longest = max(len(name) for name in (coloring.title, *(group.name for group in groups)))
    return 0.2 + -(-len(groups) // _under(height)) * (0.35 + 0.085 * longest)


def add_legend_beside(
    figure: Any, coloring: Coloring, marks: Any, corner: tuple[float, float]
) -> None:
    """Add a legend to a figure that reserves space below and right of `corner`."""
    x, y = corner
    width, height = figure.get_size_inches()
    if isinstance(coloring, Labels):
        style = _style(coloring, _under(y * height))
        figure.legend(*_entries(coloring), loc="upper left", bbox_to_anchor=corner, **style)
    elif isinstance(coloring, Values) and marks is not None:
        tall = min(3.0 / height, y - 0.1 / height)
        box = figure.add_axes((x + 0.1 / width, y - tall, 0.12 / width, tall))
        _style_bar(figure.colorbar(marks, cax=box), coloring)
    elif isinstance(coloring, Chart):
        side = 0.8
        box = figure.add_axes(
            (x + 0.25 / width, y - side / height, side / width, side / height), aspect="equal"
        )
        _fill_square(box, coloring)


def _under(height: float) -> int:
    """Return the number of entries per column, with a title."""
    return max(1, int(height / ENTRY) - 1)


def _entries(labels: Labels) -> tuple[list[Line2D], list[str]]:
    groups = labels.groups()
    handles = [
        Line2D([], [], linestyle="", color=group.color, marker=group.markers[0], markersize=6)
        for group in groups
    ]
    return handles, [plain(group.name) for group in groups]


def _style(labels: Labels, under: int = COLUMN) -> dict[str, Any]:
    return {
        "ncols": -(-len(labels.groups()) // under),
        "fontsize": SMALL,
        "title": plain(labels.title) or None,
        "title_fontsize": LABEL,
        "handletextpad": 0.2,
        "columnspacing": 0.8,
        "labelcolor": INK,
        "frameon": False,
    }


def _style_bar(bar: Any, values: Values) -> None:
    # The points may be translucent, the bar must not be.
    bar.solids.set_alpha(1)
    bar.outline.set_visible(False)
    bar.ax.yaxis.set_major_locator(MaxNLocator(6, steps=ROUND))
    bar.ax.tick_params(labelsize=SMALL, color=FAINT, labelcolor=INK)
    missing = "" if values.known.all() else " (grey: missing)"
    bar.set_label(plain(values.title) + missing, fontsize=LABEL)


def _fill_square(square: Axes, chart: Chart) -> None:
    shares = (np.arange(32) + 0.5) / 32
    grid = np.stack(np.meshgrid(shares, shares), axis=-1).reshape(-1, 2)
    square.imshow(bivariate(grid).reshape(32, 32, 3), origin="lower", extent=(0, 1, 0, 1))
    square.set_xticks([])
    square.set_yticks([])
    square.spines[:].set_visible(False)
    square.set_xlabel(f"{plain(chart.titles[0])} →", fontsize=SMALL, labelpad=2)
    square.set_ylabel(f"{plain(chart.titles[1])} →", fontsize=SMALL, labelpad=2)
