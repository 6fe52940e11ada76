"""The program: in this process, or in one of its own where the process itself is tested."""

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np

from unbend.cli import main

PROGRAM = [sys.executable, "-m", "unbend"]
QUIET_BLAS = {"OPENBLAS_NUM_THREADS": "1", "COLUMNS": "100"}


def program(*words, cwd=None, stdin=b"", stdout=subprocess.PIPE, code=0):
    """Run the program in a process of its own; its exit code must be as expected."""
    command = [*PROGRAM, *map(str, words)]
    environment = {**os.environ, **QUIET_BLAS}
    streams = {"stdout": stdout, "stderr": subprocess.PIPE}
    done = subprocess.run(command, cwd=cwd, input=stdin, env=environment, **streams)
    assert done.returncode == code, done.stderr.decode()
    return done


class Stream(io.TextIOWrapper):
    """Text in memory that may be taken for a terminal."""

    def __init__(self, content=b"", *, terminal=False):
        super().__init__(io.BytesIO(content), "utf-8", newline="", write_through=True)
        self._terminal = terminal

    def isatty(self):
        return self._terminal


def unbend(*words, cwd=".", stdin=b"", terminal=(), code=0):
    """Run the program in this process; some of its streams, by name, are taken for terminals."""
    out, err = (Stream(terminal=name in terminal) for name in ("stdout", "stderr"))
    with (
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        patch("sys.stdin", Stream(stdin)),
    ):
        returned = main([str(word) for word in words])
    printed, messages = out.buffer.getvalue(), err.buffer.getvalue()
    assert returned == code, messages.decode()
    return subprocess.CompletedProcess(words, returned, printed, messages)


def sentence(done):
    """Return the one line that tells what was wrong."""
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("Error: ")
    return line


def table_of(path):
    """Read the header and the rows of a CSV file by hand."""
    header, *lines = Path(path).read_text().splitlines()
    return header.split(","), [line.split(",") for line in lines]


def numbers(path, names):
    """Return some columns of a CSV file as numbers."""
    header, rows = table_of(path)
    places = [header.index(name) for name in names]
    return np.array([[float(row[place]) for place in places] for row in rows])
