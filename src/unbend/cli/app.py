"""The application: all commands, and the options of the chosen method."""

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import unbend
from unbend.cli import (
    advise,
    bench,
    catalog,
    cluster,
    draw,
    embed,
    export,
    judge,
    localization,
    page,
    recognition,
    transform,
)
from unbend.cli.command import Command
from unbend.cli.interrupts import prompt_interrupts
from unbend.cli.messages import ClosedPipe, Misuse, answer, emit
from unbend.cli.parameters import DEFAULT_METHOD, find_method, method_options, unknown_option
from unbend.registry import CLASSIFIERS, CLUSTERINGS, EMBEDDINGS, Entry

COMMANDS = (
    embed.COMMAND,
    transform.COMMAND,
    cluster.COMMAND,
    recognition.RECOGNIZE,
    recognition.IDENTIFY,
    judge.QUALITY,
    draw.PLOT,
    draw.REPORT,
    page.COMMAND,
    export.COMMAND,
    advise.SUGGEST,
    advise.COMPARE,
    advise.DIMENSION,
    judge.GRAPH,
    localization.COMMAND,
    bench.BENCH,
    catalog.SURFACE,
    catalog.PICTURES,
    catalog.METHODS,
    catalog.DEMO,
    catalog.INFO,
    catalog.GLOSSARY,
)

FIRST_STEPS = """The first ten minutes:

  unbend surface swiss_roll -n 1000 -o roll.csv

  unbend embed roll.csv -l chart_1 --ignore chart_2 -o flat.csv --plot flat.png

  unbend quality roll.csv flat.csv --truth chart_1,chart_2

Exit codes: 0 done, 1 failed, 2 misused, 130 interrupted by Ctrl-C."""


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code; nothing is raised."""
    chosen = None
    try:
        with prompt_interrupts():
            chosen = chosen_method(arguments)
            words = list(arguments) or ["--help"]
            app = application(chosen, describe=_is_help(words))
            code = app(words, prog_name="unbend", standalone_mode=False)
            sys.stdout.flush()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    except BrokenPipeError:
        return answer(ClosedPipe())
    except BaseException as error:
        return answer(_as_misuse(error, chosen))
    return code if isinstance(code, int) else 0


def application(chosen: Entry | None = None, *, describe: bool = True) -> typer.Typer:
    """Return the commands; the one that fits the chosen method has its options."""
    app = typer.Typer(
        help="Dimensionality reduction: embeddings that keep the geometry of data.",
        epilog=FIRST_STEPS,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(general)
    for command in COMMANDS:
        extra = []
        if chosen is not None and command is _command_of(chosen):
            extra = method_options(chosen, describe=describe)
        command.add_to(app, extra)
    return app


def _command_of(entry: Entry) -> Command:
    if entry in CLASSIFIERS:
        return recognition.RECOGNIZE
    return cluster.COMMAND if entry in CLUSTERINGS else embed.COMMAND


def _show_version(wanted: bool) -> None:
    if wanted:
        emit(f"unbend {unbend.__version__}")
        raise typer.Exit


def general(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Take the options before a command."""


def chosen_method(arguments: Sequence[str]) -> Entry | None:
    """Find the method whose options the command line may use.

    Its class is loaded only if it is named, or needed: help and shell completion without a method
    start quickly.
    """
    completing = "_UNBEND_COMPLETE" in os.environ
    words = _words_to_complete() if completing else list(arguments)
    command = next((word for word in words if not word.startswith("-")), None)
    if command == "cluster":
        return CLUSTERINGS[0]
    if command == "recognize":
        return CLASSIFIERS[0]
    if command != "embed":
        return None
    named = _named_method(words)
    if named is not None:
        return _method_to_complete(named) if completing else find_method(named, EMBEDDINGS)
    return None if _is_help(words) else find_method(DEFAULT_METHOD)


def _is_help(words: Sequence[str]) -> bool:
    """Whether help or completions are asked for."""
    return "--help" in words or "-h" in words or "_UNBEND_COMPLETE" in os.environ


def _named_method(words: Sequence[str]) -> str | None:
    """Return the last method named, as the parser takes it: --method X, --method=X, -m X, -mX."""
    named = None
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name, separator, value = word.partition("=")
        if name == "--method" and separator:
            named = value
        elif word in ("--method", "-m") and following:
            named = following
        elif word.startswith("-m") and len(word) > 2:
            named = word[2:]
    return named


def _method_to_complete(name: str) -> Entry | None:
    try:
        return find_method(name, EMBEDDINGS)
    except Misuse:
        return None


def _words_to_complete() -> list[str]:
    typed = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")
    return typed.split()[1:]


def _as_misuse(error: BaseException, chosen: Entry | None) -> BaseException:
    """Give the errors of typer's parser our form; their classes differ from version to version."""
    option = getattr(error, "option_name", None)
    if chosen is not None and option is not None and hasattr(error, "possibilities"):
        return Misuse(unknown_option(chosen, option))
    if hasattr(error, "format_message"):
        return Misuse(f"{error.format_message().rstrip('.')}; --help shows how")
    return error
