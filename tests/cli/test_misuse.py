"""What cannot work is refused before any work, and nothing that was typed is passed over."""

import json
import os

import numpy as np
import pandas as pd
import pytest

import unbend as library
from tests.cli.program import numbers, sentence, unbend

ASIDE = ("--label", "kind", "--id", "row")
PCA = ("embed", "roll.csv", *ASIDE, "--method", "pca")
FLAT = ["pca_1", "pca_2"]


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (("-o", "flat.xyz"), "flat.xyz does not end in one of .csv"),
        (("--plot", "flat.bmp"), "flat.bmp does not end in one of .png"),
        (("--plot", "-"), "- does not end in"),
        (("--model", "-"), "a model cannot go to stdout"),
        (("-o", "flat.csv", "--model", "flat.csv"), "flat.csv is named twice"),
        (("-o", "./roll.csv"), "./roll.csv is named twice"),
        (("--missing", "zero"), "refuse, drop, mean, median, most_frequent or indicator"),
        (("--memory", "1e400"), "--memory 1e400 is not a size"),
    ],
)
def test_names_and_words_that_cannot_work_are_refused(folder, words, output):
    before = (folder / "roll.csv").read_bytes()
    assert output in sentence(unbend(*PCA, *words, cwd=folder, code=2))
    assert [file.name for file in folder.iterdir()] == ["roll.csv"]
    assert (folder / "roll.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("value", "output"),
    [
        ('{"patchsize": 60}', "denoise has no 'patchsize': use patch_size"),
        ('{"patch_size": "x"}', "denoise['patch_size']='x' is not allowed"),
        ("yes", "--denoise yes is not allowed"),
    ],
)
@pytest.mark.parametrize("command", ["embed", "compare"])
def test_options_of_denoising_that_there_cannot_be_are_misuse(folder, command, value, output):
    given = ("--method", "ltsa", "--denoise", value)
    tried = ("--methods", "ltsa", "--try", f"denoise={value}")
    words = (command, "roll.csv", *ASIDE, *(given if command == "embed" else tried))
    assert output in sentence(unbend(*words, cwd=folder, code=2))


def test_results_are_known_to_have_a_place_before_the_table_is_read(tmp_path):
    output = sentence(unbend("embed", "none.csv", "-o", "none/flat.csv", cwd=tmp_path, code=1))
    assert output == "Error: none/flat.csv cannot be written: its folder does not exist"


def test_a_read_only_folder_is_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    output = sentence(unbend("embed", "none.csv", "-o", "flat.csv", cwd=tmp_path, code=1))
    assert output.startswith("Error: flat.csv cannot be written")


def test_a_model_is_not_overwritten_by_the_rows_it_places(folder):
    unbend(*PCA, "--model", "m.csv", cwd=folder)
    output = sentence(unbend("transform", "m.csv", "roll.csv", "-o", "m.csv", cwd=folder, code=2))
    assert "m.csv is named twice" in output


def test_a_column_to_ignore_that_is_not_there_is_refused(folder):
    words = ("embed", "roll.csv", "--method", "pca", "--ignore", "kind,row,zz")
    for more in ((), ("--batches", 100)):
        assert "no column 'zz' to ignore" in sentence(unbend(*words, *more, cwd=folder, code=1))


@pytest.mark.parametrize(
    "words",
    [
        *(("--label", "x0"), ("--id", "x0"), ("--ignore", "x0")),
        *(("--missing", "drop"), ("--metric", "cosine")),
    ],
)
def test_what_distances_do_not_have_is_refused(folder, words):
    np.save(folder / "d.npy", 1 - np.eye(9))
    output = sentence(unbend("embed", "d.npy", "--distances", *words, cwd=folder, code=2))
    assert f"{words[0]} does not go with --distances" in output


@pytest.mark.parametrize("named", [("-mltsa",), ("--method", "pca", "--method=ltsa")])
def test_the_options_are_those_of_the_method_that_is_used(folder, named):
    words = ("embed", "roll.csv", *ASIDE, *named, "--n-neighbors", 9, "--json")
    assert json.loads(unbend(*words, cwd=folder).stdout)["method"] == "ltsa"
    words = ("embed", "roll.csv", *named, "--weights", "heat")
    assert "ltsa has no --weights" in sentence(unbend(*words, cwd=folder, code=2))


@pytest.mark.parametrize("words", [("--noise", "-1"), ("--sampling", "foo"), ("--length", "-2")])
def test_a_surface_that_there_cannot_be_is_misuse(words):
    assert words[0][2:] in sentence(unbend("surface", "swiss_roll", *words, code=2))


def test_columns_of_a_model_made_in_python_are_found_by_name(folder, roll):
    named = pd.DataFrame(roll.points, columns=list("xyz"))
    model = library.PCA(n_components=2).fit(named)
    model.save(folder / "m.unbend")
    named[["z", "x", "y"]].to_csv(folder / "new.csv", index=False)
    unbend("transform", "m.unbend", "new.csv", "-o", "flat.csv", cwd=folder)
    assert np.array_equal(numbers(folder / "flat.csv", FLAT), model.transform(named))


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (("m.unbend", "--spectrum", "--residual"), "two pictures"),
        (("m.unbend", "--label", "kind"), "m.unbend has no columns to colour by"),
        (("m.unbend", "--color", "x"), "m.unbend has no columns to colour by"),
        (("m.unbend", "--spectrum", "--color", "x"), "m.unbend has no columns to colour by"),
    ],
)
def test_a_picture_that_would_not_be_what_was_asked_for_is_refused(tmp_path, words, output):
    assert output in sentence(unbend("plot", *words, "-o", "p.png", cwd=tmp_path, code=2))


@pytest.mark.parametrize("color", ["--label", "--color"])
def test_pictures_side_by_side_are_of_the_same_rows(tmp_path, color):
    lines = [f"{row},{row * row},{row}" for row in range(9)]
    (tmp_path / "a.csv").write_text("u,v,k\n" + "\n".join(lines))
    (tmp_path / "b.csv").write_text("u,v,k\n" + "\n".join([*lines[:-1], "3,4,10"]))
    (tmp_path / "c.csv").write_text("u,v,k\n" + "\n".join(lines))
    words = ("plot", "a.csv", "b.csv", color, "k", "-o", "p.png")
    output = sentence(unbend(*words, cwd=tmp_path, code=1))
    assert "b.csv has other labels or colours than a.csv" in output
    unbend("plot", "a.csv", "c.csv", color, "k", "--title", "Two", "-o", "p.png", cwd=tmp_path)
    assert (tmp_path / "p.png").exists()
