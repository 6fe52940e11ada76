"""Figures of gallery examples: unbend returns figures and never opens pyplot's."""

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


def scrape_figures(block: Any, variables: dict[str, Any], gallery: dict[str, Any]) -> str:
    """Save the figures that a block of an example has assigned, each once."""
    seen = variables.setdefault("unbend_figures", set())
    found = [
        value
        for value in variables["example_globals"].values()
        if isinstance(value, Figure) and id(value) not in seen
    ]
    paths = []
    for figure in found:
        seen.add(id(figure))
        path = next(variables["image_path_iterator"])
        figure.savefig(path, dpi=120, bbox_inches="tight")
        paths.append(path)
    return figure_rst(paths, gallery["src_dir"])


def draw_unbuilt(path: Path) -> str:
    """Draw the thumbnail of examples that this build does not run, and return its path."""
    figure = Figure(figsize=(4, 2.8))
    figure.text(0.5, 0.58, "long example", ha="center", fontsize=22, color="#555555")
    figure.text(0.5, 0.38, "make gallery-full", ha="center", family="monospace", fontsize=15)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)
    return str(path)
