"""Pages of many points: what they hold, when plotly draws instead, and what a browser shows."""

import json
import re
from base64 import b64decode

import numpy as np
import pytest

import unbend
from tests.browser import NO_BROWSER, webgl_tab
from tests.plot.test_files import Sources
from unbend.plot import webgl_page
from unbend.plot.webgl_page import MOST_PLOTLY, Renderer, read_renderer

RNG = np.random.default_rng(0)
MANY = MOST_PLOTLY + 1
POINTS = RNG.normal(size=(MANY, 2)) * [3, 1] + [10, -5]
FAKE = Renderer('draw("</script>")', '<canvas id="map"></canvas>', "canvas { width: 100% }")
KINDS = {"x": "<f4", "y": "<f4", "codes": "<u2", "values": "<f4", "rows": "<u4"}


@pytest.fixture
def renderer(monkeypatch):
    """Use a script in place of the renderer, which a clone has only after make page."""
    monkeypatch.setattr(webgl_page, "read_renderer", lambda: FAKE)


def read_page(figure, folder):
    """Save a figure and return the page's text, facts, and arrays."""
    text = unbend.plot.save(figure, folder / "page.html").read_text("utf-8")
    facts = json.loads(re.search(r'id="facts">(.*?)</script>', text, re.S)[1])
    arrays = {
        name: np.frombuffer(b64decode(re.search(rf'id="{name}">(.*?)</script>', text)[1]), kind)
        for name, kind in KINDS.items()
    }
    return text, facts, arrays


def check_points(facts, arrays, order):
    places = np.column_stack([arrays["x"], arrays["y"]]) * facts["reaches"] + facts["centers"]
    np.testing.assert_allclose(places, POINTS[order], atol=1e-5)
    assert np.abs([arrays["x"], arrays["y"]]).max() <= 1
    # Lengths along both axes are comparable.
    assert facts["reaches"][0] == facts["reaches"][1]


def test_a_page_of_classes_holds_points_rows_and_names(renderer, tmp_path):
    names = np.array(["<b>", "two", "</script>"])
    labels = names[RNG.integers(0, 3, MANY)]
    figure = unbend.plot.interactive(POINTS, labels, title="<i>", method="pca")
    text, facts, arrays = read_page(figure, tmp_path)
    order = arrays["rows"].astype(int)
    assert sorted(order) == list(range(MANY))
    check_points(facts, arrays, order)
    of = {each["code"]: each["name"] for each in facts["classes"]}
    assert [of[code] for code in arrays["codes"]] == labels[order].tolist()
    assert len({facts["palette"][each["code"]] for each in facts["classes"]}) == 3
    assert facts["title"] == "<i>"
    page = Sources(text)
    assert page.addresses == []
    assert "<b>" not in text
    assert text.count("</script>") == text.count("<script")
    assert "plotly" not in text.lower()
    assert unbend.plot.save(figure, tmp_path / "again.html").read_text("utf-8") == text


def test_a_page_of_values_holds_them_and_their_colours(renderer, tmp_path):
    values = POINTS[:, 0].copy()
    values[::7] = np.nan
    _, facts, arrays = read_page(unbend.plot.interactive(POINTS, values, method="pca"), tmp_path)
    order = arrays["rows"].astype(int)
    check_points(facts, arrays, order)
    np.testing.assert_allclose(arrays["values"], values[order], rtol=1e-6)
    low, high = np.nanmin(values), np.nanmax(values)
    assert facts["scale"]["bounds"] == [low, high]
    known = ~np.isnan(values[order])
    assert {each["name"] for each in facts["classes"]} == {"missing"}
    assert (arrays["codes"][~known] == facts["classes"][0]["code"]).all()
    # Colours follow the values, from one end of the scale to the other.
    codes = arrays["codes"][known].astype(int)
    ranked = codes[np.argsort(values[order][known])]
    assert (np.diff(ranked) >= 0).all()
    assert ranked[-1] - ranked[0] == 255


def test_a_page_of_a_chart_has_nearly_the_colours_of_each_point(renderer, tmp_path):
    figure = unbend.plot.interactive(POINTS, POINTS, method="pca")
    _, facts, arrays = read_page(figure, tmp_path)
    wanted = [figure.data[0].marker.color[row] for row in arrays["rows"]]
    shown = [facts["palette"][code] for code in arrays["codes"]]
    parts = np.array(
        [[[int(c[a : a + 2], 16) for a in (1, 3, 5)] for c in w] for w in (wanted, shown)]
    )
    assert np.abs(parts[0] - parts[1]).max() <= 16


def test_names_of_rows_are_text(renderer, tmp_path):
    names = [f"<img {row}>" for row in range(MANY)]
    text, facts, arrays = read_page(unbend.plot.interactive(POINTS, names=names), tmp_path)
    assert facts["names"] == names
    assert len(arrays["rows"]) == 0
    assert "<img" not in text


@pytest.mark.parametrize("case", ["few", "three dimensions", "edges", "not built"])
def test_plotly_draws_what_the_renderer_cannot(case, monkeypatch, tmp_path):
    monkeypatch.setattr(webgl_page, "read_renderer", lambda: None if case == "not built" else FAKE)
    points, options = POINTS, {}
    if case == "few":
        points = POINTS[:-1]
    elif case == "three dimensions":
        points = np.column_stack([POINTS, POINTS[:, 0]])
    elif case == "edges":
        from scipy.sparse import coo_array

        edge = np.ones(2), (np.array([0, 1]), np.array([1, 0]))
        options["graph"] = coo_array(edge, shape=(MANY, MANY)).tocsr()
    figure = unbend.plot.interactive(points, **options)
    text = unbend.plot.save(figure, tmp_path / "page.html").read_text("utf-8")
    assert "plotly.js" in text


@pytest.mark.slow
@pytest.mark.skipif(NO_BROWSER or read_renderer() is None, reason="needs chromium and make page")
def test_a_browser_draws_hovers_zooms_pans_and_hides_a_class(tmp_path):
    # One point alone in the middle, and the others far from it.
    points = RNG.uniform(0.5, 1, size=(MANY, 2)) * RNG.choice([-1, 1], size=(MANY, 2))
    points[17] = 0
    labels = np.where(np.arange(MANY) == 17, "<b>alone</b>", "others")
    figure = unbend.plot.interactive(points, labels, method="pca")
    path = unbend.plot.save(figure, tmp_path / "page.html")
    requests = []
    with webgl_tab(600, 600) as tab:
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto(path.as_uri())
        drawn = "count => document.body.dataset.drawn === String(count)"
        tab.wait_for_function(drawn, arg=MANY)
        before = _frame(tab)
        tab.mouse.move(280, 280)
        tab.mouse.move(300, 300, steps=3)
        tab.wait_for_selector("#hover:not([hidden])")
        said = tab.inner_text("#hover").split("\n")
        assert said[:2] == ["row 17", "<b>alone</b>"]
        assert [abs(float(line.split(": ")[1])) < 1e-6 for line in said[2:]] == [True, True]
        tab.mouse.wheel(0, -400)
        zoomed = _frame(tab)
        assert zoomed != before
        tab.mouse.move(200, 200)
        tab.mouse.down()
        tab.mouse.move(350, 330, steps=4)
        tab.mouse.up()
        assert _frame(tab) != zoomed
        tab.click("text=others")
        tab.wait_for_function(drawn, arg=1)
    assert [url for url in requests if not url.startswith(("file:", "blob:", "data:"))] == []


def _frame(tab):
    """Return what is on the screen, after the next frames."""
    wait = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    tab.evaluate(wait)
    return tab.screenshot()
