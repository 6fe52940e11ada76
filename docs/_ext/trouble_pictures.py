"""Pictures of `troubleshooting.md`: a wrong embedding, and the same data after the remedy."""

import hashlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from method_pages import OUTPUT as METHODS
from method_pages import SIZE, STYLE, draw_points
from sphinx.application import Sphinx

import unbend
from unbend import datasets

OUTPUT = METHODS.parent / "trouble"
Panel = tuple[str, np.ndarray, Any]


def specks() -> list[Panel]:
    """Embed a sheet and three small remote groups, together and by component."""
    curve = datasets.s_curve(600, random_state=0)
    rng = np.random.default_rng(0)
    centres = np.array([[9, 9, 9], [-9, 9, 0], [0, -9, 9]])
    groups = [rng.normal(scale=0.3, size=(30, 3)) + centre for centre in centres]
    rows = np.vstack([curve.points, *groups])
    colors = np.r_[curve.chart[:, 0], np.full(90, curve.chart[:, 0].min())]
    wrong = unbend.LaplacianEigenmaps(n_neighbors=8).fit_transform(rows)
    right = unbend.LaplacianEigenmaps(n_neighbors=8, connect="components").fit_transform(rows)
    return [("a few specks", wrong, colors), ('connect="components"', right, colors)]


def horseshoe() -> list[Panel]:
    """Embed a long strip by eigenmaps and by Isomap."""
    strip = datasets.swiss_roll(1000, length=8, random_state=0)
    colors = strip.chart[:, 0]
    wrong = unbend.LaplacianEigenmaps(n_neighbors=10).fit_transform(strip.points)
    right = unbend.Isomap(n_neighbors=8).fit_transform(strip.points)
    return [("a horseshoe", wrong, colors), ("Isomap", right, colors)]


def pieces() -> list[Panel]:
    """Embed an S-curve with too few and with enough neighbours."""
    curve = datasets.s_curve(300, random_state=0)
    colors = curve.chart[:, 0]
    few = unbend.Isomap(n_neighbors=3, connect="components").fit_transform(curve.points)
    enough = unbend.Isomap(n_neighbors=8).fit_transform(curve.points)
    return [("in pieces: n_neighbors=3", few, colors), ("n_neighbors=8", enough, colors)]


def star() -> list[Panel]:
    """Embed heavy-tailed noise: by LLE remote rows become arms, by t-SNE it is a cloud."""
    rows = np.random.default_rng(0).standard_t(2.5, size=(300, 30))
    colors = np.log(np.linalg.norm(rows, axis=1))
    wrong = unbend.LLE(n_neighbors=6).fit_transform(rows)
    right = unbend.NeighborEmbedding().fit_transform(rows)
    return [("a star with arms", wrong, colors), ("t-SNE: no structure", right, colors)]


def ball() -> list[Panel]:
    """Embed three groups beside columns in another unit, before and after standardising."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 100)
    rows = np.column_stack([rng.normal(scale=300, size=(300, 3)), rng.normal(size=(300, 4))])
    rows[:, 3:5] += 8 * np.array([[0, 0], [1, 0], [0, 1]])[group]
    wrong = unbend.Isomap().fit_transform(rows)
    right = unbend.Isomap().fit_transform(unbend.Prepare(scale="standard").fit_transform(rows))
    colors = [f"C{one}" for one in group]
    return [("a ball: units differ", wrong, colors), ("standardised", right, colors)]


def folded() -> list[Panel]:
    """Embed a roll with too many and with fewer neighbours."""
    roll = datasets.swiss_roll(500, random_state=0)
    colors = roll.chart[:, 0]
    wrong = unbend.Isomap(n_neighbors=20).fit_transform(roll.points)
    right = unbend.Isomap(n_neighbors=8).fit_transform(roll.points)
    return [("folded: n_neighbors=20", wrong, colors), ("n_neighbors=8", right, colors)]


def runs() -> list[Panel]:
    """Embed two samples of a circle: equal eigenvalues leave the rotation open."""
    rng = np.random.default_rng(0)
    angles = rng.uniform(0, 2 * np.pi, 600)
    rows = np.column_stack([np.cos(angles), np.sin(angles)]) + rng.normal(scale=0.05, size=(600, 2))
    model, colors = unbend.LaplacianEigenmaps(n_neighbors=8), np.abs(angles - np.pi)
    halves = {"one half of the rows": slice(0, 300), "the other half": slice(300, 600)}
    return [(name, model.fit_transform(rows[half]), colors[half]) for name, half in halves.items()]


PICTURES: tuple[Callable[[], list[Panel]], ...] = (
    specks, horseshoe, pieces, star, ball, folded, runs,
)  # fmt: skip


def draw(panels: list[Panel]) -> Figure:
    """Draw embeddings side by side."""
    figure = Figure(figsize=(2 * SIZE, SIZE), layout="constrained")
    for number, (title, points, colors) in enumerate(panels, start=1):
        draw_points(figure.add_subplot(1, len(panels), number), points, colors, title)
    return figure


def write_pictures(app: Sphinx | None = None) -> None:
    """Draw the pictures, unless they are there and this file did not change."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    inputs = json.dumps([Path(__file__).read_text(), unbend.__version__, STYLE])
    digest, mark = hashlib.sha256(inputs.encode()).hexdigest(), OUTPUT / "digest.txt"
    if mark.exists() and mark.read_text() == digest:
        return
    for picture in PICTURES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            draw(picture()).savefig(OUTPUT / f"{picture.__name__}.png", dpi=110)
    mark.write_text(digest)


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw the pictures before Sphinx reads its sources."""
    app.connect("builder-inited", write_pictures)
    return {"parallel_read_safe": True}
