"""Examples of the gallery state a conclusion, check it with a number, and cover the book."""

import ast
import re
import runpy
from pathlib import Path

import matplotlib as mpl
import pytest

from unbend.registry import CLASSIFIERS, CLUSTERINGS, METHODS, SEVERAL

mpl.use("agg")
ROOT = Path(__file__).parent.parent
GALLERY = ROOT / "examples" / "gallery"
EXAMPLES = sorted(GALLERY.glob("*/*.py"))
SHORT = [path for path in EXAMPLES if path.name.startswith("short_")]
# Run by default; `make docs` runs all short ones, and so do the slow tests.
QUICK = ("short_city_map", "short_colour_circle")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_title_a_conclusion_and_a_checked_number(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    title, rule, *rest = (ast.get_docstring(tree) or "").split("\n")
    assert set(rule) == {"="}
    assert len(rule) == len(title)
    assert "What to conclude:" in "\n".join(rest)
    assert re.fullmatch(r"(short|long)_[a-z_]+", path.stem)
    assert any(isinstance(node, ast.Assert) for node in ast.walk(tree))
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert any(isinstance(call, ast.Name) and call.id == "print" for call in calls)


def test_every_group_has_a_heading_and_a_short_example():
    for folder in {path.parent for path in EXAMPLES}:
        assert (folder / "README.rst").exists()
        assert list(folder.glob("short_*.py"))


def test_every_method_is_used_by_an_example():
    text = "\n".join(path.read_text(encoding="utf-8") for path in SHORT)
    for entry in (*METHODS, *SEVERAL, *CLUSTERINGS, *CLASSIFIERS):
        assert re.search(rf"unbend\.{entry.class_name}\b", text), entry.class_name


def test_every_application_of_the_book_has_an_example():
    table = (ROOT / "docs" / "book" / "applications.md").read_text(encoding="utf-8")
    sections = set(re.findall(r"\b\d+\.\d+(?:\.\d+)?\b", " ".join(
        line.split("|")[1] for line in table.splitlines() if line.startswith("| ") and "`" in line
    )))  # fmt: skip
    assert len(sections) > 10
    texts = " ".join(path.read_text(encoding="utf-8") for path in EXAMPLES)
    assert {one for one in sections if one not in texts} == set()


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=() if path.stem in QUICK else pytest.mark.slow, id=path.stem)
        for path in SHORT
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_example_runs_and_its_conclusion_holds(path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(ROOT / "examples")
    names = runpy.run_path(str(path))
    assert isinstance(names["figure"], mpl.figure.Figure)
    assert re.search(r"\d", capsys.readouterr().out) or "true order" in path.read_text()
