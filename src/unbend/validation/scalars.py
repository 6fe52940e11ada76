"""Checks of single arguments: integers, real numbers, names.

Every refusal reads "name=value is not allowed: it must be …". A wrong type is a TypeError, a wrong
value a ValueError.
"""

import difflib
import inspect
import math
import numbers
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import numpy as np

# Names that other libraries and papers have for parameters and values of ours.
SYNONYMS = {
    "k": "n_neighbors",
    "d": "n_components",
    "dim": "n_components",
    "dims": "n_components",
    "dimension": "n_components",
    "dimensions": "n_components",
    "n_dims": "n_components",
    "eps": "radius",
    "epsilon": "radius",
    "distance": "metric",
    "solver": "eigen_solver",
    "seed": "random_state",
    "threads": "n_jobs",
    "workers": "n_jobs",
    "landmarks": "n_landmarks",
    "clusters": "n_clusters",
    "float32": "single",
    "float64": "double",
    "l1": "manhattan",
    "l2": "euclidean",
}


def suggest_name(name: str, names: Iterable[str]) -> str | None:
    """Return the name that was probably meant, if one is near.

    Examples
    --------
    >>> suggest_name("neighbors", ["n_components", "n_neighbors"]), suggest_name("k", ["radius"])
    ('n_neighbors', None)
    """
    known = list(names)
    typed = name.lower().replace("-", "_")
    if SYNONYMS.get(typed) in known:
        return SYNONYMS[typed]
    return next(iter(difflib.get_close_matches(typed, known, n=1)), None)


def is_integer(value: object) -> bool:
    """Whether a value is an integer, of Python or of NumPy; booleans are not."""
    # Of Python's own type at once: abstract base classes take a hundred times as long.
    if type(value) is int:
        return True
    return isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)


def is_real(value: object) -> bool:
    """Whether a value is a real number, of Python or of NumPy; booleans are not."""
    if type(value) is float or type(value) is int:
        return True
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def is_finite(value: Any) -> bool:
    """Whether a real number of any type is within the range of double precision."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def refusal(name: str, value: object, allowed: str) -> str:
    """Return the sentence that refuses the value of an argument."""
    return f"{name}={value!r} is not allowed: it must be {allowed}"


def at_least(low: int) -> str:
    """Describe the integers from `low`."""
    return f"an integer of at least {low}"


def check_integer(
    name: str, value: Any, low: int = 1, high: int | None = None, of: str = ""
) -> int:
    """Return an integer between `low` and `high`, which is a limit `of` something.

    Examples
    --------
    >>> check_integer("n_neighbors", 10, 1, 9, "with 10 samples")
    Traceback (most recent call last):
    ...
    ValueError: n_neighbors=10 is not allowed: it must be at most 9 with 10 samples
    """
    if not is_integer(value):
        raise TypeError(refusal(name, value, at_least(low)))
    if value < low:
        raise ValueError(refusal(name, value, at_least(low)))
    if high is not None and value > high:
        raise ValueError(refusal(name, value, f"at most {high} {of}".rstrip()))
    return int(value)


def check_neighbors(value: Any, n: int, *, low: int = 1, high: int | None = None) -> int:
    """Return a number of neighbours among n samples, n − 1 at most unless `high` says fewer."""
    most = n - 1 if high is None else high
    return check_integer("n_neighbors", value, low, most, f"with {n} samples")


def check_count(k: Any, most: int) -> int:
    """Return the number of neighbours that a query asks for, of `most` there are."""
    return check_integer("k", k, 1, most)


def check_threads(threads: Any) -> int:
    """Return a number of threads."""
    return check_integer("threads", threads)


def check_radius(radius: Any) -> None:
    """Refuse a radius that is negative or NaN; infinity is one."""
    if not is_real(radius) or not radius >= 0:
        error = ValueError if is_real(radius) else TypeError
        raise error(refusal("radius", radius, "a number of at least 0"))


def check_real(
    name: str, value: Any, low: float, high: float = np.inf, *, closed: str = "both"
) -> float:
    """Return a finite number between both bounds, of which those `closed` are allowed themselves.

    Examples
    --------
    >>> check_real("discard", 1.0, 0, 1, closed="low")
    Traceback (most recent call last):
    ...
    ValueError: discard=1.0 is not allowed: it must be a number of at least 0 and below 1
    """
    allowed = f"a number {'of at least' if closed in ('both', 'low') else 'above'} {low:g}"
    if high < np.inf:
        allowed += f" and {'at most' if closed in ('both', 'high') else 'below'} {high:g}"
    if not is_real(value):
        raise TypeError(refusal(name, value, allowed))
    inside = low < value < high
    inside |= (value == low and closed in ("both", "low")) or (
        value == high and closed in ("both", "high")
    )
    if not inside or not is_finite(value):
        raise ValueError(refusal(name, value, allowed))
    return float(value)


def check_flag(name: str, value: object) -> bool:
    """Return True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(refusal(name, value, "True or False"))
    return bool(value)


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Return a value that must be one of `choices`."""
    words = tuple(choices)
    allowed = "one of " + ", ".join(repr(word) for word in words)
    if not isinstance(value, str):
        raise TypeError(refusal(name, value, allowed))
    if value not in words:
        raise ValueError(refusal(name, value, allowed) + hint(value, words))
    return value


def hint(value: object, words: Iterable[str]) -> str:
    """Return the end of a refusal that names the word probably meant, or nothing."""
    near = suggest_name(value, words) if isinstance(value, str) else None
    return "" if near is None else f"; did you mean {near!r}?"


def explain_arguments(init: Callable[..., None]) -> Callable[..., None]:
    """Make `__init__` name the argument that is wrong, and what it should be.

    Python only counts those given by position, and does not know near names.
    """
    names = list(inspect.signature(init).parameters)[1:]

    @wraps(init)
    def __init__(self: Any, *given: Any, **named: Any) -> None:
        name = type(self).__name__
        unknown = next((word for word in named if word not in names), None)
        if unknown is not None:
            near = suggest_name(unknown, names)
            meant = f"its parameters are {', '.join(names)}" if near is None else f"use {near}"
            raise TypeError(f"{name} has no parameter {unknown!r}: {meant}")
        if len(given) > 1:
            first, second = names[:2]
            raise TypeError(
                f"{name} takes {first} by position and the other parameters by name, and "
                f"{len(given)} were given by position: write {name}({first}={given[0]!r}, "
                f"{second}=…)"
            )
        init(self, *given, **named)

    return __init__
