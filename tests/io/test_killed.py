"""Processes killed at any line leave a set of files whole, or one that the next write completes."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import unbend
from tests.storage.cases import POINTS
from unbend import files, journal
from unbend.files import atomic_folder, atomic_write, write_together

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and kill")
SOURCES = (files.__file__, journal.__file__)
NAMES = ("table.csv", "model.unbend", "picture.png")


def write_set(folders: list[Path], word: str) -> None:
    with write_together():
        for folder, name in zip(folders, NAMES, strict=True):
            with atomic_write(folder / name) as temporary:
                temporary.write_text(word)


def run_killed(work: Callable[[], None], at: int) -> bool:
    """Run in a child that is killed at a line of the modules that write; whether it was."""
    child = os.fork()
    if child == 0:
        lines = 0

        def trace(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal lines
            if frame.f_code.co_filename not in SOURCES:
                return None
            if event == "line":
                lines += 1
                if lines == at:
                    os.kill(os.getpid(), signal.SIGKILL)
            return trace

        sys.settrace(trace)
        try:
            work()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def read_set(folders: list[Path]) -> set[str | None]:
    paths = [folder / name for folder, name in zip(folders, NAMES, strict=True)]
    return {path.read_text() if path.exists() else None for path in paths}


def entries(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "places",
    [
        pytest.param((".", ".", "."), id="one folder"),
        pytest.param((".", "a", "a"), id="two folders", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("before", ["old", pytest.param(None, marks=pytest.mark.slow)])
@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_a_set_is_whole_or_completed_wherever_its_writer_is_killed(
    places: tuple[str, ...], before: str | None, step: int, tmp_path: Path
) -> None:
    ends, mixed, at = set(), 0, 1
    while True:
        root = tmp_path / str(at)
        folders = [root / place for place in places]
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        if before is not None:
            write_set(folders, before)
        killed = run_killed(lambda: write_set(folders, "new"), at)  # noqa: B023
        found = read_set(folders)
        if len(found) > 1:
            # What is not whole can be recognised.
            mixed += 1
            assert list(root.rglob(".unbend-*.journal"))
        for folder in folders:
            journal.recover(folder)
        (whole,) = read_set(folders)
        ends.add(whole)
        assert entries(root) == (set() if whole is None else set(NAMES))
        if not killed:
            break
        at += step
    assert ends == {before, "new"}
    assert mixed


def test_the_next_write_and_the_next_load_complete_a_set(tmp_path: Path) -> None:
    old, new = unbend.PCA(n_components=1).fit(POINTS), unbend.PCA(n_components=2).fit(POINTS)

    def write(model: Any, word: str) -> None:
        with write_together():
            model.save(tmp_path / "model.unbend")
            with atomic_write(tmp_path / "table.csv") as temporary:
                temporary.write_text(word)

    seen, at = set(), 1
    while True:
        write(old, "old")
        if not run_killed(lambda: write(new, "new"), at):
            break
        # The table is renamed first.
        before = (tmp_path / "table.csv").read_text()
        model = unbend.load(tmp_path / "model.unbend")
        after = (tmp_path / "table.csv").read_text()
        assert model.n_components == {"old": 1, "new": 2}[after]
        seen.add((before, after))
        assert entries(tmp_path) == {"model.unbend", "table.csv"}
        at += 20
    assert seen >= {("old", "old"), ("new", "new")}


def test_temporaries_of_killed_writers_are_removed_and_those_of_others_are_not(
    tmp_path: Path,
) -> None:
    def die() -> None:
        with atomic_write(tmp_path / "table.csv") as temporary:
            temporary.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)

    assert run_killed(die, -1)
    assert len(entries(tmp_path)) == 2  # the temporary and its journal
    with atomic_write(tmp_path / "live.csv") as live:
        live.write_text("live")
        (tmp_path / ".mine.csv").write_text("hidden")
        with write_together():
            write_set([tmp_path] * 3, "new")
        assert live.exists()
    assert entries(tmp_path) == {"live.csv", ".mine.csv", *NAMES}


def test_of_writers_to_the_same_files_one_wins_whole(tmp_path: Path) -> None:
    children = []
    for word in "abcd":
        child = os.fork()
        if child == 0:
            status = 1
            try:
                for _ in range(25):
                    write_set([tmp_path] * 3, word)
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)
    assert len(read_set([tmp_path] * 3)) == 1
    assert entries(tmp_path) == set(NAMES)


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_a_folder_is_the_old_or_the_new_one(step: int, tmp_path: Path) -> None:
    def write(root: Path, word: str) -> None:
        with atomic_folder(root / "rows") as rows:
            (rows / "part").write_text(word)

    ends, at = set(), 1
    while True:
        root = tmp_path / str(at)
        root.mkdir()
        write(root, "old")
        killed = run_killed(lambda: write(root, "new"), at)  # noqa: B023
        journal.recover(root)
        assert entries(root) == {"part"}
        ends.add((root / "rows" / "part").read_text())
        if not killed:
            break
        at += step
    assert ends == {"old", "new"}


def test_a_journal_leads_to_no_other_files(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    for path in (tmp_path / "x.txt", inner / "y.txt"):
        path.write_text("kept")
    lines = [
        '{"temporary": "../x.txt"}', '{"temporary": "y.txt"}', '{"temporary": 3}', "half {",
        '{"renames": [["y.txt", "../x.txt", null], ["y.txt"], [".abc", "..", null]]}', "[1]",
    ]  # fmt: skip
    (inner / ".unbend-abc.journal").write_text("\n".join(lines))
    journal.recover(inner)
    assert entries(tmp_path) == {"x.txt", "y.txt"}
    assert (tmp_path / "x.txt").read_text() == "kept"
