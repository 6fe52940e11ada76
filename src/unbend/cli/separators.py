"""Separators of fields as they are typed."""

from typing import Annotated

import typer

from unbend.cli.errors import Misuse

# A tab or a space cannot be typed as it is, or is easily lost.
WORDS = {"tab": "\t", "\\t": "\t", "space": " "}

Separator = Annotated[
    str | None,
    typer.Option(
        "--separator",
        metavar="CHARACTER",
        help="Character between fields, or tab or space; else found from the first lines.",
    ),
]


def typed_separator(typed: str | None) -> str | None:
    """Return the separator that was typed, as the readers take it."""
    return None if typed is None else WORDS.get(typed, typed)


def check_typed_separator(typed: str | None) -> None:
    """Refuse what cannot separate fields."""
    mark = typed_separator(typed)
    if mark is not None and (len(mark) != 1 or mark in '"\r\n\0'):
        raise Misuse(
            f"--separator {typed} is not allowed: it must be one character, as ';', or tab or space"
        )
