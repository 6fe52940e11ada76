"""Pages of many points, drawn by the WebGL renderer of ``unbend serve`` in place of plotly.

Plotly builds an index of its own and takes seconds to load a million points. The renderer's script
is built with the page of ``unbend serve``; where it is absent, plotly draws the points.
"""

import json
from base64 import b64encode
from dataclasses import dataclass
from html import escape, unescape
from importlib.resources import files
from typing import Any

import numpy as np

from unbend.arrays import FloatArray, IntArray

# Points beyond which the renderer draws.
MOST_PLOTLY = 50_000
# Colours of a scale.
SCALE = 256
# Share of the picture that the points fill.
FILLED = 0.92
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; worker-src blob:; "
    "style-src 'unsafe-inline'; img-src data: blob:"
)


@dataclass(frozen=True)
class Renderer:
    """What draws the points: a script, the elements that it expects, and their style."""

    script: str
    body: str
    style: str


def read_renderer() -> Renderer | None:
    """Return the frame in which ``unbend serve`` draws a map, or None where it was not built."""
    bundle = files("unbend").joinpath("web", "bundle")
    if not bundle.joinpath("frame.js").is_file():
        return None
    script, page, style = (
        bundle.joinpath(name).read_text("utf-8") for name in ("frame.js", "frame.html", "frame.css")
    )
    body = page.partition("<body>")[2].partition("</body>")[0].strip()
    return Renderer(script, body, style)


def webgl_page(figure: Any) -> str | None:
    """Return the page of a figure with many points in the plane, or None if plotly has to draw it.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        What `unbend.plot.interactive` returned.
    """
    traces = list(figure.data)
    if not all(trace.type == "scattergl" and trace.mode == "markers" for trace in traces):
        return None
    if sum(len(trace.x) for trace in traces) <= MOST_PLOTLY:
        return None
    renderer = read_renderer()
    return None if renderer is None else _fill(figure, traces, renderer)


def _fill(figure: Any, traces: list[Any], renderer: Renderer) -> str:
    style, script = (
        files("unbend.plot").joinpath(f"webgl_page.{kind}").read_text("utf-8")
        for kind in ("css", "js")
    )
    words, arrays = _describe(figure, traces)
    data = "\n".join(
        f'<script type="text/plain" id="{name}">{_encode(values)}</script>'
        for name, values in arrays.items()
    )
    # No tag may end inside a string.
    drawing = renderer.script.replace("</script", r"<\/script")
    facts = json.dumps(words, ensure_ascii=False).replace("<", "\\u003c")
    title = escape(words["title"])
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"<title>{title or 'Embedding'}</title>\n"
        f"<style>\n{renderer.style}\n{style}</style>\n</head>\n<body>\n{renderer.body}\n"
        f'<h1>{title}</h1>\n<div id="legend"></div>\n<div id="hover" hidden></div>\n'
        f'<p id="notice" hidden></p>\n{data}\n'
        f'<script type="application/json" id="facts">{facts}</script>\n'
        f"<script>{script}</script>\n<script>{drawing}</script>\n</body>\n</html>\n"
    )


def _encode(values: Any) -> str:
    return b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


def _describe(figure: Any, traces: list[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what is said about the points, and their arrays, little-endian."""
    layout = figure.layout
    points = np.concatenate([np.column_stack([trace.x, trace.y]) for trace in traces])
    points = points.astype(np.float64)
    centers, reaches = _frame(points, layout.yaxis.scaleanchor is not None)
    placed = ((points - centers) / reaches).astype("<f4")
    palette, codes, classes = _colors(traces)
    values = [_values(trace) for trace in traces]
    rows = np.concatenate([np.asarray(trace.customdata) for trace in traces])
    named = rows.dtype.kind == "O"
    words = {
        "title": unescape(layout.title.text or ""),
        "axes": [unescape(axis.title.text or "") for axis in (layout.xaxis, layout.yaxis)],
        "centers": centers.tolist(),
        "reaches": reaches.tolist(),
        "palette": palette,
        "classes": classes,
        "legend": unescape(layout.legend.title.text or ""),
        "scale": _scale(traces),
        "names": [unescape(text.replace("<br>", "\n")) for text in rows] if named else None,
    }
    arrays = {
        "x": placed[:, 0],
        "y": placed[:, 1],
        "codes": codes.astype("<u2"),
        "values": np.concatenate(values).astype("<f4") if words["scale"] else np.empty(0),
        "rows": np.empty(0) if named else rows.astype("<u4"),
    }
    return words, arrays


def _frame(points: FloatArray, equal: bool) -> tuple[FloatArray, FloatArray]:
    """Return centre and half width of both axes, the same where lengths are comparable."""
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    reaches = np.maximum(high - low, np.finfo(np.float32).tiny) / 2 / FILLED
    return (low + high) / 2, np.full(2, reaches.max()) if equal else reaches


def _values(trace: Any) -> FloatArray:
    color = trace.marker.color
    scaled = not isinstance(color, str) and np.asarray(color).dtype.kind == "f"
    return np.asarray(color, dtype=np.float64) if scaled else np.full(len(trace.x), np.nan)


def _scale(traces: list[Any]) -> dict[str, Any] | None:
    """Return title, bounds and colours of the colour scale, if there is one."""
    from plotly.colors import get_colorscale, sample_colorscale

    for trace in traces:
        values = _values(trace)
        if np.isfinite(values).any():
            steps = np.linspace(0, 1, SCALE)
            return {
                "title": unescape(trace.marker.colorbar.title.text or ""),
                "bounds": [float(values.min()), float(values.max())],
                "colors": sample_colorscale(get_colorscale("Viridis"), steps, colortype="tuple"),
            }
    return None


def _colors(traces: list[Any]) -> tuple[list[str], IntArray, list[dict[str, Any]]]:
    """Return the palette, the colour of each point in it, and the classes of the legend."""
    palette: list[str] = []
    codes, classes = [], []
    scale = _scale(traces)
    for trace in traces:
        color, count, start = trace.marker.color, len(trace.x), len(palette)
        if isinstance(color, str):
            palette.append(color)
            codes.append(np.full(count, start))
            if trace.name:
                classes.append({"name": unescape(trace.name), "color": color, "code": start})
        elif scale is not None:
            palette += [_hexadecimal(each) for each in scale["colors"]]
            low, high = scale["bounds"]
            places = (_values(trace) - low) / ((high - low) or 1.0)
            codes.append(start + np.minimum((SCALE * places).astype(np.int64), SCALE - 1))
        else:
            # As many colours as a palette holds: four bits of each channel.
            short = np.array([text[1] + text[3] + text[5] for text in color])
            held, of = np.unique(short, return_inverse=True)
            palette += ["#" + "".join(2 * letter for letter in text) for text in held.tolist()]
            codes.append(start + of)
    return palette, np.concatenate(codes), classes


def _hexadecimal(color: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in color)
