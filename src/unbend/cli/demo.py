"""``unbend demo``: every surface by every method."""

from typing import Annotated

import typer

from unbend.cli.command import Command
from unbend.cli.errors import FAILED
from unbend.cli.options import Seed
from unbend.cli.output import next_step


def demo(
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FOLDER", help="Folder to write into.")
    ] = "unbend-demo",
    rows: Annotated[int, typer.Option("--rows", "-n", help="Points on each surface.")] = 1000,
    seed: Seed = 0,
) -> None:
    """Embed every artificial surface by every method: a table, a contact sheet and a page."""
    from unbend.apps.demo import main

    if main(["--output", output, "--rows", str(rows), "--seed", str(seed)]):
        raise typer.Exit(FAILED)
    next_step(f"open {output}/index.html")


COMMAND = Command(demo, ("unbend demo", "unbend demo -n 300 -o small"))
