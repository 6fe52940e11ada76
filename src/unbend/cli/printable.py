"""Text from files as a terminal may show it: nothing in it is obeyed, everything is visible."""

import json
import unicodedata

# They join letters in Persian, Indic scripts and emoji, and do nothing else.
JOINERS = "\u200c\u200d"


def _is_shown(character: str) -> bool:
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
        character if _is_shown(character) else character.encode("unicode_escape").decode()
        for character in line
    )


def printable_json(text: str) -> str:
    """Do the same with JSON, by its own escapes: it reads as before."""
    return "".join(
        character if character == "\n" or _is_shown(character) else json.dumps(character)[1:-1]
        for character in text
    )
