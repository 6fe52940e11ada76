"""Pictures of coordinates."""

from typing import Any

from unbend.cli.errors import Misuse
from unbend.registry import METHODS, SEVERAL

PAGES = (".html", ".htm")


def check_still(picture: str | None, what: str) -> None:
    """Refuse a page where a picture cannot be turned and zoomed."""
    if picture is not None and picture.lower().endswith(PAGES):
        raise Misuse(f"{what}: give --plot FILE.png, .svg or .pdf")


def figure_of(
    drawn: Any,
    color: Any = None,
    *,
    method: Any = None,
    title: str | None = None,
    suffix: str,
) -> Any:
    """Return a page that can be turned and zoomed for .html, else a picture."""
    from unbend import plot

    drawing = plot.interactive if suffix.lower() in PAGES else plot.scatter
    return drawing(drawn, color, title=title, method=method or maker(drawn))


def save(figure: Any, target: str) -> None:
    """Write a figure as a stage of the work."""
    from unbend import plot
    from unbend.report import stage

    with stage("drawing"):
        plot.save(figure, target)


def maker(drawn: Any) -> str | None:
    """Tell the method by the names of its coordinates: isomap_1, isomap_2 and so on."""
    first = next(iter(getattr(drawn, "columns", ())), "")
    return next((entry.name for entry in (*METHODS, *SEVERAL) if first == f"{entry.name}_1"), None)
