"""The command that is suggested next runs as it stands, whatever files and columns are called."""

import csv
import shlex

import numpy as np
import pytest

from tests.cli.program import unbend
from unbend.cli import messages
from unbend.cli.messages import shell_word
from unbend.cli.options import DataOptions

TABLE, KIND, NAME = "my data é;.csv", "kind of <thing>", "row's name"
ASIDE = ("--label", KIND, "--id", NAME, "--ignore", "left out")


@pytest.fixture
def folder(tmp_path):
    """Make a table with columns of text that must be named again."""
    rng = np.random.default_rng(0)
    with open(tmp_path / TABLE, "w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow([NAME, "a", "b", "c", "left out", KIND])
        for row, numbers in enumerate(rng.normal(size=(60, 3))):
            lines.writerow([f"r{row}", *numbers, "text", "even" if row % 2 else "odd"])
    return tmp_path


def followed(monkeypatch, folder, *words):
    """Run a command; return the words of the one that it suggests next."""
    with monkeypatch.context() as patch:
        patch.setattr(messages, "at_terminal", lambda: True)
        patch.setattr("unbend.progress_bars.Stages.__call__", lambda *_: None)
        lines = unbend(*words, cwd=folder).stderr.decode().splitlines()
    (command,) = [line.removeprefix("Next: ") for line in lines if line.startswith("Next: ")]
    program, *following = shlex.split(command)
    assert program == "unbend"
    return following


@pytest.mark.parametrize(
    "words",
    [
        ("dimension", TABLE, *ASIDE, "--estimators", "pca"),
        ("suggest", TABLE, *ASIDE, "--missing", "drop"),
        ("graph", TABLE, *ASIDE, "-k", "6"),
        ("bench", TABLE, *ASIDE, "--methods", "pca", "--repeat", "1"),
        ("compare", TABLE, *ASIDE, "--methods", "pca"),
        ("embed", TABLE, *ASIDE, "--method", "pca", "-o", "my flat.csv"),
        ("embed", TABLE, *ASIDE, "--method", "pca"),
    ],
    ids=lambda words: words[0],
)
def test_the_next_step_runs(words, folder, monkeypatch):
    following = followed(monkeypatch, folder, *words)
    unbend(*following, cwd=folder)


def test_after_quality_comes_the_picture(folder, monkeypatch):
    unbend("embed", TABLE, *ASIDE, "--method", "pca", "-o", "my flat.csv", cwd=folder)
    words = ("quality", TABLE, "my flat.csv", *ASIDE)
    unbend(*followed(monkeypatch, folder, *words), cwd=folder)
    assert (folder / "flat.png").stat().st_size > 1000


def test_names_are_words_of_the_shell_and_no_options():
    assert shell_word("-x.csv") == "./-x.csv"
    assert shlex.split(shell_word("a b;'c'.csv")) == ["a b;'c'.csv"]
    assert shell_word("-") == "TABLE"
    given = DataOptions(label="k", ignore=("a b", "c"), missing="drop").words()
    assert shlex.split(given) == ["--label", "k", "--ignore", "a b,c", "--missing", "drop"]
