"""Rows that choices are made about, and methods by name."""

from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.registry import METHODS
from unbend.validation.arrays import check_rows
from unbend.validation.scalars import check_choice

_BY_NAME = {key: entry for entry in METHODS for key in (entry.name, entry.class_name)}


def check_points(X: Any, min_rows: int = 8) -> FloatArray:
    """Return rows of finite numbers in double precision, enough to base a choice on."""
    return np.ascontiguousarray(check_rows(X, min_rows=min_rows), dtype=np.float64)


def make_method(name: str, **parameters: Any) -> Any:
    """Make an estimator; `name` is that of its class or of its module."""
    return _BY_NAME[check_choice("method", name, _BY_NAME)].load()(**parameters)
