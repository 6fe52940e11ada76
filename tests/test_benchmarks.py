"""The harness itself: accuracy on known answers, bounds, rendering, one measurement end to end."""

import copy
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from benchmarks import (
    accuracy,
    cases,
    check,
    descent_curves,
    figures,
    limits,
    pages,
    plots,
    run,
    summary,
    table,
    whole,
)
from benchmarks.__main__ import nothing_reached
from benchmarks.cases import Case
from benchmarks.measure import ROOT, in_new_process
from benchmarks.output import FOLDER
from benchmarks.run import Settings, measure_case


@pytest.fixture
def chart():
    return np.random.default_rng(0).uniform(size=(400, 2))


@pytest.fixture
def results():
    """Two contenders measured, one that is not there."""
    ours = {
        "status": "ok",
        "cpu": 0.5,
        "wall": 0.6,
        "peak_mb": 200.0,
        "grown_mb": 10.0,
        "all_cpu": [0.5, 0.55, 0.7],
        "accuracy": {"r2": [0.99, 0.98], "procrustes": 1e-4, "angle": 1e-9},
        "facts": {"residual": 1e-12},
    }
    theirs = {**ours, "cpu": 10.0, "wall": 10.0, "grown_mb": 80.0, "facts": {}}
    case = {
        "panel": "Isomap",
        "method": "Isomap",
        "n": 2000,
        "data": "roll",
        "k": 12,
        "d": 2,
        "new": 0,
        "variant": "",
        "options": {},
        "machine": "a",
        "contenders": {
            "unbend": ours,
            "scikit-learn": theirs,
            "tapkee": {"status": "not installed"},
        },
    }
    machine = {"cpu": "A CPU", "cores": 2, "system": "Linux", "python": "3.11"}
    machine |= {"kernels": "native", "commit": "abc", "versions": {"tapkee": None}}
    return {
        "settings": {"threads": 1, "rounds": 3, "once_above": 60.0, "timeout": 300.0},
        "machines": {"a": machine},
        "limits": {"bandwidth": 1e10, "sgemm": 1e11, "dgemm": 5e10},
        "cases": {"Isomap n=2000": case},
        "stages": {"paths": {"one": 1.0, "two": 0.5, "speedup": 2.0, "cores": 2.0}},
    }


def test_r2_is_one_for_an_affine_image_and_drops_for_the_coordinate_that_is_lost(chart):
    both = chart @ [[2.0, 1.0], [0.0, 1e-6]] + 5
    np.testing.assert_allclose(accuracy.chart_r2(chart, both), 1)
    first, second = accuracy.chart_r2(chart, np.column_stack([chart[:, 0], chart[:, 0] ** 2]))
    assert first == pytest.approx(1)
    assert second < 0.05


def test_angle_is_that_by_which_a_span_was_turned(chart):
    basis = np.linalg.qr(np.column_stack([np.ones(400), chart, chart[:, 0] ** 2]))[0][:, 1:]
    plane, out = basis[:, :2], basis[:, 2]
    tilted = np.column_stack([plane[:, 0], np.cos(1e-6) * plane[:, 1] + np.sin(1e-6) * out])
    assert accuracy.angle(plane, tilted @ [[3, 1], [0, 2]]) == pytest.approx(1e-6, rel=1e-6)


def test_recall_counts_rows_as_near_as_the_nearest_others():
    line = np.arange(50.0)[:, None] ** 1.5
    exact = np.argsort(np.abs(line - line.T), axis=1)[:, :4]
    assert accuracy.recall(line, exact, 3) == 1
    assert accuracy.recall(line, exact[:, 1:], 3) == 1
    missed = np.column_stack([exact[:, 1:3], exact[:, 1]])
    assert accuracy.recall(line, missed, 3) == pytest.approx(2 / 3)
    assert accuracy.recall(line, np.full((50, 3), -1), 3) == 0


def test_case_names_are_unique_and_figures_are_about_cases():
    keys = [case.key for case in cases.full() + cases.largest()]
    assert len(set(keys)) == len(keys)
    for figure in figures.FIGURES:
        name = figure.name.split(":")[0]
        assert name in keys or any(key.startswith(f"{name} n=") for key in keys), name


def test_figures_tell_met_missed_and_not_measured(results):
    rows = {row["figure"]: row for row in figures.judge_all(results)}
    assert rows["Isomap n=2000: CPU, scikit-learn over ours"]["met"] is True
    assert rows["Isomap n=2000: memory of the fit, ours over scikit-learn's"]["met"] is True
    assert rows["Isomap n=10000: CPU, scikit-learn over ours"]["met"] is None
    assert rows["paths: wall, two threads over one"]["met"] is True
    results["cases"]["Isomap n=2000"]["contenders"]["scikit-learn"]["cpu"] = 1.0
    missed = figures.judge_all(results)[0]
    assert missed["met"] is False
    assert missed["measured"].startswith("2.00×")


def test_the_table_has_every_contender_and_the_limits_of_stages_only_if_asked_for(results):
    limit = {"seconds": 0.25, "by": "bandwidth", "fraction": 0.25, "why": "nothing"}
    results["stages"]["paths"]["limit"] = limit
    results["figures"] = figures.judge_all(results)
    text = table.markdown(results, limit=True)
    assert "| 2000 | **unbend** | 0.5 | 0.6 | 1.00 | 200 | 10 | R² 0.99000 0.98000" in text
    assert "| 2000 | scikit-learn | 10 | 10 | 20.00 |" in text
    assert "| 2000 | tapkee | not installed |" in text
    assert "| paths | 1 | 0.25 | bandwidth | 25 % | nothing |" in text
    assert "bandwidth |" not in table.markdown(results, limit=False)
    panel = text.split("## Isomap")[1].split("##")[0].splitlines()
    lengths = {line.count(" | ") for line in panel if "|" in line}
    assert len(lengths) == 1


def test_a_tiny_case_from_end_to_end_with_a_peer_that_is_missing():
    case = Case("LTSA", "LTSA", 300, k=8, peers=("nobody",), exact=True)
    record = measure_case(case, Settings(rounds=1, memory_gb=0), {"nobody": None})
    ours = record["contenders"]["unbend"]
    assert ours["status"] == "ok"
    assert 0 < ours["cpu"] < 60
    assert 0 <= ours["grown_mb"] <= ours["peak_mb"]
    assert ours["accuracy"]["angle"] < 1e-6
    assert len(ours["accuracy"]["r2"]) == 2
    assert record["contenders"]["nobody"] == {"status": "not installed"}
    json.dumps(record)


def test_memory_that_a_case_took_before_is_touched_before_its_first_run(monkeypatch):
    touched = []

    def one(case, who, settings, folder, needed):
        touched.append(needed)
        return {"status": "cut after 1 s"}

    monkeypatch.setattr(run, "_one", one)
    case, earlier = Case("LTSA", "LTSA", 300, k=8), {"contenders": {"unbend": {"peak_mb": 4000.0}}}
    measure_case(case, Settings(rounds=1), {}, earlier)
    measure_case(case, Settings(rounds=1), {})
    assert touched == [4000.0, run.LEAST_TOUCHED]


def test_a_measurement_that_fails_or_is_cut_reports_it():
    failed = in_new_process("benchmarks.measure", "no such file", threads=1, timeout=30)
    assert failed["status"].startswith("failed: FileNotFoundError")
    cut = in_new_process("benchmarks.stages", threads=1, timeout=0.01)
    assert cut["status"] == "cut after 0 s"


def test_nothing_is_started_after_the_deadline():
    case = Case("LTSA", "LTSA", 300, k=8)
    record = measure_case(case, Settings(deadline=0.0), {})
    assert record["contenders"]["unbend"]["status"] == "not reached in the time of the run"
    assert nothing_reached(record)
    record["contenders"]["tapkee"] = {"status": "cut after 5 s"}
    assert not nothing_reached(record)


def start(harness, folder):
    """Start a harness at its smallest setting, writing to a folder."""
    environment = os.environ | {"UNBEND_BENCHMARKS": str(folder), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", harness.module, *harness.quick]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


HARNESSES = {one.name: one for one in whole.HARNESSES}
# Peers, browsers and data that a test environment may lack are looked for by the harness itself,
# but for this one, whose manifolds are the peer's.
CHEAP, NEEDED = "factorizations", {"dimension": "skdim"}


@pytest.mark.parametrize(
    "name",
    [name if name == CHEAP else pytest.param(name, marks=pytest.mark.slow) for name in HARNESSES],
)
def test_every_harness_starts_and_a_trial_replaces_no_measured_figure(name, tmp_path):
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    written = FOLDER / f"{name}.json"
    before = written.read_bytes() if written.exists() else None
    done = start(HARNESSES[name], tmp_path)
    assert done.returncode == 0, done.stderr
    if name == CHEAP:
        assert json.loads((tmp_path / f"{name}.json").read_text())
    assert before == (written.read_bytes() if written.exists() else None)


def test_a_whole_run_fits_its_time_and_goes_on_after_a_failure(tmp_path, capfd):
    assert sum(one.seconds for one in whole.HARNESSES) <= 80 * 60
    assert whole.MINUTES <= 55
    chosen = [
        whole.Harness("benchmarks.no_such_harness", 60),
        whole.Harness("benchmarks.output", 60, quick=()),
        whole.Harness("timeit", 0.5, quick=("while True: pass",)),
    ]
    assert not whole.run_all(chosen, 5, True, str(tmp_path))
    found = json.loads((tmp_path / "whole.json").read_text())["harnesses"]
    assert [one["status"] for one in found.values()] == [
        "failed with exit status 1",
        "ok",
        "cut after 0 s",
    ]
    assert whole.run_all(chosen[:2], 0, True, str(tmp_path))
    assert "No module named benchmarks.no_such_harness" in capfd.readouterr().err


@pytest.fixture
def measured(results):
    """Return what two harnesses wrote."""
    small = {
        "wine": {"PCA": {"ratio": 0.9, "accuracy": {"angle": 1e-15}}},
        "digits": {"MetricMDS": {"ratio": 70.0, "accuracy": {"unbend": 0.4, "scikit_learn": 0.5}}},
        "unfolding": {"MVU, swiss_roll": {"seconds": 4.0, "gap": 1e-8}},
        "first": {"with pandas": {"scikit_learn": 1.0, "unbend": 1.0, "more": 0.0}},
    }
    return {"results.json": results, "small.json": small}


def test_ratios_are_peer_over_ours_wherever_both_were_measured(measured):
    found = {one.key: one.ratio for one in summary.ratios(measured)}
    assert found == {
        ("Isomap", "roll 2000", "scikit-learn"): 20.0,
        ("PCA", "wine", "scikit-learn"): 0.9,
        ("MetricMDS", "digits", "scikit-learn"): 70.0,
    }


def test_the_summary_has_a_line_for_every_ratio_and_marks_those_below_one(measured):
    lines = summary.page(summary.ratios(measured)).splitlines()
    body = [line for line in lines if line.startswith("| ") and "peer / ours" not in line]
    assert len(body) == 3
    assert "| PCA | wine | scikit-learn | **0.90** | angle 1e-15 |  |" in body
    assert "| MetricMDS | digits | scikit-learn | 70.00 | unbend 0.4 | 0.5 |" in body


def test_the_curve_of_a_method_joins_small_rolls_and_larger_cases(results, tmp_path):
    small = {
        f"roll {n}": {"Isomap": {"unbend_ms": n / 100, "scikit_learn_ms": n / 10}}
        for n in (1000, 300)
    }
    assert plots.roll_curves(small, "Isomap") == {
        "unbend": ([300, 1000], [0.003, 0.01]),
        "scikit-learn": ([300, 1000], [0.03, 0.1]),
    }
    assert plots.draw_methods(results, {}, tmp_path / "one") == {}
    written = plots.draw_methods(results, small, tmp_path / "some")
    assert written == {"Isomap": "isomap.png"}
    assert (tmp_path / "some" / "isomap.png").stat().st_size > 5000
    page = summary.page([], written)
    assert "![Isomap](summary/isomap.png)" in page


def test_a_stage_is_bound_by_what_takes_longest():
    machine = {"bandwidth": 10.0, "dgemm": 100.0, "sgemm": 200.0, "root": 0.1, "decision": 0.5}
    for work, by, seconds in (
        (limits.Work(bytes=50.0, double=100.0, decisions=2.0), "bandwidth", 5.0),
        (limits.Work(bytes=1.0, double=600.0, decisions=2.0), "arithmetic", 6.0),
        (limits.Work(bytes=1.0, single=600.0, double=100.0), "arithmetic", 4.0),
        (limits.Work(bytes=1.0, single=600.0, roots=70.0), "arithmetic", 7.0),
        (limits.Work(bytes=1.0, double=100.0, decisions=8.0), "latency", 4.0),
    ):
        assert limits.bound_of(work, machine) == {"seconds": pytest.approx(seconds), "by": by}


def test_no_stage_was_faster_than_its_bound():
    """A share above one says that work is counted that need not be done."""
    stages = json.loads((FOLDER / "results.json").read_text())["stages"]
    shares = {name: stage["limit"]["fraction"] for name, stage in stages.items()}
    assert len(shares) > 10
    assert max(shares.values()) <= 1, shares


def test_pages_show_the_results_that_are_committed():
    assert [page.name for page in pages.pages()] == ["benchmarks.md", "neighborhoods.md"]
    for page in pages.pages():
        assert pages.filled(page.read_text()) == page.read_text(), "run python -m benchmarks.pages"


def test_growth_is_judged_with_the_time_of_the_system(results):
    cases = results["cases"]
    for n, user, system in ((10_000, 1.0, 0.1), (30_000, 10.0, 5.0)):
        ours = {"status": "ok", "cpu": user + system, "system": system}
        cases[f"Isomap n={n}"] = {"contenders": {"unbend": ours}}
    measured, met = figures.growth("Isomap", 10_000, 30_000).judge(results)
    assert measured == "13.64× (10.00× without the system's)"
    assert met is False


@pytest.mark.parametrize(("factor", "flagged"), [(1.0, 0), (0.81, 0), (0.79, 1), (0.5, 1), (3, 0)])
def test_a_ratio_is_flagged_when_more_than_a_fifth_of_it_is_lost(measured, factor, flagged):
    before = summary.ratios(measured)
    after = copy.deepcopy(measured)
    after["small.json"]["wine"]["PCA"]["ratio"] *= factor
    found = check.worse(check.changes(before, summary.ratios(after)))
    assert [change.before.method for change in found] == ["PCA"] * flagged


def test_the_check_compares_with_a_revision_and_exits_with_one(measured, tmp_path, monkeypatch):
    def git(*words):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True)

    def write():
        for name, content in measured.items():
            (tmp_path / name).write_text(json.dumps(content))

    write()
    git("init")
    git("add", ".")
    git("commit", "-m", "Measure")
    monkeypatch.setattr(check, "FOLDER", tmp_path)
    monkeypatch.setattr(check, "read", lambda: summary.read(tmp_path))
    monkeypatch.setattr(sys, "argv", ["check"])
    assert check.main() == 0
    # Slower by half: the peer's time stays.
    measured["results.json"]["cases"]["Isomap n=2000"]["contenders"]["unbend"]["cpu"] *= 1.5
    # A new case is no regression.
    measured["small.json"]["faces"] = {"PCA": {"ratio": 0.1, "accuracy": {}}}
    write()
    assert check.main() == 1
    monkeypatch.setattr(sys, "argv", ["check", "no-such-revision"])
    assert check.main() == 2


def test_libraries_are_compared_at_the_recall_of_the_peer():
    searches = {
        "exact products": {"cpu": 9.0, "recall": 1.0},
        "NNDescent(recall=0.9)": {"cpu": 1.0, "recall": 0.9},
        "NNDescent(recall=0.95)": {"cpu": 4.0, "recall": 0.94},  # beaten by the next
        "NNDescent(recall=0.98)": {"cpu": 4.0, "recall": 0.98},
        "pynndescent(n_neighbors=16)": {"cpu": 6.0, "recall": 0.94},
        "pynndescent(n_neighbors=30)": {"cpu": 8.0, "recall": 0.98},
        "hnswlib(ef=50)": {"cpu": 5.0, "recall": 0.7},
        "hnswlib(ef=100)": {"cpu": 50.0, "recall": 0.99},
    }
    ratios = descent_curves.ratios_at_equal_recall(searches)
    # Halfway between 0.9 and 0.98 our CPU is the geometric mean of 1 and 4.
    assert ratios["pynndescent(n_neighbors=16)"] == (pytest.approx(3.0), False)
    assert ratios["pynndescent(n_neighbors=30)"] == (pytest.approx(2.0), False)
    # Less recall than all of ours bounds the ratio from below, more is not compared.
    assert ratios["hnswlib(ef=50)"] == (pytest.approx(5.0), True)
    assert "hnswlib(ef=100)" not in ratios
    assert "exact products" not in ratios
    written = pages.curves({"table": searches})
    assert "| pynndescent(n_neighbors=16) | 6.0 | 0.940 | 3.0 |" in written
    assert "| hnswlib(ef=50) | 5.0 | 0.700 | > 5.0 |" in written
