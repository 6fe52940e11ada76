"""Docstrings completed from shared descriptions of parameters."""

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def complete_docstring(
    shared: Mapping[str, str], returns: str = ""
) -> Callable[[Function], Function]:
    """Add shared descriptions of parameters, and of the result, to a docstring.

    Parameters
    ----------
    shared : mapping of str to str
        For each parameter its type and, on further lines, its description. A parameter of the
        function that its docstring describes itself keeps that description.
    returns : str
        Section "Returns" for functions without one.

    Examples
    --------
    >>> @complete_docstring({"n": "int, number of points."})
    ... def draw(n):
    ...     "Draw points."
    >>> draw.__doc__.split()
    ['Draw', 'points.', 'Parameters', '----------', 'n', ':', 'int,', 'number', 'of', 'points.']
    """

    def decorate(function: Function) -> Function:
        # Sections without their titles; the first is the summary and the explanation.
        pieces = re.split(r"\n\n(\w[\w ]*)\n-+\n", inspect.cleandoc(function.__doc__ or ""))
        sections = dict(zip(pieces[1::2], pieces[2::2], strict=True))
        own = re.split(r"\n(?=\w)", sections.pop("Parameters", ""))
        described = {name: entry for entry in own for name in _names(entry)}
        entries = [
            described.get(name) or f"{name} : {shared[name]}"
            for name in inspect.signature(function).parameters
            if name in described or name in shared
        ]
        complete = {"Parameters": "\n".join(dict.fromkeys(entries))}
        if returns:
            complete["Returns"] = returns
        complete |= sections
        titled = [f"{title}\n{'-' * len(title)}\n{text}" for title, text in complete.items()]
        function.__doc__ = "\n\n".join((pieces[0], *titled))
        return function

    return decorate


def _names(entry: str) -> list[str]:
    return [name.strip() for name in entry.split("\n")[0].split(" : ")[0].split(",")]
