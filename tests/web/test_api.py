"""What the page asks for: tables, methods, fits and measures, compared with NumPy and unbend."""

import json
import shlex

import numpy as np
import pytest

import unbend
from tests.cli.program import unbend as program
from tests.web.conftest import LABELS, POINTS
from unbend.registry import METHODS
from unbend.web.methods import CARDS

NAMES = ["a", "b", "c", "<b>d</b>"]


@pytest.fixture(scope="module")
def table(browser):
    return browser.open("points.csv")


@pytest.fixture(scope="module")
def flat(browser, table):
    return browser.fit(table, "pca", {"n_components": 2}, label="class", scale="standard")


def integers(values):
    return np.asarray(values, "<u4").tobytes()


def test_columns_are_described_by_their_values(table):
    columns = {column["name"]: column for column in table["facts"]["columns"]}
    assert list(columns) == [*NAMES, "class"]
    for name, values in zip(NAMES, POINTS.T, strict=True):
        facts = columns[name]
        assert (facts["kind"], facts["missing"]) == ("numeric", 0)
        np.testing.assert_allclose(facts["mean"], values.mean())
        np.testing.assert_allclose(facts["deviation"], values.std())
        np.testing.assert_allclose(facts["share"], values.var() / POINTS.var(axis=0).sum())
    assert columns["class"]["levels"] == sorted(set(LABELS))
    assert table["facts"]["label"] == "class"


def test_columns_are_sent_as_single_precision(browser, table):
    for place, values in enumerate(POINTS.T):
        sent = browser.get(f"/api/tables/{table['id']}/columns/{place}").content
        np.testing.assert_array_equal(np.frombuffer(sent, "<f4"), values.astype("f4"))
    codes = browser.get(f"/api/tables/{table['id']}/columns/4").content
    levels = np.array(table["facts"]["columns"][4]["levels"])
    np.testing.assert_array_equal(levels[np.frombuffer(codes, "<f4").astype(int)], LABELS)
    assert browser.get(f"/api/tables/{table['id']}/columns/5").status_code == 404


def test_rows_are_those_asked_for(browser, table):
    rows = [41, 3, 17]
    sent = browser.post(f"/api/tables/{table['id']}/rows", content=integers(rows)).json()
    for row, cells in zip(rows, sent["cells"], strict=True):
        assert cells == [*POINTS[row].tolist(), LABELS[row]]
    assert (
        browser.post(f"/api/tables/{table['id']}/rows", content=integers([60])).status_code == 400
    )
    assert browser.post(f"/api/tables/{table['id']}/rows", content=b"abc").status_code == 400


def test_a_selection_is_described_by_what_sets_it_apart(browser, table):
    rows = np.flatnonzero(LABELS == "left")
    found = browser.post(f"/api/tables/{table['id']}/selection", content=integers(rows)).json()
    assert found[0] == {
        "column": "class",
        "effect": 1.0,
        "level": "left",
        "inside": 1.0,
        "outside": 0.0,
    }
    inside, outside = POINTS[rows], np.delete(POINTS, rows, axis=0)
    effects = (inside.mean(axis=0) - outside.mean(axis=0)) / np.sqrt(
        (inside.var(axis=0) + outside.var(axis=0)) / 2
    )
    got = {each["column"]: each["effect"] for each in found}
    np.testing.assert_allclose([got[name] for name in NAMES], effects)


def test_a_selection_is_downloaded_with_all_digits(browser, table):
    text = browser.post(f"/api/tables/{table['id']}/download", content=integers([5, 50])).text
    lines = text.splitlines()
    assert lines[0] == "row,a,b,c,<b>d</b>,class"
    assert lines[1] == ",".join(["6", *map(repr, POINTS[5].tolist()), "left"])
    assert len(lines) == 3


def test_every_method_has_a_card_with_its_declared_parameters(browser):
    cards = browser.get("/api/methods").json()
    assert [card["name"] for card in cards] == [entry.name for entry in METHODS]
    assert set(CARDS) == {entry.name for entry in METHODS}
    isomap = next(card for card in cards if card["name"] == "isomap")
    neighbors = next(each for each in isomap["parameters"] if each["name"] == "n_neighbors")
    assert neighbors["default"] == unbend.Isomap().n_neighbors
    assert neighbors["integer"]
    metric = next(each for each in isomap["parameters"] if each["name"] == "metric")
    assert "precomputed" not in metric["words"]


def expected(**keywords):
    frame = unbend.io.read_frame({**dict(zip(NAMES, POINTS.T, strict=True))})
    return unbend.Prepare(**keywords).fit_transform(frame)


def test_coordinates_are_those_of_the_library(browser, flat):
    reference = unbend.PCA(n_components=2).fit_transform(expected(scale="standard"))
    sent = browser.array(f"/api/embeddings/{flat['id']}/coordinates")
    np.testing.assert_array_equal(sent, reference.astype("f4"))


def test_rows_that_were_dropped_are_not_on_the_map(browser):
    opened = browser.open("gaps.csv")
    made = browser.fit(opened, "pca", {}, label="class", missing="drop")
    sent = browser.array(f"/api/embeddings/{made['id']}/coordinates")
    assert sent.shape == (60, 2)
    assert np.flatnonzero(np.isnan(sent[:, 0])).tolist() == [3]


def test_missing_values_fail_with_what_to_do(browser):
    opened = browser.open("gaps.csv")
    asked = {"table": opened["id"], "method": "pca", "reading": {"label": "class"}}
    job = browser.wait(browser.post("/api/jobs", json=asked).json()["job"]["id"])
    assert job["state"] == "failed"
    assert "'b' (1)" in job["error"]
    assert "missing='median'" in job["error"]


def test_what_was_lost_is_measured_as_the_library_does(browser, flat):
    job = browser.post(f"/api/embeddings/{flat['id']}/tasks/measure").json()
    result = browser.wait(job["id"])["result"]
    X = expected(scale="standard")
    Y = unbend.PCA(n_components=2).fit_transform(X)
    trust = unbend.quality.trustworthiness(X, Y, n_neighbors=10)
    kept = unbend.quality.continuity(X, Y, n_neighbors=10)
    np.testing.assert_allclose(result["trustworthiness"], trust)
    np.testing.assert_allclose(result["continuity"], kept)
    for name, measure in (("trustworthiness", trust), ("continuity", kept)):
        sent = browser.array(f"/api/embeddings/{flat['id']}/{name}")[:, 0]
        np.testing.assert_allclose(sent, measure.local, rtol=1e-6)
    pairs = browser.array(f"/api/embeddings/{flat['id']}/pairs")
    first, second = pairs[:, :2].astype(int).T
    np.testing.assert_allclose(pairs[:, 2], np.linalg.norm(X[first] - X[second], axis=1), rtol=1e-5)
    np.testing.assert_allclose(pairs[:, 3], np.linalg.norm(Y[first] - Y[second], axis=1), rtol=1e-4)
    ranks = browser.array(f"/api/embeddings/{flat['id']}/ranks").astype(int)
    counts = np.zeros((59, 59), dtype=int)
    np.add.at(counts, (ranks[:, 2] - 1, ranks[:, 3] - 1), 1)
    np.testing.assert_array_equal(counts, unbend.quality.coranking_matrix(X, Y))


def test_neighbours_in_the_data_and_in_the_map(browser, flat):
    X = expected(scale="standard")
    Y = unbend.PCA(n_components=2).fit_transform(X)
    sent = browser.get(f"/api/embeddings/{flat['id']}/neighbors?row=7").content
    found = np.frombuffer(sent, "<u4").reshape(2, 10)
    for rows, points in zip(found, (X, Y), strict=True):
        distances = np.linalg.norm(points - points[7], axis=1)
        np.testing.assert_array_equal(rows, np.argsort(distances)[1:11])
    assert browser.get(f"/api/embeddings/{flat['id']}/neighbors?row=60").status_code == 404
    assert browser.get(f"/api/embeddings/{flat['id']}/neighbors?row=x").status_code == 400


def test_stability_is_that_of_the_library(browser, flat):
    job = browser.post(f"/api/embeddings/{flat['id']}/tasks/measure_stability").json()
    result = browser.wait(job["id"])["result"]
    X = expected(scale="standard")
    measure = unbend.selection.stability(unbend.PCA(n_components=2), X, n_resamples=8)
    sent = browser.array(f"/api/embeddings/{flat['id']}/stability")[:, 0]
    np.testing.assert_allclose(sent, measure.local, rtol=1e-5)
    assert result["stability"] > 0
    drawn = browser.array(f"/api/embeddings/{flat['id']}/ellipses")
    np.testing.assert_array_equal(drawn[:, 0], np.arange(60))
    places = unbend.selection.resample(unbend.PCA(n_components=2), X, n_resamples=8)
    np.testing.assert_allclose(drawn[:, 1:3], np.nanmean(places, axis=0), rtol=1e-4, atol=1e-6)
    # The wider the ellipse, the farther the point moves from its mean place.
    spread = np.sqrt(np.nanvar(places, axis=0, ddof=1).sum(axis=1))
    ratio = np.hypot(drawn[:, 3], drawn[:, 4]) / spread
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-4)


def test_a_map_of_one_coordinate_has_a_stability_and_no_ellipses(browser, table):
    line = browser.fit(table, "pca", {"n_components": 1}, label="class")
    job = browser.post(f"/api/embeddings/{line['id']}/tasks/measure_stability").json()
    found = browser.wait(job["id"])
    assert found["state"] == "done", found["error"]
    assert browser.get(f"/api/embeddings/{line['id']}/ellipses").content == b""


def test_diagrams_name_rows_of_the_table_where_some_are_dropped(browser):
    made = browser.fit(browser.open("gaps.csv"), "pca", {}, label="class", missing="drop")
    job = browser.post(f"/api/embeddings/{made['id']}/tasks/measure").json()
    assert browser.wait(job["id"])["state"] == "done"
    shown = browser.array(f"/api/embeddings/{made['id']}/coordinates").astype(float)
    for name in ("pairs", "ranks"):
        sent = browser.array(f"/api/embeddings/{made['id']}/{name}")
        assert set(np.unique(sent[:, :2])) == set(range(60)) - {3}
    pairs = browser.array(f"/api/embeddings/{made['id']}/pairs")
    first, second = pairs[:, :2].astype(int).T
    apart = np.linalg.norm(shown[first] - shown[second], axis=1)
    np.testing.assert_allclose(pairs[:, 3], apart, rtol=1e-4, atol=1e-6)


def ask_density(browser, id, **changes):
    sides = {"left": -3, "right": 3, "bottom": -2, "top": 2, "width": 30, "height": 20}
    return browser.get(f"/api/embeddings/{id}/density", params=sides | changes)


def test_a_density_counts_the_points_of_each_pixel(browser, flat):
    shown = browser.array(f"/api/embeddings/{flat['id']}/coordinates").astype(float)
    sent = np.frombuffer(ask_density(browser, flat["id"]).content, "<u4").reshape(2, 20, 30)
    expected, *_ = np.histogram2d(shown[:, 1], shown[:, 0], (20, 30), ((-2, 2), (-3, 3)))
    np.testing.assert_array_equal(sent[0], expected[::-1])
    line, column = np.nonzero(sent[0])
    x, y = shown[sent[1][line, column]].T
    np.testing.assert_array_equal(np.floor((x + 3) / 0.2), column)
    np.testing.assert_array_equal(np.floor((2 - y) / 0.2), line)


def test_a_density_of_one_coordinate_is_a_strip(browser, table):
    line = browser.fit(table, "pca", {"n_components": 1}, label="class")
    answer = ask_density(browser, line["id"], bottom=-1, top=1)
    counts = np.frombuffer(answer.content, "<u4").reshape(2, 20, 30)[0]
    shown = browser.array(f"/api/embeddings/{line['id']}/coordinates")[:, 0]
    np.testing.assert_array_equal(counts.sum(axis=0), np.histogram(shown, 30, (-3, 3))[0])
    assert counts[:7].sum() == counts[13:].sum() == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"width": 0},
        {"height": 100_000},
        {"left": 3},
        {"top": "nan"},
        {"right": "inf"},
        {"bottom": "x"},
        {"width": 3.5},
    ],
)
def test_a_wrong_window_is_refused(browser, flat, changes):
    answer = ask_density(browser, flat["id"], **changes)
    assert answer.status_code == 400
    assert "window" in answer.json()["error"]


def test_the_dimension_comes_with_the_curves_it_is_read_from(browser, flat):
    job = browser.post(f"/api/embeddings/{flat['id']}/tasks/count_dimensions").json()
    result = browser.wait(job["id"])["result"]
    X = expected(scale="standard")
    choice = unbend.selection.choose_dimension(X, metric="euclidean", scale="none")
    assert result["verdict"] == choice.verdict
    found = unbend.dimension.mle(X)
    curve = next(each for each in result["curves"] if each["title"] == str(found))
    np.testing.assert_allclose(curve["x"], found.curve.x)
    np.testing.assert_allclose(curve["lines"], [found.curve.y])
    assert tuple(curve["fitted"]) == found.curve.fitted


@pytest.mark.slow
def test_the_report_is_that_of_the_library(browser, flat, folder):
    from unbend.apps.study import page_html, study

    job = browser.post(f"/api/embeddings/{flat['id']}/tasks/write_report").json()
    found = browser.wait(job["id"])
    assert found["state"] == "done", found["error"]
    sent = browser.get(f"/api/embeddings/{flat['id']}/files/report.html")
    assert "attachment" in sent.headers["content-disposition"]
    asked = {"label": "class", "missing": "refuse", "scale": "standard", "name": "points.csv"}
    assert sent.text == page_html(study(folder / "points.csv", **asked))


def test_new_samples_go_where_transform_puts_them(browser, flat):
    new = POINTS[:5] + 0.01
    lines = [
        "c,b,a,<b>d</b>",
        *(",".join(map(repr, [r[2], r[1], r[0], r[3]])) for r in new.tolist()),
    ]
    path = f"/api/embeddings/{flat['id']}/samples?name=new.csv"
    job = browser.post(path, content="\n".join(lines).encode()).json()
    result = browser.wait(job["id"])
    assert result["state"] == "done", result["error"]
    assert result["result"]["placed"] == 5
    prepare = unbend.Prepare(scale="standard").fit(dict(zip(NAMES, POINTS.T, strict=True)))
    model = unbend.PCA(n_components=2).fit(
        prepare.transform(dict(zip(NAMES, POINTS.T, strict=True)))
    )
    placed = model.transform(prepare.transform(dict(zip(NAMES, new.T, strict=True))))
    sent = browser.array(f"/api/embeddings/{flat['id']}/new")
    np.testing.assert_allclose(sent, placed, rtol=1e-5, atol=1e-6)


def test_new_samples_without_a_column_fail_with_its_name(browser, flat):
    path = f"/api/embeddings/{flat['id']}/samples?name=new.csv"
    job = browser.post(path, content=b"a,b,c\n1,2,3\n4,5,6\n").json()
    found = browser.wait(job["id"])
    assert found["state"] == "failed"
    assert "<b>d</b>" in found["error"]


@pytest.mark.parametrize(
    ("method", "parameters", "reading"),
    [
        ("pca", {}, {"missing": "median"}),
        ("isomap", {"n_neighbors": 9}, {"label": "class"}),
        ("pca", {"n_components": 1}, {"ignore": ["a", "class"], "scale": "robust"}),
        ("supervised_lle", {"t": 0.4}, {"label": "class", "scale": "standard"}),
    ],
)
def test_the_code_gives_the_coordinates_shown(
    browser, table, folder, tmp_path, monkeypatch, method, parameters, reading
):
    made = browser.fit(table, method, parameters, **reading)
    shown = browser.get(f"/api/embeddings/{made['id']}/files/coordinates.csv").text
    shown = np.loadtxt(shown.splitlines(), delimiter=",", skiprows=1, ndmin=2)[:, 1:]
    (tmp_path / "points.csv").write_bytes((folder / "points.csv").read_bytes())
    code = browser.get(f"/api/embeddings/{made['id']}/files/map.py").text
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    again = np.loadtxt(tmp_path / "coordinates.csv", delimiter=",", ndmin=2)
    np.testing.assert_array_equal(again, shown)
    (tmp_path / "coordinates.csv").unlink()
    command = browser.get(f"/api/embeddings/{made['id']}/files/map.sh").text
    program(*shlex.split(command)[1:])
    written = unbend.io.read_frame(tmp_path / "coordinates.csv").columns
    columns = [values for name, values in written.items() if name != "class"]
    np.testing.assert_allclose(np.array(columns).T, shown, rtol=1e-12)


def test_the_model_and_the_picture_are_those_of_the_map(browser, flat, tmp_path):
    model = browser.get(f"/api/embeddings/{flat['id']}/files/model.unbend")
    (tmp_path / "m.unbend").write_bytes(model.content)
    loaded = unbend.load(tmp_path / "m.unbend")
    sent = browser.array(f"/api/embeddings/{flat['id']}/coordinates")
    np.testing.assert_array_equal(loaded.embedding_.astype("f4"), sent)
    assert browser.get(f"/api/embeddings/{flat['id']}/files/picture.png").status_code == 404
    job = browser.post(f"/api/embeddings/{flat['id']}/tasks/draw_picture").json()
    assert browser.wait(job["id"])["state"] == "done"
    picture = browser.get(f"/api/embeddings/{flat['id']}/files/picture.png")
    assert picture.content.startswith(b"\x89PNG")
    assert "attachment" in picture.headers["content-disposition"]


@pytest.mark.parametrize(
    ("method", "parameters", "words"),
    [
        ("nothing", {}, "there is no method 'nothing'"),
        ("pca", {"n_components": 0}, "n_components"),
        ("pca", {"n_components": "<b>"}, "n_components"),
        ("pca", {"nonsense": 1}, "has no parameter 'nonsense'"),
        ("isomap", {"metric": "precomputed"}, "unbend embed --distances"),
        ("isomap", {"n_jobs": 100}, "has no parameter 'n_jobs'"),
    ],
)
def test_a_wrong_request_is_refused_with_a_sentence(browser, table, method, parameters, words):
    asked = {"table": table["id"], "method": method, "parameters": parameters}
    answer = browser.post("/api/jobs", json=asked)
    assert answer.status_code == 400
    assert words in answer.json()["error"]


@pytest.mark.parametrize(
    "reading", [{"scale": "none?"}, {"missing": 3}, {"kinds": "x"}, {"nothing": 1}, {"label": 2}]
)
def test_a_wrong_preparation_is_refused(browser, table, reading):
    asked = {"table": table["id"], "method": "pca", "reading": reading}
    assert browser.post("/api/jobs", json=asked).status_code == 400


def test_a_fit_that_needs_too_much_memory_is_refused_before_it_starts(browser, table):
    import unbend.web.workspace as module

    with unbend.memory_limit(1000), pytest.raises(MemoryError, match="take a landmark method"):
        module.check_memory(next(e for e in METHODS if e.name == "isomap"), 60)


def test_advice_names_a_method_and_why(browser, table):
    job = browser.post(f"/api/tables/{table['id']}/advice", json={"label": "class"}).json()
    result = browser.wait(job["id"])["result"]
    assert result["method"]["name"] in {entry.name for entry in METHODS}
    assert result["reasons"][0].startswith("60 rows, 4 features")


def test_new_advice_about_a_table_replaces_the_old(browser, table):
    def ask(ignored):
        given = {"label": "class", "ignore": [ignored]}
        return browser.post(f"/api/tables/{table['id']}/advice", json=given).json()["id"]

    first, second = ask("a"), ask("b")
    assert browser.wait(second)["state"] == "done"
    assert browser.wait(first)["state"] == "cancelled"
    # A page that is opened again asks for the same.
    assert ask("b") == second
    assert ask("a") not in (first, second)


def test_a_forgotten_embedding_is_gone(browser, table):
    made = browser.fit(table, "random_projection", {"n_components": 2}, label="class")
    assert browser.delete(f"/api/embeddings/{made['id']}").status_code == 200
    assert browser.get(f"/api/embeddings/{made['id']}/coordinates").status_code == 404


@pytest.mark.parametrize("name", ["features", "%2e%2e", "%2e%2e%2fx", "model.unbend", "rows"])
def test_only_listed_arrays_are_sent(browser, flat, name):
    assert browser.get(f"/api/embeddings/{flat['id']}/{name}").status_code in (404, 405)


def test_json_has_no_nan(browser, flat):
    text = browser.get("/api/embeddings").text
    json.loads(text, parse_constant=lambda word: pytest.fail(word))
