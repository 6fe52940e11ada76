"""Tables as people have them on the command line: units, categories, dates, gaps."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

import unbend as library
from tests.cli.program import sentence, unbend
from tests.tables.corpus import TABLES

READABLE = sorted(TABLES)


def embedded(folder, *words):
    """Embed a table; return the coordinates and what was reported."""
    done = unbend("embed", *words, "-o", "out.csv", cwd=folder)
    table = pd.read_csv(folder / "out.csv", float_precision="round_trip")
    return table.filter(regex="isomap_").to_numpy(), done.stderr.decode()


@pytest.mark.parametrize("name", READABLE)
def test_every_table_is_embedded_by_one_command(name, tmp_path):
    table = TABLES[name]()
    path = table.save(tmp_path)
    coordinates, _ = embedded(tmp_path, path.name, "--missing", "median")
    assert coordinates.shape == (len(table.frame), 2)
    assert np.isfinite(coordinates).all()


@pytest.mark.parametrize("name", ["wine", "breast_cancer", "diabetes"])
def test_the_picture_is_as_good_as_that_of_the_pipeline_by_hand(name, tmp_path):
    table = TABLES[name]()
    path = table.save(tmp_path)
    coordinates, _ = embedded(tmp_path, path.name, "--label", table.label)
    rows = table.frame.drop(columns=[table.label]).select_dtypes("number")
    rows = rows.drop(columns=[n for n, kind in table.kinds.items() if kind == "id" and n in rows])
    by_hand = library.Isomap().fit_transform(StandardScaler().fit_transform(rows))
    label = table.frame[table.label]
    values = label.nunique() > 20
    judge = (KNeighborsRegressor if values else KNeighborsClassifier)(10)
    own, other = (cross_val_score(judge, X, label, cv=5).mean() for X in (coordinates, by_hand))
    assert own >= other - 0.02


def test_a_column_in_other_units_gives_the_same_picture(tmp_path):
    wine, huge = TABLES["wine"](), TABLES["one_huge_column"]()
    pictures = []
    for name, table in (("wine.csv", wine), ("huge.csv", huge)):
        table.frame.to_csv(tmp_path / name, index=False)
        pictures.append(embedded(tmp_path, name, "--label", table.label)[0])
    first, second = pictures
    signs = np.sign(np.sum(first * second, axis=0))
    np.testing.assert_allclose(second * signs, first, atol=1e-6 * np.abs(first).max())


def test_one_line_reports_what_was_done(tmp_path):
    TABLES["passengers"]().save(tmp_path)
    name = TABLES["passengers"]().file
    _, said = embedded(tmp_path, name, "--missing", "median")
    line = said.splitlines()[0]
    assert line.startswith("Standardised 6 columns: ")
    assert "Left out: 'PassengerId' (id)" in line
    assert "Imputed by median: 'Age' (40)." in line


def test_all_problems_are_reported_at_once_with_their_options(tmp_path):
    TABLES["passengers"]().save(tmp_path)
    told = sentence(unbend("embed", TABLES["passengers"]().file, cwd=tmp_path, code=1))
    assert "Columns with missing values: 'Age' (40)" in told
    assert "[--missing median (or mean, most_frequent, indicator, drop)]" in told
    assert "Columns that identify rows, left out: 'PassengerId'" in told
    assert "[--column-kind COLUMN=KIND]" in told


def test_gaps_infinite_and_constant_columns_are_reported_together(tmp_path):
    text = "a,b,c,d\n1,,inf,7\n,2,3,7\n3,,4,7\n4,5,5,7\n5,4,1,7\n"
    (tmp_path / "t.csv").write_text(text)
    told = sentence(unbend("embed", "t.csv", cwd=tmp_path, code=1))
    assert "'a' (1), 'b' (2) [--missing median (or mean" in told
    assert "infinite values: 'c' (1, the first in row 1) [--ignore, or correct the file]" in told
    assert "Columns with one value, left out: 'd'" in told


def test_numbers_on_one_unit_stay_as_they_are(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 4)) * [1, 2, 3, 4], columns=list("abcd"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    coordinates, said = embedded(tmp_path, "t.csv", "--model", "m.unbend")
    assert "Standardised" not in said
    table = library.io.read(tmp_path / "t.csv")
    np.testing.assert_array_equal(coordinates, library.Isomap().fit_transform(table.values))
    assert not hasattr(library.load(tmp_path / "m.unbend"), "preparation_")


def test_arrays_are_not_scaled_unless_asked(tmp_path):
    rows = np.random.default_rng(0).normal(size=(60, 3)) * [1, 1, 1000]
    np.save(tmp_path / "t.npy", rows)
    coordinates, _ = embedded(tmp_path, "t.npy")
    np.testing.assert_array_equal(coordinates, library.Isomap().fit_transform(rows))
    scaled, _ = embedded(tmp_path, "t.npy", "--scale", "standard")
    expected = library.Isomap().fit_transform(StandardScaler().fit_transform(rows))
    np.testing.assert_allclose(scaled, expected, atol=1e-9)


@pytest.mark.parametrize("training", [(), ("--no-training",)])
def test_the_model_contains_the_preparation(training, tmp_path):
    table = TABLES["passengers"]()
    path = table.save(tmp_path)
    words = ("--missing", "median", "--method", "pca", "--model", "m.unbend", *training)
    unbend("embed", path.name, *words, "-o", "old.csv", cwd=tmp_path)
    unbend("transform", "m.unbend", path.name, "--batches", 70, "-o", "new.csv", cwd=tmp_path)
    old, new = (pd.read_csv(tmp_path / name).filter(like="pca") for name in ("old.csv", "new.csv"))
    np.testing.assert_allclose(new, old, atol=1e-9)
    model = library.load(tmp_path / "m.unbend")
    frame = library.io.read_frame(path)
    again = model.transform(model.preparation_.transform(frame))
    np.testing.assert_allclose(again, old, atol=1e-9)


def test_gaps_in_new_samples_are_dropped_or_imputed_on_request(tmp_path):
    table = TABLES["wine"]()
    path = table.save(tmp_path)
    words = ("--label", table.label, "--method", "pca", "--model", "m.unbend")
    unbend("embed", path.name, *words, "-o", "old.csv", cwd=tmp_path)
    new = table.frame.copy()
    new.loc[3, "hue"] = np.nan
    new.iloc[:, ::-1].to_csv(tmp_path / "new.csv", index=False)
    told = sentence(unbend("transform", "m.unbend", "new.csv", cwd=tmp_path, code=1))
    assert "'hue' (1)" in told
    assert "--missing median" in told
    for policy, rows in (("drop", 177), ("median", 178)):
        words = ("transform", "m.unbend", "new.csv", "--missing", policy, "-o", "out.csv")
        unbend(*words, cwd=tmp_path)
        assert len(pd.read_csv(tmp_path / "out.csv")) == rows
    words = ("transform", "m.unbend", "new.csv", "--scale", "none")
    assert "--scale is fixed by m.unbend" in sentence(unbend(*words, cwd=tmp_path, code=2))


def test_kinds_and_encodings_are_options(tmp_path):
    table = TABLES["passengers"]()
    path = table.save(tmp_path)
    words = ("--missing", "most_frequent", "--scale", "gower", "--categories", "ordinal")
    kind = ("--column-kind", "Ticket=category", "--column-kind", "Age=constant")
    done = unbend("embed", path.name, *words, *kind, "--json", cwd=tmp_path)
    facts = json.loads(done.stdout)["preparation"]
    assert (facts["scale"], facts["missing"]) == ("gower", "most_frequent")
    assert (facts["columns"]["Ticket"], facts["columns"]["Age"]) == ("category", "constant")
    assert "Sex" in facts["features"]
    bad = ("embed", path.name, "--column-kind", "Age")
    assert "write COLUMN=KIND" in sentence(unbend(*bad, cwd=tmp_path, code=2))


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("name", ["penguins", "workbook"])
def test_every_command_takes_such_tables(name, tmp_path):
    path = TABLES[name]().save(tmp_path)
    words = (path.name, "--missing", "median")
    embedded(tmp_path, *words)
    unbend("quality", words[0], "out.csv", *words[1:], cwd=tmp_path)
    for command in ("suggest", "dimension", "graph"):
        unbend(command, *words, cwd=tmp_path)
    unbend("compare", *words, "--methods", "pca,isomap", cwd=tmp_path)
    unbend("report", *words, "-o", "page.html", cwd=tmp_path)
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "Standardised" in page
    assert "Encoded: " in page


def test_gower_sets_the_metric(tmp_path):
    table = TABLES["penguins"]()
    path = table.save(tmp_path)
    words = (path.name, "--label", "species", "--missing", "median", "--scale", "gower")
    words += ("--method", "classical_mds", "-o", "flat.csv")
    unbend("embed", *words, cwd=tmp_path)
    frame = library.io.read_frame(path, label="species")
    features = library.Prepare(scale="gower", missing="median").fit_transform(frame)
    expected = library.ClassicalMDS(metric="cityblock").fit_transform(features)
    found = pd.read_csv(tmp_path / "flat.csv").iloc[:, :2].to_numpy()
    np.testing.assert_allclose(found, expected, atol=1e-9)
    said = sentence(unbend("embed", *words, "--metric", "euclidean", cwd=tmp_path, code=2))
    assert "does not go with --scale gower" in said
    pca = ("embed", path.name, "--scale", "gower", "--method", "pca")
    assert "takes none" in sentence(unbend(*pca, cwd=tmp_path, code=2))
    report = ("report", path.name, "--scale", "gower")
    assert "--scale gower" in sentence(unbend(*report, cwd=tmp_path, code=2))
    for command in (("quality", path.name, "flat.csv"), ("graph", path.name)):
        words = (*command, "--missing", "median", "--scale", "gower")
        assert "Euclidean" in sentence(unbend(*words, cwd=tmp_path, code=2))


def test_distances_are_refused_as_points_before_rows_are_sampled(tmp_path):
    points = np.random.default_rng(0).normal(size=(60, 3))
    matrix = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.save(tmp_path / "distances.npy", matrix)
    for command in ("suggest", "dimension", "compare"):
        words = (command, "distances.npy", "--sample", "40")
        assert "say --distances" in sentence(unbend(*words, cwd=tmp_path, code=2))


def test_infinite_values_are_named_with_their_rows(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "1.5,2\n" * 30 + "inf,3\n-inf,4\n")
    said = sentence(unbend("embed", "t.csv", cwd=tmp_path, code=1))
    assert "infinite values: 'a' (2, the first in row 31)" in said


@pytest.mark.parametrize("name", ["wine", "penguins", "houses"])
def test_batches_are_prepared_as_the_whole_is(name, tmp_path):
    table = TABLES[name]()
    path = table.save(tmp_path)
    words = ("embed", path.name, "--missing", "mean", "--method", "pca")
    words += ("--label", table.label) if table.label else ()
    unbend(*words, "-o", "whole.csv", cwd=tmp_path)
    done = unbend(*words, "--batches", 40, "-o", "b.csv", "--model", "b.unbend", cwd=tmp_path)
    assert b"Standardised" in done.stderr
    whole, parts = (pd.read_csv(tmp_path / f"{which}.csv") for which in ("whole", "b"))
    np.testing.assert_allclose(parts.iloc[:, :2], whole.iloc[:, :2], atol=1e-8)
    new = ("transform", "b.unbend", path.name, "--missing", "mean", "-o", "new.csv")
    unbend(*new, cwd=tmp_path)
    found = pd.read_csv(tmp_path / "new.csv").iloc[:, :2]
    np.testing.assert_allclose(found, whole.iloc[:, :2], atol=1e-8)


def test_texts_are_used_beside_other_columns(tmp_path):
    table = TABLES["packages"]()
    path = table.save(tmp_path)
    words = ("embed", path.name, "--label", "section", "--column-kind", "description=terms")
    done = unbend(*words, "-o", "flat.csv", "--model", "m.unbend", cwd=tmp_path)
    assert b"Encoded: 'description' (terms)." in done.stderr
    unbend("transform", "m.unbend", path.name, "-o", "new.csv", cwd=tmp_path)
    flat, new = (pd.read_csv(tmp_path / f"{name}.csv").iloc[:, :2] for name in ("flat", "new"))
    np.testing.assert_allclose(new, flat, atol=1e-8)
