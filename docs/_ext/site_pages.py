"""The picture of the front page, and the glossary from the terms of the package."""

from matplotlib.figure import Figure
from method_data import make_data
from method_pages import DOCS, draw_data, draw_points, entries, fit, write_if_changed
from sphinx.application import Sphinx

from unbend.glossary import read_terms

OUTPUT = DOCS / "generated"


def draw_front() -> Figure:
    """Draw a roll, its chart, and a map of digits."""
    roll, digits = make_data("swiss_roll"), make_data("digits")
    figure = Figure(figsize=(10, 3.2), layout="constrained")
    draw_data(figure, (1, 3, 1), roll)
    known = entries()
    flat = fit(known["isomap"], roll, {"n_neighbors": 8}).embedding_
    draw_points(figure.add_subplot(1, 3, 2), flat, roll.colors, "unrolled by Isomap")
    layout = fit(known["neighbor_embedding"], digits, {}).embedding_
    draw_points(figure.add_subplot(1, 3, 3), layout, digits.colors, "images of digits (t-SNE)")
    return figure


def write_glossary() -> None:
    """Write the glossary, with an anchor for each term."""
    lines = ["# Glossary\n", "`unbend glossary TERM` shows these on the command line.\n"]
    lines += [":::{glossary}"]
    for term, definition in read_terms().items():
        lines += [term, f"  : {definition}\n"]
    lines += [":::\n"]
    write_if_changed(OUTPUT / "glossary.md", "\n".join(lines))


def write_pages(app: Sphinx | None = None) -> None:
    """Write what the front page shows, and the glossary."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    if not (OUTPUT / "front.png").exists():
        draw_front().savefig(OUTPUT / "front.png", dpi=110)
    write_glossary()


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx reads its sources."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}
