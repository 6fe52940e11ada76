"""``unbend quality``, ``surface``, ``plot`` and ``demo``."""

import json

import numpy as np
import pytest

import unbend as library
from tests.cli.program import numbers, sentence, table_of, unbend
from unbend.datasets import SURFACES, clusters_3d


def test_surfaces_come_with_their_charts(tmp_path):
    words = ("-n", 200, "--noise", 0.05, "--seed", 3, "-o", "roll.csv")
    unbend("surface", "swiss_roll", *words, cwd=tmp_path)
    expected = library.datasets.swiss_roll(200, noise=0.05, random_state=3)
    header, rows = table_of(tmp_path / "roll.csv")
    assert header == ["x", "y", "z", "chart_1", "chart_2"]
    assert len(rows) == 200
    assert np.array_equal(numbers(tmp_path / "roll.csv", ["x", "y", "z"]), expected.points)
    assert np.array_equal(numbers(tmp_path / "roll.csv", header[3:]), expected.chart)


def test_parts_of_a_surface_are_a_column(tmp_path):
    unbend("surface", "clusters_3d", "-n", 100, "-o", "chain.csv", cwd=tmp_path)
    part = numbers(tmp_path / "chain.csv", ["part"])[:, 0]
    assert np.array_equal(part, clusters_3d(100, random_state=0).labels)


def test_surfaces_are_listed_and_refuse_what_they_do_not_have():
    assert unbend("surface").stdout.decode().split() == list(SURFACES)
    assert "has no --turns: it has --length" in sentence(
        unbend("surface", "s_curve", "--turns", 3, code=2)
    )
    assert "choose one of swiss_roll" in sentence(unbend("surface", "torus", code=2))


@pytest.fixture
def embedded(tmp_path):
    unbend("surface", "swiss_roll", "-n", 300, "-o", "roll.csv", cwd=tmp_path)
    words = ("--label", "chart_1", "--ignore", "chart_2", "--n-neighbors", 8, "-o", "flat.csv")
    unbend("embed", "roll.csv", "--method", "isomap", *words, cwd=tmp_path)
    return tmp_path


@pytest.fixture
def measured():
    roll = library.datasets.swiss_roll(300, random_state=0)
    flat = library.Isomap(n_neighbors=8).fit_transform(roll.points)
    return {
        "rows": 300,
        "neighbors": 5,
        "trustworthiness": library.quality.trustworthiness(roll.points, flat),
        "continuity": library.quality.continuity(roll.points, flat),
        "redundancy": library.quality.coordinate_redundancy(flat).tolist(),
        "procrustes_similarity": library.quality.procrustes(roll.chart, flat),
        "procrustes_affine": library.quality.procrustes(roll.chart, flat, kind="affine"),
        "color_mixing": library.quality.color_mixing(flat, roll.chart[:, 0], n_neighbors=5),
    }


def test_the_measures_are_those_of_the_library(embedded, measured):
    words = ("roll.csv", "flat.csv", "--label", "chart_1", "--truth", "chart_1,chart_2")
    output = json.loads(unbend("quality", *words, "--json", cwd=embedded).stdout)
    assert list(output) == list(measured)
    for name, value in measured.items():
        assert output[name] == pytest.approx(value, rel=1e-9), name
    text = unbend("quality", *words, cwd=embedded).stdout.decode()
    assert all(name in text for name in measured)
    assert text.count("is best") == 6


def test_label_and_ids_are_left_out_with_or_without_being_named(folder, roll):
    words = ("--label", "kind", "--id", "row", "-o", "flat.csv")
    unbend("embed", "roll.csv", "--method", "pca", *words, cwd=folder)
    named = ("--label", "kind", "--id", "row", "--json")
    first = json.loads(unbend("quality", "roll.csv", "flat.csv", *named, cwd=folder).stdout)
    second = json.loads(unbend("quality", "roll.csv", "flat.csv", "--json", cwd=folder).stdout)
    assert first | second == first
    flat = library.PCA().fit_transform(roll.points)
    expected = library.quality.trustworthiness(roll.points, flat)
    assert first["trustworthiness"] == pytest.approx(expected, rel=1e-12)
    np.save(folder / "bare.npy", flat)
    bare = unbend("quality", "roll.csv", "bare.npy", *named, cwd=folder).stdout
    assert json.loads(bare)["trustworthiness"] == pytest.approx(expected, rel=1e-12)


def test_classes_are_measured_by_the_neighbourhood_hit(folder, roll, kinds):
    unbend("embed", "roll.csv", "--label", "kind", "--ignore", "row", "-o", "flat.csv", cwd=folder)
    words = ("quality", "roll.csv", "flat.csv", "--label", "kind", "--ignore", "row", "--json")
    output = json.loads(unbend(*words, cwd=folder).stdout)
    flat, hit = library.Isomap().fit_transform(roll.points), library.quality.neighborhood_hit
    assert output["neighborhood_hit"] == pytest.approx(hit(flat, kinds))
    assert output["neighborhood_hit_data"] == pytest.approx(hit(roll.points, kinds))
    wrong = ("quality", "roll.csv", "flat.csv", "--label", "sort", "--ignore", "row,kind")
    assert "no column 'sort'" in sentence(unbend(*wrong, cwd=folder, code=1))


def test_a_sample_is_measured_as_a_table_of_its_own(embedded):
    words = ("quality", "roll.csv", "flat.csv", "--ignore", "chart_1,chart_2", "--json")
    output = json.loads(unbend(*words, "--sample", 100, "--seed", 1, cwd=embedded).stdout)
    assert output["rows"] == 100
    assert 0.5 < output["trustworthiness"] <= 1


def test_files_that_do_not_belong_together_are_refused(embedded):
    lines = (embedded / "flat.csv").read_text().splitlines(keepends=True)
    (embedded / "part.csv").write_text("".join(lines[:-1]))
    words = ("quality", "roll.csv", "part.csv", "--quiet")
    output = sentence(unbend(*words, cwd=embedded, code=1))
    assert "300 rows" in output
    assert "299" in output
    words = ("quality", "roll.csv", "flat.csv", "--truth", "chart_9", "--quiet")
    assert "'chart_9'" in sentence(unbend(*words, cwd=embedded, code=1))


def test_coordinates_become_pictures_and_pages(embedded):
    words = ("embed", "roll.csv", "--method", "ltsa", "--ignore", "chart_1,chart_2")
    unbend(*words, "-o", "ltsa.csv", "--model", "ltsa.unbend", "--plot", "l.html", cwd=embedded)
    drawn = {
        "label.png": ("flat.csv", "--label", "chart_1"),
        "value.svg": ("flat.csv", "--color", "chart_1", "--title", "A roll"),
        "page.html": ("flat.csv", "--label", "chart_1"),
        "sheet.png": ("flat.csv", "ltsa.csv", "--ignore", "chart_1"),
        "model.pdf": ("ltsa.unbend",),
        "spectrum.png": ("ltsa.unbend", "--spectrum"),
    }
    begins = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF", ".html": b"<!doctype html>"}
    for name, given in drawn.items():
        unbend("plot", *given, "-o", name, cwd=embedded)
        content = (embedded / name).read_bytes()
        assert content.startswith(begins[f".{name.split('.')[1]}"]), name
    assert (embedded / "l.html").read_bytes().startswith(b"<!doctype html>")


def test_a_picture_in_an_unknown_format_is_refused(embedded):
    assert ".bmp" in sentence(unbend("plot", "flat.csv", "-o", "flat.bmp", cwd=embedded, code=2))
    assert "one model" in sentence(
        unbend("plot", "a.unbend", "b.unbend", "--spectrum", "-o", "s.png", cwd=embedded, code=2)
    )


def test_the_demo_writes_its_page(tmp_path, monkeypatch):
    monkeypatch.setattr("unbend.apps.demo.SURFACES", {"square": SURFACES["square"]})
    done = unbend("demo", "-n", 60, "-o", "small", cwd=tmp_path)
    assert (tmp_path / "small" / "index.html").exists()
    assert "isomap" in done.stdout.decode().lower()
