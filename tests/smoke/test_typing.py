"""Programs that use the library are checked by their own mypy, with the library's types."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import unbend

PROGRAM = """
import numpy as np
import unbend

X = np.zeros((10, 3))
model = unbend.Isomap(n_neighbors=5)
model.save("a.unbend", training=False)
limit: int = unbend.memory_limit  # wrong: it is a function
unbend.Isomap(neighbours=5)  # wrong: there is no such parameter
"""


def test_the_package_is_marked_as_typed() -> None:
    assert (Path(unbend.__file__).parent / "py.typed").is_file()


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")
def test_a_program_that_uses_the_library_is_checked_with_its_types(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(program)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    wrong = [line for line in done.stdout.splitlines() if line.startswith("program.py")]
    assert "import-untyped" not in done.stdout
    assert sorted({int(line.split(":")[1]) for line in wrong if ": error:" in line}) == [8, 9]
