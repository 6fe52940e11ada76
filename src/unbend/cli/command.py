"""What every command has: examples, the common options, answers to errors."""

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any

import typer

from unbend.cli.data import data_of, data_options
from unbend.cli.errors import ClosedPipe, answer
from unbend.cli.output import speaking
from unbend.cli.parameters import keyword, with_options

Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no messages but warnings.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error came from.")]


@dataclass(frozen=True)
class Command:
    """A command: its function, whose docstring is its help, and lines to try."""

    function: Callable[..., None]
    examples: tuple[str, ...]

    def add_to(self, app: typer.Typer, extra: Sequence[inspect.Parameter] = ()) -> None:
        """Make it a command of `app`, with further options."""
        # A blank line between the examples keeps each on a line of its own.
        taught = "\n\n".join(["Examples:", *(f"  {line}" for line in self.examples)])
        paragraphs = inspect.cleandoc(self.function.__doc__ or "").split("\n\n")
        help_text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        add = app.command(self.function.__name__, help=help_text, epilog=taught)
        add(runnable(self.function, extra))


def runnable(
    function: Callable[..., None], extra: Sequence[inspect.Parameter] = ()
) -> Callable[..., None]:
    """Give a command the options that all have, and answer its errors.

    One that takes `data` gets the options that say how data are read, all alike.
    """
    of_data = data_options() if "data" in inspect.signature(function).parameters else []

    @wraps(function)
    def answered(*, quiet: bool, debug: bool, **given: Any) -> None:
        try:
            with speaking(quiet):
                if of_data:
                    given["data"] = data_of(given)
                function(**given)
                sys.stdout.flush()
        except BrokenPipeError as left:
            raise typer.Exit(answer(ClosedPipe(), debug=debug)) from left
        except (Exception, KeyboardInterrupt) as error:
            raise typer.Exit(answer(error, debug=debug)) from error

    always = [keyword("quiet", Quiet, False), keyword("debug", Debug, False)]
    return with_options(answered, [*of_data, *extra, *always])
