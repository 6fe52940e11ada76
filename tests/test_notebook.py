"""What a notebook shows: models with their reports, and progress in place."""

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline

import unbend
from tests.conformance.cases import EVERY, curve
from unbend import graphs
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
@pytest.mark.usefixtures("unknown_classes")
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


def results() -> dict[str, Any]:
    """Results of every kind, and words that each must show."""
    points = unbend.datasets.s_curve(120, random_state=0).points
    table = {"<b>a</b>": 1000 * points[:, 0], "b": points[:, 1], "c": points[:, 2]}
    graph = graphs.consistency(points, 2, 3)
    return {
        "suggest": (unbend.suggest(table), "intrinsic dimension"),
        "compare": (unbend.compare(table, {"<i>x</i>": unbend.PCA(), "y": "Isomap"}), "<i>x</i>"),
        "choose_dimension": (unbend.choose_dimension(table), "<b>a</b>"),
        "choose_neighbors": (unbend.choose_neighbors(points), "n_neighbors ="),
        "choose_bandwidth": (unbend.choose_bandwidth(points), "median"),
        "consistency": (graph, graph.advice()),
        "dimension": (unbend.dimension.mle(points), "fitted range"),
    }


def test_results_show_as_html_what_they_print_and_escape_it() -> None:
    for name, (result, words) in results().items():
        page = Page(result._repr_html_())
        assert words in page.text, name
        assert not {"b", "i", "script"} & set(page.tags), name
        first = str(result).split("\n")[0]
        assert first in page.text, name
    failed = unbend.compare(curve(), {"bad": unbend.Isomap(n_components=0), "good": "PCA"})
    assert "failed: n_components=0 is not allowed" in Page(failed._repr_html_()).text


STAGES = ["neighbors", "graph", "kernel", "spectrum", "coordinates"]


def test_a_real_notebook_updates_one_bar_and_shows_the_report() -> None:
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    nbformat = pytest.importorskip("nbformat")
    cells = [
        "import unbend\nroll = unbend.datasets.swiss_roll(1000, random_state=0).points",
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
    shown = Page(bar[0].data["text/html"]).text.strip().splitlines()
    assert [line.split()[0] for line in shown] == STAGES
    assert "unbend-report" in model[0].data["text/html"]
    assert "LTSA(n_neighbors=8)" in model[0].data["text/plain"]
    assert "neighbors" in Page(report[0].data["text/html"]).text
