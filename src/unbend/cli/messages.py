"""Messages on stderr, results on stdout, errors as one sentence and an exit code."""

import json
import os
import shlex
import sys
import traceback
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from unbend.cli import INTERRUPTED

# What reads from stdin, or writes to stdout.
PIPE = "-"
FAILED, MISUSED, CLOSED_PIPE = 1, 2, 141

# What the library raises for its users, with one sentence each; anything else is a bug of ours.
EXPECTED = (ValueError, TypeError, OSError, MemoryError, ImportError)


# Advice of the readers, and what follows it on a command line.
OPTIONS = {
    "by array=": "by --array",
    "by size=": "by --size",
    "with size=": "with --size",
    "pass color=True or color=False": "give --color or --gray",
    "pass invert=False": "give --no-invert",
    "or invert=True": "or --invert",
    "pass encoding=": "give --encoding",
    "pass separator=": "give --separator",
    "read it in batches, or some of its rows by sample_table": (
        "embed some of its rows by --sample ROWS, or all by --batches ROWS with pca"
    ),
    "embed it with metric='precomputed'": "use unbend embed --distances",
    "separator=": "--separator ",
    "name it by data=": "name it by --envi-data",
    "pass it as label or id, or leave it out": "give --label, --id, --ignore or --text-column",
    "kinds={column: kind}": "--column-kind COLUMN=KIND",
    "reshape it to one row for each point": "say --as images if it holds images",
    ": use unbend.io.read_images": ": name the folder of such pictures",
    "read_distances if it holds distances": "--distances if it holds distances",
    "Pass (X + X.T) / 2 if that is what you mean. Or pass symmetrize=True": (
        "Give --symmetrize to average the two directions"
    ),
    "pass symmetrize=True": "give --symmetrize",
    "set denoise='auto'": "give --denoise auto",
    "Use denoise=False": "Use --denoise false",
    "use denoise=False": "use --denoise false",
    "make_pipeline(unbend.Prepare(), …), or ignore unbend.ScaleWarning if": (
        "--scale standard, or give --scale none if"
    ),
}


class Misuse(Exception):
    """The command was called in a way that cannot work, whatever the data."""


class ClosedPipe(Exception):
    """The reader closed the pipe; typer would handle an `OSError` itself."""


def answer(error: BaseException, *, debug: bool = False) -> int:
    """Print what went wrong, and return the exit code."""
    if isinstance(error, KeyboardInterrupt):
        print("Interrupted: nothing was written.", file=sys.stderr)
        return INTERRUPTED
    if isinstance(error, ClosedPipe):
        _discard_stdout()
        return CLOSED_PIPE
    if debug:
        for line in "".join(traceback.format_exception(error)).rstrip("\n").split("\n"):
            print_message(line)
    if isinstance(error, Misuse):
        return _fail(str(error), MISUSED)
    if isinstance(error, EXPECTED):
        return _fail(_sentence(error), FAILED)
    return _fail(
        f"unbend failed in a way it should not ({type(error).__name__}: {_sentence(error)}): "
        "please report this, with what the same command says with --debug",
        FAILED,
    )


def name_options(sentence: str) -> str:
    """Name options as they are typed, where the library names its own parameters."""
    for parameter, option in OPTIONS.items():
        sentence = sentence.replace(parameter, option)
    return sentence


def print_message(line: str) -> None:
    """Write a line to stderr."""
    print(printable(line), file=sys.stderr)


def _fail(sentence: str, code: int) -> int:
    print_message(f"Error: {sentence}")
    return code


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{os.fspath(error.filename)}: {error.strerror}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, MemoryError) and not str(error):
        return "there is not enough memory: take fewer rows, or a method that keeps less"
    return name_options(" ".join(str(error).split()))


def _discard_stdout() -> None:
    """Redirect stdout, so that Python does not fail to flush to a closed pipe at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


_quiet: ContextVar[bool] = ContextVar("unbend_quiet", default=False)


@contextmanager
def quiet_messages(quiet: bool) -> Iterator[None]:
    """Set whether the commands in the block print messages."""
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
        print_message(f"Warning: {name_options(' '.join(str(message).split()))}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def at_terminal() -> bool:
    """Whether stderr is a terminal, where progress and hints are shown."""
    return sys.stderr.isatty() and not _quiet.get()


def say(message: str) -> None:
    """Report what was done."""
    if not _quiet.get():
        print_message(message)


def next_step(command: str) -> None:
    """Suggest the command that people run next."""
    if at_terminal():
        print_message(f"Next: {command}")


def emit(*lines: str) -> None:
    """Write the lines of a result to stdout; line ends inside one are escaped."""
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


@contextmanager
def show_progress() -> Iterator[None]:
    """Show a bar with the time left for each stage of the block, if stderr is a terminal."""
    if not at_terminal():
        yield
        return
    from unbend.progress import monitoring
    from unbend.progress_bars import Stages, stage_bars

    with stage_bars() as bars, monitoring(Stages(bars)):
        yield


def shell_word(path: str) -> str:
    """Return a file's name as a word of the shell; a pipe is just a table."""
    if path == PIPE:
        return "TABLE"
    # Behind a dash an option is looked for.
    return shlex.quote(f"./{path}" if path.startswith("-") else path)


# They join letters in Persian, Indic scripts and emoji, and do nothing else.
JOINERS = "\u200c\u200d"


def _is_visible(character: str) -> bool:
    """Whether a character is seen as itself; controls, bidi marks and line ends are not."""
    if character.isprintable() or character in JOINERS:
        return True
    return unicodedata.category(character) == "Zs"


def printable(line: str) -> str:
    r"""Write a line with escapes such as \x1b for what a terminal would obey or not show.

    Examples
    --------
    >>> printable("Größe\x1b[31m red\n")
    'Größe\\x1b[31m red\\n'
    """
    if line.isprintable():
        return line
    return "".join(
        character if _is_visible(character) else character.encode("unicode_escape").decode()
        for character in line
    )


def printable_json(text: str) -> str:
    """Escape the same characters in JSON, by its own escapes, which parse to the same value."""
    return "".join(
        character if character == "\n" or _is_visible(character) else json.dumps(character)[1:-1]
        for character in text
    )
