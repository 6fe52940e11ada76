"""The terms that reports and documentation use: ``unbend glossary TERM``."""

import tomllib
from difflib import get_close_matches
from functools import cache
from importlib.resources import files


@cache
def read_terms() -> dict[str, str]:
    """Return all terms with their definitions, in alphabetical order."""
    text = (files("unbend") / "glossary.toml").read_text(encoding="utf-8")
    terms: dict[str, str] = tomllib.loads(text)
    return terms


def explain(term: str) -> tuple[str, str]:
    """Return a term and its definition, whatever the case and the plural.

    Raises KeyError with the nearest terms for a term that is not there.

    Examples
    --------
    >>> explain("Landmark")[0]
    'landmarks'
    """
    terms = read_terms()
    known = {name.lower(): name for name in terms}
    word = term.strip().lower().replace("neighbor", "neighbour").replace("ize", "ise")
    for candidate in (word, f"{word}s", word.removesuffix("s")):
        if candidate in known:
            return known[candidate], terms[known[candidate]]
    near = [name for name in known if word and word in name] or get_close_matches(word, known)
    raise KeyError(", ".join(known[name] for name in near[:5]))
