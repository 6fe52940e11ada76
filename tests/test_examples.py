"""The examples run, and the right distance is as much better as they say."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def run(name, monkeypatch, capsys, picture):
    monkeypatch.setattr("sys.argv", [name, str(picture)])
    found = runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    assert picture.stat().st_size > 10_000
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    return found, {line[0]: [float(n) for n in line[1:]] for line in printed if len(line) in (2, 3)}


def test_pictures_by_the_right_distance(monkeypatch, capsys, tmp_path):
    found, _ = run("distances_images.py", monkeypatch, capsys, tmp_path / "images.png")
    letters = {metric: error for metric, (error, _) in found["letters"]().items()}
    assert letters["fourier_phase_difference"] < 0.002 < 0.1 < letters["euclidean"]
    digits = {metric: right for metric, (right, _) in found["digits"]().items()}
    assert digits["correlation"] > digits["derivative"] > 1.5 * digits["euclidean"]


def test_signals_by_the_right_distance(monkeypatch, capsys, tmp_path):
    pytest.importorskip("pywt")
    _, printed = run("distances_signals.py", monkeypatch, capsys, tmp_path / "signals.png")
    recorded, drifting = printed["correlation"]
    assert recorded == drifting < 0.01
    assert printed["fourier_phase"][1] < 0.02 < 0.08 < printed["euclidean"][1]
