"""The examples run, and the right distance is as much better as they say."""

import re
import runpy
import subprocess
from pathlib import Path

import numpy as np
import pytest

import unbend as library
from unbend import quality
from unbend.neighbors import METRICS
from unbend.plot.colors import PALETTE
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


def run_example(name, monkeypatch, capsys, picture):
    """Run an example on real data; return the measures that it prints for each method."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.setattr("sys.argv", [name, str(picture)])
    try:
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    except subprocess.CalledProcessError:
        pytest.skip("the data cannot be had here")
    assert picture.stat().st_size > 10_000
    lines = [line for line in capsys.readouterr().out.splitlines() if line.strip()]
    found = {}
    for line in lines:
        first, *words = line.split()
        if hasattr(library, first) and "failed:" not in words:
            numbers = [float(word) for word in words if re.fullmatch(r"-?\d+\.\d{4}", word)]
            if len(numbers) == 5:  # The other lines are advice.
                found[first] = {"trust": numbers[0], "hit": numbers[4]}
    return found, float(lines[-1].split()[-1])


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_ten_thousand_pictures_of_clothes_keep_their_kinds(monkeypatch, capsys, tmp_path):
    found, before = run_example("images.py", monkeypatch, capsys, tmp_path / "images.png")
    assert len(found) == 5
    assert all(0.5 < of["trust"] <= 1 for of in found.values())
    # The picture cannot tell more of the kinds than the data do, and tells far more than chance.
    best = max(of["hit"] for of in found.values())
    assert 0.5 < best < before


@pytest.mark.slow
def test_faces_of_a_person_stay_together(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    script = runpy.run_path(str(EXAMPLES / "faces.py"))
    try:
        pictures, people = runpy.run_path(str(EXAMPLES / "real_data.py"))["faces"]()
    except subprocess.CalledProcessError:
        pytest.skip("the data cannot be had here")
    page = (EXAMPLES.parent / "docs" / "examples_images.md").read_text(encoding="utf-8")
    lines = [line.split("|")[1:-1] for line in page.split("faces.py")[1].splitlines()]
    shown = {cells[0].strip(): cells[1:] for cells in lines if len(cells) == 6}
    assert set(script["METHODS"]) < set(shown)
    points, k = pictures.reshape(len(pictures), -1) / 255.0, script["NEIGHBORS"]
    before = quality.neighborhood_hit(points, people, n_neighbors=k)
    assert f"the hit is {before:.3f}" in page
    # One method of the page, since all six take minutes.
    flat = script["METHODS"]["PCA"].fit_transform(points)
    trust = quality.trustworthiness(points, flat, n_neighbors=k)
    hit = quality.neighborhood_hit(flat, people, n_neighbors=k)
    assert trust == pytest.approx(float(shown["PCA"][0]), abs=0.001)
    assert hit == pytest.approx(float(shown["PCA"][4]), abs=0.001)
    # Forty people: chance is one in forty.
    assert 0.25 < hit < before


def test_the_picture_of_texts_has_a_colour_for_each_of_eight_sections():
    image = pytest.importorskip("PIL.Image")
    path = EXAMPLES.parent / "docs" / "examples" / "texts.png"
    pixels = np.asarray(image.open(path).convert("RGB"), dtype=int).reshape(-1, 3)
    for color in PALETTE[:8]:
        wanted = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)])
        assert np.sum(np.abs(pixels - wanted).max(axis=1) <= 16) > 50, color


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
