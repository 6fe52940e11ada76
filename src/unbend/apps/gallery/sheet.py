"""The contact sheet: surfaces by methods, one picture."""

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from unbend.apps.gallery.rows import Panel, Row
from unbend.apps.gallery.table import shown_error, shown_trust

DPI = 120
PANEL = 2.5  # inches, so that a panel is 300 pixels wide
HEADER = 0.9  # inches above the first row
COLOURS = "viridis"
# The yellow end is hard to see on white.
BRIGHTEST = 0.95


def draw_sheet(rows: Sequence[Row], path: Path) -> None:
    """Draw every surface, and beside it what each method made of it.

    Parameters
    ----------
    rows : sequence of Row
        The surfaces, all embedded by the same methods.
    path : Path
        The PNG to write.
    """
    columns = len(rows[0].panels) + 1
    width, height = PANEL * columns, PANEL * len(rows) + HEADER
    figure = Figure(figsize=(width, height), dpi=DPI)
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(
        len(rows),
        columns,
        left=0.1 / width,
        right=1 - 0.1 / width,
        bottom=0.1 / height,
        top=1 - HEADER / height,
        wspace=0.06,
        hspace=0.16,
    )
    for line, row in enumerate(rows):
        _draw_surface(figure.add_subplot(grid[line, 0], projection="3d"), row)
        for column, panel in enumerate(row.panels, start=1):
            axes = figure.add_subplot(grid[line, column])
            _draw_panel(axes, row, panel)
            if line == 0:
                _head(axes, panel.method.class_name)
    _entitle(figure, rows, height)
    figure.savefig(path, format="png")


def _draw_surface(axes: Any, row: Row) -> None:
    """Draw the points in space; matplotlib's types do not know what 3-D axes can do."""
    points = row.surface.points
    axes.scatter(*points.T, c=_shades(row), cmap=COLOURS, vmin=0, vmax=1, s=7, linewidths=0)
    axes.set_box_aspect(np.ptp(points, axis=0), zoom=1.25)
    axes.view_init(*row.view)
    axes.set_axis_off()
    axes.set_title(row.title, fontsize=11, fontweight="bold", pad=3)


def _draw_panel(axes: Axes, row: Row, panel: Panel) -> None:
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_color("0.8")
    if panel.fit is None:
        _write_failure(axes, panel.failure)
        return
    x, y = panel.fit.coordinates.T
    axes.scatter(x, y, c=_shades(row), cmap=COLOURS, vmin=0, vmax=1, s=7, linewidths=0)
    if panel.fit.kind == "similarity":
        axes.set_aspect("equal", adjustable="datalim")
    error = "" if panel.fit.error is None else f"error {shown_error(panel.fit)}   "
    axes.set_title(f"{error}trust {shown_trust(panel.fit)}", fontsize=9, color="0.25", pad=3)


def _write_failure(axes: Axes, failure: str) -> None:
    text = fill(failure, 34, max_lines=12, placeholder=" …")
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", fontsize=8)
    axes.set_title("failed", fontsize=9, color="0.25", pad=3)


def _head(axes: Axes, text: str) -> None:
    axes.annotate(
        text,
        (0.5, 1),
        (0, 22),
        xycoords="axes fraction",
        textcoords="offset points",
        ha="center",
        fontsize=11,
        fontweight="bold",
    )


def _entitle(figure: Figure, rows: Sequence[Row], height: float) -> None:
    figure.text(
        0.5,
        1 - 0.2 / height,
        f"{len(rows[0].surface.points)} points of each surface, coloured by the true chart; "
        "error to the chart (0 is perfect) and trustworthiness (1 is perfect)",
        ha="center",
        va="center",
        fontsize=12,
    )


def _shades(row: Row) -> Any:
    return BRIGHTEST * row.colours
