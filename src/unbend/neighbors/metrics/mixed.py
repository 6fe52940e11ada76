"""Gower's distance of numbers and categories, as a city-block distance of features."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from unbend.arrays import FloatArray


def fix_gower(points: FloatArray, params: Mapping[str, Any]) -> dict[str, Any]:
    """Fix the ranges of numeric columns and the levels of categorical ones.

    Gower (1971): the mean over columns of |x − y| / range for numbers, of 0 or 1 for categories.
    `categorical` lists the columns that hold codes of categories; `weights` weighs the columns.
    """
    columns = points.shape[1]
    categorical = _columns(params.get("categorical", ()), columns)
    weights = np.asarray(params.get("weights", np.ones(columns)), dtype=np.float64)
    if weights.shape != (columns,) or not np.all((weights >= 0) & np.isfinite(weights)):
        raise ValueError(f"weights must hold {columns} finite numbers that are not negative")
    if not weights.any():
        raise ValueError("All weights are zero. Give at least one column a positive weight.")
    shares = weights / weights.sum()
    numeric = np.setdiff1d(np.arange(columns), categorical)
    low, width = points[:, numeric].min(axis=0), np.ptp(points[:, numeric], axis=0)
    # A constant column tells no rows apart.
    factors = np.divide(shares[numeric], width, out=np.zeros(len(numeric)), where=width > 0)
    levels = [np.unique(points[:, column]) for column in categorical]
    return {
        "numeric": numeric,
        "low": low,
        "factors": factors,
        "categorical": categorical,
        "levels": levels,
        "halves": shares[categorical] / 2.0,
    }


def _columns(given: Any, columns: int) -> Any:
    array = np.atleast_1d(np.asarray(given))
    if array.dtype == bool and array.shape == (columns,):
        return np.flatnonzero(array)
    array = array.astype(np.intp) if array.size == 0 or array.dtype.kind in "iu" else array
    if array.dtype.kind != "i" or array.ndim != 1 or np.any((array < 0) | (array >= columns)):
        raise ValueError(
            f"categorical={given!r} is not allowed. Pass the indices of categorical columns, from "
            f"0 to {columns - 1}, or a boolean mask."
        )
    return np.unique(array)


def gower_features(rows: FloatArray, constants: Mapping[str, Any]) -> FloatArray:
    """Scaled numbers, and for each category one half of its share at the row's own level.

    Two rows with different levels differ in two features, which makes a whole share. A level that
    was not among the fitted ones has a feature of its own, so it differs from all of these.
    """
    blocks = [(rows[:, constants["numeric"]] - constants["low"]) * constants["factors"]]
    for column, levels, half in zip(
        constants["categorical"], constants["levels"], constants["halves"], strict=True
    ):
        equal = rows[:, [column]] == levels
        blocks.append(np.concatenate((equal, ~equal.any(axis=1, keepdims=True)), axis=1) * half)
    return np.concatenate(blocks, axis=1)
