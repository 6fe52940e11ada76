"""The program at a terminal, in a pipe, interrupted, and without its libraries."""

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import pytest

import unbend as library
from tests.cli.program import PROGRAM, QUIET_BLAS, program, unbend
from unbend.cli import WITHOUT_EXTRA

ESCAPE = b"\x1b"
ENVIRONMENT = {**os.environ, **QUIET_BLAS, "TERM": "xterm"}


def at_terminal(*words, cwd):
    """Run the program with stderr at a pseudo-terminal; return its stdout and what was shown."""
    here, there = pty.openpty()
    command = [*PROGRAM, *map(str, words)]
    with (
        tempfile.TemporaryFile() as out,
        subprocess.Popen(command, cwd=cwd, stdout=out, stderr=there, env=ENVIRONMENT) as running,
    ):
        os.close(there)
        shown = b""
        # A terminal whose other end has closed is an error, not an end of file.
        with contextlib.suppress(OSError):
            while part := os.read(here, 1 << 16):
                shown += part
        os.close(here)
        assert running.wait() == 0, shown
        out.seek(0)
        return out.read(), shown


@pytest.fixture
def large(tmp_path):
    """Make a table that takes a moment."""
    np.save(tmp_path / "large.npy", library.datasets.swiss_roll(4000, random_state=0).points)
    return tmp_path


def test_a_terminal_shows_every_stage_and_the_next_step(large):
    out, shown = at_terminal("embed", "large.npy", "-o", "flat.csv", cwd=large)
    assert out == b""
    assert ESCAPE in shown
    for stage in ("reading", "neighbors", "graph", "kernel", "spectrum", "coordinates", "writing"):
        assert stage.encode() in shown, stage
    assert b"Next: unbend quality large.npy flat.csv" in shown
    # The cursor that the bars hide comes back.
    assert shown.rindex(b"\x1b[?25h") > shown.rindex(b"\x1b[?25l")


def test_results_on_stdout_hold_no_control_characters_even_then(large):
    done = unbend("embed", "large.npy", "--method", "pca", cwd=large, terminal=["stderr"])
    assert ESCAPE not in done.stdout
    assert len(done.stdout.splitlines()) == 4001
    assert b"4000 rows" in done.stderr
    assert ESCAPE in done.stderr


def test_quiet_shows_nothing_at_a_terminal(large):
    words = ("embed", "large.npy", "--method", "pca", "-o", "flat.csv", "--quiet")
    done = unbend(*words, cwd=large, terminal=["stderr"])
    assert (done.stdout, done.stderr) == (b"", b"")


def test_nothing_moves_where_nobody_watches(large):
    done = unbend("embed", "large.npy", "--method", "ltsa", "-o", "flat.csv", cwd=large)
    assert ESCAPE not in done.stderr + done.stdout
    assert b"Next:" not in done.stderr
    assert done.stderr.decode().splitlines()[0] == "wrote flat.csv"


def test_commands_are_joined_by_pipes(tmp_path):
    made = unbend("surface", "s_curve", "-n", 200)
    words = ("embed", "-", "--method", "ltsa", "--ignore", "chart_1,chart_2")
    # In a process: what comes through a pipe has an end only there.
    result = program(*words, "-o", "-", stdin=made.stdout)
    header, *rows = result.stdout.decode().splitlines()
    assert header == "ltsa_1,ltsa_2"
    expected = library.LTSA().fit_transform(library.datasets.s_curve(200, random_state=0).points)
    assert np.array_equal([[float(x) for x in row.split(",")] for row in rows], expected)
    (tmp_path / "curve.csv").write_bytes(made.stdout)
    words = ("quality", "curve.csv", "-", "--truth", "chart_1,chart_2", "--json")
    facts = json.loads(unbend(*words, stdin=result.stdout, cwd=tmp_path).stdout)
    assert facts["procrustes_affine"] < 0.01


@pytest.mark.parametrize(
    ("words", "code"), [(("embed", "none.csv"), 1), (("embed", "--metod", "pca"), 2)]
)
def test_the_process_ends_with_the_code_of_the_error(words, code, tmp_path):
    done = program(*words, cwd=tmp_path, code=code)
    assert done.stdout == b""
    assert done.stderr.startswith(b"Error: ")


@pytest.mark.parametrize("words", [("methods",), ("surface", "square", "-n", "20000"), ("--help",)])
def test_a_reader_who_leaves_is_no_error(words):
    with subprocess.Popen(
        [*PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    ) as running:
        running.stdout.close()
        output = running.stderr.read()
    assert output in (b"", b"wrote -\n")
    assert running.returncode in (1, 141)


SLOW = pytest.mark.slow


# Reading, the kernels of a fit, LAPACK, writing: wherever it comes, Ctrl-C ends the program.
@pytest.mark.parametrize(
    "wait", [0.3, pytest.param(1.0, marks=SLOW), 2.5, pytest.param(4.0, marks=SLOW)]
)
def test_ctrl_c_ends_the_program_within_a_second_and_leaves_nothing(tmp_path, wait):
    points = library.datasets.swiss_roll(14_000, random_state=0).points
    np.save(tmp_path / "huge.npy", points)
    words = ("embed", "huge.npy", "-o", "flat.csv", "--model", "m.unbend", "--plot", "flat.png")
    code = "print('begun', flush=True); from unbend.cli import main; exit(main())"
    with subprocess.Popen(
        [sys.executable, "-c", code, *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    ) as running:
        assert running.stdout.readline() == b"begun\n"
        time.sleep(wait)
        running.send_signal(signal.SIGINT)
        began = time.monotonic()
        running.wait()
        seconds = time.monotonic() - began
        output = running.stderr.read()
    assert running.returncode == 130, output
    assert b"Traceback" not in output
    assert seconds < 1.5
    assert [file.name for file in tmp_path.iterdir()] == ["huge.npy"]


def test_ctrl_c_inside_code_that_does_not_look_for_it(tmp_path):
    """Uninterruptible work is left behind, with what it was writing."""
    code = f"""
import hashlib
from unbend.files import atomic_write
from unbend.cli.interrupts import prompt_interrupts
with prompt_interrupts(), atomic_write({str(tmp_path / "out.csv")!r}) as temporary:
    temporary.write_text("partial")
    print("begun", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"minutes", b"in C", 10**9)
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout.readline() == b"begun\n"
        time.sleep(0.2)
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=5) == 130
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_its_libraries_the_program_says_so_in_one_sentence(missing):
    code = f"import sys; sys.modules[{missing!r}] = None; from unbend.cli import main; exit(main())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == WITHOUT_EXTRA + "\n"


def test_the_program_is_installed_under_its_name():
    script = os.path.join(os.path.dirname(sys.executable), "unbend")
    output = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert output.stdout == f"unbend {library.__version__}\n"
