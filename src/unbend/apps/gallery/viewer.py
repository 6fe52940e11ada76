"""The page: the table and linked interactive panels in one HTML file that needs no network."""

import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from string import Template

import numpy as np

from unbend.apps.gallery.panels import Fit, Panel, Row
from unbend.apps.gallery.summary import (
    ERROR_HELP,
    TRUST_HELP,
    format_error,
    format_kind,
    format_seconds,
    format_trust,
)
from unbend.arrays import FloatArray

DECIMALS = 3


def page_html(rows: Sequence[Row]) -> str:
    """Return the page.

    Parameters
    ----------
    rows : sequence of Row
        The surfaces, all embedded by the same methods.

    Returns
    -------
    str
        HTML with its style, script and data inside.
    """
    # A "<" inside JSON could end the script element; its escape means the same.
    data = json.dumps(_data(rows), separators=(",", ":")).replace("<", "\\u003c")
    return Template(_asset("page.html")).substitute(
        style=_asset("page.css"),
        script=_asset("page.js"),
        data=data,
        points=len(rows[0].surface.points),
        surfaces=len(rows),
        methods=len(rows[0].panels),
        error_help=escape(ERROR_HELP),
        trust_help=escape(TRUST_HELP),
        table=_table(rows),
        sections="\n".join(_section(row) for row in rows),
    )


def in_unit_box(points: FloatArray, *, equal: bool) -> list[float]:
    """Scale points to between 0 and 1 and return their coordinates one after the other.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        The points.
    equal : bool
        Whether all axes keep one scale; the shorter ones are then centred. Otherwise each axis
        fills the range.

    Returns
    -------
    list of float
        n·d rounded coordinates, point by point.

    Examples
    --------
    >>> in_unit_box(np.array([[0.0, 0.0], [4.0, 2.0]]), equal=True)
    [0.0, 0.25, 1.0, 0.75]
    >>> in_unit_box(np.array([[0.0, 0.0], [4.0, 2.0]]), equal=False)
    [0.0, 0.0, 1.0, 1.0]
    """
    lowest, highest = points.min(axis=0), points.max(axis=0)
    extent = highest - lowest
    if equal:
        extent = np.full_like(extent, extent.max())
    middle = (lowest + highest) / 2
    scaled = 0.5 + (points - middle) / np.where(extent > 0, extent, 1)
    return _round_values(scaled)


def _round_values(values: FloatArray) -> list[float]:
    numbers: list[float] = values.round(DECIMALS).ravel().tolist()
    return numbers


def _data(rows: Sequence[Row]) -> dict[str, object]:
    return {
        row.surface.name: {
            "colors": _round_values(row.colors),
            "view": row.view,
            "space": in_unit_box(row.surface.points, equal=True),
            "panels": {
                panel.method.name: in_unit_box(
                    panel.fit.coordinates, equal=panel.fit.kind == "similarity"
                )
                for panel in row.panels
                if panel.fit is not None
            },
        }
        for row in rows
    }


def _table(rows: Sequence[Row]) -> str:
    surfaces = "".join(f"<th scope='col'>{escape(row.title)}</th>" for row in rows)
    lines = [f"<tr><th scope='col'>method</th><th scope='col'>up to</th>{surfaces}</tr>"]
    for panels in zip(*(row.panels for row in rows), strict=True):
        method = panels[0].method
        cells = "".join(f"<td>{_cell(panel)}</td>" for panel in panels)
        lines.append(
            f"<tr><th scope='row' title='{escape(method.title)}'>{escape(method.class_name)}</th>"
            f"<td>{format_kind(panels)}</td>{cells}</tr>"
        )
    return "\n".join(lines)


def _cell(panel: Panel) -> str:
    if panel.fit is None:
        return f"<span class='failure'>{escape(panel.failure)}</span>"
    return (
        f"<b>{format_error(panel.fit)}</b>"
        f"<small>{format_trust(panel.fit)} · {format_seconds(panel.fit)} s</small>"
    )


def _section(row: Row) -> str:
    name = escape(row.surface.name)
    judged = (
        "The chart is isometric: an embedding can be judged by its error to it."
        if row.surface.isometric
        else "No chart is isometric: an embedding is judged by trustworthiness."
    )
    panels = "\n".join(_figure(row, panel) for panel in row.panels)
    reports = "\n\n".join(panel.fit.report for panel in row.panels if panel.fit is not None)
    return (
        f"<section data-surface='{name}'>\n"
        f"<h2>{escape(row.title)}</h2>\n<p class='judged'>{judged} <output></output></p>\n"
        "<div class='panels'>\n"
        "<figure class='space'><figcaption><b>in space</b><small>drag to turn</small>"
        f"</figcaption><canvas role='img' aria-label='{escape(row.title)} in space'></canvas>"
        f"</figure>\n{panels}\n</div>\n"
        f"<details><summary>What every fit did</summary><pre>{escape(reports)}</pre></details>\n"
        "</section>"
    )


def _figure(row: Row, panel: Panel) -> str:
    method = panel.method
    caption = f"<b title='{escape(method.title)}'>{escape(method.class_name)}</b>"
    if panel.fit is None:
        body = f"<small>failed</small></figcaption><p class='failure'>{escape(panel.failure)}</p>"
    else:
        label = f"{method.title} of the {row.title}"
        body = (
            f"<small>{_judgement(panel.fit)}</small></figcaption>"
            f"<canvas role='img' aria-label='{escape(label)}'></canvas>"
        )
    warnings = "".join(f"<p class='warning'>{escape(text)}</p>" for text in panel.warnings)
    return (
        f"<figure data-method='{escape(method.name)}'>"
        f"<figcaption>{caption}{body}{warnings}</figure>"
    )


def _judgement(fit: Fit) -> str:
    error = "" if fit.error is None else f"error {format_error(fit)} · "
    return f"{error}trust {format_trust(fit)}"


def _asset(name: str) -> str:
    return files("unbend.apps.gallery").joinpath(name).read_text(encoding="utf-8")
