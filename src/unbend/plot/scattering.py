"""Scatter plots of embeddings in one, two, three and a few more dimensions."""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from unbend.arrays import FloatArray
from unbend.docstrings import complete_docstring
from unbend.plot.colors import Coloring, Labels, Values, coloring
from unbend.plot.inputs import Drawable, drawable, one_a_row
from unbend.plot.layers import draw_edges, draw_points, write_names
from unbend.plot.legend import add_legend
from unbend.plot.positions import Edges, edges, strip_positions
from unbend.plot.shared_docs import FIGURE, PARAMETERS
from unbend.plot.style import (
    HEIGHT,
    TITLE,
    WIDTH,
    add_title,
    height_for,
    lighten_frame,
    new_figure,
    plain,
    point_size,
    style_plane,
    style_space,
)

# Largest number of columns of a matrix of scatter plots.
MOST_COLUMNS = 6
# Largest number of rows whose ids are written by default.
FEW_ROWS = 60
# Height of a lane in inches.
LANE = 0.2


@complete_docstring(PARAMETERS, FIGURE)
def scatter(
    embedding: Any,
    color: Any = None,
    *,
    names: Any = None,
    title: str | None = None,
    method: Any = None,
    graph: Any = None,
    ax: Any = None,
) -> Figure:
    """Draw an embedding.

    One column is drawn along a line, with a lane for each class; two and three as scatter plots;
    four to six as a matrix of scatter plots.

    Parameters
    ----------
    embedding : array (n, p), dataframe, Table, Surface or fitted estimator
        The coordinates.
    color : array (n,) or (n, 2), str, Surface, optional
        Labels (strings, booleans, or integers with at most 20 distinct values), values (other
        numbers) or a chart (two columns), one per row; or the name of a column of the dataframe.
        By default the label of a `Table` or the chart of a `Surface`. Rows without a label or
        value are grey.
    names : array (n,), optional
        Names of rows, written beside as many points as there is room for; by default the ids of
        a `Table` of up to 60 rows.
    method : str, estimator or class, optional
        Method that computed the embedding: it names the axes, and isometric methods have equal
        scales. Not needed where `embedding` is an estimator.
    graph : sparse array (n, n), graph or fitted estimator, optional
        Edges to draw under the points.
    ax : Axes, optional
        Axes to draw on, three-dimensional for three columns; by default a new figure.

    Returns
    -------
    Figure
        Not shown; a notebook shows it as the result of a cell.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(500, random_state=0)
    >>> model = unbend.Isomap(n_neighbors=8).fit(roll.points)
    >>> figure = unbend.plot.scatter(model, roll.chart[:, 0], graph=model, title="Swiss roll")
    >>> figure.axes[0].get_aspect()
    1.0
    """
    drawn = drawable(embedding, color, method)
    chosen = drawn.color if color is None or isinstance(color, str) else color
    colors = coloring(chosen, drawn.n)
    lines = None if graph is None else edges(graph, drawn.n)
    written = _names(drawn, names)
    if drawn.coordinates.shape[1] > 3:
        return _pairs(drawn, colors, lines, title, ax)
    return _single(drawn, colors, lines, written, title, ax)


def _names(drawn: Drawable, names: Any) -> list[str]:
    given = names
    if names is None and drawn.n <= FEW_ROWS:
        given = drawn.names
    return [] if given is None else [str(name) for name in one_a_row("names", given, drawn.n)]


def _single(
    drawn: Drawable,
    colors: Coloring,
    lines: Edges | None,
    names: list[str],
    title: str | None,
    ax: Any,
) -> Figure:
    width = drawn.coordinates.shape[1]
    positions = drawn.coordinates
    lanes: list[str] = []
    if width == 1:
        positions, lanes = strip_positions(drawn.coordinates, colors)
    axes = _axes(drawn, len(lanes)) if ax is None else _suitable(ax, width)
    if lines is not None:
        draw_edges(axes, positions, lines)
    marks = draw_points(axes, positions, colors)
    style_axes(axes, drawn, positions)
    if width == 1:
        _style_line(axes, colors, lanes)
    else:
        add_legend([axes], colors, marks, outside=ax is None)
    add_title(axes, title)
    if names:
        write_names(axes, positions, names)
    figure: Figure = axes.get_figure()
    return figure


def style_axes(axes: Any, drawn: Drawable, positions: FloatArray) -> None:
    """Label axes with the columns and set the scale of the method."""
    if positions.shape[1] == 3:
        style_space(axes, positions, drawn.columns, drawn.equal)
    else:
        style_plane(axes, drawn.columns, drawn.equal and len(drawn.columns) > 1)


def _axes(drawn: Drawable, lanes: int) -> Any:
    width = drawn.coordinates.shape[1]
    flat = width == 2 and drawn.equal
    height = height_for(drawn.coordinates) if flat else max(HEIGHT, 1 + LANE * lanes)
    figure = new_figure(WIDTH, height)
    return figure.add_subplot(projection="3d" if width == 3 else None)


def _suitable(ax: Any, width: int) -> Any:
    if not callable(getattr(ax, "scatter", None)) or not hasattr(ax, "get_figure"):
        raise TypeError("ax must be a matplotlib Axes")
    if (width == 3) != (getattr(ax, "name", "") == "3d"):
        needed = "three-dimensional axes (projection='3d')" if width == 3 else "plane axes"
        raise ValueError(f"{width} columns need {needed}: pass such axes, or omit ax")
    return ax


def _style_line(axes: Any, colors: Coloring, lanes: Sequence[str]) -> None:
    if isinstance(colors, Values) and colors.known.all():
        axes.set_ylabel(plain(colors.title) or "value")
        return
    axes.set_yticks(range(len(lanes)), [plain(lane) for lane in lanes])
    axes.set_ylim(-0.6, max(len(lanes), 1) - 0.4)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    if isinstance(colors, Labels):
        axes.set_ylabel(plain(colors.title))


def _pairs(
    drawn: Drawable, colors: Coloring, lines: Edges | None, title: str | None, ax: Any
) -> Figure:
    width = drawn.coordinates.shape[1]
    if width > MOST_COLUMNS or ax is not None:
        limit = (
            "one Axes shows at most 3" if ax is not None else f"at most {MOST_COLUMNS} can be drawn"
        )
        raise ValueError(
            f"the embedding has {width} columns, {limit}: select some, as in embedding[:, :3]"
        )
    figure = new_figure(2.0 * (width - 1) + 1.6, 2.0 * (width - 1))
    grid, marks = figure.add_gridspec(width - 1, width - 1), None
    for row in range(1, width):
        for column in range(row):
            axes = figure.add_subplot(grid[row - 1, column])
            positions = drawn.coordinates[:, [column, row]]
            if lines is not None:
                draw_edges(axes, positions, lines)
            marks = draw_points(axes, positions, colors, size=point_size(drawn.n) / 2)
            style_plane(axes, (drawn.columns[column], drawn.columns[row]), drawn.equal)
            lighten_frame(axes)
            axes.xaxis.label.set_visible(row == width - 1)
            axes.yaxis.label.set_visible(column == 0)
    add_legend(list(figure.axes), colors, marks)
    if title:
        figure.suptitle(plain(title), fontsize=TITLE, x=0.01, ha="left")
    return figure
