"""Pictures that stand inside the page."""

import warnings
from base64 import b64encode
from html import escape
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from unbend import plot
from unbend.apps.study.study import NEIGHBORS, Study
from unbend.arrays import FloatArray

# Images that stand beside each other, and below.
ACROSS, DOWN = 10, 4
# As many rows as `compare` looks from: the areas are then those of its table.
LOOKED_FROM = 1000


def picture(figure: Any, words: str) -> str:
    """Return a figure as an image element that holds its own bytes."""
    buffer = BytesIO()
    with warnings.catch_warnings():
        # Letters that no font has are drawn as boxes.
        warnings.filterwarnings("ignore", "Glyph")
        figure.savefig(buffer, format="png", dpi=figure.dpi)
    data = b64encode(buffer.getvalue()).decode("ascii")
    return f'<img alt="{escape(words)}" src="data:image/png;base64,{data}">'


def dimension_picture(found: Study) -> str:
    """Draw the spectrum that two of the rules look at."""
    choice = found.dimension
    count = min(choice.dimension, len(choice.eigenvalues))
    figure = plot.spectrum(choice.eigenvalues, d=count, title="Eigenvalues of the geodesics")
    return picture(figure, "eigenvalues of Isomap, largest first")


def sheet_picture(found: Study) -> str:
    """Draw all embeddings side by side."""
    figure = found.comparison.contact_sheet(_color(found))
    return picture(figure, "the embeddings side by side, best first")


def curves_picture(found: Study) -> str:
    """Draw how many neighbours each embedding keeps, over all sizes of neighbourhoods."""
    kept = {trial.title: trial.estimator for trial in found.comparison.trials if not trial.failure}
    values = np.asarray(found.table.values, dtype=np.float64)
    figure = plot.quality_curves(values, kept, max_rows=LOOKED_FROM)
    return picture(figure, "neighbours kept beyond chance, over all sizes of neighbourhoods")


def best_pictures(found: Study) -> list[str]:
    """Draw the best embedding by label, and by how far each point can be trusted."""
    best, trust = found.best, found.trust
    if best is None or trust is None:
        return []
    given, color = found.asked.given, _color(found)
    if given is not None and given.size is not None:
        shown = plot.thumbnails(best.estimator, _images(found), color, title=best.title)
    else:
        shown = plot.scatter(best.estimator, color, title=best.title)
    title = f"Trustworthiness of each point, {NEIGHBORS} neighbours"
    doubted = plot.scatter(best.estimator, np.asarray(trust.local), title=title)
    return [picture(shown, best.title), picture(doubted, title)]


def some_images(found: Study) -> str:
    """Draw some of the images, and the mean of all, first."""
    images = _images(found)
    places = np.linspace(0, len(images) - 1, min(len(images), ACROSS * DOWN - 1)).astype(int)
    shown = np.stack([images.mean(axis=0), *images[places]])
    low, high = float(images.min()), float(images.max())
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for number, image in enumerate((shown - low) / ((high - low) or 1.0)):
        axes = figure.add_subplot(DOWN, ACROSS, number + 1)
        axes.imshow(image, cmap="gray", vmin=0, vmax=1)
        axes.set_axis_off()
        axes.set_title("mean" if number == 0 else "", fontsize=8)
    return picture(figure, "the mean of all images, and some of them")


def _images(found: Study) -> FloatArray:
    given = found.asked.given
    assert given is not None
    assert given.size is not None
    return np.asarray(found.table.values, dtype=np.float64).reshape(-1, *given.size)


def _color(found: Study) -> Any:
    return found.table.label


def bars(heights: FloatArray) -> str:
    """Return a small histogram."""
    most = heights.max() or 1.0
    rectangles = "".join(
        f'<rect x="{5 * place}" y="{20 - size:.1f}" width="4" height="{size:.1f}"/>'
        for place, size in enumerate(20 * heights / most)
    )
    return f'<svg width="80" height="20" role="img" aria-label="histogram">{rectangles}</svg>'
