"""``unbend transform`` and ``unbend info``: models that outlive the command."""

import json

import numpy as np
import pytest

import unbend as library
from tests.cli.program import numbers, sentence, table_of, unbend

FLAT = ["ltsa_1", "ltsa_2"]


@pytest.fixture
def fitted(folder):
    words = ("--label", "kind", "--id", "row", "--n-neighbors", 8)
    unbend("embed", "roll.csv", "--method", "ltsa", *words, "--model", "m.unbend", cwd=folder)
    return folder


@pytest.fixture
def expected(roll):
    return library.LTSA(n_neighbors=8).fit(roll.points).transform(roll.points + 0.01)


def write(path, **columns):
    rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


def test_new_samples_with_or_without_label_and_id_in_any_order_of_columns(
    fitted, roll, kinds, expected
):
    x, y, z = (roll.points + 0.01).T
    write(fitted / "bare.csv", x=x, y=y, z=z)
    write(fitted / "labelled.csv", z=z, kind=kinds, y=y, x=x)
    write(fitted / "named.csv", row=np.arange(300), x=x, y=y, z=z)
    for name in ("bare", "labelled", "named"):
        unbend("transform", "m.unbend", f"{name}.csv", "-o", f"{name}-flat.csv", cwd=fitted)
        assert np.array_equal(numbers(fitted / f"{name}-flat.csv", FLAT), expected)
    assert table_of(fitted / "labelled-flat.csv")[0] == FLAT
    assert table_of(fitted / "named-flat.csv")[0] == ["row", *FLAT]


def test_the_label_goes_along_when_it_is_asked_for(fitted, roll, kinds):
    x, y, z = roll.points.T
    write(fitted / "new.csv", x=x, y=y, z=z, kind=kinds)
    unbend("transform", "m.unbend", "new.csv", "--label", "kind", "-o", "flat.csv", cwd=fitted)
    header, rows = table_of(fitted / "flat.csv")
    assert header == [*FLAT, "kind"]
    assert [row[2] for row in rows] == kinds.tolist()


def test_batches_change_nothing(fitted, roll, expected):
    x, y, z = (roll.points + 0.01).T
    write(fitted / "new.csv", x=x, y=y, z=z)
    done = unbend("transform", "m.unbend", "new.csv", "--batches", 7, "-o", "flat.csv", cwd=fitted)
    assert np.array_equal(numbers(fitted / "flat.csv", FLAT), expected)
    assert done.stdout == b""


def test_columns_are_taken_in_order_where_they_have_no_names(fitted, roll, expected):
    np.save(fitted / "new.npy", roll.points + 0.01)
    unbend("transform", "m.unbend", "new.npy", "-o", "flat.csv", cwd=fitted)
    assert np.array_equal(numbers(fitted / "flat.csv", FLAT), expected)


def test_other_columns_than_the_fitted_ones_are_refused_by_name(fitted, roll):
    x, y, z = roll.points.T
    write(fitted / "more.csv", x=x, y=y, z=z, w=x)
    write(fitted / "less.csv", x=x, y=y)
    output = sentence(unbend("transform", "m.unbend", "more.csv", cwd=fitted, code=1))
    assert "'w'" in output
    assert "--ignore w" in output
    unbend("transform", "m.unbend", "more.csv", "--ignore", "w", cwd=fitted)
    assert "no column 'z'" in sentence(
        unbend("transform", "m.unbend", "less.csv", cwd=fitted, code=1)
    )


def test_a_file_that_is_no_model_is_refused(folder):
    assert "roll.csv" in sentence(unbend("transform", "roll.csv", "roll.csv", cwd=folder, code=1))
    assert "m.unbend" in sentence(unbend("info", "m.unbend", cwd=folder, code=1))


def test_new_distances_are_placed(folder, roll):
    between = np.linalg.norm(roll.points[:, None] - roll.points[:100], axis=2)
    np.save(folder / "fitted.npy", between[:100])
    np.save(folder / "new.npy", between[100:])
    unbend("embed", "fitted.npy", "--distances", "--model", "m.unbend", cwd=folder)
    unbend("transform", "m.unbend", "new.npy", "-o", "flat.csv", cwd=folder)
    model = library.Isomap(metric="precomputed").fit(between[:100])
    found = numbers(folder / "flat.csv", ["isomap_1", "isomap_2"])
    assert np.array_equal(found, model.transform(between[100:]))


def test_the_model_describes_itself(fitted):
    output = json.loads(unbend("info", "m.unbend", "--json", cwd=fitted).stdout)
    assert (output["method"], output["rows"], output["label"], output["id"]) == (
        "LTSA",
        300,
        "kind",
        "row",
    )
    assert output["columns"] == ["x", "y", "z"]
    assert output["parameters"]["n_neighbors"] == 8
    assert "LTSA" in unbend("info", "m.unbend", cwd=fitted).stdout.decode()


def test_versions_kernels_and_threads_are_reported():
    output = json.loads(unbend("info", "--json").stdout)
    assert output["unbend"] == library.__version__
    assert output["threads"] >= 1
    assert {"kernels", "numpy", "scipy", "scikit-learn"} <= set(output)


def test_a_table_without_the_columns_of_the_model_is_refused_by_their_names(fitted):
    write(fitted / "other.csv", name=["a", "b"], x=[1.0, 2.0])
    said = sentence(unbend("transform", "m.unbend", "other.csv", cwd=fitted, code=1))
    assert "other.csv has no column 'y' and 1 more, which the model was fitted to" in said


def test_a_prepared_model_names_the_columns_that_a_table_lacks(tmp_path):
    write(tmp_path / "t.csv", size=["low", "high"] * 15, price=np.arange(30) ** 1.5)
    unbend("embed", "t.csv", "--method", "pca", "--model", "m.unbend", cwd=tmp_path)
    write(tmp_path / "other.csv", x=[1.5, 2.5], y=[1.5, 3.5])
    said = sentence(unbend("transform", "m.unbend", "other.csv", cwd=tmp_path, code=1))
    assert "lacks columns that the fit used: 'size', 'price'" in said
