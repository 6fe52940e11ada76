"""A million rows through the command line, in a process whose memory is measured. Slow."""

import json
import os
import subprocess

import numpy as np
import pytest

import unbend as library
from tests.cli.program import PROGRAM
from unbend.io import read, write

ROWS, COLUMNS, LIMIT = 1_000_000, 10, 6e9


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_million_rows_of_parquet_are_embedded_within_six_gigabytes(tmp_path):
    roll = library.datasets.swiss_roll(ROWS, random_state=0)
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((COLUMNS, COLUMNS)))[0]
    write(tmp_path / "roll.parquet", roll.points @ rotation[:3])
    words = ("embed", "roll.parquet", "--method", "LaplacianEigenmaps", "-o", "flat.parquet")
    with subprocess.Popen(
        [*PROGRAM, *words, "--json"], cwd=tmp_path, stdout=subprocess.PIPE
    ) as running:
        output = json.loads(running.stdout.read())
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    assert running.returncode == 0
    assert output["rows"] == ROWS
    # Linux counts kilobytes.
    assert used.ru_maxrss * 1024 < LIMIT
    found = read(tmp_path / "flat.parquet").values
    # The slowest vibration of a strip is a half wave along it: monotone, and the same across it.
    ranks = np.argsort(np.argsort(found[:, 0]))
    along = np.argsort(np.argsort(roll.chart[:, 0]))
    assert abs(np.corrcoef(ranks, along)[0, 1]) > 0.999
