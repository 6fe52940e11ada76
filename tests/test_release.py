"""What a release promises: versions agree, bounds are tested, wheels are configured."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

import unbend

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def bounds() -> dict[str, str]:
    """Lower bounds of all dependencies and extras, but those that cannot be installed together."""
    project = PROJECT["project"]
    extras = project["optional-dependencies"]
    listed = [
        *PROJECT["build-system"]["requires"],
        *project["dependencies"],
        *(one for name, some in extras.items() if name not in ("all", "export") for one in some),
    ]
    return {re.split(r"[\[>]", one)[0]: one.partition(">=")[2] for one in listed}


def test_the_oldest_supported_versions_are_the_declared_bounds() -> None:
    lines = (ROOT / "constraints-lowest.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert pinned == bounds()


def test_every_place_has_the_same_version() -> None:
    version = PROJECT["project"]["version"]
    assert unbend.__version__ == version
    changes = (ROOT / "CHANGELOG.md").read_text()
    first = re.search(r"^## \[(.+?)\]", changes, flags=re.MULTILINE)
    assert first is not None
    assert first[1] == version


def test_every_declared_python_is_in_the_matrix_and_has_a_wheel() -> None:
    named = [
        found[1]
        for one in PROJECT["project"]["classifiers"]
        if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", one))
    ]
    tree = ast.parse((ROOT / "noxfile.py").read_text())
    (session,) = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "tests"]
    (decorator,) = session.decorator_list
    assert isinstance(decorator, ast.Call)
    assert ast.literal_eval(decorator.keywords[0].value) == named
    built = PROJECT["tool"]["cibuildwheel"]["build"]
    stable = PROJECT["tool"]["scikit-build"]["wheel"]["py-api"]
    # One wheel before the stable ABI, and one with it for all later ones.
    assert built == ["cp311-*", f"{stable}-*"]
    assert named[0] == "3.11"
    assert PROJECT["project"]["requires-python"] == ">=3.11"


def test_windows_wheels_leave_the_compiled_kernels_out() -> None:
    windows = PROJECT["tool"]["cibuildwheel"]["windows"]
    # Without CMake the tag must be one of pure Python: the build fails otherwise.
    assert windows["config-settings"] == {"wheel.cmake": "false", "wheel.py-api": "py3"}
    (fallback,) = PROJECT["tool"]["scikit-build"]["overrides"]
    assert fallback["if"] == {"failed": True}
    assert fallback["wheel"] == {"cmake": False, "py-api": "py3"}


@pytest.mark.skipif(not (ROOT / "docs").exists(), reason="the documentation is not here")
def test_the_installation_page_says_what_windows_gets() -> None:
    text = (ROOT / "docs" / "start" / "install.md").read_text()
    assert "Windows" in text
    assert "UNBEND_KERNELS=reference" in text
    assert "scikit-learn 1.9" in text
