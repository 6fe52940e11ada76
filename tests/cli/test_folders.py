"""Folders of Parquet and Zarr on the command line: embedded and transformed on Dask."""

import json

import numpy as np
import pandas as pd
import pytest

from tests.cli.program import program, sentence, unbend
from unbend.datasets import swiss_roll
from unbend.storage import load

dd = pytest.importorskip(
    "dask.dataframe", reason="Dask is not installed: pip install 'unbend[dask]'"
)
da = pytest.importorskip("dask.array", reason="Dask is not installed: pip install 'unbend[dask]'")


@pytest.fixture(scope="module")
def table():
    points = swiss_roll(900, random_state=0).points
    frame = pd.DataFrame(points, columns=["x", "y", "z"])
    return frame.assign(row=[f"r{i}" for i in range(900)], kind=np.arange(900) % 3)


@pytest.fixture
def folder(table, tmp_path):
    dd.from_pandas(table, npartitions=4).to_parquet(tmp_path / "rows")
    return tmp_path


def test_a_folder_is_embedded_and_transformed(folder, table):
    words = [
        "--method",
        "ltsa",
        "--n-neighbors",
        9,
        "--sample",
        700,
        "--id",
        "row",
        "--ignore",
        "kind",
    ]
    unbend("embed", "rows", *words, "-o", "embedded", "--model", "m.unbend", cwd=folder)
    found = dd.read_parquet(folder / "embedded").compute()
    assert list(found.columns) == ["row", "ltsa0", "ltsa1"]
    assert found["row"].tolist() == table["row"].tolist()
    assert len(list((folder / "embedded").iterdir())) == 4
    model = load(folder / "m.unbend")
    expected = model.transform(table[["x", "y", "z"]])
    assert np.array_equal(found[["ltsa0", "ltsa1"]].to_numpy(), expected)
    # The model knows which columns are no features.
    unbend("transform", "m.unbend", "rows", "-o", "again", "--score", cwd=folder)
    again = dd.read_parquet(folder / "again").compute()
    assert list(again.columns) == ["row", "ltsa0", "ltsa1", "outlyingness"]
    assert np.array_equal(again[["ltsa0", "ltsa1"]].to_numpy(), expected)
    assert not list(folder.glob(".*"))


def test_a_zarr_store_gives_a_zarr_store(tmp_path, table):
    points = table[["x", "y", "z"]].to_numpy()
    da.from_array(points, chunks=(200, 3)).to_zarr(str(tmp_path / "rows"))
    done = unbend("embed", "rows", "-m", "pca", "-o", "flat", "--json", cwd=tmp_path)
    facts = json.loads(done.stdout)
    assert facts["rows"] == 900
    assert facts["report"]["stages"][0]["facts"]["tier"] == "exact"
    from unbend import PCA

    found = da.from_zarr(str(tmp_path / "flat")).compute()
    expected = PCA().fit_transform(points)
    assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()


@pytest.mark.slow
def test_processes_are_started_and_stopped(folder):
    words = ["embed", "rows", "-m", "pca", "--ignore", "row,kind"]
    program(*words, "-o", "alone", cwd=folder)
    program(*words, "-o", "two", "--workers", 2, cwd=folder)
    alone, two = (dd.read_parquet(folder / name).compute() for name in ("alone", "two"))
    assert np.array_equal(alone, two)


def test_held_out_rows_are_reported(folder):
    words = ["embed", "rows", "-m", "ltsa", "--sample", 60, "--ignore", "row,kind", "-o", "flat"]
    done = unbend(*words, "--json", cwd=folder)
    stages = {stage["name"]: stage for stage in json.loads(done.stdout)["report"]["stages"]}
    assert stages["held out"]["facts"]["disagreement"] > 0.1
    assert b"Two halves of the sample" in done.stderr
    assert done.stderr.count(b"Two halves of the sample") == 1


def test_a_failed_transform_leaves_the_folder_as_it_was(folder, table):
    words = ["-m", "pca", "--ignore", "row,kind"]
    unbend("embed", "rows", *words, "-o", "flat", "--model", "m.unbend", cwd=folder)
    before = dd.read_parquet(folder / "flat").compute()
    wrong = table.assign(x=np.where(np.arange(900) == 700, np.nan, table["x"]))
    dd.from_pandas(wrong, npartitions=4).to_parquet(folder / "wrong")
    done = unbend("transform", "m.unbend", "wrong", "-o", "flat", cwd=folder, code=1)
    assert "NaN (first in partition 3, row 25, column 'x')" in sentence(done)
    assert np.array_equal(dd.read_parquet(folder / "flat").compute(), before)
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["embed", "rows", "-m", "ltsa"], "give -o FOLDER"),
        (["embed", "rows", "-m", "ltsa", "-o", "rows"], "is no folder beside rows"),
        (["embed", "rows", "-m", "ltsa", "-o", "rows/flat"], "is no folder beside rows"),
        (["embed", "rows", "-m", "ltsa", "-o", "other"], "holds no Parquet or Zarr"),
        (["embed", "rows", "-m", "ltsa", "-o", "flat", "--plot", "a.png"], "--plot is not for"),
        (["embed", "rows", "-m", "pca", "-o", "flat", "--sample", 9], "leave --sample out"),
        (["embed", "rows", "-m", "ltsa", "-o", "flat", "--ignore", "w"], "has no column 'w'"),
        (["embed", "rows", "-m", "ltsa", "-o", "flat", "--batches", 9], "leave them out"),
        (["embed", "rows", "-m", "ltsa", "-o", "f", "--missing", "mean"], "leave them out"),
        (["embed", "mixed", "-m", "ltsa", "-o", "flat"], "holds Parquet and other files"),
        (["embed", "roll.csv", "--workers", 2], "are for folders of Parquet or Zarr"),
        (
            ["embed", "rows", "-o", "f", "--workers", 2, "--scheduler", "tcp://127.0.0.1:1"],
            "give one of them",
        ),
    ],
)
def test_mistakes_have_one_sentence(folder, table, words, expected):
    (folder / "other").mkdir()
    (folder / "other" / "notes.txt").write_text("mine")
    (folder / "mixed").mkdir()
    table.to_parquet(folder / "mixed" / "a.parquet")
    (folder / "mixed" / "photo.png").write_bytes(b"")
    table[["x", "y"]].to_csv(folder / "roll.csv", index=False)
    code = 1 if "mixed" in words else 2
    assert expected in sentence(unbend(*words, cwd=folder, code=code))
    assert (folder / "other" / "notes.txt").read_text() == "mine"
