"""Whether two models are the same to the last bit, however their parts are nested."""

import dataclasses
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from unbend.arrays import is_sparse
from unbend.report import Report


def assert_alike(first: Any, second: Any, where: str = "model") -> None:
    """Compare two values, arrays with their types and their order in memory."""
    assert type(first) is type(second), where
    if isinstance(first, np.ndarray):
        assert first.dtype == second.dtype, where
        assert first.shape == second.shape, where
        for flag in ("C_CONTIGUOUS", "F_CONTIGUOUS"):
            assert first.flags[flag] == second.flags[flag], (where, flag)
        assert first.dtype == object or first.tobytes() == second.tobytes(), where
        assert np.array_equal(first, second, equal_nan=first.dtype.kind == "f"), where
    elif is_sparse(first):
        for part in ("data", "indices", "indptr"):
            assert_alike(getattr(first, part), getattr(second, part), f"{where}.{part}")
    elif isinstance(first, np.random.Generator):
        assert_alike(first.bit_generator.state, second.bit_generator.state, where)
    elif isinstance(first, np.random.RandomState):
        assert_alike(first.get_state(legacy=False), second.get_state(legacy=False), where)
    elif isinstance(first, dict):
        assert list(first) == list(second), where
        for key in first:
            assert_alike(first[key], second[key], f"{where}[{key!r}]")
    elif isinstance(first, list | tuple):
        assert len(first) == len(second), where
        for number, (one, other) in enumerate(zip(first, second, strict=True)):
            assert_alike(one, other, f"{where}[{number}]")
    elif isinstance(first, BaseEstimator):
        assert_same_state(first, second, where)
    elif dataclasses.is_dataclass(first):
        for field in dataclasses.fields(first):
            one, other = getattr(first, field.name), getattr(second, field.name)
            assert_alike(one, other, f"{where}.{field.name}")
    elif hasattr(first, "__self__"):
        assert first.__name__ == second.__name__, where
        assert_alike(first.__self__, second.__self__, where)
    else:
        assert first == second or first != first, where


def assert_same_state(first: Any, second: Any, where: str = "model") -> None:
    """Compare parameters and everything that was fitted."""
    kept = {name: value for name, value in vars(second).items() if name != "about_"}
    given = {name: value for name, value in vars(first).items() if name != "about_"}
    assert set(given) == set(kept)
    for name in given:
        assert_alike(given[name], kept[name], f"{where}.{name}")
    assert isinstance(second.report_, Report)
    assert str(first.report_) == str(second.report_)


def assert_same_answers(first: Any, second: Any, new: Any) -> None:
    """Compare what two models make of new rows, and of their own coordinates."""
    if not hasattr(first, "transform"):
        assert_alike(first.predict(new), second.predict(new))
        if hasattr(first, "identify"):
            assert_alike(first.identify(new), second.identify(new))
        return
    assert_alike(first.transform(new), second.transform(new))
    assert list(first.get_feature_names_out()) == list(second.get_feature_names_out())
    if first._preimage is None:
        assert second._preimage is None
    else:
        coordinates = first.embedding_[:7] + 0.01
        assert_alike(first.inverse_transform(coordinates), second.inverse_transform(coordinates))
