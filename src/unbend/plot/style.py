"""Style of figures: sizes, axes, and points by their number."""

from io import BytesIO
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from unbend.arrays import FloatArray, IntArray

WIDTH, HEIGHT, DPI = 6.4, 4.8, 120
# Number of marks beyond which vector formats store them as a raster image.
VECTOR_MARKS = 5000
TITLE, LABEL, SMALL = 11, 10, 9
# Inches per letter of a title, and letters that fit on one line of any figure.
LETTER, SURE_LETTERS = 0.09, 20
INK, FAINT = "0.2", "0.75"
# Steps between ticks: these times powers of ten.
ROUND = [1, 2, 2.5, 5, 10]
# The bright end of viridis has low contrast on white.
BRIGHTEST = 0.95


class Picture(Figure):
    """A matplotlib figure outside pyplot; a notebook displays it as the result of a cell."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        FigureCanvasAgg(self)

    def savefig(self, *arguments: Any, **options: Any) -> None:
        """Save the figure, with room for the tick labels that equal scales lead to."""
        # The first pass fixes the limits of axes with equal scales, after the layout of that pass.
        self.draw_without_rendering()
        super().savefig(*arguments, **options)

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png")
        return buffer.getvalue()


def new_figure(width: float = WIDTH, height: float = HEIGHT) -> Picture:
    """Make an empty figure with constrained layout."""
    return Picture(figsize=(width, height), dpi=DPI, layout="constrained", facecolor="white")


def height_for(points: FloatArray) -> float:
    """Height of a figure that fits the aspect of points with equal scales."""
    across, up = np.ptp(points, axis=0)
    return float(np.clip(WIDTH * up / max(across, 1e-300), 0.5 * WIDTH, WIDTH))


def value_colormap() -> ListedColormap:
    """Colour map of values: viridis without its bright end."""
    from matplotlib import colormaps

    return ListedColormap(colormaps["viridis"](np.linspace(0, BRIGHTEST, 256)), "unbend_values")


def point_size(n: int) -> float:
    """Area of a point, in square points, that leaves n of them legible."""
    return float(np.clip(450 / np.sqrt(n), 0.5, 40))


def point_alpha(n: int) -> float:
    """Opacity at which the density of n points is visible."""
    return float(np.clip(0.9 * (2000 / n) ** 0.2, 0.25, 0.9))


def drawing_order(n: int) -> IntArray:
    """Return a fixed random order of rows, in which no class hides another."""
    return np.random.default_rng(0).permutation(n)


def plain(text: str) -> str:
    """Escape dollar signs, which would start a formula."""
    return text.replace("$", r"\$")


def add_title(axes: Axes, title: str | None) -> None:
    """Add a title to finished axes, wrapped to their width."""
    if not title:
        return
    letters = len(title)
    if letters > SURE_LETTERS:
        figure: Any = axes.get_figure()
        figure.draw_without_rendering()
        letters = int(axes.get_window_extent().width / figure.dpi / LETTER)
    axes.set_title(plain(fill(title, max(letters, SURE_LETTERS))), fontsize=TITLE, loc="left")


def style_plane(axes: Axes, columns: tuple[str, ...], equal: bool) -> None:
    """Label plane axes, with few ticks and, if `equal`, the same scale."""
    axes.set_xlabel(plain(columns[0]), fontsize=LABEL)
    if len(columns) > 1:
        axes.set_ylabel(plain(columns[1]), fontsize=LABEL)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(5, steps=ROUND))
    lighten_frame(axes)
    if equal:
        axes.set_aspect("equal", adjustable="datalim")


def lighten_frame(axes: Axes) -> None:
    """Draw only the left and bottom spines, lightly."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.tick_params(labelsize=SMALL, color=FAINT, labelcolor=INK)


def style_space(axes: Any, points: FloatArray, columns: tuple[str, ...], equal: bool) -> None:
    """Label three-dimensional axes, which matplotlib's types do not describe."""
    extent = np.ptp(points, axis=0)
    # A side much shorter than the others has no room for its label.
    shape = np.maximum(extent, 0.15 * extent.max()) if equal and extent.max() > 0 else np.ones(3)
    if equal and extent.max() > 0:
        middle = (points.max(axis=0) + points.min(axis=0)) / 2
        for set_limits, center, side in zip(
            (axes.set_xlim, axes.set_ylim, axes.set_zlim), middle, 1.05 * shape, strict=True
        ):
            set_limits(center - side / 2, center + side / 2)
    axes.set_box_aspect(shape, zoom=0.88)
    for axis, name, share in zip(
        (axes.xaxis, axes.yaxis, axes.zaxis), columns, shape / shape.max(), strict=True
    ):
        axis.set_label_text(plain(name), fontsize=LABEL)
        axis.set_major_locator(MaxNLocator(max(1, round(4 * share)), steps=ROUND, min_n_ticks=1))
        axis.set_pane_color((1, 1, 1, 0))
        axis._axinfo["grid"]["color"] = (0.9, 0.9, 0.9, 1)
    axes.tick_params(labelsize=SMALL - 1, labelcolor=INK, pad=0)


def finish_axes(
    axes: Axes, across: str, up: str, title: str | None = None, grid: bool = True
) -> None:
    """Label axes that hold curves, draw a light grid, a legend if there is one, and the title."""
    axes.set_xlabel(across, fontsize=LABEL)
    axes.set_ylabel(up, fontsize=LABEL)
    if grid:
        axes.grid(axis="y", color=FAINT, lw=0.5, alpha=0.6)
        axes.set_axisbelow(True)
    lighten_frame(axes)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize=SMALL, frameon=False)
    add_title(axes, title)


def legend_beside(axes: Axes) -> None:
    """Move the legend from the axes to their right."""
    axes.legend(fontsize=SMALL, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def axes_or_new(ax: Any, width: float = 5.4, height: float = 3.8) -> Axes:
    """Return the given axes, or those of a new figure."""
    axes: Axes = new_figure(width, height).add_subplot() if ax is None else ax
    return axes


def figure_of(axes: Axes) -> Figure:
    """Return the figure of some axes."""
    figure: Any = axes.get_figure()
    found: Figure = figure
    return found
