"""The contact sheet: surfaces by methods, one picture."""

from collections.abc import Sequence
from pathlib import Path

from unbend.apps.gallery.rows import Panel, Row
from unbend.apps.gallery.table import shown_error, shown_trust
from unbend.plot import save
from unbend.plot.colors import Values
from unbend.plot.panels import Cell, draw_cells


def draw_sheet(rows: Sequence[Row], path: Path) -> None:
    """Draw every surface, and beside it what each method made of it.

    Parameters
    ----------
    rows : sequence of Row
        The surfaces, all embedded by the same methods.
    path : Path
        The PNG to write.
    """
    cells = [[_surface(row), *(_panel(row, panel) for panel in row.panels)] for row in rows]
    title = (
        f"{len(rows[0].surface.points)} points of each surface, coloured by the true chart; "
        "error to the chart (0 is perfect) and trustworthiness (1 is perfect)"
    )
    methods = [panel.method.class_name for panel in rows[0].panels]
    save(draw_cells(cells, title=title, headings=["", *methods]), path)


def _surface(row: Row) -> Cell:
    points, colors = row.surface.points, Values(row.colors)
    return Cell(row.title, points, colors, equal=True, bold=True, view=row.view)


def _panel(row: Row, panel: Panel) -> Cell:
    fit, colors = panel.fit, Values(row.colors)
    if fit is None:
        return Cell("failed", None, colors, failure=panel.failure)
    error = "" if fit.error is None else f"error {shown_error(fit)}   "
    title = f"{error}trust {shown_trust(fit)}"
    return Cell(title, fit.coordinates, colors, equal=fit.kind == "similarity")
