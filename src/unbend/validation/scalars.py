"""Checks of arguments: numbers that compiled loops take on trust, and how many have no name."""

import inspect
import numbers
from collections.abc import Callable
from functools import wraps
from typing import Any


def whole(number: object) -> bool:
    """Whether something is an integer, of Python or of NumPy; a truth value is none."""
    return isinstance(number, numbers.Integral) and not isinstance(number, bool)


def check_count(k: object, most: int) -> None:
    """Refuse a number of neighbours that there are not."""
    if not whole(k) or not 1 <= k <= most:  # type: ignore[operator]
        raise ValueError(
            f"the number of neighbours must be a whole number from 1 to {most}, since there are "
            f"no more rows: it is {k!r}"
        )


def check_radius(radius: float) -> None:
    """Refuse a radius that is no length."""
    if not radius >= 0:
        raise ValueError(f"the radius must be a number that is not negative: it is {radius!r}")


def check_threads(threads: object) -> None:
    """Refuse a number of threads that cannot be started."""
    if not whole(threads) or threads < 1:  # type: ignore[operator]
        raise ValueError(f"the number of threads must be a whole number from 1: it is {threads!r}")


def one_positional(init: Callable[..., None]) -> Callable[..., None]:
    """Make `__init__` say which arguments are given by name, where Python only counts them."""

    @wraps(init)
    def __init__(self: Any, *given: Any, **named: Any) -> None:
        if len(given) > 1:
            name = type(self).__name__
            first, second = list(inspect.signature(init).parameters)[1:3]
            raise TypeError(
                f"{name} takes {first} by position and the other parameters by name, and "
                f"{len(given)} were given by position: write {name}({first}={given[0]!r}, "
                f"{second}=…)"
            )
        init(self, *given, **named)

    return __init__
