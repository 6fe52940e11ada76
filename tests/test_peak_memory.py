"""Predicted peaks of memory, against measured ones; refusals come before large allocations."""

import json
import subprocess
import sys
import tracemalloc
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import unbend
from unbend.estimators.fill import predict_fill
from unbend.estimators.peak_memory import PEAKS, predict_peak
from unbend.memory import NotEnoughMemory

MEASURED = Path(__file__).parent.parent / "benchmarks" / "memory.json"
# Peaks below this are mostly what the allocator keeps, in MB.
NOISE = 4.0
# Families that no constant was chosen on.
JUDGES = ("clusters", "balls")


def measured() -> dict[str, float]:
    known = json.loads(MEASURED.read_text())
    return {name: peak for name, peak in known.items() if isinstance(peak, float | int)}


@pytest.mark.skipif(not MEASURED.exists(), reason="the measurements are not here")
@pytest.mark.parametrize("most", [5000, pytest.param(200_000, marks=pytest.mark.slow)])
def test_predictions_are_within_half_of_what_was_measured(most: int) -> None:
    from benchmarks.memory import make_rows

    draw, judged = cache(make_rows), set[tuple[str, str]]()
    for name, peak in measured().items():
        method, family, n = name.split()
        if int(n) > most:
            continue
        rows = draw(family, int(n))
        predicted = predict_peak(getattr(unbend, method)(), *rows.shape, rows)
        if predicted is None:  # spectral clustering is judged by its eigenmaps
            continue
        if max(peak, predicted / 1e6) > NOISE:
            assert 1 / 1.5 < predicted / 1e6 / peak < 1.5, (name, predicted / 1e6, peak)
            if family in JUDGES:
                judged.add((method, family))
    assert len(judged) >= 12
    assert ("LandmarkMVU", "balls") in judged


@pytest.mark.parametrize("name", PEAKS)
def test_a_fit_that_cannot_fit_is_refused_before_anything_large_is_allocated(name: str) -> None:
    rows = np.random.default_rng(0).normal(size=(20_000, 3))
    classes = np.arange(len(rows)) % 2
    getattr(unbend, name)().fit(rows[:60], classes[:60])  # imports what it needs
    limit = (predict_peak(getattr(unbend, name)(), *rows.shape) or 0) // 4
    tracemalloc.start()
    with unbend.memory_limit(limit), pytest.raises(NotEnoughMemory, match=f"fits of {name} to"):
        getattr(unbend, name)().fit(rows, classes)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * rows.nbytes


@pytest.mark.parametrize("name", ["LLE", "LTSA", "MVU", "LandmarkMVU"])
def test_the_fill_of_many_dimensions_is_refused_before_the_fit(name: str) -> None:
    # A sheet of as many rows would fit in this limit, and a factor in ten dimensions does not.
    rows = np.random.default_rng(0).uniform(size=(4000, 10))
    model = getattr(unbend, name)()
    sheet, filled = (predict_peak(model, *rows.shape, known) for known in (None, rows))
    assert sheet
    assert filled
    assert filled > 3 * sheet
    with (
        unbend.memory_limit(2 * sheet),
        pytest.raises(NotEnoughMemory, match=f"fits of {name} to"),
    ):
        model.fit(rows)


def test_the_fill_of_a_sample_predicts_that_of_all_rows() -> None:
    rng = np.random.default_rng(2)
    tangent = rng.uniform(size=(12_000, 4))
    families = {
        "sheet": np.c_[tangent[:, :2] * [8.0, 1.0], np.sin(9.0 * tangent[:, 0])],
        "solid": tangent[:, :3],
        "four dimensions": tangent,
    }
    for name, rows in families.items():
        exact = predict_fill(rows, 10, True, 3)
        ratio = predict_fill(rows, 10, True, 3, sample=4000) / exact
        assert 1 / 1.5 < ratio < 1.5, (name, ratio)


def test_neighbourhoods_and_graphs_count() -> None:
    space = unbend.neighbors.open_space(np.random.default_rng(0).normal(size=(5000, 3)))
    with unbend.memory_limit(500_000), pytest.raises(NotEnoughMemory, match="neighbours need"):
        space.nearest(20)
    near = space.nearest(20)
    with unbend.memory_limit(2_000_000), pytest.raises(NotEnoughMemory, match="graph of"):
        unbend.graphs.undirected(near)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["PCA", "Isomap", "LandmarkMDS", "LLE"])
def test_a_measurement_of_today_agrees(name: str) -> None:
    command = [sys.executable, "-m", "benchmarks.memory", "--one", name, "roll", "5000"]
    done = subprocess.run(command, cwd=MEASURED.parent.parent, capture_output=True, text=True)
    peak = json.loads(done.stdout.splitlines()[-1])["peak_mb"]
    predicted = (predict_peak(getattr(unbend, name)(), 5000, 3) or 0) / 1e6
    assert 1 / 1.5 < predicted / peak < 1.5 or max(peak, predicted) < NOISE


def test_classical_scaling_of_points_takes_no_pairs() -> None:
    rows = np.random.default_rng(0).normal(size=(20_000, 3)) * [3.0, 2.0, 1.0]
    with unbend.memory_limit(40_000_000):
        found = unbend.ClassicalMDS().fit_transform(rows)
    expected = unbend.PCA().fit_transform(rows)
    signs = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(found * signs, expected, atol=1e-8)
