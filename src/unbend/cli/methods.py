"""``unbend methods``: which there are, and what they take."""

from shutil import get_terminal_size
from textwrap import TextWrapper
from typing import Annotated

import typer

from unbend.cli.command import Command
from unbend.cli.options import Json
from unbend.cli.output import emit, emit_json, next_step
from unbend.cli.parameters import (
    ALL,
    allowed,
    described,
    every_method_name,
    method_entry,
    option_name,
)
from unbend.registry import Entry


def methods(
    name: Annotated[
        str | None,
        typer.Argument(help="A method: show its parameters.", autocompletion=every_method_name),
    ] = None,
    json: Json = False,
) -> None:
    """List the methods, or the parameters of one."""
    if name is None:
        _show_all(json)
        next_step("unbend methods isomap    (what it takes)")
    else:
        entry = method_entry(name, ALL)
        _show_one(entry, json)
        next_step(f"unbend embed TABLE --method {entry.name} -o OUT.csv")


def _show_all(json: bool) -> None:
    if json:
        emit_json([{"name": entry.name, "title": entry.title} for entry in ALL])
        return
    width = max(len(entry.name) for entry in ALL)
    emit(*(f"{entry.name:<{width}}  {entry.title}" for entry in ALL))


def _show_one(entry: Entry, json: bool) -> None:
    from unbend.validation.parameters import parameters

    method = entry.load()
    declared = parameters(method)
    if json:
        facts = [
            {
                "name": parameter.name,
                "option": option_name(parameter.name),
                "default": parameter.default,
                "allowed": allowed(parameter),
                "help": parameter.help,
            }
            for parameter in declared
        ]
        emit_json({"name": entry.name, "title": entry.title, "parameters": facts})
        return
    wide = TextWrapper(get_terminal_size().columns, subsequent_indent="    ")
    lines = [(method.__doc__ or "").partition("\n")[0], ""]
    for parameter in declared:
        lines += wide.wrap(f"{option_name(parameter.name)}  {described(parameter)}")
        lines += wide.wrap(f"    {parameter.help}")
    emit(*lines)


COMMAND = Command(methods, ("unbend methods", "unbend methods isomap", "unbend methods lle --json"))
