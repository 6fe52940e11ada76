"""Interactive figures, which `save` writes as pages that need no network."""

from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from unbend.arrays import FloatArray, IntArray
from unbend.docstrings import complete_docstring
from unbend.plot.colors import (
    GREY,
    MARKERS,
    PALETTE,
    Chart,
    Coloring,
    Labels,
    Plain,
    Values,
    coloring,
)
from unbend.plot.inputs import Drawable, drawable, one_a_row
from unbend.plot.positions import Edges, edges, strip_positions
from unbend.plot.shared_docs import PARAMETERS

MOST_COLUMNS = 6
# Beyond this many points, two-dimensional plots use WebGL, as three-dimensional ones always do.
STILL_VECTOR = 1000
# Beyond this many rows hover text would make the page several times as large.
MOST_LINES = 50_000


@complete_docstring(PARAMETERS)
def interactive(
    embedding: Any,
    color: Any = None,
    *,
    names: Any = None,
    title: str | None = None,
    method: Any = None,
    graph: Any = None,
) -> go.Figure:
    """Draw an embedding interactively: zoom, rotation and hover text.

    Parameters
    ----------
    embedding : array (n, p), dataframe, Table, Surface or fitted estimator
        The coordinates, of one to six columns as for `scatter`.
    color : array (n,) or (n, 2), str, Surface, optional
        Labels, values or a chart, as for `scatter`; a click on the legend hides a class.
    names : array (n,), optional
        Hover text of rows; by default the ids of a `Table`, or row numbers.
    graph : sparse array (n, n), graph or fitted estimator, optional
        Edges to draw under the points, for up to three columns.

    Returns
    -------
    plotly.graph_objects.Figure
        Not shown; `unbend.plot.save` writes it as a page that needs no network.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(500, random_state=0)
    >>> figure = unbend.plot.interactive(roll, roll.chart[:, 0])
    >>> figure.data[0].type
    'scatter3d'
    """
    drawn = drawable(embedding, color, method)
    chosen = drawn.color if color is None or isinstance(color, str) else color
    colors = coloring(chosen, drawn.n)
    given = drawn.names if names is None else names
    shown = None if given is None else one_a_row("names", given, drawn.n)
    hover = _hover(shown, colors, drawn.n)
    width = drawn.coordinates.shape[1]
    if width > MOST_COLUMNS:
        raise ValueError(
            f"the embedding has {width} columns, at most {MOST_COLUMNS} can be drawn: select some, "
            "as in embedding[:, :3]"
        )
    if width > 3:
        if graph is not None:
            raise ValueError("a graph needs at most 3 columns: select some, or omit the graph")
        return _pairs(drawn, colors, hover, title)
    lines = None if graph is None else edges(graph, drawn.n)
    return _single(drawn, colors, hover, lines, title)


def _hover(names: Any, colors: Coloring, n: int) -> np.ndarray[Any, Any]:
    """Hover text: the name, and the label or value.

    Many rows without names show their numbers, which need no space in the page.
    """
    if names is None and n > MOST_LINES:
        return np.arange(n, dtype=np.int32)
    lines = [f"row {row}" for row in range(n)] if names is None else names.tolist()
    lines = [escape(str(line)) for line in lines]
    if colors.text is not None:
        lines = [f"{line}<br>{escape(of)}" for line, of in zip(lines, colors.text, strict=True)]
    return np.array(lines, dtype=object)


def _single(
    drawn: Drawable,
    colors: Coloring,
    hover: np.ndarray[Any, Any],
    lines: Edges | None,
    title: str | None,
) -> go.Figure:
    positions = drawn.coordinates
    lanes: list[str] = []
    if positions.shape[1] == 1:
        positions, lanes = strip_positions(positions, colors)
    figure = go.Figure()
    if lines is not None:
        figure.add_trace(_line_trace(positions, lines))
    kind = _kind(positions)
    for rows, look in _traces(colors, drawn.n, small=positions.shape[1] == 3):
        figure.add_trace(
            kind(
                **_columns(positions[rows]),
                mode="markers",
                customdata=hover[rows],
                hovertemplate=_template(drawn, hover, _label_line(colors, look)),
                **look,
            )
        )
    _lay_out(figure, drawn, colors, title)
    if positions.shape[1] == 3:
        titles = zip("xyz", map(escape, drawn.columns), strict=True)
        figure.update_scenes(
            aspectmode="data" if drawn.equal else "cube",
            camera_eye={"x": 1.5, "y": 1.5, "z": 1.0},
            **{f"{axis}axis_title_text": title for axis, title in titles},
        )
        return figure
    figure.update_xaxes(title_text=escape(drawn.columns[0]))
    if len(drawn.columns) == 2:
        anchor = "x" if drawn.equal else None
        figure.update_yaxes(title_text=escape(drawn.columns[1]), scaleanchor=anchor)
    elif not isinstance(colors, Values):
        names = [escape(lane) for lane in lanes]
        figure.update_yaxes(tickvals=list(range(len(lanes))), ticktext=names)
    return figure


def _pairs(
    drawn: Drawable, colors: Coloring, hover: np.ndarray[Any, Any], title: str | None
) -> go.Figure:
    figure = go.Figure()
    for rows, look in _traces(colors, drawn.n, small=True):
        dimensions = [
            {"label": escape(name), "values": column}
            for name, column in zip(drawn.columns, drawn.coordinates[rows].T, strict=True)
        ]
        figure.add_trace(
            go.Splom(
                dimensions=dimensions,
                customdata=hover[rows],
                hovertemplate="%{customdata}<extra></extra>",
                showupperhalf=False,
                diagonal_visible=False,
                **look,
            )
        )
    _lay_out(figure, drawn, colors, title)
    return figure


def _kind(positions: FloatArray) -> Any:
    if positions.shape[1] == 3:
        return go.Scatter3d
    return go.Scattergl if len(positions) > STILL_VECTOR else go.Scatter


def _columns(positions: FloatArray) -> dict[str, FloatArray]:
    # Single precision is enough for a screen, and half the bytes.
    return {
        axis: column.astype(np.float32) for axis, column in zip("xyz", positions.T, strict=False)
    }


def _label_line(colors: Coloring, look: dict[str, Any]) -> str:
    """Return the label or value of a trace's points, without a text for each."""
    if isinstance(colors, Labels):
        return str(look["name"])
    if isinstance(colors, Values) and look["name"] != "missing":
        return f"{escape(colors.title)} %{{marker.color:.4g}}".strip()
    return ""


def _template(drawn: Drawable, hover: np.ndarray[Any, Any], label: str) -> str:
    # Texts of rows have the label already.
    numbered = f"row %{{customdata}}<br>{label}" if label else "row %{customdata}"
    first = "%{customdata}" if hover.dtype == object else numbered
    shown = [
        f"{escape(name)}: %{{{axis}:.4g}}" for axis, name in zip("xyz", drawn.columns, strict=False)
    ]
    return "<br>".join((first, *shown)) + "<extra></extra>"


def _traces(colors: Coloring, n: int, *, small: bool) -> Iterator[tuple[IntArray, dict[str, Any]]]:
    """Rows and style of each trace."""
    marker: dict[str, Any] = {
        "size": float(np.clip(36 / n**0.25, 2, 10) / (1.5 if small else 1.0)),
        "opacity": float(np.clip(0.9 * (2000 / n) ** 0.15, 0.4, 0.9)),
        "line": {"width": 0},
    }
    everyone = np.arange(n)
    if isinstance(colors, Labels):
        for group in colors.groups():
            symbol = {"color": group.color, "symbol": group.markers[1]}
            yield group.rows, {"name": escape(group.name), "marker": {**marker, **symbol}}
    elif isinstance(colors, Values):
        known = colors.known
        if not known.all():
            yield everyone[~known], {"name": "missing", "marker": {**marker, "color": GREY}}
        if known.any():
            bar = {"title": {"text": escape(colors.title)}, "outlinewidth": 0}
            scale = {"color": colors.values[known], "colorscale": "Viridis", "colorbar": bar}
            look = {**marker, **scale, "showscale": True}
            yield everyone[known], {"name": "", "showlegend": False, "marker": look}
    elif isinstance(colors, Chart):
        look = {**marker, "color": _hexadecimal(colors.colors)}
        yield everyone, {"name": "", "showlegend": False, "marker": look}
    elif isinstance(colors, Plain):
        look = {**marker, "color": PALETTE[0], "symbol": MARKERS[0][1]}
        yield everyone, {"name": "", "showlegend": False, "marker": look}


def _hexadecimal(colors: FloatArray) -> list[str]:
    parts = np.rint(255 * colors).astype(np.int64)
    codes = (parts[:, 0] << 16) + (parts[:, 1] << 8) + parts[:, 2]
    return [f"#{code:06x}" for code in codes.tolist()]


def _line_trace(positions: FloatArray, lines: Edges) -> Any:
    """All edges as one trace, separated by NaN."""
    segments = lines.segments(positions)
    broken = np.full((len(segments), 3, positions.shape[1]), np.nan)
    broken[:, :2] = segments
    return _kind(broken.reshape(-1, positions.shape[1]))(
        **_columns(broken.reshape(-1, positions.shape[1])),
        mode="lines",
        line={"color": "rgba(140,140,140,0.5)", "width": 1},
        hoverinfo="skip",
        name="edges" + (f" ({lines.remark})" if lines.remark else ""),
        showlegend=True,
    )


def _lay_out(figure: go.Figure, drawn: Drawable, colors: Coloring, title: str | None) -> None:
    legend: dict[str, Any] = {"itemsizing": "constant"}
    if isinstance(colors, Labels):
        legend["title"] = {"text": escape(colors.title)}
    else:
        # A colour bar is beside the axes.
        legend |= {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"}
    figure.update_layout(
        template="plotly_white",
        title={"text": escape(title or "")},
        legend=legend,
        margin={"l": 60, "r": 30, "t": 60 if title else 30, "b": 50},
        hovermode="closest",
        dragmode="orbit" if drawn.coordinates.shape[1] == 3 else "pan",
    )
