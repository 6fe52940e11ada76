"""Methods by the names of their classes."""

from typing import Any

from unbend.registry import METHODS, find_entry


def made(name: str, **parameters: Any) -> Any:
    """Make an estimator; `name` is that of its class or of its module."""
    entry = find_entry(name, METHODS)
    if entry is None:
        names = ", ".join(entry.class_name for entry in METHODS)
        raise ValueError(f"there is no method {name!r}: choose from {names}")
    return entry.load()(**parameters)
