"""The worked example of docs/scale.md, run as it stands there on a small folder of Parquet."""

import pytest

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'unbend[dask]'")


import re
import shlex
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd

import unbend
from tests.cli.program import unbend as command

PAGE = (Path(__file__).parent.parent.parent / "docs" / "scale.md").read_text()
# The sample of the page is larger than the folder of this test.
SMALLER = {"sample=20_000": "sample=1000", "--sample 20000": "--sample 1000"}


@pytest.fixture
def table():
    # Half of the sample, 500 rows, is too few for a roll, whose sheets are near each other.
    curve = unbend.datasets.s_curve(1600, random_state=0)
    return pd.DataFrame(curve.points, columns=["x", "y", "z"])


def shorten(text):
    for long, short in SMALLER.items():
        text = text.replace(long, short)
    return text


def test_the_example_in_python_runs(table, tmp_path, monkeypatch):
    dd.from_pandas(table, npartitions=4).to_parquet(tmp_path / "rows")
    monkeypatch.chdir(tmp_path)
    (code,) = (text for text in re.findall(r"```python\n(.*?)```", PAGE, re.S) if "LTSA(" in text)
    names = {}
    exec(shorten(code), names)
    embedded = dd.read_parquet("embedded").compute()
    assert np.array_equal(embedded, unbend.load("m.unbend").transform(table))
    assert names["model"].held_out_.disagreement < 0.1
    assert names["model"].report_.stage("sample").facts["tier"] == "sample"


def test_the_commands_run(table, tmp_path, client):
    named = dd.from_pandas(table.assign(name=table.index.astype(str)), npartitions=3)
    for folder in ("rows", "new_rows"):
        named.to_parquet(tmp_path / folder)
    lines = [line.strip() for line in PAGE.splitlines() if line.startswith("    unbend ")]
    assert len(lines) == 3
    for line in lines:
        # Processes are started in a slow test; here the cluster of all tests is the scheduler.
        text = shorten(line).replace("--workers 4", "")
        words = shlex.split(text.replace("tcp://host:8786", client.scheduler.address))
        command(*words[1:], cwd=tmp_path)
    found = {
        name: dd.read_parquet(tmp_path / name).compute()
        for name in ("embedded", "new_embedded", "flat")
    }
    assert list(found["embedded"].columns) == ["name", "ltsa0", "ltsa1"]
    assert np.array_equal(found["embedded"]["ltsa0"], found["new_embedded"]["ltsa0"])
    flat = found["flat"].drop(columns="name").to_numpy()
    expected = unbend.PCA().fit_transform(table)
    assert np.abs(flat - expected).max() <= 1e-11 * np.abs(expected).max()
