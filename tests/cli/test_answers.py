"""Answers are valid and in one sentence, and what is not ours is left alone."""

import contextlib
import json
import os
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

    told = json.loads(capsys.readouterr().out, parse_constant=refuse)
    assert told == {"a": [None, 1.5], "b": None, "c": [1, 2]}


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
        assert len(list(tmp_path.iterdir())) == 2
        interrupts._end()
        (left,) = tmp_path.iterdir()
        assert stat.S_ISFIFO(left.stat().st_mode)


def test_a_closed_or_full_stdout_is_told_in_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout", None)
    assert main(["methods"]) == 1
    assert capsys.readouterr().err == "Error: stdout is closed: open it, or send it to a file\n"
    monkeypatch.undo()
    with open("/dev/full", "wb") as full:
        done = program("methods", stdout=full, code=1)
    assert sentence(done) == "Error: No space left on device"
