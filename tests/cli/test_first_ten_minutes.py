"""The block of the README, word for word, and what comes out of it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

import unbend as library
from tests.cli.program import QUIET_BLAS, numbers

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples" / "first_ten_minutes.sh"


def test_the_script_is_the_block_of_the_readme():
    section = (ROOT / "README.md").read_text().split("## First ten minutes\n")[1].split("\n## ")[0]
    (block,) = re.findall(r"```sh\n(.*?)```", section, flags=re.DOTALL)
    assert SCRIPT.read_text() == block


def test_the_script_does_what_the_readme_promises(tmp_path):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", SCRIPT],
        cwd=tmp_path,
        env={**os.environ, **QUIET_BLAS, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    roll, new = (library.datasets.swiss_roll(n, random_state=s) for n, s in ((1000, 0), (200, 1)))
    model = library.Isomap(n_neighbors=8).fit(roll.points)
    flat = ["isomap_1", "isomap_2"]
    assert np.array_equal(numbers(tmp_path / "flat.csv", flat), model.embedding_)
    placed = numbers(tmp_path / "new-flat.csv", flat)
    assert np.array_equal(placed, model.transform(new.points))
    together = np.vstack([model.embedding_, placed])
    truth = np.vstack([roll.chart, new.chart])
    assert library.quality.procrustes(truth, together) < 0.01
    missed = re.search(r"procrustes_similarity +([0-9.e-]+)", done.stdout)
    assert missed is not None
    assert float(missed[1]) < 0.01
    assert (tmp_path / "flat.png").stat().st_size > 1000
    assert (tmp_path / "flat.html").read_text().startswith("<!doctype html>")
