"""The applications of the book: every script runs, draws, and says a figure within its bounds."""

import re
import runpy
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
# For each script the numbers of its last sentence that are bounded: place, least, most.
BOUNDS = {
    "eigenfaces": [(0, 93, 100), (1, 84, 100), (2, 0, 20)],
    "turning_head": [(0, 0.97, 1), (1, 0.9, 1), (2, 0.9, 1)],
    "twos": [(0, 0.75, 1)],
    "colour_pictures": [(0, 90, 100), (1, 90, 100), (2, 60, 100)],
    "viewing_angles": [(1, 0.98, 1), (3, 0.98, 1)],
    "feature_images": [(1, 0, 0.1), (2, 0, 0.2)],
    "random_projection": [(1, 0.6, 1), (3, 50, 100)],
    "city_maps": [(1, 0, 60), (2, 0, 200)],
    "sensors": [(1, 0, 0.01)],
}
FETCHED = ("eigenfaces", "twos", "feature_images", "random_projection")


def last_sentence(name, target, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.setattr("sys.argv", [name, str(target)])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    drawn = [target] if target.is_file() else list(target.iterdir())
    assert all(path.stat().st_size > 3000 for path in drawn)
    return capsys.readouterr().out.strip().splitlines()[-1]


def numbers(sentence):
    return [float(number) for number in re.findall(r"(?<![\w.])\d*\.?\d+", sentence)]


def target_of(name, tmp_path):
    return tmp_path / (name if name in ("eigenfaces", "feature_images") else f"{name}.png")


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", BOUNDS)
def test_an_application_gives_its_figure(name, monkeypatch, capsys, tmp_path):
    said = last_sentence(name, target_of(name, tmp_path), monkeypatch, capsys)
    found = numbers(said)
    for place, least, most in BOUNDS[name]:
        assert least <= found[place] <= most, said


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FETCHED)
def test_an_application_runs_without_a_network(name, monkeypatch, capsys, tmp_path):
    def absent(command, **_):
        raise FileNotFoundError(command[0])

    monkeypatch.setattr(subprocess, "run", absent)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delitem(__import__("sys").modules, "real_data", raising=False)
    assert numbers(last_sentence(name, target_of(name, tmp_path), monkeypatch, capsys))


@pytest.mark.parametrize("name", BOUNDS)
def test_an_application_is_short_and_names_its_section(name):
    lines = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 80
    assert any(re.search(r"Book \d+\.\d", line) for line in lines[:10])
    assert f"examples/{name}.py" in (ROOT / "docs" / "book" / "applications.md").read_text(
        encoding="utf-8"
    )
