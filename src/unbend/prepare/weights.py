"""Weights of columns: how much each counts in a distance."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from unbend.prepare.encoders import CategoryEncoder, Encoder, NumberEncoder, TermEncoder


def weigh_encoders(
    encoders: Sequence[Encoder],
    variances: Sequence[Callable[[], float]],
    scale: str,
    weights: Mapping[str, float],
) -> tuple[Encoder, ...]:
    """Set the weight of each column, by the scaling and by the user's own weights.

    Without scaling a category counts as much as an average column of numbers. Under Gower's
    distance every column counts its share.
    """
    pairs = list(zip(encoders, variances, strict=True))
    unit = 1.0
    if scale == "none":
        numeric = [v() for e, v in pairs if isinstance(e, NumberEncoder) and not e.levels]
        unit = float(np.mean(numeric)) if numeric else 1.0
    parts = len(encoders) if scale == "gower" else 1
    return tuple(
        _multiply(with_weight(e, scale, unit, v), float(weights.get(e.name, 1.0)) / parts)
        for e, v in pairs
    )


def _multiply(encoder: Encoder, factor: float) -> Encoder:
    return replace(encoder, weight=encoder.weight * factor)  # type: ignore[type-var]


def with_weight(
    encoder: Encoder, scale: str, unit: float, variance: Callable[[], float]
) -> Encoder:
    """Give an encoder the weight that makes its column count as one.

    Parameters
    ----------
    encoder
        An encoder with weight one.
    scale : str
        Scaling of the table.
    unit : float
        Total variance that a column shall have, where the scaling fixes variances.
    variance : callable
        Gives the total variance of the features, where it is needed.
    """
    # Distances between unit vectors of these are at most the root of two.
    many = isinstance(encoder, CategoryEncoder | TermEncoder)
    if scale == "gower":
        weight = 0.5 if many else 1.0
    elif scale == "range":
        parts = len(getattr(encoder, "cycles", ())) + 1
        weight = np.sqrt(0.5) if many else 1.0 / np.sqrt(parts)
    elif isinstance(encoder, NumberEncoder) and not encoder.indicator:
        weight = 1.0
    else:
        total = variance()
        weight = np.sqrt(unit / total) if total > 0 else 1.0
    return replace(encoder, weight=float(weight))  # type: ignore[type-var]
