"""Figures as files: the format by the name, the same bytes every time, pages without network."""

import base64
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import unbend
from tests.loops import each

RNG = np.random.default_rng(0)
BEGINNINGS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


class Sources(HTMLParser):
    """Addresses that a browser would load, and the scripts of a page."""

    def __init__(self, text):
        super().__init__()
        self.addresses, self.scripts, self.tag = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tag = tag
        self.addresses += [value for name, value in attributes if name in ("src", "href")]

    def handle_data(self, text):
        if self.tag == "script":
            self.scripts.append(text)


def traces(text):
    """Read the traces of a page, arrays decoded."""
    call = re.search(r"Plotly\.newPlot\(\s*\"unbend\",\s*", text)
    found, _ = json.JSONDecoder().raw_decode(text, call.end())
    return [decoded(trace) for trace in found]


def decoded(value):
    if isinstance(value, dict) and "bdata" in value:
        return np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])
    if isinstance(value, dict):
        return {name: decoded(item) for name, item in value.items()}
    return value


@pytest.mark.parametrize("kind", BEGINNINGS)
@pytest.mark.parametrize("color", [None, ["a", "b"] * 20, np.linspace(0, 1, 40)])
def test_the_same_figure_gives_the_same_bytes(tmp_path, kind, color):
    points = RNG.normal(size=(40, 2))
    paths = [tmp_path / f"{number}{kind}" for number in range(2)]
    for path in paths:
        assert unbend.plot.save(unbend.plot.scatter(points, color), path) == path
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[0].read_bytes().startswith(BEGINNINGS[kind])
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"0{kind}", f"1{kind}"]


def test_a_file_that_cannot_be_finished_leaves_the_old_one(tmp_path, monkeypatch):
    figure, path = unbend.plot.scatter(RNG.normal(size=(9, 2))), tmp_path / "kept.png"
    path.write_bytes(b"before")
    monkeypatch.setattr(figure, "savefig", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        unbend.plot.save(figure, path)
    assert path.read_bytes() == b"before"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("a.gif", "ends in '.gif'"), ("a", "ends in nothing"), ("a.html", "use interactive")],
)
def test_a_still_figure_is_not_saved_under_another_name(tmp_path, name, sentence):
    with pytest.raises(ValueError, match=sentence):
        unbend.plot.save(unbend.plot.scatter(RNG.normal(size=(9, 2))), tmp_path / name)


def test_only_figures_are_saved_and_interactive_ones_as_pages(tmp_path):
    with pytest.raises(TypeError, match="figure must be of matplotlib or plotly"):
        unbend.plot.save([1, 2], tmp_path / "a.png")
    with pytest.raises(ValueError, match=r"saved as \.html"):
        unbend.plot.save(unbend.plot.interactive(RNG.normal(size=(9, 2))), tmp_path / "a.png")


@each("width", [1, 2, 3, 5])
@each("color", ["none", "label", "value", "chart"])
def test_a_page_asks_nothing_of_the_network_and_holds_the_points(tmp_path, width, color):
    points = RNG.normal(size=(30, width))
    given = {
        "none": None,
        "label": ["a", "b"] * 15,
        "value": points[:, 0],
        "chart": points[:, [0, 0]],
    }
    figure = unbend.plot.interactive(points, given[color], names=[f"<n{i}>" for i in range(30)])
    paths = [unbend.plot.save(figure, tmp_path / f"{number}.html") for number in range(2)]
    text = paths[0].read_text(encoding="utf-8")
    page = Sources(text)
    assert page.addresses == []
    assert any("plotly.js" in script and len(script) > 1e6 for script in page.scripts)
    assert paths[1].read_text(encoding="utf-8") == text
    drawn = traces(text)
    if width == 5:
        axes = [[d["values"] for d in trace["dimensions"]] for trace in drawn]
        found = np.concatenate([np.column_stack([decoded(v) for v in a]) for a in axes])
    else:
        found = np.concatenate([np.column_stack([t[a] for a in "xyz"[:width]]) for t in drawn])
    order, wanted = np.lexsort(found.T), np.lexsort(points.T)
    assert np.allclose(found[order], points[wanted], atol=1e-6)
    assert "&lt;n7&gt;" in text.replace("\\u0026", "&")


def test_classes_are_traces_with_the_palette_and_hover_shows_the_label():
    labels = np.array(["a", "b"] * 10)
    figure = unbend.plot.interactive(RNG.normal(size=(20, 2)), labels)
    assert [trace.name for trace in figure.data] == ["a", "b"]
    assert figure.data[1].marker.color == "#D55E00"
    assert figure.data[1].customdata.tolist() == [f"row {row}<br>b" for row in range(1, 20, 2)]


@pytest.mark.parametrize("width", [2, 3])
def test_every_class_has_a_look_of_its_own_in_pages_too(width):
    labels = [f"c{number}" for number in range(40)] * 2
    figure = unbend.plot.interactive(RNG.normal(size=(80, width)), labels)
    assert len({(trace.marker.color, trace.marker.symbol) for trace in figure.data}) == 40


def test_scale_graph_and_graphics_card():
    points = unbend.datasets.s_curve(1200, random_state=0).points
    model = unbend.Isomap(n_neighbors=6).fit(points)
    figure = unbend.plot.interactive(model, graph=model)
    assert figure.layout.yaxis.scaleanchor == "x"
    assert [trace.type for trace in figure.data] == ["scattergl", "scattergl"]
    edges = (model.graph_ + model.graph_.T).nnz // 2
    assert np.isnan(figure.data[0].x).sum() == edges
    assert len(figure.data[0].x) == 3 * edges
    space = unbend.plot.interactive(points, method="pca")
    assert (space.data[0].type, space.layout.scene.aspectmode) == ("scatter3d", "data")


def test_many_rows_without_names_show_their_numbers():
    figure = unbend.plot.interactive(RNG.normal(size=(100_001, 2)))
    assert figure.data[0].customdata.dtype == np.int32
    assert "row %{customdata}" in figure.data[0].hovertemplate


def test_large_figures_show_the_label_of_each_point():
    """Each class is a trace of its own, so its name needs no text for each row."""
    points = np.zeros((100_001, 2))
    classes = np.where(np.arange(100_001) % 2, "<odd>", "even")
    figure = unbend.plot.interactive(points, classes)
    templates = {trace.name: trace.hovertemplate for trace in figure.data}
    assert {name: f"<br>{name}<br>" in text for name, text in templates.items()} == {
        "&lt;odd&gt;": True,
        "even": True,
    }
    values = unbend.plot.interactive(points, np.arange(100_001.0)).data[0]
    assert "%{marker.color:.4g}" in values.hovertemplate


def test_the_wheel_zooms_a_saved_page(tmp_path):
    figure = unbend.plot.interactive(np.zeros((3, 2)))
    page = unbend.plot.save(figure, tmp_path / "page.html").read_text(encoding="utf-8")
    assert '"scrollZoom": true' in page


@pytest.mark.parametrize("seed", range(12))
def test_axis_labels_lie_inside_the_picture_and_a_second_save_is_the_same(seed, tmp_path):
    # Equal scales widen one axis while it is drawn, which changes its ticks and their width.
    points = np.random.default_rng(seed).uniform(0, 1, size=(200, 2)) * [0.9, 1] - [0.4, 0.4]
    figure = unbend.plot.scatter(points, ["a", "b"] * 100, method="isomap")
    unbend.plot.save(figure, tmp_path / "first.png")
    axes = figure.axes[0]
    assert axes.yaxis.label.get_window_extent().x0 >= 0
    assert axes.xaxis.label.get_window_extent().y0 >= 0
    unbend.plot.save(figure, tmp_path / "second.png")
    assert (tmp_path / "first.png").read_bytes() == (tmp_path / "second.png").read_bytes()
