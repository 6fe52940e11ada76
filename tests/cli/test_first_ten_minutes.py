"""The block of the README, word for word, and what comes out of it."""

import re
import shlex
from pathlib import Path

import numpy as np

import unbend as library
from tests.cli.program import numbers, unbend

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples" / "first_ten_minutes.sh"


def test_the_script_is_the_block_of_the_readme():
    section = (ROOT / "README.md").read_text().split("## First ten minutes\n")[1].split("\n## ")[0]
    (block,) = re.findall(r"```sh\n(.*?)```", section, flags=re.DOTALL)
    assert SCRIPT.read_text() == block


def test_the_commands_do_what_the_readme_promises(tmp_path):
    lines = SCRIPT.read_text().replace("\\\n", " ").splitlines()
    commands = [shlex.split(line, comments=True) for line in lines]
    assert {words[0] for words in commands if words} == {"unbend"}
    outputs = [unbend(*words[1:], cwd=tmp_path).stdout.decode() for words in commands if words]
    roll, new = (library.datasets.swiss_roll(n, random_state=s) for n, s in ((1000, 0), (200, 1)))
    model = library.Isomap(n_neighbors=8).fit(roll.points)
    flat = ["isomap_1", "isomap_2"]
    assert np.array_equal(numbers(tmp_path / "flat.csv", flat), model.embedding_)
    placed = numbers(tmp_path / "new-flat.csv", flat)
    assert np.array_equal(placed, model.transform(new.points))
    together = np.vstack([model.embedding_, placed])
    truth = np.vstack([roll.chart, new.chart])
    assert library.quality.procrustes(truth, together) < 0.01
    missed = re.search(r"procrustes_similarity +([0-9.e-]+)", "".join(outputs))
    assert missed is not None
    assert float(missed[1]) < 0.01
    assert (tmp_path / "flat.png").stat().st_size > 1000
    assert (tmp_path / "flat.html").read_text().startswith("<!doctype html>")
