"""How right an answer is: next to every time stands one of these."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import subspace_angles

from benchmarks.cases import Case
from unbend.quality import procrustes

Array = NDArray[Any]
# Rows on which neighbours are checked, and the slack of a distance that counts as equal.
RECALL_ROWS, SLACK = 500, 1e-6


def chart_r2(chart: Array, embedding: Array) -> list[float]:
    """R² of each chart coordinate from the least-squares affine map of the embedding."""
    design = np.column_stack([np.ones(len(embedding)), embedding])
    # Columns of very different size would cost digits.
    design /= np.linalg.norm(design, axis=0).clip(min=np.finfo(float).tiny)
    fitted = design @ np.linalg.lstsq(design, chart, rcond=None)[0]
    left = np.sum((chart - fitted) ** 2, axis=0)
    return [float(r) for r in 1.0 - left / np.sum((chart - chart.mean(axis=0)) ** 2, axis=0)]


def angle(exact: Array, found: Array) -> float:
    """Largest principal angle between the spans of two centred embeddings, in radians."""
    return float(subspace_angles(exact - exact.mean(axis=0), found - found.mean(axis=0)).max())


def recall(points: Array, indices: Array, k: int) -> float:
    """Share of the k rows given that are as near as the k nearest others, on some rows."""
    rows = np.unique(np.linspace(0, len(points) - 1, RECALL_ROWS).astype(int))
    centred = points - points.mean(axis=0)
    lengths = np.einsum("ij,ij->i", centred, centred)
    hits = 0
    for some in np.array_split(rows, -(-len(rows) // 50)):
        products = centred[some] @ centred.T
        squares = lengths[some, None] + lengths - 2 * products
        squares[np.arange(len(some)), some] = np.inf
        bounds = np.partition(squares, k - 1, axis=1)[:, k - 1] * (1 + SLACK)
        for row, near, bound in zip(some, squares, bounds, strict=True):
            given = np.unique(indices[row][indices[row] >= 0])
            hits += min(k, int(np.sum(near[given] <= bound)))
    return hits / (k * len(rows))


def judge(case: Case, who: str, folder: Path) -> dict[str, Any]:
    """Every measure that the case allows."""
    found = np.load(folder / f"{who}.npy")
    if case.method == "kNN":
        return {"recall": recall(np.load(folder / "points.npy"), found, case.k)}
    if not np.all(np.isfinite(found)):
        return {"wrong": "not finite"}
    truth = np.load(folder / ("new_truth.npy" if case.new else "truth.npy"))[: len(found)]
    if case.method == "SpectralClustering":
        from sklearn.metrics import adjusted_rand_score

        return {"rand": float(adjusted_rand_score(truth, found))}
    judged: dict[str, Any] = {}
    if case.laid_over:
        judged["r2"] = chart_r2(truth, found)
        judged["procrustes"] = procrustes(truth, found, kind=case.laid_over)
    if (folder / "exact.npy").exists() and who != "umap-learn":
        judged["angle"] = angle(np.load(folder / "exact.npy"), found)
    return judged
