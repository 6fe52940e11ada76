"""The commands of docs/cli.md about images, texts, cubes and arrays run, one after the other."""

import re
import shlex
from pathlib import Path

import h5py
import numpy as np
from PIL import Image

import unbend as library
from tests.cli.program import table_of, unbend
from tests.io.test_page import WORDS, prepare

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def test_every_command_about_data_that_are_no_tables_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepare()
    rng = np.random.default_rng(0)
    for name, count in (("articles.csv", 60), ("new.csv", 5)):
        bodies = [" ".join(rng.choice(WORDS, 12)) for _ in range(count)]
        lines = [f"{body},{'ab'[place % 2]}" for place, body in enumerate(bodies)]
        Path(name).write_text("\n".join(["body,topic", *lines]) + "\n")
    library.io.write_cube("other.hdr", rng.random((3, 4, 20)))
    with h5py.File("runs.h5", "w") as file:
        file["run/points"], file["rest"] = rng.random((40, 4)), rng.random((5, 2))
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
    commands = [shlex.split(line)[1:] for line in block.splitlines()]
    assert len(commands) >= 10
    for words in commands:
        unbend(*words)
    assert Image.open("scene.png").size == (7, 6)
    assert library.io.read_cube("other-flat.hdr").shape == (3, 4, 3)
    assert len(table_of("new-flat.csv")[1]) == 5
    assert len(table_of("group.csv")[1]) == 10
