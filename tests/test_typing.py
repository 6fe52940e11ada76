"""What type checkers see of `unbend`: names are not `Any`, and parameters have defaults."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import unbend

SOURCE = Path(unbend.__file__).parent

GOOD = """
import numpy as np
import unbend
from unbend import Isomap, load

X = np.zeros((10, 3))
reveal_type(unbend.PCA(2, svd_solver="auto"))
reveal_type(unbend.PCA().fit(X))
reveal_type(Isomap(n_neighbors=5).fit_transform(X))
reveal_type(unbend.suggest(X))
reveal_type(unbend.quality.trustworthiness(X, X))
reveal_type(load)
unbend.LTSA(3, n_neighbors=7)
unbend.SpectralClustering(4)
unbend.Prepare("none")
"""
BAD = """
import unbend

unbend.PCA(svd_solver=3)
unbend.quality.trustworthiness()
unbend.no_such_name
"""
SCALED = """
import numpy as np
from unbend import scale

reveal_type(scale.LTSA(2, n_neighbors=8, sample=500))
reveal_type(scale.LTSA().fit(None))
reveal_type(scale.LTSA().fit(None).sample_)
reveal_type(scale.PCA().fit(None))
reveal_type(scale.SpectralClustering(3, graph_solver="auto").sample)
reveal_type(scale.estimate_cost)
"""
BADLY_SCALED = """
from unbend import scale

scale.LTSA(sampling=3)
scale.PCA(sample=500)
scale.no_such_name
"""


def test_type_checkers_are_given_every_public_name() -> None:
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    imported = {
        alias.asname: (node.module, alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    modules = {name: ("unbend", name) for name in unbend._MODULES}
    names = {name: (module, name) for name, module in unbend._NAMES.items()}
    assert imported == modules | names


def run_mypy(folder: Path, text: str) -> str:
    pytest.importorskip("mypy")
    (folder / "user.py").write_text(text)
    (folder / "mypy.ini").write_text(
        "[mypy]\nstrict = true\n[mypy-unbend.*]\nfollow_imports = silent\n"
    )
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "user.py"]
    # mypy finds installed packages by itself, and refuses to be told where they are.
    path = {} if "site-packages" in SOURCE.parts else {"MYPYPATH": str(SOURCE.parent)}
    environment = {**os.environ, **path}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.stdout


@pytest.mark.slow
def test_a_program_that_uses_unbend_is_checked_strictly(tmp_path: Path) -> None:
    said = run_mypy(tmp_path, GOOD)
    assert "Success" in said
    revealed = [line for line in said.splitlines() if "Revealed type" in line]
    assert len(revealed) == 6
    assert not [line for line in revealed if line.endswith('"Any"')]
    for part in ("methods.pca.PCA", "numpy.ndarray", "Suggestion", "Measure", "PathLike"):
        assert any(part in line for line in revealed), part
    said = run_mypy(tmp_path, BAD)
    lines = [line.split(":")[1] for line in said.splitlines() if ": error:" in line]
    assert lines == ["4", "5", "6"], said


def test_the_stub_of_scale_is_that_of_its_classes() -> None:
    pytest.importorskip("distributed")
    from tests.scale.stub import STUB, stub_text

    text = STUB.read_text(encoding="utf-8")
    assert text == stub_text()
    tree = ast.parse(text)
    named = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    named |= {
        alias.asname
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }
    assert named == set(unbend.scale.__all__)


@pytest.mark.slow
def test_a_program_that_uses_scale_is_checked_strictly(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    said = run_mypy(tmp_path, SCALED)
    assert "Success" in said, said
    revealed = [line for line in said.splitlines() if "Revealed type" in line]
    expected = ("scale.LTSA", "scale.LTSA", "ndarray", "scale.PCA", "int | None", "Cost")
    for line, part in zip(revealed, expected, strict=True):
        assert part in line.replace("builtins.", ""), line
    said = run_mypy(tmp_path, BADLY_SCALED)
    lines = [line.split(":")[1] for line in said.splitlines() if ": error:" in line]
    assert lines == ["4", "5", "6"], said
