"""Answers are valid and in one sentence, and what is not ours is left alone."""

import contextlib
import json
import os
import signal
import stat

import numpy as np

from tests.cli.program import program, sentence
from unbend import files
from unbend.cli import interrupts, main
from unbend.cli.messages import emit_json


def test_json_holds_no_word_that_json_does_not_have(capsys):
    emit_json({"a": [np.nan, 1.5], "b": np.float64(np.inf), "c": np.array([1, 2])})

    def refuse(word):
        raise AssertionError(word)

    output = json.loads(capsys.readouterr().out, parse_constant=refuse)
    assert output == {"a": [None, 1.5], "b": None, "c": [1, 2]}


def test_an_interrupt_removes_temporary_files_and_neither_pipes_nor_devices(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe.csv")
    monkeypatch.setattr(os, "_exit", lambda code: None)
    with (
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stderr(nowhere),
        contextlib.suppress(FileNotFoundError),
        files.write_together(),
    ):
        for name in ("pipe.csv", "a[1].csv"):
            with files.atomic_write(tmp_path / name) as temporary:
                temporary.touch()
        assert len(list(tmp_path.iterdir())) == 3  # the pipe, a temporary and its journal
        interrupts._end()
        (left,) = tmp_path.iterdir()
        assert stat.S_ISFIFO(left.stat().st_mode)


def test_a_closed_or_full_stdout_is_reported_in_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout", None)
    assert main(["methods"]) == 1
    assert capsys.readouterr().err == "Error: stdout is closed: open it, or send it to a file\n"
    monkeypatch.undo()
    with open("/dev/full", "wb") as full:
        done = program("methods", stdout=full, code=1)
    assert sentence(done) == "Error: No space left on device"


def test_a_closed_stdin_is_reported_in_one_sentence(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", None)
    assert main(["embed", "-"]) == 1
    assert capsys.readouterr().err == "Error: stdin is closed: name a file, or send one to stdin\n"


def test_sigterm_while_writing_leaves_no_temporary_files(folder, monkeypatch, capsys):
    (folder / "flat.csv").write_text("old")
    before = signal.getsignal(signal.SIGTERM)

    def terminate(target, *_, **__):
        with files.atomic_write(target) as temporary:
            temporary.write_text("half")
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr("unbend.io.write", terminate)
    table, model = str(folder / "roll.csv"), str(folder / "m.unbend")
    options = ["--id", "row", "--label", "kind", "--model", model]
    assert main(["embed", table, *options, "-o", str(folder / "flat.csv")]) == 130
    assert capsys.readouterr().err.endswith("Interrupted: nothing was written.\n")
    assert sorted(path.name for path in folder.iterdir()) == ["flat.csv", "roll.csv"]
    assert (folder / "flat.csv").read_text() == "old"
    assert signal.getsignal(signal.SIGTERM) is before
