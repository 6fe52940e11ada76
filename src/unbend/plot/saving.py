"""Atomic and reproducible writing of figures."""

import os
from pathlib import Path
from typing import Any

from unbend.files import atomic_write
from unbend.plot.webgl_page import webgl_page

# No date: files are reproducible.
METADATA: dict[str, dict[str, Any]] = {
    ".png": {},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}
KINDS = (*METADATA, ".html")
# Salt of the identifiers within a file, in place of random ones.
SALT = "unbend"


def save(figure: Any, path: str | os.PathLike[str]) -> Path:
    """Write a figure to a file, in the format of its suffix.

    Parameters
    ----------
    figure : Figure of matplotlib or of plotly
        Interactive figures become pages that need no network. With more than 50 000 points in the
        plane such a page uses the WebGL renderer of ``unbend serve``, where that was built: it
        loads a million points several times as fast as plotly.
    path : path-like
        Ends in .png, .svg or .pdf, or .html for interactive figures. The write is atomic.

    Returns
    -------
    Path
        Where the figure was written.

    Examples
    --------
    >>> import tempfile
    >>> import unbend
    >>> figure = unbend.plot.scatter(unbend.datasets.s_curve(200, random_state=0))
    >>> unbend.plot.save(figure, Path(tempfile.mkdtemp()) / "curve.png").stat().st_size > 1000
    True
    """
    target = Path(path)
    kind, interactive = target.suffix.lower(), callable(getattr(figure, "to_html", None))
    if kind not in KINDS:
        found = repr(kind) if kind else "nothing"
        raise ValueError(
            f"{target.name} ends in {found}: use {', '.join(METADATA)}, or .html for interactive "
            "figures"
        )
    if not interactive and not callable(getattr(figure, "savefig", None)):
        raise TypeError(f"figure must be of matplotlib or plotly, not {type(figure).__name__}")
    if interactive != (kind == ".html"):
        raise ValueError(
            "an interactive figure is saved as .html: use scatter for this format"
            if interactive
            else "a static figure is saved as .png, .svg or .pdf: use interactive for .html"
        )
    with atomic_write(target) as partial:
        if interactive:
            partial.write_text(_page(figure), encoding="utf-8")
        else:
            _write_static(figure, partial, kind)
    return target


def _page(figure: Any) -> str:
    large = webgl_page(figure)
    if large is not None:
        return large
    page: str = figure.to_html(
        include_plotlyjs=True,
        include_mathjax=False,
        div_id=SALT,
        default_height="95vh",
        config={"displaylogo": False, "responsive": True, "scrollZoom": True},
    )
    # Plotly 5 writes none, and browsers then use quirks mode.
    return page if page.startswith("<!doctype") else f"<!doctype html>\n{page}"


def _write_static(figure: Any, path: Path, kind: str) -> None:
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": SALT}):
        figure.savefig(path, format=kind[1:], dpi=figure.dpi, metadata=METADATA[kind])
