"""Results go to stdout or a file, messages to stderr."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from unbend.cli.errors import as_typed, tell
from unbend.cli.printable import printable, printable_json

_quiet: ContextVar[bool] = ContextVar("unbend_quiet", default=False)


@contextmanager
def speaking(quiet: bool) -> Iterator[None]:
    """Set whether the commands in the block keep their messages to themselves."""
    token = _quiet.set(quiet)
    try:
        with _warnings_in_one_line():
            yield
    finally:
        _quiet.reset(token)


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    import warnings

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        tell(f"Warning: {as_typed(' '.join(str(message).split()))}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def at_terminal() -> bool:
    """Whether somebody is there to watch progress and read hints."""
    return sys.stderr.isatty() and not _quiet.get()


def say(message: str) -> None:
    """Tell what was done."""
    if not _quiet.get():
        tell(message)


def next_step(command: str) -> None:
    """Suggest the command that people run next."""
    if at_terminal():
        tell(f"Next: {command}")


def emit(*lines: str) -> None:
    """Write the lines of a result to stdout; a line end inside one is shown, not obeyed."""
    print("\n".join(map(printable, lines)))


def emit_json(facts: object) -> None:
    """Write a result to stdout as JSON."""
    plain = json.loads(json.dumps(facts, default=_plain), parse_constant=_no_number)
    print(printable_json(json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False)))


def _no_number(name: str) -> None:
    """JSON has no NaN and no infinity."""


def _plain(value: Any) -> Any:
    """Turn NumPy's numbers and arrays into Python's, anything else into its text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)
