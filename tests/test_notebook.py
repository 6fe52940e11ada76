"""What a notebook shows: models with their reports, and progress in place."""

import io
import os
import pty
import select
import sys
import types
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline

import unbend
from tests.conformance.cases import EVERY, curve
from unbend.bars import NotebookBar, TerminalLine, find_display
from unbend.progress import Cancelled, Pace, Progress, Status
from unbend.report import Report, Stage


class Page(HTMLParser):
    """Text and tags of a page; every tag that is opened must be closed."""

    VOID = ("meta", "br", "input", "link", "img")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text, self.tags, self.open = "", [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@EVERY
def test_a_fitted_model_shows_its_report(method: Any) -> None:
    model = method()
    assert "unbend-report" not in model._repr_html_()
    model.fit(curve(60))
    page = Page(model.report_._repr_html_())
    assert model._repr_html_().endswith(model.report_._repr_html_())
    assert page.text.startswith(method.__name__)
    for stage in model.report_.stages:
        assert f"{stage.seconds:.3f}" in page.text
        assert all(name in page.text for name in stage.facts)
    assert model._repr_mimebundle_()["text/html"].count("unbend-report") == 1
    assert "class='unbend-report'" not in make_pipeline(model)._repr_html_()
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")


def test_clusters_and_reloaded_models_show_it_too(tmp_path: Any) -> None:
    model = unbend.SpectralClustering(n_clusters=2).fit(curve(60))
    model.save(tmp_path / "model.unbend", training=False)
    for one in (model, unbend.load(tmp_path / "model.unbend")):
        assert one.report_._repr_html_() in one._repr_html_()


def test_the_report_is_escaped_and_takes_the_colours_of_the_page() -> None:
    stage = Stage("<kernel>", 1.5, 2_500_000, {"a&b": "<i>", "values": [0.5, np.nan], "none": None})
    report = Report("<b>title</b>", [stage, stage], ["use <script>alert(1)</script>"])
    html = report._repr_html_()
    page = Page(html)
    assert not {"script", "b", "i", "kernel"} & set(page.tags)
    for words in (
        "<b>title</b>, 3.000 s",
        "<kernel>",
        "2.5 MB",
        "a&b <i>",
        "alert(1)",
        "none None",
    ):
        assert words in page.text
    assert "background:transparent" in html
    assert "color:inherit" in html
    assert "<ul" not in Report("quiet")._repr_html_()


class Recorded:
    """A display that remembers what it was shown."""

    def __init__(self) -> None:
        self.shown: list[Status] = []
        self.closed = 0

    def show(self, status: Status) -> None:
        self.shown.append(status)

    def close(self, seconds: float) -> None:
        self.closed += 1
        assert seconds >= 0


def test_a_bar_shows_every_stage_and_is_closed_once() -> None:
    display = Recorded()
    with unbend.progress_bar(display):
        model = unbend.LTSA(n_neighbors=8).fit(curve(300))
    stages = [stage.name for stage in model.report_.stages]
    shown = [status.stage for status in display.shown]
    assert list(dict.fromkeys(shown)) == stages
    assert [s.stage for s in display.shown if s.share == 1][-1] == stages[-1]
    assert all(0 <= status.share <= 1 for status in display.shown)
    assert display.closed == 1


def test_a_bar_is_closed_when_a_fit_fails_and_passes_cancelling_on() -> None:
    display = Recorded()
    with pytest.raises(Cancelled), unbend.monitoring(lambda progress: progress.stage != "kernel"):  # noqa: SIM117
        with unbend.progress_bar(display):
            unbend.LTSA(n_neighbors=8).fit(curve(300))
    assert display.closed == 1
    assert {status.stage for status in display.shown} == {"neighbors", "graph", "kernel"}


def test_the_time_left_follows_the_pace_of_the_running_loop() -> None:
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


def test_nobody_looks_at_a_stream_that_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    with unbend.progress_bar():
        unbend.PCA().fit(curve(60))
    assert find_display() is None
    assert stream.getvalue() == ""


def test_a_terminal_has_one_line_that_is_gone_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    leader, follower = pty.openpty()
    with os.fdopen(follower, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.delitem(sys.modules, "IPython", raising=False)
        assert isinstance(find_display(), TerminalLine)
        with unbend.progress_bar():
            unbend.LTSA(n_neighbors=8).fit(curve(300))
        written = ""
        while select.select([leader], [], [], 0.2)[0]:
            written += os.read(leader, 100_000).decode()
    os.close(leader)
    assert "neighbors" in written
    assert "100%" in written
    assert "\n" not in written
    assert written.endswith("\r\x1b[K")


def test_a_notebook_is_known_by_its_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = types.SimpleNamespace(kernel=object())
    fake = types.SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", fake)
    assert isinstance(find_display(), NotebookBar)
    shell.kernel = None
    assert not isinstance(find_display(), NotebookBar)


def test_a_real_notebook_updates_one_bar_and_shows_the_report() -> None:
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    nbformat = pytest.importorskip("nbformat")
    cells = [
        "import unbend\nroll = unbend.datasets.swiss_roll(300, random_state=0).points",
        "with unbend.progress_bar():\n    model = unbend.LTSA(n_neighbors=8).fit(roll)",
        "model",
        "model.report_",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = nbclient.NotebookClient(notebook, kernel_name="python3", timeout=120)
    client.execute()
    _, bar, model, report = (cell.outputs for cell in notebook.cells)
    # Updates go to the display that is there: one output, whatever the number of stages.
    assert [output.output_type for output in bar] == ["display_data"]
    assert "<progress value='1.000'" in bar[0].data["text/html"]
    assert bar[0].data["text/plain"].endswith(" s")
    assert "unbend-report" in model[0].data["text/html"]
    assert "LTSA(n_neighbors=8)" in model[0].data["text/plain"]
    assert "neighbors" in Page(report[0].data["text/html"]).text
