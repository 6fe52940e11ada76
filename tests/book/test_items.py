"""Every item of the book has a public name and a test, both of which exist."""

import re
from functools import cache
from importlib import import_module
from inspect import cleandoc

import pytest

import unbend
from tests.book.table import PAGE, ROOT, page, read_items
from unbend.cli.app import COMMANDS
from unbend.neighbors import METRICS

ITEMS = read_items()


@cache
def list_tests(file):
    return set(re.findall(r"^def (test_\w+)", (ROOT / file).read_text(encoding="utf-8"), re.M))


def exists(name):
    """Whether a public name, a metric, a command or a file of the table is there."""
    if name.startswith("metric="):
        return name.split("'")[1] in METRICS
    if name.startswith("unbend "):
        return name.split()[1] in {command.function.__name__ for command in COMMANDS}
    if name.startswith(("docs/", "examples/")):
        return (ROOT / name).is_file()
    return resolves(name)


def resolves(name):
    """Whether a dotted name leads to something, and the parameter after it is declared."""
    path, _, call = name.partition("(")
    found = unbend
    for part in path.split("."):
        if part.endswith("_"):
            return part in (found.__doc__ or "") or hasattr(found, part)
        if not hasattr(found, part):
            try:
                found = import_module(f"{found.__name__}.{part}")
            except (AttributeError, ModuleNotFoundError):
                return False
        else:
            found = getattr(found, part)
    parameter = re.match(r"(\w+)=", call)
    return parameter is None or f"\n{parameter[1]} :" in cleandoc(found.__doc__ or "")


def test_the_table_has_every_item_of_the_audit():
    assert len(ITEMS) == 186
    assert not any(item.is_open for item in ITEMS)


def test_every_public_name_exists():
    missing = [name for item in ITEMS for name in item.names if not exists(name)]
    assert not missing


def test_every_test_exists():
    missing = []
    for test in (test for item in ITEMS if not item.is_open for test in item.tests):
        file, _, name = test.partition("::")
        if not (ROOT / file).is_file() or name not in list_tests(file):
            missing.append(test)
    assert not missing


def test_the_page_is_the_one_of_the_table():
    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize(
    "name",
    ["unbend.nothing", "PCA(solver=)", "metric='far'", "unbend dance", "docs/none.md", "PCA.none_"],
)
def test_names_that_do_not_exist_are_found(name):
    assert not exists(name)
