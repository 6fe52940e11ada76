"""Is a sample representative: further rows, and two disjoint halves of the sample."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from unbend.arrays import FloatArray
from unbend.neighbors import PointSpace
from unbend.neighbors.index.protocol import drop_self
from unbend.quality import procrustes
from unbend.quality.ranks import agreement
from unbend.report import recording

# Neighbours that are compared.
NEIGHBORS = 10


@dataclass(frozen=True)
class Agreement:
    """What a fit on a sample says of other rows.

    Attributes
    ----------
    preserved : float
        Share of the ten nearest fitted rows that held-out rows keep in the embedding, beyond
        chance.
    fitted : float
        The same for as many fitted rows: what the embedding itself loses.
    disagreement : float
        Two fits on disjoint halves of the sample place the held-out rows: share of their variance
        that differs after the best alignment. Of clusterings, one minus the adjusted Rand index.
    """

    preserved: float
    fitted: float
    disagreement: float


def preserved_share(model: Any, points: FloatArray, others: FloatArray) -> tuple[float, float]:
    """Neighbourhood preservation of held-out rows and of as many fitted ones."""
    before = PointSpace(points.astype(np.float64))
    after = PointSpace(np.asarray(model.embedding_, dtype=np.float64))
    k = min(NEIGHBORS, len(points) - 2)
    if hasattr(model, "predict"):
        return float("nan"), float("nan")
    placed = np.asarray(_quietly(model.transform, _named(model, others)), dtype=np.float64)
    near = before.nearest_of(others.astype(np.float64), k)[0]
    held_out = agreement(near, after.nearest_of(placed, k)[0], len(points))
    some = np.unique(np.linspace(0, len(points) - 1, len(others)).astype(np.intp))
    near, found = (
        drop_self(*space.nearest_of(space.points[some], k + 1), some)[0]
        for space in (before, after)
    )
    return float(held_out.mean()), float(agreement(near, found, len(points) - 1).mean())


def compare_halves(model: Any, points: FloatArray, others: FloatArray, classes: Any) -> float:
    """Disagreement about held-out rows of two fits on disjoint halves of the rows."""
    placed = []
    for half in (slice(0, None, 2), slice(1, None, 2)):
        labels = () if classes is None else (classes[half],)
        try:
            fitted = _quietly(
                type(model)(**model.get_params(deep=False)).fit, points[half], *labels
            )
        except ValueError:
            return float("nan")  # Half of the rows may be fewer than the method needs.
        clusters = hasattr(fitted, "predict")
        placed.append(_quietly(fitted.predict if clusters else fitted.transform, others))
    if clusters:
        return 1.0 - float(adjusted_rand_score(*placed))
    if np.ptp(placed[0], axis=0).max() == 0:
        return float("nan")
    if model.isometric:
        return float(procrustes(*placed))
    return float(procrustes(*placed, kind="affine"))


def _named(model: Any, rows: FloatArray) -> Any:
    """Give rows the names of the columns of the fit, which scikit-learn compares."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=names)


def _quietly(function: Any, *args: Any) -> Any:
    """Call without the warnings and stages of fits that only serve to judge another."""
    with warnings.catch_warnings(), recording("held out"):
        warnings.simplefilter("ignore")
        return function(*args)
