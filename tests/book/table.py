"""The page docs/book/items.md from `items.txt`: ``python -m tests.book.table`` writes it."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "book" / "items.md"
ITEMS = Path(__file__).with_name("items.txt")
OPEN = "open: "
HEAD = """# The book, item by item

Each line is an algorithm, option, formula, figure or application of the source documents: its
section, the public name, and the tests that check it against an independent formula, another
library or a law. "Book" is J. Wang, *Geometric Structure of High-Dimensional Data and
Dimensionality Reduction*, Springer (2012); notes, slides and derivations accompany it. Names belong
to `unbend`; names that begin with `unbend` are commands. `python -m tests.book.table` writes this
page from `tests/book/items.txt`, and `tests/book/test_items.py` checks that every name and every
test exists.

{count} items, {tested} with a test, {left} open.

| section | item | public name | tests |
|---|---|---|---|
"""


@dataclass(frozen=True)
class Item:
    """One item of the book."""

    section: str
    text: str
    names: tuple[str, ...]
    tests: tuple[str, ...]

    @property
    def is_open(self) -> bool:
        return self.tests[0].startswith(OPEN)


def read_items() -> list[Item]:
    items = []
    for line in ITEMS.read_text(encoding="utf-8").splitlines():
        section, text, names, tests = (field.strip() for field in line.split(" | "))
        names_of_item = tuple(re.split(r", (?![^(]*\))", names))
        several = (tests,) if tests.startswith(OPEN) else tuple(tests.split(", "))
        items.append(Item(section, text, names_of_item, several))
    return items


def page() -> str:
    items = read_items()
    left = sum(item.is_open for item in items)
    lines = [HEAD.format(count=len(items), tested=len(items) - left, left=left)]
    for item in items:
        names = ", ".join(f"`{name}`" for name in item.names)
        tests = "<br>".join(
            test if item.is_open else f"`{test.removeprefix('tests/')}`" for test in item.tests
        )
        lines.append(f"| {item.section} | {item.text} | {names} | {tests} |\n")
    return "".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
