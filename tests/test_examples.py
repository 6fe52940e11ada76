"""The examples run, and the right distance is as much better as they say."""

import runpy
from pathlib import Path

import pytest

from unbend.neighbors import METRICS
from unbend.registry import METHODS

EXAMPLES = Path(__file__).parent.parent / "examples"
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def printed(name, monkeypatch, capsys, picture):
    """Run an example, and return the numbers that it prints for each distance, in order."""
    monkeypatch.setattr("sys.argv", [name, str(picture)])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    assert picture.stat().st_size > 10_000
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    found = {}
    for first, *numbers in lines:
        if first in METRICS:
            found.setdefault(first, []).extend(map(float, numbers))
    return found


def test_pictures_by_the_right_distance(monkeypatch, capsys, tmp_path):
    found = printed("distances_images.py", monkeypatch, capsys, tmp_path / "images.png")
    assert found["fourier_phase_difference"][0] < 0.002 < 0.1 < found["euclidean"][0]
    assert found["correlation"][0] > found["derivative"][0] > 1.5 * found["euclidean"][1]


def test_signals_by_the_right_distance(monkeypatch, capsys, tmp_path):
    pytest.importorskip("pywt")
    found = printed("distances_signals.py", monkeypatch, capsys, tmp_path / "signals.png")
    recorded, drifting = found["correlation"]
    assert recorded == drifting < 0.01
    assert found["fourier_phase"][1] < 0.02 < 0.08 < found["euclidean"][1]


@pytest.mark.slow
def test_the_report_on_real_data_ends_with_what_to_do(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("sys.argv", ["report_digits.py", str(tmp_path)])
    runpy.run_path(str(EXAMPLES / "report_digits.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert said.count("What to do:") == 2
    assert "=== digits: 1797 rows, 64 columns" in said
    assert "failed" not in said
    assert {path.name for path in tmp_path.iterdir()} == {"digits.png", "tumours.png"}


def test_pages_name_the_estimators_that_take_sparse_rows():
    sparse = [
        entry.class_name for entry in METHODS if entry.load()().__sklearn_tags__().input_tags.sparse
    ]
    assert sparse == ["PCA", "RandomProjection"]
    page = (EXAMPLES.parent / "docs" / "io.md").read_text(encoding="utf-8")
    assert "**`PCA` and `RandomProjection` take sparse rows; the others do not**" in " ".join(
        page.split()
    )
    commands = (EXAMPLES.parent / "docs" / "cli.md").read_text(encoding="utf-8")
    assert "stay sparse for `--method pca` and `random_projection`" in " ".join(commands.split())
