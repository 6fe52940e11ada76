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
    small,
    summary,
    table,
    vector_width,
    whole,
)
from benchmarks.__main__ import nothing_reached
from benchmarks.cases import Case
from benchmarks.measure import ROOT, in_new_process
from benchmarks.output import FOLDER
from benchmarks.run import Settings, measure_case

from tests.loops import each


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


def test_every_harness_is_in_the_whole_run_or_said_to_be_outside_it():
    parts = {FOLDER.parent / f"{one.module.replace('.', '/')}.py" for one in whole.HARNESSES}
    page = (pages.DOCS / "benchmarks.md").read_text()
    outside = page[page.index("## Outside") : page.index("## The peers")]
    # What runs others, or writes from their results.
    tools = {"__main__", "whole", "summary", "pages", "check", "install", "measure", "stages"}
    tools |= {"limits", "noise.summary"}
    for folder in (FOLDER, FOLDER / "noise"):
        for path in sorted(folder.glob("*.py")):
            started = '__name__ == "__main__"' in path.read_text()
            name = ".".join(path.relative_to(FOLDER).with_suffix("").parts)
            if started and path not in parts and name not in tools:
                assert f"`{name}`" in outside, name


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
    assert sum(one.seconds for one in whole.HARNESSES) <= 60 * whole.MINUTES <= 50 * 60
    chosen = [
        whole.Harness("timeit", 0.5, quick=("while True: pass",)),
        whole.Harness("benchmarks.no_such_harness", 60),
        whole.Harness("benchmarks.output", 60, quick=()),
    ]
    assert not whole.run_all(chosen, 5, True, str(tmp_path))
    found = json.loads((tmp_path / "whole.json").read_text())["harnesses"]
    assert [one["status"] for one in found.values()] == [
        "cut after 0 s",
        "failed with exit status 1",
        "ok",
    ]
    assert whole.run_all(chosen[1:], 0, True, str(tmp_path))
    assert "No module named benchmarks.no_such_harness" in capfd.readouterr().err


def test_time_that_a_harness_leaves_is_given_to_those_after_it(tmp_path, monkeypatch):
    given = []

    def run(one, seconds, quick, environment):
        given.append(seconds)
        return {"status": "ok", "seconds": taken[one.name]}

    monkeypatch.setattr(whole, "run", run)
    taken = {"a": 40.0, "b": 70.0, "c": 1.0}
    chosen = [whole.Harness(name, seconds) for name, seconds in (("a", 60), ("b", 50), ("c", 5))]
    assert whole.run_all(chosen, 5, True, str(tmp_path))
    # The first leaves 20 s, and the second takes them all.
    assert given == [60, 70, 5]


def test_curves_leave_out_a_peers_next_setting_where_it_adds_nothing(tmp_path, monkeypatch):
    enough = {"recall": descent_curves.ENOUGH, "cpu": 1.0}
    slow = {"recall": 0.5, "cpu": descent_curves.PEER_SECONDS + 1}
    quick = {"recall": 0.5, "cpu": 1.0}
    assert [descent_curves.has_enough("hnswlib", last) for last in (None, quick, slow, enough)] == [
        False,
        False,
        True,
        True,
    ]
    assert not descent_curves.has_enough("NNDescent", enough)
    monkeypatch.setattr(descent_curves, "RESULTS", tmp_path / "curves.json")
    for search in ("NNDescent(recall=0.9)", "hnswlib(ef=50)", "hnswlib(ef=70)"):
        descent_curves.record("table", search, quick)
    descent_curves.keep_only("table", ["hnswlib(ef=50)", "NNDescent(recall=0.9)"])
    left = json.loads((tmp_path / "curves.json").read_text())["table"]
    assert list(left) == ["NNDescent(recall=0.9)", "hnswlib(ef=50)"]


@pytest.fixture
def measured(results):
    """Return what two harnesses wrote."""
    small = {
        "wine": {"PCA": {"ratio": 0.9, "accuracy": {"angle": 1e-15}}},
        "digits": {"MetricMDS": {"ratio": 70.0, "accuracy": {"unbend": 0.4, "scikit_learn": 0.5}}},
        "unfolding": {"MVU, swiss_roll": {"seconds": 4.0, "gap": 1e-8}},
        "first": {"with pandas": {"scikit_learn": 1.0, "unbend": 1.0, "more": 0.0}},
    }
    results["stages"] = {"paths": {"rows": 4000, "one": 1.0, "two": 0.5, "speedup": 2.0}}
    threads = {"ltsa": {"rows": 100_000, "one": 1.6, "two": 1.0, "speedup": 1.6}}
    return {"results.json": results, "small.json": small, "two_threads.json": threads}


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
    names = [page.name for page in pages.pages()]
    assert names == ["README.md", "benchmarks.md", "design.md", "neighborhoods.md"]
    shown = [pages.MARKED.findall(page.read_text()) for page in pages.pages()]
    assert {match[1:3] for page in shown for match in page} == set(pages.TABLES)
    for page in pages.pages():
        assert pages.filled(page.read_text()) == page.read_text(), "run python -m benchmarks.pages"


def test_the_readme_shows_the_ratio_of_what_was_measured(results, monkeypatch):
    case = results["cases"]["Isomap n=2000"]
    alone = copy.deepcopy(case)
    del alone["contenders"]["scikit-learn"]
    results["cases"]["LTSA n=100000"] = alone
    monkeypatch.setattr(pages, "HOW_FAST", {"some": "Isomap n=2000", "many": "LTSA n=100000"})
    lines = pages.how_fast(results).splitlines()[2:]
    assert lines == [
        "| some | 10.0 s | 0.500 s | 20× | 0.20 GB : 0.20 GB |",
        "| many | – | 0.500 s |  | 0.20 GB |",
    ]


def test_growth_is_judged_with_the_time_of_the_system(results):
    cases = results["cases"]
    for n, user, system in ((10_000, 1.0, 0.1), (30_000, 10.0, 5.0)):
        ours = {"status": "ok", "cpu": user + system, "system": system}
        cases[f"Isomap n={n}"] = {"contenders": {"unbend": ours}}
    measured, met = figures.growth("Isomap", 10_000, 30_000).judge(results)
    assert measured == "13.64× (10.00× without the system's)"
    assert met is False


# A figure of every file that is compared: where it stands, what it is of, and its exponent in the
# ratio, which is that of the peer over ours.
COMPARED = {
    "results.json": (("cases", "Isomap n=2000", "contenders", "unbend", "cpu"), "Isomap", -1),
    "results.json, stages": (("stages", "paths", "speedup"), "paths", 1),
    "small.json": (("wine", "PCA", "ratio"), "PCA", 1),
    "two_threads.json": (("ltsa", "speedup"), "ltsa", 1),
}


@each("file", COMPARED)
@pytest.mark.parametrize(
    ("factor", "flagged"), [(1.0, 0), (0.81, 0), (0.79, 1), (1 / 1.3, 1), (0.5, 1), (3, 0)]
)
def test_a_ratio_is_flagged_when_more_than_a_fifth_of_it_is_lost(measured, file, factor, flagged):
    before = check.all_ratios(measured)
    after = copy.deepcopy(measured)
    (*path, last), method, power = COMPARED[file]
    place = after[file.partition(",")[0]]
    for name in path:
        place = place[name]
    place[last] *= factor**power
    found = check.worse(check.changes(before, check.all_ratios(after)))
    assert [change.before.method for change in found] == [method] * flagged


def test_what_is_worse_is_shown_as_a_table():
    before = summary.Ratio("LTSA", "roll 10000", "scikit-learn", 50.0)
    after = summary.Ratio("LTSA", "roll 10000", "scikit-learn", 35.0)
    assert check.shown([check.Change(before, after)]).splitlines() == [
        "method  size        ours against  before  now    change",
        "LTSA    roll 10000  scikit-learn  50.00   35.00  -30%",
    ]


def test_the_committed_results_are_no_worse_than_themselves_and_a_third_more_time_is_found():
    found = check.committed("HEAD")
    if not found:
        pytest.skip("no repository")
    assert set(found) == set(summary.SOURCES)
    before = check.all_ratios(found)
    assert not check.worse(check.changes(before, before))
    slower = copy.deepcopy(found)
    for case in slower["results.json"]["cases"].values():
        case["contenders"]["unbend"]["cpu"] *= 1.3
    for part, methods in slower["small.json"].items():
        for one in methods.values() if part not in summary.APART else ():
            one["ratio"] /= 1.3
    for one in slower["two_threads.json"].values():
        one["speedup"] /= 1.3
    for stage in slower["results.json"]["stages"].values():
        stage["speedup"] /= 1.3
    assert len(check.worse(check.changes(before, check.all_ratios(slower)))) == len(before)


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


def test_a_fit_of_seconds_is_timed_once(monkeypatch):
    calls = {"ours": 0, "theirs": 0}
    now = iter(range(10_000))
    monkeypatch.setattr(small.time, "process_time", lambda: 10.0 * next(now))

    def fit(who):
        calls[who] += 1

    case = small.Case(lambda: fit("ours"), {"peer": lambda: fit("theirs")}, small.nothing)
    found = small.compare(case)
    assert calls == {"ours": 1, "theirs": 1}
    assert found["rounds"] == 1
    assert found["ratio"] == 1


def test_builds_are_compared_only_where_there_are_avx512_and_a_compiler(tmp_path, monkeypatch):
    plain, wide = tmp_path / "plain", tmp_path / "wide"
    plain.write_text("flags : sse2 avx2 fma\n")
    wide.write_text("flags : avx2 " + " ".join(vector_width.NEEDED) + "\n")
    for facts in (plain, tmp_path / "missing"):
        assert "no AVX-512" in vector_width.why_not(facts)
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert "no C++ compiler" in vector_width.why_not(wide)
    monkeypatch.setenv("CXX", sys.executable)
    assert vector_width.why_not(wide) is None
    monkeypatch.setattr(vector_width, "measure", pytest.fail)
    monkeypatch.setattr(vector_width, "why_not", lambda: "This processor has no AVX-512.")
    monkeypatch.setattr(sys, "argv", ["vector_width"])
    vector_width.main()
