"""The program, run as users run it, or in this process where only its answers matter."""

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path

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


def unbend(*words, cwd=".", code=0):
    """Run the program in this process, which has loaded scikit-learn already."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    where, to, told = (
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    )
    with where, to, told:
        returned = main([str(word) for word in words])
        out.flush()
    assert returned == code, err.getvalue()
    told_to = err.getvalue().encode()
    return subprocess.CompletedProcess(words, returned, out.buffer.getvalue(), told_to)


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
