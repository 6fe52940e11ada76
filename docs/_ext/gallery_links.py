"""Which examples of the gallery use which classes."""

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "gallery"
SHOWN = 3


@dataclass(frozen=True)
class Example:
    """An example: its title, its page below `gallery/`, and the names of `unbend` that it uses."""

    title: str
    page: str
    names: frozenset[str]

    @property
    def is_long(self) -> bool:
        """Whether the normal build leaves it out."""
        return "/long_" in self.page


@cache
def read_examples() -> tuple[Example, ...]:
    """Read all examples, in the order of their names."""
    found = []
    for path in sorted(EXAMPLES.glob("*/*.py")):
        text = path.read_text(encoding="utf-8")
        title = (ast.get_docstring(ast.parse(text)) or "").split("\n")[0]
        page = path.relative_to(EXAMPLES).with_suffix("").as_posix()
        names = frozenset(re.findall(r"\bunbend\.([A-Za-z]+)", text))
        found.append(Example(title, page, names))
    return tuple(found)


def examples_of(class_name: str) -> list[Example]:
    """Return up to three examples of a class: those that run, and use few others, first."""
    using = [one for one in read_examples() if class_name in one.names]
    return sorted(using, key=lambda one: (one.is_long, len(one.names)))[:SHOWN]
