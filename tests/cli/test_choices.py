"""``unbend suggest``, ``compare``, ``dimension`` and ``bench`` say what the library says."""

import json

import numpy as np
import pytest

import unbend as library
from tests.cli.program import sentence, unbend
from unbend.registry import METHODS

ASIDE = ("roll.csv", "--label", "kind", "--id", "row")


def read_facts(*words, cwd):
    return json.loads(unbend(*words, "--json", cwd=cwd).stdout)


def test_the_suggestion_is_that_of_the_library(folder, roll):
    found = read_facts("suggest", *ASIDE, cwd=folder)
    expected = library.suggest(roll.points)
    kind = type(expected.estimator).__name__
    assert found["method"] == next(e.name for e in METHODS if e.class_name == kind)
    assert found["reasons"] == expected.reasons
    assert found["findings"]["residual"] == pytest.approx(expected.findings.residual)
    text = unbend("suggest", *ASIDE, cwd=folder).stdout.decode()
    assert text == f"{expected}\n"


def test_a_known_dimension_is_taken(folder):
    found = read_facts("suggest", *ASIDE, "--dimension", 1, cwd=folder)
    assert found["findings"]["dimension"] == 1


def test_the_comparison_is_that_of_the_library(folder, roll, kinds):
    words = ("--methods", "pca,ltsa", "--try", "n_neighbors=8,12", "--plot", "sheet.png")
    found = read_facts("compare", *ASIDE, *words, cwd=folder)
    tried = {"n_neighbors": [8, 12]}
    expected = library.compare(roll.points, ["PCA", "LTSA"], parameters=tried, labels=kinds)
    assert [trial["title"] for trial in found["trials"]] == [t.title for t in expected.trials]
    for one, other in zip(found["trials"], expected.trials, strict=True):
        for name, value in other.measures.items():
            assert one[name] == pytest.approx(value, rel=1e-9)
        assert "neighborhood_hit" in one
    assert (folder / "sheet.png").read_bytes().startswith(b"\x89PNG")


def test_a_comparison_with_the_truth_leaves_it_out_of_the_data(tmp_path):
    unbend("surface", "s_curve", "-n", 200, "-o", "curve.csv", cwd=tmp_path)
    words = ("compare", "curve.csv", "--methods", "pca,ltsa", "--truth", "chart_1,chart_2")
    found = read_facts(*words, cwd=tmp_path)
    curve = library.datasets.s_curve(200, random_state=0)
    expected = library.compare(curve.points, ["PCA", "LTSA"], truth=curve.chart)
    assert [trial["procrustes"] for trial in found["trials"]] == pytest.approx(
        [trial.measures["procrustes"] for trial in expected.trials], rel=1e-9
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--try", "n_neighbors"), "has no values"),
        (("--try", "wings=2"), "no method has a parameter 'wings'"),
        (("--try", "isomap__wings=2"), "no method has a parameter 'isomap__wings'"),
        (("--try", "n_neighbors=some"), "--n-neighbors some is not allowed"),
        (("--methods", "ismap"), "did you mean isomap"),
        (("--plot", "sheet.html"), "not interactive"),
    ],
)
def test_a_comparison_that_cannot_be_made_is_refused(folder, words, said):
    assert said in sentence(unbend("compare", *ASIDE, *words, cwd=folder, code=2))


def test_the_dimension_is_that_of_the_library(folder, roll):
    words = ("--estimators", "mle,two_nn,pca", "--plot", "fits.png")
    found = read_facts("dimension", *ASIDE, *words, cwd=folder)
    choice = library.choose_dimension(roll.points)
    assert (found["dimension"], found["votes"]) == (int(choice), pytest.approx(choice.votes))
    for name in ("mle", "two_nn", "pca"):
        value = getattr(library.dimension, name)(roll.points)
        assert found["estimates"][name]["dimension"] == pytest.approx(value.dimension)
        assert found["estimates"][name]["uncertainty"] == pytest.approx(value.uncertainty)
    assert (folder / "fits.png").read_bytes().startswith(b"\x89PNG")


def test_an_estimator_that_there_is_not_is_refused(folder):
    words = ("dimension", *ASIDE, "--estimators", "mla")
    assert "choose from pca, local_pca" in sentence(unbend(*words, cwd=folder, code=2))


def test_a_sample_is_the_one_that_the_library_would_draw(folder, roll):
    rows = np.sort(np.random.default_rng(3).choice(300, 100, replace=False))
    words = ("dimension", *ASIDE, "--estimators", "mle", "--sample", 100, "--seed", 3)
    found = read_facts(*words, cwd=folder)
    assert found["rows"] == 100
    expected = library.dimension.mle(roll.points[rows]).dimension
    assert found["estimates"]["mle"]["dimension"] == pytest.approx(expected)


def test_a_bench_times_each_method_and_says_on_what(folder):
    words = ("--methods", "pca,lle", "--repeat", 2)
    found = read_facts("bench", *ASIDE, *words, cwd=folder)
    assert (found["rows"], found["columns"], found["repeat"]) == (300, 3, 2)
    assert list(found["seconds"]) == ["PCA", "LLE"]
    assert all(0 < of["fastest"] <= of["median"] for of in found["seconds"].values())
    assert found["threads"] >= 1
    text = unbend("bench", "--sample", 100, *words, cwd=folder).stdout.decode()
    assert "100 rows of 3 columns, 2 fits each, one machine" in text


def test_a_method_that_fails_in_a_bench_says_so_and_the_others_go_on(folder):
    words = ("bench", *ASIDE, "--methods", "pca,lle", "-d", 3, "--repeat", 1, "--sample", 4)
    found = read_facts(*words, cwd=folder)
    assert list(found["seconds"]) == ["PCA"]
    assert "LLE" in found["failures"]
