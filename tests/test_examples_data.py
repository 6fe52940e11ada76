"""Texts and the spectral cube: the examples print what their page says."""

import runpy
import subprocess
from pathlib import Path

import pytest

import unbend

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "examples.md"
# Lists of packages change with every update of Debian; the cube never does, but solvers round.
TOLERANCE = {"texts.py": 0.03, "spectral_cube.py": 0.002}


def figures(said):
    """Numbers at the end of each line that has some, by the words before them."""
    found = {}
    for line in said.splitlines():
        words = line.split()
        numbers = [word for word in words if word[:2] in ("0.", "1.") and len(word) == 5]
        if numbers and words[-len(numbers) :] == numbers:
            found[" ".join(words[: -len(numbers)])] = [float(number) for number in numbers]
    return found


def stated(name):
    """Figures in the block of the page that follows the name of the example."""
    block = PAGE.read_text(encoding="utf-8").split(name)[1].split("```")[1]
    return figures(block)


def run(name, target, monkeypatch):
    monkeypatch.setattr("sys.argv", [name, str(target)])
    runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")


def check(name, target, monkeypatch, capsys):
    """Run, or skip with the sentence where the data cannot be had; then compare with the page."""
    try:
        run(name, target, monkeypatch)
    except SystemExit as sentence:
        pytest.skip(str(sentence))
    found, expected = figures(capsys.readouterr().out), stated(name)
    assert len(expected) >= 4
    assert found.keys() == expected.keys()
    for line, numbers in expected.items():
        assert found[line] == pytest.approx(numbers, abs=TOLERANCE[name]), line


@pytest.mark.slow
def test_packages_lie_near_those_of_their_section(monkeypatch, capsys, tmp_path):
    check("texts.py", tmp_path / "texts.png", monkeypatch, capsys)
    assert (tmp_path / "texts.png").stat().st_size > 10_000


@pytest.mark.slow
def test_coordinates_of_spectra_are_images(monkeypatch, capsys, tmp_path):
    check("spectral_cube.py", tmp_path, monkeypatch, capsys)
    for name in ("PCA", "Isomap", "LaplacianEigenmaps"):
        written = unbend.io.read_cube(tmp_path / f"{name}.hdr")
        assert written.shape == (40, 40, 3)
        assert written.kept.sum() == 1595
        assert (tmp_path / f"{name}.png").stat().st_size > 1_000


@pytest.mark.parametrize(
    ("name", "advice"),
    [("texts.py", "install apt"), ("spectral_cube.py", "pip download .* mpdaf==")],
)
def test_missing_data_give_one_message(name, advice, monkeypatch, tmp_path):
    def absent(command, **_):
        raise FileNotFoundError(command[0])

    monkeypatch.setattr(subprocess, "run", absent)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(SystemExit, match=advice) as stopped:
        run(name, tmp_path / "none", monkeypatch)
    assert "\n" not in str(stopped.value)
