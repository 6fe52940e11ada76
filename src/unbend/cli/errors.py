"""Errors become one sentence on stderr and an exit code."""

import os
import sys
import traceback

from unbend.cli import INTERRUPTED
from unbend.cli.printable import printable

FAILED, MISUSED, CLOSED_PIPE = 1, 2, 141

# What the library raises for its users, with one sentence each; anything else is a bug of ours.
EXPECTED = (ValueError, TypeError, OSError, MemoryError, ImportError)


# Advice of the readers, and what follows it on a command line.
OPTIONS = {
    "by array=": "by --array",
    "by size=": "by --size",
    "with size=": "with --size",
    "pass color=True or color=False": "give --color or --grey",
    "pass invert=False": "give --no-invert",
    "or invert=True": "or --invert",
    "pass encoding=": "give --encoding",
    "pass separator=": "give --separator",
    "separator=": "--separator ",
    "name it by data=": "name it by --envi-data",
    "pass it as label or id, or leave it out": "give --label, --id, --ignore or --text-column",
    "reshape it to one row for each point": "say --as images if it holds images",
    ": use unbend.io.read_images": ": name the folder of such pictures",
    "read_distances if it holds distances": "--distances if it holds distances",
}


class Misuse(Exception):
    """The command was called in a way that cannot work, whatever the data."""


class ClosedPipe(Exception):
    """The reader of our output left; an `OSError` would be answered by typer itself."""


def answer(error: BaseException, *, debug: bool = False) -> int:
    """Say what went wrong, and return the exit code."""
    if isinstance(error, KeyboardInterrupt):
        print("Interrupted: nothing was written.", file=sys.stderr)
        return INTERRUPTED
    if isinstance(error, ClosedPipe):
        _discard_stdout()
        return CLOSED_PIPE
    if debug:
        for line in "".join(traceback.format_exception(error)).rstrip("\n").split("\n"):
            tell(line)
    if isinstance(error, Misuse):
        return _say(str(error), MISUSED)
    if isinstance(error, EXPECTED):
        return _say(_sentence(error), FAILED)
    return _say(
        f"unbend failed in a way it should not ({type(error).__name__}: {_sentence(error)}): "
        "please report this, with what the same command says with --debug",
        FAILED,
    )


def as_typed(sentence: str) -> str:
    """Name options as they are typed, where the library names its own parameters."""
    for parameter, option in OPTIONS.items():
        sentence = sentence.replace(parameter, option)
    return sentence


def tell(line: str) -> None:
    """Write a line to stderr."""
    print(printable(line), file=sys.stderr)


def _say(sentence: str, code: int) -> int:
    tell(f"Error: {sentence}")
    return code


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{os.fspath(error.filename)}: {error.strerror}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, MemoryError) and not str(error):
        return "there is not enough memory: take fewer rows, or a method that keeps less"
    return as_typed(" ".join(str(error).split()))


def _discard_stdout() -> None:
    """Keep Python from complaining that it cannot flush to a reader that has left."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
