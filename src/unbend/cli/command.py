"""Base of all commands: examples, common options, error handling."""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Annotated, Any

import typer

from unbend.cli.messages import ClosedPipe, answer, quiet_messages
from unbend.cli.options import data_parameters, option, take_data_options
from unbend.cli.parameters import keyword

Quiet = Annotated[bool, option("--quiet -q", "No progress, and no messages but warnings.")]
Debug = Annotated[bool, option("--debug", "Show the traceback of an error.")]


@dataclass(frozen=True)
class Command:
    """A command: its function, whose docstring is its help, and examples.

    `defaults` replaces defaults of data options.
    """

    function: Callable[..., None]
    examples: tuple[str, ...]
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def add_to(self, app: typer.Typer, extra: Sequence[inspect.Parameter] = ()) -> None:
        """Make it a command of `app`, with further options."""
        # A blank line between the examples keeps each on a line of its own.
        epilog = "\n\n".join(["Examples:", *(f"  {line}" for line in self.examples)])
        paragraphs = inspect.cleandoc(self.function.__doc__ or "").split("\n\n")
        help_text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        app.command(self.function.__name__, help=help_text, epilog=epilog)(self._runnable(extra))

    def _runnable(self, extra: Sequence[inspect.Parameter]) -> Callable[..., None]:
        """Return the function with all its options in the signature, and answers to errors."""
        function, signature = self.function, inspect.signature(self.function)
        takes_data = "data" in signature.parameters

        @wraps(function)
        def run(*, quiet: bool, debug: bool, **given: Any) -> None:
            try:
                with quiet_messages(quiet):
                    if takes_data:
                        given["data"] = take_data_options(given)
                    function(**given)
                    sys.stdout.flush()
            except BrokenPipeError as left:
                raise typer.Exit(answer(ClosedPipe(), debug=debug)) from left
            except (Exception, KeyboardInterrupt) as error:
                raise typer.Exit(answer(error, debug=debug)) from error

        own = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in signature.parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD and parameter.name != "data"
        ]
        common = [keyword("quiet", Quiet, False), keyword("debug", Debug, False)]
        data = data_parameters(self.defaults) if takes_data else []
        parameters = [*own, *data, *extra, *common]
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run
