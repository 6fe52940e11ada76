"""Contact sheets: several embeddings of the same rows in one figure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from unbend.arrays import FloatArray
from unbend.docstrings import complete_docstring
from unbend.plot.colors import Coloring, Plain, coloring
from unbend.plot.inputs import drawable, method_name
from unbend.plot.layers import draw_points
from unbend.plot.legend import add_legend_beside, legend_width
from unbend.plot.positions import strip_positions
from unbend.plot.shared_docs import FIGURE, PARAMETERS
from unbend.plot.style import DPI, SMALL, TITLE, Picture, plain, point_size
from unbend.registry import METHODS, find_entry
from unbend.validation.scalars import check_integer

PANEL = 2.5  # inches
MARGIN = 0.1
SPACE = 3
# Scale of the points of panels.
SMALLER = 0.5


@dataclass(frozen=True, eq=False)
class Cell:
    """One panel: coordinates in their colours, or the reason of a failure."""

    title: str
    coordinates: FloatArray | None
    colors: Coloring
    equal: bool = False
    failure: str = ""
    bold: bool = False
    view: tuple[float, float] | None = None


@complete_docstring(PARAMETERS, FIGURE)
def contact_sheet(
    embeddings: Mapping[str, Any],
    color: Any = None,
    *,
    columns: int | None = None,
    title: str | None = None,
) -> Figure:
    """Draw several embeddings of the same rows in small panels with common colours.

    Parameters
    ----------
    embeddings : mapping of str to array (n, p) or fitted estimator
        Titles and embeddings; of more than three columns the first three are drawn. A panel whose
        title is the name of an isometric method has equal scales.
    columns : int, optional
        Panels per row; by default the square root of their number.
    title : str, optional
        Title of the sheet.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(300, random_state=0)
    >>> fits = {m.__name__: m().fit(roll.points) for m in (unbend.PCA, unbend.Isomap)}
    >>> figure = unbend.plot.contact_sheet(fits, roll.chart[:, 0])
    >>> [axes.get_title() for axes in figure.axes][:2]
    ['PCA', 'Isomap']
    """
    if not isinstance(embeddings, Mapping) or not embeddings:
        raise ValueError("embeddings must be a non-empty mapping of titles to embeddings")
    cells = [_cell(str(name), given, color) for name, given in embeddings.items()]
    across = int(np.ceil(np.sqrt(len(cells))))
    if columns is not None:
        across = min(check_integer("columns", columns), len(cells))
    rows = [cells[start : start + across] for start in range(0, len(cells), across)]
    colors = cells[0].colors
    return draw_cells(rows, title=title, key=None if isinstance(colors, Plain) else colors)


@complete_docstring(PARAMETERS, FIGURE)
def before_after(X: Any, embeddings: Any, color: Any = None, *, title: str | None = None) -> Figure:
    """Draw the data beside their embeddings in common colours.

    Parameters
    ----------
    X : array (n, D) or Surface
        The data; of more than three columns the first three principal components are drawn.
    embeddings : array (n, p), fitted estimator, or mapping of titles to these
        One embedding or several.
    title : str, optional
        Title of the sheet.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(300, random_state=0)
    >>> figure = unbend.plot.before_after(roll, unbend.Isomap().fit(roll.points), roll.chart[:, 0])
    >>> [axes.get_title() for axes in figure.axes][:2]
    ['before', 'Isomap']
    """
    name = method_name(embeddings) if hasattr(embeddings, "fit") else "after"
    after = embeddings if isinstance(embeddings, Mapping) else {name: embeddings}
    drawn = drawable(X, color)
    chosen = drawn.color if color is None else color
    points, heading = drawn.coordinates, "before"
    if points.shape[1] > SPACE:
        centered = points - points.mean(axis=0)
        points = centered @ np.linalg.svd(centered, full_matrices=False)[2][:SPACE].T
        heading = "before: principal components"
    first = Cell(heading, points, coloring(chosen, drawn.n), equal=True)
    cells = [first, *(_cell(str(given), found, chosen) for given, found in after.items())]
    for cell, given in zip(cells[1:], after, strict=True):
        if cell.coordinates is None or len(cell.coordinates) != drawn.n:
            raise ValueError(f"{given} does not have the {drawn.n} rows of X: embed the same rows")
    key = None if isinstance(first.colors, Plain) else first.colors
    return draw_cells([cells], title=title, key=key)


def draw_cells(
    rows: Sequence[Sequence[Cell]],
    *,
    title: str | None = None,
    headings: Sequence[str] = (),
    key: Coloring | None = None,
) -> Picture:
    """Draw panels in rows.

    Parameters
    ----------
    rows : sequence of sequences of Cell
        The panels.
    title : str, optional
        Title of the figure.
    headings : sequence of str
        Names of the columns, above the first row.
    key : Coloring, optional
        Colours of the legend beside the panels.

    Returns
    -------
    Picture
        A figure whose panels are 2.5 inches wide.
    """
    columns = max(map(len, rows))
    header = 0.3 + 0.3 * bool(title) + 0.3 * bool(headings)
    beside = 0.0 if key is None else legend_width(key, PANEL * len(rows))
    width, height = PANEL * columns + beside, PANEL * len(rows) + header
    figure = Picture(figsize=(width, height), dpi=DPI, facecolor="white")
    grid = figure.add_gridspec(
        len(rows),
        columns,
        left=MARGIN / width,
        right=1 - (MARGIN + beside) / width,
        bottom=MARGIN / height,
        top=1 - header / height,
        wspace=0.06,
        hspace=0.16,
    )
    marks = None
    for line, row in enumerate(rows):
        for column, cell in enumerate(row):
            solid = cell.coordinates is not None and cell.coordinates.shape[1] == 3
            axes = figure.add_subplot(grid[line, column], projection="3d" if solid else None)
            marks = draw_cell(axes, cell) or marks
            if line == 0 and headings:
                _head(axes, headings[column])
    if title:
        top = 1 - 0.2 / height
        figure.text(0.5, top, plain(title), ha="center", va="center", fontsize=TITLE + 1)
    if key is not None:
        side = (PANEL * columns + MARGIN) / width
        add_legend_beside(figure, key, marks, (side, 1 - header / height))
    return figure


def draw_cell(axes: Any, cell: Cell) -> Any:
    """Draw one panel; return the collection coloured by value, if any."""
    weight = "bold" if cell.bold else "normal"
    axes.set_title(plain(cell.title), fontsize=TITLE if cell.bold else SMALL, weight=weight, pad=3)
    if cell.coordinates is not None and cell.coordinates.shape[1] == 3:
        return _draw_space(axes, cell, cell.coordinates)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_color("0.8")
    if cell.coordinates is None:
        text = plain(fill(cell.failure, 34, max_lines=12, placeholder=" …"))
        axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", fontsize=8)
        return None
    positions = cell.coordinates
    if positions.shape[1] == 1:
        positions, _ = strip_positions(positions, cell.colors)
    elif cell.equal:
        axes.set_aspect("equal", adjustable="datalim")
    return draw_points(axes, positions, cell.colors, size=SMALLER * point_size(len(positions)))


def _draw_space(axes: Any, cell: Cell, points: FloatArray) -> Any:
    marks = draw_points(axes, points, cell.colors, size=SMALLER * point_size(len(points)))
    extent = np.ptp(points, axis=0)
    sides = np.maximum(extent, 1e-3 * extent.max()) if cell.equal and extent.any() else np.ones(3)
    axes.set_box_aspect(sides, zoom=1.25)
    if cell.view is not None:
        axes.view_init(*cell.view)
    axes.set_axis_off()
    return marks


def _cell(name: str, given: Any, color: Any) -> Cell:
    entry = find_entry(name, METHODS)
    known = name if entry is not None and entry.class_name == name else None
    drawn = drawable(given, color, known)
    chosen = drawn.color if color is None else color
    return Cell(name, drawn.coordinates[:, :3], coloring(chosen, drawn.n), drawn.equal)


def _head(axes: Axes, text: str) -> None:
    axes.annotate(
        text,
        (0.5, 1),
        (0, 22),
        xycoords="axes fraction",
        textcoords="offset points",
        ha="center",
        fontsize=TITLE,
        fontweight="bold",
    )
