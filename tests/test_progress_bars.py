"""Bars of the stages: in a terminal, in a notebook, and where nobody looks."""

import io
import os
import pty
import select
import subprocess
import sys
import time
import types

import pytest
from rich.console import Console
from rich.progress import Progress as Bars

import unbend
from tests.conformance.cases import curve
from unbend.progress import MIN_SECONDS, Cancelled, Pace, Progress
from unbend.progress_bars import Stages, in_notebook, stage_bars, watched_by


def test_a_bar_shows_the_time_left_of_its_stage_until_it_is_done():
    bars = Bars(console=Console(file=io.StringIO()))
    moved = Stages(bars)
    moved(Progress("kernel", 0, 4))
    began = time.monotonic()
    time.sleep(1.1 * MIN_SECONDS)
    moved(Progress("kernel", 1, 4))
    (bar,) = bars.tasks
    # Three quarters are left, so three times what the first took.
    assert abs(float(bar.fields["left"].split()[0]) - 3 * (time.monotonic() - began)) < 1
    assert (bar.completed, bar.total) == (0.25, 1)
    moved(Progress("kernel", 1, 1))
    assert bar.fields["left"] == ""
    assert bar.finished


def test_a_stage_that_comes_again_keeps_its_bar():
    bars = Bars(console=Console(file=io.StringIO()))
    moved = Stages(bars)
    for stage in ("kernel", "spectrum", "kernel"):
        moved(Progress(stage, 0, 1))
        moved(Progress(stage, 1, 1))
    assert [bar.description for bar in bars.tasks] == ["kernel", "spectrum"]


def test_every_stage_has_a_bar_that_is_full_in_the_end():
    bars = stage_bars()
    with watched_by(Stages(bars)):
        model = unbend.LTSA(n_neighbors=8).fit(curve(300))
    assert [bar.description for bar in bars.tasks] == [s.name for s in model.report_.stages]
    assert all(bar.finished for bar in bars.tasks)


def test_the_callback_around_the_bars_may_cancel():
    bars = stage_bars()
    with pytest.raises(Cancelled), unbend.monitoring(lambda progress: progress.stage != "kernel"):  # noqa: SIM117
        with watched_by(Stages(bars)):
            unbend.LTSA(n_neighbors=8).fit(curve(300))
    assert [bar.description for bar in bars.tasks] == ["neighbors", "graph", "kernel"]


def test_nothing_is_shown_on_a_stream_that_is_no_terminal(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    with unbend.progress_bar():
        unbend.PCA().fit(curve(60))
    assert stream.getvalue() == ""


SCRIPT = """
import sys, unbend
X = unbend.datasets.swiss_roll(300, random_state=0).points
with unbend.progress_bar():
    unbend.LTSA(n_neighbors=8).fit(X)
    print("fitted")
"""


def run_at_terminal(script):
    """Return what a script writes to a pipe as stdout, and to a terminal as stderr."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=follower, env=environment
    ) as running:
        out, shown = b"", ""
        while running.poll() is None or select.select([leader], [], [], 0.2)[0]:
            if select.select([leader], [], [], 0.2)[0]:
                shown += os.read(leader, 100_000).decode()
        out = running.stdout.read()
    os.close(follower)
    os.close(leader)
    assert running.returncode == 0, shown
    return out.decode(), shown


def test_a_terminal_shows_bars_that_are_gone_in_the_end():
    out, shown = run_at_terminal(SCRIPT)
    # What the script prints stays on its standard output.
    assert out == "fitted\n"
    for stage in ("neighbors", "kernel", "spectrum", "coordinates"):
        assert stage in shown
    # The cursor comes back, and every line that was drawn last is erased.
    assert "\x1b[?25h" in shown[shown.rindex("\x1b[?25l") :]
    last = shown[shown.rindex("coordinates") :]
    assert last.count("\x1b[2K") >= 4
    assert not any(letter.isalpha() for letter in last[last.rindex("\x1b[2K") + 4 :])


def test_without_rich_the_work_runs_and_one_message_names_the_package():
    out, shown = run_at_terminal("import sys; sys.modules['rich'] = None\n" + SCRIPT)
    assert out == "fitted\n"
    sentence = "unbend.progress_bar needs rich and shows no progress without it"
    assert shown.count(sentence) == 1
    assert "pip install 'unbend[cli]'" in shown
    assert "<string>:5" in shown


def test_a_notebook_is_known_by_its_kernel(monkeypatch):
    shell = types.SimpleNamespace(kernel=object())
    fake = types.SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", fake)
    assert in_notebook()
    shell.kernel = None
    assert not in_notebook()


def test_the_time_left_follows_the_pace_of_the_running_loop():
    now = 0.0
    pace = Pace(clock=lambda: now)
    assert pace(Progress("paths", 0, 1)).left is None
    for second in range(1, 10):
        now = float(second)
        status = pace(Progress("paths", second, 10))
        assert status.left == pytest.approx(10 - second)
        assert status.seconds == second
    assert pace(Progress("paths", 10, 10)).left == 0
    # A second loop of the stage counts from its own beginning.
    now = 20.0
    assert pace(Progress("paths", 0, 4)).left is None
    now = 22.0
    assert pace(Progress("paths", 1, 4)).left == pytest.approx(6)
    # A stage that begins in the middle of its count is judged by what it does from there.
    now = 30.0
    assert pace(Progress("spectrum", 5, 10)).left is None
    now = 34.0
    status = pace(Progress("spectrum", 7, 10))
    assert (status.seconds, status.left) == (4.0, pytest.approx(6))
    assert pace(Progress("empty", 0, 0)).share == 0
