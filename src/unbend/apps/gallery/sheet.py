"""The contact sheet: surfaces by methods, one picture."""

from collections.abc import Sequence
from pathlib import Path

from unbend.apps.gallery.rows import Panel, Row
from unbend.apps.gallery.table import shown_error, shown_trust
from unbend.plot import save
from unbend.plot.colors import Values
from unbend.plot.sheet import Cell, draw_cells


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
    points, colours = row.surface.points, Values(row.colours)
    return Cell(row.title, points, colours, equal=True, bold=True, view=row.view)


def _panel(row: Row, panel: Panel) -> Cell:
    fit, colours = panel.fit, Values(row.colours)
    if fit is None:
        return Cell("failed", None, colours, failure=panel.failure)
    error = "" if fit.error is None else f"error {shown_error(fit)}   "
    title = f"{error}trust {shown_trust(fit)}"
    return Cell(title, fit.coordinates, colours, equal=fit.kind == "similarity")
