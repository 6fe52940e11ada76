"""Input checks of the choices, and construction of methods by name."""

from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.registry import METHODS, find_entry
from unbend.validation.arrays import check_rows
from unbend.validation.scalars import check_choice, refusal


def check_points(X: Any, min_rows: int = 8) -> FloatArray:
    """Return rows of finite numbers in double precision, enough to base a choice on."""
    return np.ascontiguousarray(check_rows(X, min_rows=min_rows), dtype=np.float64)


def check_estimator(name: str, value: Any) -> Any:
    """Return an estimator, not its class."""
    if isinstance(value, type) or not hasattr(value, "get_params"):
        raise TypeError(refusal(name, value, "an estimator, such as unbend.Isomap()"))
    return value


def make_method(name: str, **parameters: Any) -> Any:
    """Make an estimator; `name` is that of its class or of its module."""
    by_name = {entry.class_name: entry for entry in METHODS}
    entry = find_entry(name, METHODS) if isinstance(name, str) else None
    known = check_choice("method", name if entry is None else entry.class_name, by_name)
    return by_name[known].load()(**parameters)
