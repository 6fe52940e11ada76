"""Methods by the names of their classes."""

from typing import Any

from unbend.registry import METHODS

_BY_NAME = {key: entry for entry in METHODS for key in (entry.name, entry.class_name)}


def made(name: str, **parameters: Any) -> Any:
    """Make an estimator; `name` is that of its class or of its module."""
    if name not in _BY_NAME:
        names = ", ".join(entry.class_name for entry in METHODS)
        raise ValueError(f"there is no method {name!r}: choose from {names}")
    return _BY_NAME[name].load()(**parameters)
