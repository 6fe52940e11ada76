"""Data of the interactive figures: embeddings computed in the build, as a script of numbers.

A script and not JSON or a module, since browsers load neither from file.
"""

import base64
import hashlib
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from method_pages import DOCS, write_if_changed
from sklearn.datasets import load_digits
from sphinx.application import Sphinx

import unbend

OUTPUT = DOCS / "generated" / "static"
POINTS = 800
NEIGHBORS = (4, 6, 8, 10, 12, 15, 20, 30)
NOISES = (0.0, 0.3, 0.6, 1.0)
METHODS = ("PCA", "Isomap", "LTSA", "LaplacianEigenmaps")
DIGITS = 500
EXAGGERATIONS = (1, 2, 4, 8, 16, "max")
LEVELS = 65535


def encode(values: np.ndarray) -> str:
    """Write values between −1 and 1 as 16-bit integers in base64."""
    levels = np.round((np.clip(values, -1, 1) + 1) / 2 * LEVELS).astype("<u2")
    return base64.b64encode(levels.tobytes()).decode()


def fit_to_square(points: np.ndarray) -> np.ndarray:
    """Centre points and scale them into the square from −1 to 1, without changing the shape."""
    middle = (points.max(axis=0) + points.min(axis=0)) / 2
    return (points - middle) / np.abs(points - middle).max()


def roll_embedding(method: str, k: int, points: np.ndarray) -> np.ndarray:
    """Embed a roll by a method with k neighbours, where it has any."""
    options = {} if method == "PCA" else {"n_neighbors": k}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(unbend, method)(**options).fit_transform(points)


def make_rolls() -> dict[str, Any]:
    """Embed rolls of every noise by every method with every number of neighbours."""
    found: dict[str, Any] = {"k": NEIGHBORS, "noise": NOISES, "methods": METHODS, "fits": {}}
    clouds = [unbend.datasets.swiss_roll(POINTS, noise=noise, random_state=0) for noise in NOISES]
    found["color"] = encode(2 * (ranks(clouds[0].chart[:, 0]) - 0.5))
    found["space"] = [encode(fit_to_square(cloud.points).ravel()) for cloud in clouds]
    for method in METHODS:
        for k in NEIGHBORS[:1] if method == "PCA" else NEIGHBORS:
            for number, cloud in enumerate(clouds):
                flat = roll_embedding(method, k, cloud.points)
                error = unbend.quality.procrustes(cloud.chart, flat, kind="affine")
                # Turned like the true chart, so that pictures do not flip from one to the next.
                turned = unbend.quality.align(cloud.chart, flat)
                found["fits"][f"{method}/{0 if method == 'PCA' else k}/{number}"] = {
                    "error": round(float(error), 4),
                    "at": encode(fit_to_square(turned).ravel()),
                }
    return found


def ranks(values: np.ndarray) -> np.ndarray:
    """Return ranks between 0 and 1."""
    return np.argsort(np.argsort(values)) / (len(values) - 1)


def make_spectrum() -> dict[str, Any]:
    """Embed digits from t-SNE to eigenmaps, each turned like the one before."""
    pixels, digit = load_digits(return_X_y=True)
    pixels, digit = pixels[:DIGITS], digit[:DIGITS]
    layouts, before = [], None
    for value in EXAGGERATIONS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            flat = unbend.NeighborEmbedding(exaggeration=value).fit_transform(pixels)
        before = flat if before is None else unbend.quality.align(before, flat)
        layouts.append(encode(fit_to_square(before).ravel()))
    return {"values": EXAGGERATIONS, "label": digit.tolist(), "at": layouts}


def draw_fallback() -> Figure:
    """Draw what readers without scripts see: one method at four numbers of neighbours."""
    roll = unbend.datasets.swiss_roll(POINTS, random_state=0)
    figure = Figure(figsize=(9, 2.4), layout="constrained")
    for place, k in enumerate((4, 8, 15, 30), start=1):
        axes = figure.add_subplot(1, 4, place)
        axes.scatter(*roll_embedding("Isomap", k, roll.points).T, c=roll.chart[:, 0], s=5)
        axes.set(title=f"Isomap, {k} neighbours", xticks=[], yticks=[])
    return figure


def write_data(app: Sphinx | None = None) -> None:
    """Compute the data, unless they are there from the same source and version."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    source = Path(__file__).read_bytes() + unbend.__version__.encode()
    mark = f"// {hashlib.sha256(source).hexdigest()}\n"
    path = OUTPUT / "interactive_data.js"
    if path.exists() and path.read_text(encoding="utf-8").startswith(mark):
        return
    data = json.dumps({"rolls": make_rolls(), "spectrum": make_spectrum()})
    write_if_changed(path, f"{mark}window.unbendFigures = {data};\n")
    draw_fallback().savefig(OUTPUT / "interactive.png", dpi=110)


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the data before Sphinx copies its static files."""
    app.connect("builder-inited", write_data)
    return {"parallel_read_safe": True}
