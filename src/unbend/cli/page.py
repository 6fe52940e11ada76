"""``unbend serve``: the local page."""

from importlib.util import find_spec
from typing import Annotated

import typer

from unbend.cli.command import Command
from unbend.cli.messages import emit, say


def serve(
    table: Annotated[
        str | None,
        typer.Argument(metavar="[TABLE]", help="A table to open; its folder is served."),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address and open no browser.")
    ] = False,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port; 0 takes a free one.")
    ] = 0,
) -> None:
    """Open a local page to embed tables, compare maps and see what each of them lost.

    The server answers only on this machine, and only to who has the address that it prints. Ctrl-C
    ends it.
    """
    from unbend.web import NEEDED, WITHOUT_EXTRA

    if any(find_spec(name) is None for name in NEEDED):
        raise ImportError(WITHOUT_EXTRA)
    from unbend.web import launch

    def announce(address: str) -> None:
        emit(address)
        say("The page is served at this address; Ctrl-C ends it.")

    launch.serve(table, port, browser=not no_browser, announce=announce)


COMMAND = Command(
    serve,
    ("unbend serve", "unbend serve digits.csv", "unbend serve data/ --no-browser --port 8765"),
)
