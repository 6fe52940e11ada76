"""Tables larger than memory on the command line: sampled, or refused with what to do."""

import json

import numpy as np
import pandas as pd
import pytest

import unbend as library
from tests.cli.program import sentence, unbend
from unbend.memory import memory_limit

ROWS = 60_000
LIMIT = 12_000_000


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Write a roll of 60 000 rows in eight columns of different units, as text and as Parquet."""
    monkeypatch.setattr("unbend.io.reading.SAMPLED_ROWS", 2000)
    monkeypatch.setattr("unbend.apps.study.sentences.SAMPLED_ROWS", 2000)
    roll = library.datasets.swiss_roll(ROWS, random_state=0)
    mixed = roll.points @ np.random.default_rng(0).normal(size=(3, 7))
    frame = pd.DataFrame(mixed * 10.0 ** np.arange(7), columns=[f"c{i}" for i in range(7)])
    frame["kind"] = np.where(roll.chart[:, 0] > np.median(roll.chart[:, 0]), "in", "out")
    frame.round(5).to_csv(tmp_path / "roll.csv", index=False)
    frame.drop(columns="kind").to_parquet(tmp_path / "roll.parquet", row_group_size=500)
    return tmp_path


def run(*words, **options):
    with memory_limit(LIMIT if "roll.csv" in words else 3_000_000):
        return unbend(*words, **options)


@pytest.mark.parametrize("name", ["roll.csv", "roll.parquet"])
def test_suggest_samples_and_says_so(name, folder):
    words = ("suggest", name, "--sample", "500", "--json")
    words += ("--label", "kind") if name == "roll.csv" else ()
    done = run(*words, cwd=folder)
    line = done.stderr.decode().splitlines()[0]
    about = "about " * (name == "roll.csv")
    assert line.startswith(f"{name} is larger than memory: sampled 2000 of {about}")
    total = int(line.split(" of ")[1].split()[-2])
    assert abs(total - ROWS) <= (0.1 * ROWS if about else 0)
    assert json.loads(done.stdout)["findings"]["dimension"] == 2
    assert run(*words, cwd=folder).stdout == done.stdout


@pytest.mark.usefixtures("undrawn")
def test_the_page_says_that_rows_were_sampled(folder):
    words = ("report", "roll.csv", "--label", "kind", "--sample", "300", "--json")
    output = json.loads(run(*words, cwd=folder).stdout)
    page = (folder / "roll-report.html").read_text("utf-8")
    assert (output["rows"], output["studied"]) == (2000, 300)
    assert f"Sampled 2000 of about {output['total']} rows" in page
    assert "all numbers are those of the sample" in page
    assert "unbend.io.sample_table(&#x27;roll.csv&#x27;, 2000, random_state=0).reader" in page
    assert "--sample 300 -o flat.csv" in page


def test_embed_refuses_and_names_the_options(folder):
    said = sentence(run("embed", "roll.csv", "--label", "kind", cwd=folder, code=1))
    assert "need " in said
    assert " MB and 12.0 MB are available" in said
    assert "--sample ROWS" in said
    assert "--batches ROWS" in said


def test_embed_takes_a_sample(folder):
    words = ("embed", "roll.csv", "--label", "kind", "--method", "pca", "--sample", "400")
    run(*words, "-o", "flat.csv", cwd=folder)
    found = pd.read_csv(folder / "flat.csv")
    assert len(found) == 400
    assert set(found["kind"]) == {"in", "out"}
    assert abs((found["kind"] == "in").mean() - 0.5) < 0.1
    small = unbend(*words, "-o", "small.csv", cwd=folder)
    assert b"larger than memory" not in small.stderr
    assert len(pd.read_csv(folder / "small.csv")) == 400


def test_a_sample_does_not_go_with_batches(folder):
    words = ("embed", "roll.csv", "--method", "pca", "--sample", "400", "--batches", "1000")
    assert "--sample" in sentence(unbend(*words, cwd=folder, code=2))
