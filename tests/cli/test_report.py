"""The page of ``unbend report``: whole, safe, the same every time, with the library's numbers."""

import json
import re
import shlex
from html.parser import HTMLParser

import numpy as np
import pytest

import unbend as library
from tests.cli.program import sentence, unbend
from unbend.apps.study import page_html, study
from unbend.selection.case import LOCAL

EMPTY = {"meta", "img", "br", "rect"}
HOSTILE = "<img src=x onerror=alert(1)>\"'&lt;$x_{$\u202e https://evil.example/</title><script>"


class Page(HTMLParser):
    """Elements that are opened and closed in order, addresses, and the text of cells."""

    def __init__(self, text):
        super().__init__()
        self.open, self.addresses, self.tags, self.texts = [], [], [], {}
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.addresses += [v for k, v in attributes if k in ("src", "href", "action", "data")]
        assert not any(name.startswith("on") for name, _ in attributes)
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in EMPTY:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Write a page about 120 rows of a curve that have classes, a gap and a constant column."""
    folder = tmp_path_factory.mktemp("report")
    curve = library.datasets.s_curve(120, random_state=0)
    kinds = np.where(curve.chart[:, 0] > np.median(curve.chart[:, 0]), "left", "right")
    lines = [f'x,y,z,"{HOSTILE.replace(chr(34), chr(34) * 2)}",kind']
    for (x, y, z), kind in zip(curve.points.tolist(), kinds, strict=True):
        lines.append(f"{x!r},{y!r},{z!r},7,{kind}")
    lines[3] = "," + lines[3].split(",", 1)[1]
    (folder / "curve.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    words = ("report", "curve.csv", "--label", "kind", "-o", "page.html", "--json")
    output = json.loads(unbend(*words, cwd=folder).stdout)
    return folder, (folder / "page.html").read_text("utf-8"), output


def test_the_page_is_html_that_asks_for_nothing_outside(written):
    _, text, _ = written
    page = Page(text)
    assert text.startswith("<!doctype html>")
    assert page.addresses
    assert all(address.startswith("data:image/png;base64,") for address in page.addresses)
    assert "url(" not in text
    assert "@import" not in text
    assert not {"script", "link", "iframe", "a"} & set(page.tags)


def test_names_out_of_the_data_are_text_and_nothing_else(written):
    _, text, _ = written
    shown = Page(text).texts["bdi"]
    assert "<img src=x" not in text
    assert any(name.startswith(HOSTILE[:50]) for name in shown)


def test_the_page_reports_missing_and_constant_columns(written):
    _, text, output = written
    assert (output["missing"], output["constant"]) == (1, [HOSTILE])
    said = " ".join(Page(text).texts["li"])
    assert "1 value was missing. Imputed by median: 'x' (1)." in said
    assert said.count("(constant)") == 1


def test_the_numbers_are_those_of_the_same_calls(written):
    folder, text, output = written
    frame = library.io.read_frame(folder / "curve.csv", label="kind")
    values = library.Prepare(missing="median").fit_transform(frame)
    choice = library.choose_dimension(values)
    suggestion = library.suggest(values)
    k = suggestion.findings.n_neighbors
    labels = frame.rest.label
    local = {f"{name}__n_neighbors": [k] for name in LOCAL if k != 10 and name != "LandmarkIsomap"}
    found = library.compare(values, parameters=local, labels=labels)
    assert output["dimension"] == int(choice)
    for trial in found.trials:
        assert output["measures"][trial.title] == pytest.approx(trial.measures)
    said = Page(text).texts["li"]
    assert all(f"{reason[0].upper()}{reason[1:]}." in said for reason in suggestion.reasons)
    chosen = next(trial for trial in found.trials if trial.title == output["recommended"])
    assert type(chosen.estimator) is type(suggestion.estimator)
    moved = library.stability(chosen.estimator, values, n_resamples=5)
    summary = " ".join(Page(text).texts["dd"])
    assert f"Resampling moves points by {moved:.0%} of" in summary


def test_the_code_and_the_commands_on_the_page_give_the_same_again(written, monkeypatch):
    folder, text, output = written
    monkeypatch.chdir(folder)
    shell, python = Page(text).texts["pre"]
    given = {}
    exec(python, given)
    titles = {trial.title: trial.measures for trial in given["compared"].trials}
    assert titles == {name: pytest.approx(of) for name, of in output["measures"].items()}
    lines = {line.split()[1]: shlex.split(line)[1:] for line in shell.splitlines()}
    again = json.loads(unbend(*lines["dimension"], "--estimators", "pca", "--json").stdout)
    assert again["votes"] == pytest.approx(output["votes"])
    trials = json.loads(unbend(*lines["compare"], "--json").stdout)["trials"]
    assert [trial["title"] for trial in trials] == list(output["measures"])
    unbend(*lines["embed"])
    assert len((folder / "flat.csv").read_text().splitlines()) == 121


@pytest.mark.usefixtures("undrawn")
def test_a_page_of_a_sample_says_so_and_is_the_same_for_the_same_seed():
    points = library.datasets.swiss_roll(150, random_state=0).points
    first, second = (page_html(study(points, max_rows=80, random_state=1)) for _ in range(2))
    assert first == second
    assert "80 of 150 rows, sampled without replacement, were studied" in first
    assert "default_rng(1).choice(150, 80" in first


@pytest.mark.usefixtures("undrawn")
def test_one_column_that_rules_all_distances_is_named():
    rng = np.random.default_rng(0)
    columns = {"height": rng.normal(size=60), "age": rng.normal(size=60)}
    found = page_html(study({**columns, "income": 1e4 * rng.normal(size=60)}))
    assert re.search("One column, &#x27;income&#x27;, holds 100% of the variance", found)


def test_what_cannot_be_reported_is_refused(folder):
    words = ("report", "roll.csv", "--ignore", "kind,row")
    assert "FILE.html" in sentence(unbend(*words, "-o", "-", cwd=folder, code=2))
    assert ".html" in sentence(unbend(*words, "-o", "page.pdf", cwd=folder, code=2))
    one = ("report", "roll.csv", "--ignore", "kind,row,y,z", "-o", "p.html")
    assert "nothing to reduce" in sentence(unbend(*one, cwd=folder, code=1))
    few = ("report", "roll.csv", "--ignore", "kind,row", "--sample", 20, "-o", "p.html")
    assert "a study needs 30" in sentence(unbend(*few, cwd=folder, code=1))
    assert not (folder / "p.html").exists()
