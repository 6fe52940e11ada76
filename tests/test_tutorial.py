"""The first tutorial, run as it is written: commands and code print what the page shows."""

import contextlib
import io
import re
import shlex
import shutil
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path

import numpy as np
import pandas as pd

import unbend as library
from tests.cli.program import unbend

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"```(sh|python|text)\n(.*?)```", flags=re.DOTALL)


def run_shell(text, folder):
    """Run commands; one that is shown to fail ends with exit code 1."""
    printed = ""
    for line in text.strip().splitlines():
        words = shlex.split(line)
        assert words.pop(0) == "unbend"
        code = 1 if words == ["embed", "flats.csv"] else 0
        done = unbend(*words, cwd=folder, code=code)
        printed += done.stderr.decode() + done.stdout.decode()
    return printed


def run_python(text, names, folder):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.chdir(folder):
        exec(text, names)
    return out.getvalue()


def test_the_tutorial_prints_what_it_shows(tmp_path):
    for name in ("flats.csv", "new_flats.csv"):
        shutil.copy(DOCS / "data" / name, tmp_path)
    printed, names, checked = "", {}, 0
    for kind, text in BLOCK.findall((DOCS / "tutorials" / "table.md").read_text("utf-8")):
        if kind == "text":
            right = OutputChecker().check_output(text, printed, ELLIPSIS | NORMALIZE_WHITESPACE)
            assert right, f"{text}\nbut it prints\n{printed}"
            checked += 1
        else:
            run = run_shell(text, tmp_path) if kind == "sh" else run_python(text, names, tmp_path)
            printed = run
    assert checked >= 6
    # The command line and Python give the same map, also for new flats.
    found = pd.read_csv(tmp_path / "map.csv")[["isomap_1", "isomap_2"]].to_numpy()
    np.testing.assert_allclose(found, names["flat"], atol=1e-9)
    new = pd.read_csv(tmp_path / "new_map.csv")[["isomap_1", "isomap_2"]].to_numpy()
    np.testing.assert_allclose(new, names["model"].transform(names["new"]), atol=1e-9)
    assert (tmp_path / "flats-report.html").stat().st_size > 10_000
    assert library.load(tmp_path / "flats.unbend").preparation_.scale_ == "standard"


def test_the_first_blocks_of_the_readme_run(tmp_path):
    blocks = BLOCK.findall((DOCS.parent / "README.md").read_text("utf-8"))
    (_, arrays), (_, shell), (_, python) = blocks[:3]
    shutil.copytree(DOCS / "data", tmp_path / "docs" / "data")
    lines = [shlex.join(shlex.split(line, comments=True)) for line in shell.splitlines()]
    run_shell("\n".join(lines), tmp_path)
    names = {}
    run_python(arrays, names, tmp_path)
    chart = names["roll"].chart
    assert library.quality.procrustes(chart, names["model"].embedding_, kind="affine") < 1e-3
    run_python(python, names, tmp_path)
    found = pd.read_csv(tmp_path / "map.csv")[["isomap_1", "isomap_2"]].to_numpy()
    np.testing.assert_allclose(found, names["flat"], atol=1e-9)
    back = names["model"].inverse_transform(names["flat"][:3])
    assert next(iter(back)) == "rent_eur"
    assert back["listed"].dtype.kind == "M"


def test_the_tutorial_is_reached_from_the_first_page():
    toctree = (DOCS / "index.md").read_text().split("```{toctree}")[1].split("```")[0]
    assert toctree.split()[1:][0] == "start/index"
    assert "(../tutorials/table.md)" in (DOCS / "start" / "index.md").read_text()
