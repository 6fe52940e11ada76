"""What every method tells: its report, its warnings, its progress, and what cancelling leaves."""

import copy
import json
import pickle
import warnings

import numpy as np
import pytest

import unbend
from tests.conformance.cases import (
    CLASSES,
    EVERY,
    EVERY_NEIGHBORHOOD,
    NEIGHBORHOOD,
    STRICT,
    assert_clear,
    curve,
    fit_curve,
    over,
    quietly,
    with_parameter,
)
from tests.loops import each
from unbend.progress import Cancelled, Progress

pytestmark = [STRICT, pytest.mark.filterwarnings("error::UserWarning")]


def not_a_number(word: str) -> None:
    raise AssertionError(f"{word} is not JSON")


@EVERY
def test_the_report_can_be_printed_and_stored_and_has_every_stage(method: type) -> None:
    report = fit_curve(method).report_
    stored = json.loads(report.to_json(), parse_constant=not_a_number)
    names = [stage["name"] for stage in stored["stages"]]
    assert "coordinates" in names
    if method in with_parameter("n_neighbors"):
        alignment = ["alignment"] if method is unbend.RigidAlignment else []
        assert names == ["neighbors", "graph", "kernel", "spectrum", *alignment, "coordinates"]
    assert stored["title"] == method.__name__
    assert stored["warnings"] == []
    assert all(stage["seconds"] >= 0 for stage in stored["stages"])
    lines = str(report).splitlines()
    assert lines[0] == method.__name__
    assert all(any(line.split()[:1] == [name] for line in lines) for name in names)


@EVERY_NEIGHBORHOOD
def test_every_warning_is_also_in_the_report_and_points_at_the_caller(method: type) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = method(n_neighbors=300).fit(curve(40))
    messages = [str(warning.message) for warning in caught]
    assert "there are 40 distinct rows: n_neighbors was lowered to 39" in messages
    assert messages == fitted.report_.warnings
    assert all(warning.filename == __file__ for warning in caught)
    assert all(message in str(fitted.report_) for message in messages)


@over([method for method in CLASSES if method not in NEIGHBORHOOD])
def test_a_warning_about_missing_dimensions_is_in_the_report_too(method: type) -> None:
    fitted, warned = quietly(lambda: method(n_components=6).fit(np.ones((12, 6))))
    assert warned == fitted.report_.warnings


@EVERY
def test_the_callback_is_called_for_every_stage_from_its_start_to_its_end(method: type) -> None:
    heard: list[Progress] = []
    with unbend.monitoring(heard.append):
        fitted = method().fit(curve())
    names = [stage.name for stage in fitted.report_.stages]
    assert list(dict.fromkeys(progress.stage for progress in heard)) == names
    for name in names:
        steps = [(progress.done, progress.total) for progress in heard if progress.stage == name]
        assert steps[0][0] == 0
        assert steps[-1] == (1, 1)
        assert all(0 <= done <= total for done, total in steps)


@EVERY
def test_cancelling_any_stage_leaves_a_fitted_estimator_as_it_was(method: type) -> None:
    fitted = copy.deepcopy(fit_curve(method))
    before = pickle.dumps(fitted)
    # Two edges of the other curve do jump, from arc to arc.
    warnings.filterwarnings("ignore", ".*edges jump between sheets")
    for stage in [stage.name for stage in fitted.report_.stages]:
        with (
            pytest.raises(Cancelled) as caught,
            unbend.monitoring(lambda progress, stage=stage: progress.stage != stage),
        ):
            fitted.fit(curve(seed=1))
        assert_clear(caught.value, stage)
        assert pickle.dumps(fitted) == before


@EVERY
def test_a_cancelled_fit_to_wider_rows_leaves_the_estimator_usable(method: type) -> None:
    fitted = copy.deepcopy(fit_curve(method))
    before = fitted.transform(curve(seed=1))
    late = unbend.monitoring(lambda progress: progress.stage != "coordinates")
    with pytest.raises(Cancelled), late:
        fitted.fit(np.hstack([curve(), curve()]))
    assert fitted.n_features_in_ == 3
    assert np.array_equal(fitted.transform(curve(seed=1)), before)


@EVERY
def test_an_error_in_the_callback_reaches_the_caller(method: type) -> None:
    def fail(_: Progress) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"), unbend.monitoring(fail):
        method().fit(curve())


@over(with_parameter("n_neighbors"))
def test_a_long_transform_calls_the_callback_too(method: type) -> None:
    fitted = fit_curve(method)
    heard: list[Progress] = []
    with unbend.monitoring(heard.append):
        fitted.transform(curve(500, seed=2))
    assert heard, "monitoring() promises the progress of every fit and transform"


@each("size", [0, 10_000, 100_000])
@EVERY
def test_too_little_memory_raises_an_error_that_names_what_would_fit(
    method: type, size: int
) -> None:
    with unbend.memory_limit(size):
        try:
            method().fit(curve())
        except MemoryError as error:
            assert_clear(error, "need", "MB", ": ")
