"""The demo's results: a text table for each measure, and a contact sheet."""

from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import fill, wrap
from typing import TYPE_CHECKING

from unbend.apps.gallery.panels import NEIGHBORS, Fit, Panel, Row

if TYPE_CHECKING:
    from unbend.plot.panels import Cell

WIDTH = 100
NONE = "–"

ERROR_HELP = (
    "Error to the true chart, from 0 to 1: the share of its variance that the best similarity, "
    "or, for methods that normalise their coordinates, the best affine map to the chart's worse "
    "coordinate, leaves unexplained "
    f"({NONE}: the surface has no isometric chart)."
)
TRUST_HELP = (
    f"Trustworthiness, at most 1: whether the {NEIGHBORS} nearest points in the embedding are "
    "near on the surface in space."
)
SECONDS_HELP = "Seconds of the fit."


def table_text(rows: Sequence[Row]) -> str:
    """Return the errors, trustworthiness and seconds of all panels as aligned text.

    Parameters
    ----------
    rows : sequence of Row
        The surfaces, all embedded by the same methods.

    Returns
    -------
    str
        Three matrices, methods by surfaces; a number in brackets stands for a method that
        failed, and its sentence follows below.
    """
    failed = [(row, panel) for row in rows for panel in row.panels if panel.fit is None]
    numbers = {panel: f"[{number}]" for number, (_, panel) in enumerate(failed, start=1)}

    def block(explained: str, shown: Callable[[Fit], str], *, judged: bool = False) -> str:
        lines = _headings(rows, judged)
        for panels in zip(*(row.panels for row in rows), strict=True):
            kind = [format_kind(panels)] if judged else []
            cells = [numbers[panel] if panel.fit is None else shown(panel.fit) for panel in panels]
            lines.append([panels[0].method.class_name, *kind, *cells])
        return fill(explained, WIDTH) + "\n\n" + _align_columns(lines, words=2 if judged else 1)

    blocks = [
        block(ERROR_HELP, format_error, judged=True),
        block(TRUST_HELP, format_trust),
        block(SECONDS_HELP, format_seconds),
    ]
    if failed:
        blocks.append("\n".join(_footnote(numbers[panel], row, panel) for row, panel in failed))
    return "\n\n".join(blocks) + "\n"


def format_error(fit: Fit) -> str:
    """Return the error to the chart, if there is one, with four decimals."""
    return NONE if fit.error is None else f"{fit.error:.4f}"


def format_trust(fit: Fit) -> str:
    """Return the trustworthiness with three decimals."""
    return f"{fit.trust:.3f}"


def format_seconds(fit: Fit) -> str:
    """Return the seconds of the fit with two decimals."""
    return f"{fit.seconds:.2f}"


def format_kind(panels: Sequence[Panel]) -> str:
    """Return the maps up to which a method is judged, if it succeeded on any surface."""
    return next((panel.fit.kind for panel in panels if panel.fit is not None), NONE)


def _headings(rows: Sequence[Row], judged: bool) -> list[list[str]]:
    """Surfaces over two lines, or the matrix would not fit into the width."""
    words = [("", *row.title.split(" ", 1))[-2:] for row in rows]
    above, below = ["", ""] if judged else [""], ["", "up to"] if judged else [""]
    return [[*above, *(first for first, _ in words)], [*below, *(last for _, last in words)]]


def _align_columns(lines: list[list[str]], words: int) -> str:
    """Set the first columns, of `words`, to the left and the others, of figures, to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = [
        "  ".join(
            text.ljust(width) if column < words else text.rjust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    return "\n".join(padded)


def _footnote(number: str, row: Row, panel: Panel) -> str:
    sentence = f"{panel.method.class_name} on {row.title}: {panel.failure}"
    return "\n".join(wrap(sentence, WIDTH, initial_indent=f"{number} ", subsequent_indent="    "))


def draw_sheet(rows: Sequence[Row], path: Path) -> None:
    """Draw every surface beside its embedding by each method.

    Parameters
    ----------
    rows : sequence of Row
        The surfaces, all embedded by the same methods.
    path : Path
        The PNG to write.
    """
    # Only drawing needs matplotlib: the text does not.
    from unbend.plot import save
    from unbend.plot.panels import draw_cells

    cells = [
        [_surface_cell(row), *(_panel_cell(row, panel) for panel in row.panels)] for row in rows
    ]
    title = (
        f"{len(rows[0].surface.points)} points of each surface, coloured by the true chart; "
        "error to the chart (0 is perfect) and trustworthiness (1 is perfect)"
    )
    methods = [panel.method.class_name for panel in rows[0].panels]
    save(draw_cells(cells, title=title, headings=["", *methods]), path)


def _surface_cell(row: Row) -> "Cell":
    from unbend.plot.colors import Values
    from unbend.plot.panels import Cell

    points, colors = row.surface.points, Values(row.colors)
    return Cell(row.title, points, colors, equal=True, bold=True, view=row.view)


def _panel_cell(row: Row, panel: Panel) -> "Cell":
    from unbend.plot.colors import Values
    from unbend.plot.panels import Cell

    fit, colors = panel.fit, Values(row.colors)
    if fit is None:
        return Cell("failed", None, colors, failure=panel.failure)
    error = "" if fit.error is None else f"error {format_error(fit)}   "
    title = f"{error}trust {format_trust(fit)}"
    return Cell(title, fit.coordinates, colors, equal=fit.kind == "similarity")
