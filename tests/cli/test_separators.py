"""Every command that reads a table of text takes the separator of its fields."""

import numpy as np
import pytest

from tests.cli.program import sentence, table_of, unbend

COMMANDS = {
    "embed": ("embed", "{}", "--label", "kind", "--ignore", "row", "-o", "out.csv"),
    "suggest": ("suggest", "{}", "--label", "kind", "--ignore", "row", "--json"),
    "compare": (
        "compare",
        "{}",
        "--label",
        "kind",
        "--ignore",
        "row",
        "--methods",
        "pca",
        "--json",
    ),
    "dimension": ("dimension", "{}", "--label", "kind", "--ignore", "row", "--json"),
    "graph": ("graph", "{}", "--label", "kind", "--ignore", "row", "--json"),
    "plot": ("plot", "{}", "--label", "kind", "--ignore", "row", "-o", "flat.png"),
    "bench": ("bench", "{}", "--label", "kind", "--ignore", "row", "--methods", "pca", "--json"),
    "quality": ("quality", "{}", "roll.csv", "--label", "kind", "--ignore", "row", "--json"),
}


@pytest.fixture
def colons(folder):
    """Give the folder with the table once more, separated by what is never found by itself."""
    text = (folder / "roll.csv").read_text()
    (folder / "colons.txt").write_text(text.replace(",", ":"))
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_reads_the_same_table_by_its_separator(command, colons):
    words = COMMANDS[command]
    output = unbend(*(word.format("roll.csv") for word in words), cwd=colons)
    made = {path.name: path.read_bytes() for path in colons.iterdir()}
    other = unbend(*(word.format("colons.txt") for word in words), "--separator", ":", cwd=colons)
    if command in ("suggest", "dimension", "graph", "quality"):
        assert output.stdout.replace(b"roll.csv", b"") == other.stdout.replace(b"colons.txt", b"")
    for name in {"embed": ["out.csv"], "plot": ["flat.png"]}.get(command, []):
        assert (colons / name).read_bytes() == made[name]


@pytest.mark.usefixtures("undrawn")
def test_the_page_reads_a_table_by_its_separator(colons):
    words = ("report", "colons.txt", "--label", "kind", "--ignore", "row", "-o", "page.html")
    unbend(*words, "--separator", ":", cwd=colons)
    page = (colons / "page.html").read_text()
    assert "--separator :" in page
    assert "separator=&#x27;:&#x27;" in page or "separator=':'" in page


def test_new_samples_texts_and_distances_take_it_too(colons):
    output = ("embed", "roll.csv", "--method", "pca", "--label", "kind", "--id", "row")
    unbend(*output, "--model", "m.unbend", "-o", "flat.csv", cwd=colons)
    words = ("transform", "m.unbend", "colons.txt", "--separator", ":")
    unbend(*words, "-o", "new.csv", cwd=colons)
    header, rows = table_of(colons / "new.csv")
    _, fitted = table_of(colons / "flat.csv")
    assert header == ["row", "pca_1", "pca_2"]
    np.testing.assert_allclose(
        np.array([row[1:] for row in rows], float), np.array([row[1:3] for row in fitted], float)
    )
    (colons / "apart.txt").write_text("0:1:1.0\n1:2:1.5\n0:2:2.0\n2:3:1.0\n1:3:2.2\n0:3:2.9\n")
    for command in (("embed", "--distances", "--method", "classical_mds"), ("localize",)):
        words = (command[0], "apart.txt", *command[1:], "--separator", ":")
        assert unbend(*words, cwd=colons).stdout.count(b"\n") == 5
    lines = ["id:body", *(f"{k}:red green {k} blue, black" for k in range(12))]
    (colons / "texts.txt").write_text("\n".join(lines))
    words = (
        "--text-column",
        "body",
        "--separator",
        ":",
        "--method",
        "pca",
        "--svd-solver",
        "arpack",
    )
    done = unbend("embed", "texts.txt", *words, "-d", "1", cwd=colons)
    assert done.stdout.count(b"\n") == 13


def test_tabs_and_spaces_are_typed_as_words(tmp_path):
    (tmp_path / "t.txt").write_text(
        "a\tb\tc\n" + "".join(f"{k}\t{k % 3}\t{k % 5}\n" for k in range(20))
    )
    for typed in ("tab", "\\t", "\t"):
        done = unbend("embed", "t.txt", "--method", "pca", "--separator", typed, cwd=tmp_path)
        assert done.stdout.count(b"\n") == 21
    (tmp_path / "s.txt").write_text((tmp_path / "t.txt").read_text().replace("\t", "  "))
    same = unbend("embed", "s.txt", "--method", "pca", "--separator", "space", cwd=tmp_path)
    assert same.stdout == done.stdout


def test_the_table_of_texts_comes_through_a_pipe(tmp_path):
    rows = "".join(f"{k},n{k},alpha {k} beta word{k % 4} other{k % 3}\n" for k in range(30))
    words = ("embed", "-", "--text-column", "body", "--method", "pca", "--svd-solver", "arpack")
    done = unbend(*words, stdin=f"id,name,body\n{rows}".encode(), cwd=tmp_path)
    assert done.stdout.count(b"\n") == 31


def test_separators_that_cannot_be_are_refused(colons):
    for typed in ("::", "comma", '"', ""):
        words = ("embed", "roll.csv", "--separator", typed)
        assert "must be one character" in sentence(unbend(*words, cwd=colons, code=2))
    np.save(colons / "t.npy", np.eye(5))
    output = sentence(unbend("embed", "t.npy", "--separator", ";", cwd=colons, code=1))
    assert "--separator ';' is for text files" in output
    (colons / "short.csv").write_text("a,b\n1,2\n3\n")
    output = sentence(unbend("embed", "short.csv", cwd=colons, code=1))
    assert "correct the line, or give --separator" in output
