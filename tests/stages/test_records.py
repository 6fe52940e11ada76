"""The record of a fit, its progress, and the memory that it asks for."""

import json
import time
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unbend
from tests.stages.drawn import LAW
from unbend.eigen.dense import to_dense
from unbend.graphs import geodesics, undirected
from unbend.memory import NotEnoughMemory, available_memory, memory_limit, reserve
from unbend.neighbors import PointSpace
from unbend.progress import Cancelled, Progress, monitoring
from unbend.report import Report, note, note_bytes, recording, stage, step, warn

POINTS = unbend.datasets.swiss_roll(300, random_state=0).points
METHODS = {
    "LTSA": lambda: unbend.LTSA(n_neighbors=8),
    "Isomap": lambda: unbend.Isomap(n_neighbors=8),
    "LaplacianEigenmaps": lambda: unbend.LaplacianEigenmaps(n_neighbors=8),
}
every_method = pytest.mark.parametrize("make", METHODS.values(), ids=METHODS)

facts = st.dictionaries(
    st.text(max_size=5),
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=8),
        st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=3),
    ),
    max_size=3,
)


@LAW
@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), facts), max_size=4))
def test_stages_are_kept_in_order_and_survive_json(stages):
    with recording("title") as report:
        for name, written in stages:
            with stage(name):
                note(**written)
        if stages:
            with pytest.warns(UserWarning, match="careful"):
                warn("careful")
    assert [(s.name, s.facts) for s in report.stages] == stages
    loaded = json.loads(report.to_json())
    assert loaded == report.to_dict()
    assert loaded["title"] == "title"
    assert loaded["warnings"] == (["careful"] if stages else [])
    for name in {name for name, _ in stages}:
        last = [s for s in report.stages if s.name == name][-1]
        assert report.stage(name) is last
    with pytest.raises(KeyError):
        report.stage("none of these")
    assert all(name in str(report) for name, _ in stages)


@pytest.mark.parametrize("fact", [float("nan"), float("inf"), -float("inf"), [1.0, float("nan")]])
def test_numbers_that_json_does_not_know_do_not_make_it_invalid(fact):
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    with recording("title") as report, stage("spectrum"):
        note(value=fact)
    json.loads(report.to_json(), parse_constant=refuse)


def test_numbers_of_numpy_become_plain_ones():
    with recording("title") as report, stage("a"):
        note(one=np.float32(0.5), two=np.int64(3), three=np.bool_(True))
    found = report.stage("a").facts
    assert found == {"one": 0.5, "two": 3, "three": True}
    assert [type(fact) for fact in found.values()] == [float, int, bool]
    json.loads(report.to_json())


def test_a_stage_is_timed_and_owns_its_facts_and_bytes_even_when_it_fails():
    def work():
        with stage("outer"):
            note(before=1)
            with stage("inner"):
                note(inside=2)
                note_bytes(10)
                time.sleep(0.02)
            note_bytes(5)
            note_bytes(6)
            raise ZeroDivisionError

    with recording("title") as report, pytest.raises(ZeroDivisionError):
        work()
    outer, inner = report.stages
    assert (outer.name, inner.name) == ("outer", "inner")
    assert (outer.facts, inner.facts) == ({"before": 1}, {"inside": 2})
    assert (outer.bytes, inner.bytes) == (11, 10)
    assert outer.seconds >= inner.seconds >= 0.02
    note(lost=1)  # outside all stages there is nothing to write to
    assert outer.facts == {"before": 1}


def test_reports_inside_each_other_do_not_mix():
    with recording("outer") as outer:
        with recording("inner") as inner, stage("mine"):
            pass
        with stage("yours"):
            pass
    assert [s.name for s in outer.stages] == ["yours"]
    assert [s.name for s in inner.stages] == ["mine"]
    assert isinstance(outer, Report)


def test_a_warning_points_at_the_line_of_the_caller():
    points = np.vstack((POINTS[:50], POINTS[:50] + 1e3))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        report = unbend.LTSA(n_neighbors=8).fit(points).report_
    assert [w.filename for w in caught] == [__file__] * len(caught)
    assert [str(w.message) for w in caught] == report.warnings
    assert "components" in report.warnings[0]


def test_a_warning_points_at_callers_whose_name_begins_like_the_package():
    source = "import unbend.report\nunbend.report.warn('careful')\n"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(compile(source, "unbend_demo.py", "exec"), {"__name__": "unbend_demo"})
    assert [(w.filename, w.lineno) for w in caught] == [("unbend_demo.py", 2)]


@every_method
def test_progress_goes_through_the_stages_in_order_and_never_back(make):
    seen = []
    with monitoring(seen.append):
        report = make().fit(POINTS).report_
    assert all(type(event) is Progress and 0 <= event.done <= event.total for event in seen)
    order = list(dict.fromkeys(event.stage for event in seen))
    assert order == [s.name for s in report.stages]
    for name in order:
        mine = [event for event in seen if event.stage == name]
        first = seen.index(mine[0])
        assert seen[first : first + len(mine)] == mine
        assert (mine[0].done, mine[-1].done) == (0, mine[-1].total)
        shares = [event.done / event.total for event in mine]
        assert shares == sorted(shares)
    count = len(seen)
    make().fit(POINTS)  # outside the block nobody listens
    assert len(seen) == count


@every_method
@settings(max_examples=LAW.max_examples // 4)
@given(when=st.integers(0, 10))
def test_a_cancelled_fit_stops_at_once_and_changes_nothing(make, when):
    estimator = make().fit(POINTS[:200])
    embedding, report = estimator.embedding_.copy(), estimator.report_
    seen = []

    def cancel(progress):
        seen.append(progress)
        return len(seen) <= when

    with monitoring(cancel), pytest.raises(Cancelled, match="cancelled in stage") as caught:
        estimator.fit(POINTS)
    assert len(seen) == when + 1
    assert seen[-1].stage in str(caught.value)
    assert (estimator.embedding_ == embedding).all()
    assert estimator.report_ is report
    with recording("after") as after:
        estimator.fit(POINTS)  # nothing of the cancelled fit is left behind
    assert after.stages == []


@pytest.mark.parametrize("answer", [None, True, 0, ""])
def test_only_false_cancels(answer):
    with monitoring(lambda progress: answer), stage("a"):
        step(1, 2)


def test_the_false_of_numpy_cancels_too():
    with pytest.raises(Cancelled), monitoring(lambda progress: np.bool_(False)), stage("a"):
        pass


def test_what_a_callback_raises_goes_through_and_callbacks_end_with_their_block():
    problem, seen = KeyError("mine"), []

    def fail(progress):
        raise problem

    with monitoring(seen.append):
        with monitoring(fail), pytest.raises(KeyError) as caught:
            unbend.LTSA().fit(POINTS)
        assert caught.value is problem
        assert seen == []
        with stage("a"):
            step(1, 2)
    assert seen == [Progress("a", 0, 1), Progress("a", 1, 2), Progress("a", 1, 1)]
    with stage("b"):
        pass
    assert len(seen) == 3


@LAW
@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_memory_is_refused_beyond_the_limit_and_counted_below(size, limit):
    with recording("title") as report, memory_limit(limit), stage("a"):
        assert available_memory() == limit
        if size <= limit:
            reserve(size, "things", "use fewer")
        else:
            with pytest.raises(NotEnoughMemory, match=r"^things need .* are available: use fewer$"):
                reserve(size, "things", "use fewer")
    assert report.stage("a").bytes == (size if size <= limit else 0)


def test_memory_limits_end_with_their_block():
    free = available_memory()
    with memory_limit(100):
        with memory_limit(50):
            assert available_memory() == 50
        assert available_memory() == 100
    assert free is None or available_memory() > 100


def test_refusals_name_an_alternative_and_come_before_the_memory_is_taken():
    graph = undirected(PointSpace(POINTS).nearest(5)).lengths
    with recording("title") as report, stage("a"):
        geodesics(graph, np.arange(7), dtype=np.float32)
    assert report.stage("a").bytes == 7 * 300 * 4
    with memory_limit(8 * 300 * 300):
        geodesics(graph)
        to_dense(graph)
    with memory_limit(8 * 300 * 300 - 1):
        with pytest.raises(MemoryError, match=r"300 x 300 geodesic distances .*: ask for fewer"):
            geodesics(graph)
        with pytest.raises(MemoryError, match=r"300 x 300 matrix entries .*: use eigen_solver="):
            to_dense(graph)
        with pytest.raises(MemoryError, match="use LandmarkIsomap, or LTSA"):
            unbend.Isomap().fit(POINTS)
        unbend.LandmarkIsomap(n_landmarks=50).fit(POINTS)
        unbend.LaplacianEigenmaps(eigen_solver="shift_invert").fit(POINTS)
