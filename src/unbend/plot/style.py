"""How figures look: sizes, axes, and points that suit their number."""

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
# Beyond this many, marks in vector formats are stored as a picture.
VECTOR_MARKS = 5000
TITLE, LABEL, SMALL = 11, 10, 9
# Inches that a letter of a title takes, and letters that have room on one line of any figure.
LETTER, SURE_LETTERS = 0.09, 20
INK, FAINT = "0.2", "0.75"
# Steps between ticks: these times powers of ten.
ROUND = [1, 2, 2.5, 5, 10]
# The bright end of viridis is hard to see on white.
BRIGHTEST = 0.95


class Picture(Figure):
    """A matplotlib figure that no window manager knows; a notebook shows it as a cell's result."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        FigureCanvasAgg(self)

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png")
        return buffer.getvalue()


def new_picture(width: float = WIDTH, height: float = HEIGHT) -> Picture:
    """Make an empty figure whose parts make room for each other."""
    return Picture(figsize=(width, height), dpi=DPI, layout="constrained", facecolor="white")


def height_for(points: FloatArray) -> float:
    """Height of a figure in which a plane with one scale leaves little room unused."""
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
    """Opacity that lets the density of n points show."""
    return float(np.clip(0.9 * (2000 / n) ** 0.2, 0.25, 0.9))


def drawing_order(n: int) -> IntArray:
    """Rows in an order in which no class hides another; the same for every picture."""
    return np.random.default_rng(0).permutation(n)


def plain(text: str) -> str:
    """Return text in which a dollar sign is a dollar sign and not the begin of a formula."""
    return text.replace("$", r"\$")


def entitle(axes: Axes, title: str | None) -> None:
    """Write a title over axes that are finished, on as many lines as their width asks for."""
    if not title:
        return
    letters = len(title)
    if letters > SURE_LETTERS:
        figure: Any = axes.get_figure()
        figure.draw_without_rendering()
        letters = int(axes.get_window_extent().width / figure.dpi / LETTER)
    axes.set_title(plain(fill(title, max(letters, SURE_LETTERS))), fontsize=TITLE, loc="left")


def style_plane(axes: Axes, columns: tuple[str, ...], equal: bool) -> None:
    """Give plane axes names, few ticks and, where lengths mean something, one scale."""
    axes.set_xlabel(plain(columns[0]), fontsize=LABEL)
    if len(columns) > 1:
        axes.set_ylabel(plain(columns[1]), fontsize=LABEL)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(5, steps=ROUND))
    soften(axes)
    if equal:
        axes.set_aspect("equal", adjustable="datalim")


def soften(axes: Axes) -> None:
    """Leave of the frame what is needed, and draw it lightly."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.tick_params(labelsize=SMALL, color=FAINT, labelcolor=INK)


def style_space(axes: Any, points: FloatArray, columns: tuple[str, ...], equal: bool) -> None:
    """Do the same for axes in space; matplotlib's types do not know what these can do."""
    extent = np.ptp(points, axis=0)
    # A side much shorter than the others would leave no room for its own name.
    shape = np.maximum(extent, 0.15 * extent.max()) if equal and extent.max() > 0 else np.ones(3)
    if equal and extent.max() > 0:
        middle = (points.max(axis=0) + points.min(axis=0)) / 2
        for set_limits, centre, side in zip(
            (axes.set_xlim, axes.set_ylim, axes.set_zlim), middle, 1.05 * shape, strict=True
        ):
            set_limits(centre - side / 2, centre + side / 2)
    axes.set_box_aspect(shape, zoom=0.88)
    for axis, name, share in zip(
        (axes.xaxis, axes.yaxis, axes.zaxis), columns, shape / shape.max(), strict=True
    ):
        axis.set_label_text(plain(name), fontsize=LABEL)
        axis.set_major_locator(MaxNLocator(max(1, round(4 * share)), steps=ROUND, min_n_ticks=1))
        axis.set_pane_color((1, 1, 1, 0))
        axis._axinfo["grid"]["color"] = (0.9, 0.9, 0.9, 1)
    axes.tick_params(labelsize=SMALL - 1, labelcolor=INK, pad=0)


def axes_or_new(ax: Any, width: float = 5.4, height: float = 3.8) -> Axes:
    """Return the axes given, or those of a new figure."""
    axes: Axes = new_picture(width, height).add_subplot() if ax is None else ax
    return axes


def figure_of(axes: Axes) -> Figure:
    """Return the figure that axes belong to."""
    figure: Any = axes.get_figure()
    found: Figure = figure
    return found
