"""A refit that is interrupted, wherever, leaves the old state or the new one, never a mixture."""

import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist, pdist, squareform

import unbend
import unbend.sklearn as names
from tests.conformance.cases import curve, quietly
from unbend.dimension.estimators import ESTIMATORS
from unbend.progress import Cancelled, Progress
from unbend.registry import CLASSIFIERS, CLUSTERINGS, METHODS, SEVERAL

PACKAGE = str(Path(unbend.__file__).parent)
# Where fits set attributes: lines of the stages below need no interrupt of their own.
SETTERS = tuple(
    f"{PACKAGE}/{part}"
    for part in ("atomic.py", "estimators/", "methods/", "dimension/e", "sklearn/")
)
# Interrupted lines: the last ones, where the results are kept, and some spread over the fit.
LAST, SPREAD = 6, 3

Fit = Callable[[Any, np.ndarray], Any]


def _fit(model: Any, rows: np.ndarray) -> Any:
    return model.fit(rows)


def _fit_classes(model: Any, rows: np.ndarray) -> Any:
    return model.fit(rows, (rows[:, 0] > 0).astype(int))


def _fit_batches(model: Any, rows: np.ndarray) -> Any:
    return model.fit_batches([rows[:20], rows[20:]])


def _fit_several(model: Any, rows: np.ndarray) -> Any:
    return model.fit([squareform(pdist(rows)), squareform(pdist(rows[:, :2]))])


def cases() -> list[Any]:
    found: list[tuple[str, Callable[[], Any], Fit]] = []
    for entry in METHODS:
        fit = _fit_classes if entry.name == "supervised_lle" else _fit
        found.append((entry.class_name, entry.load(), fit))
    found += [
        (entry.class_name, partial(entry.load(), n_clusters=2), _fit) for entry in CLUSTERINGS
    ]
    found += [(entry.class_name, entry.load(), _fit_classes) for entry in CLASSIFIERS]
    found += [(entry.class_name, entry.load(), _fit_several) for entry in SEVERAL]
    found += [
        (f"{method.__name__} in batches", method, _fit_batches)
        for method in (unbend.PCA, unbend.RandomProjection)
    ]
    found += [(method.__name__, method, _fit) for method in ESTIMATORS]
    found += [
        ("sklearn Isomap", names.Isomap, _fit),
        ("sklearn LLE", partial(names.LocallyLinearEmbedding, n_neighbors=8), _fit),
        ("sklearn MDS", partial(names.MDS, init="classical_mds"), _fit),
        ("sklearn SpectralEmbedding", names.SpectralEmbedding, _fit),
        (
            "sklearn SpectralClustering",
            partial(names.SpectralClustering, 2, n_init=1, random_state=0),
            _fit,
        ),
    ]
    return [pytest.param(make, fit, id=name) for name, make, fit in found]


class Interrupt:
    """Counts the lines that a block executes in the estimators, and raises at one of them."""

    def __init__(self, at: int | None = None, error: type[BaseException] = KeyboardInterrupt):
        self.at, self.error, self.lines = at, error, 0

    def __enter__(self) -> "Interrupt":
        self._before = sys.gettrace()
        sys.settrace(self._enter)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._line if frame.f_code.co_filename.startswith(SETTERS) else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self.lines += 1
            if self.lines == self.at:
                raise self.error
        return self._line


def values(model: Any) -> dict[str, Any]:
    """Return the fitted numbers and words of a model."""
    kinds = (np.ndarray, float, int, str)
    return {name: value for name, value in vars(model).items() if isinstance(value, kinds)}


def assert_old_or_new(model: Any, old: dict[str, Any], new: Any) -> bool:
    """Check that every attribute is the old object, or every one has the new value."""
    now = vars(model)
    if now.keys() == old.keys() and all(now[name] is old[name] for name in old):
        return True
    assert now.keys() == vars(new).keys()
    expected = values(new)
    for name, value in values(model).items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)
    return False


@pytest.mark.parametrize(("make", "fit"), cases())
def test_an_interrupted_refit_leaves_the_old_state_or_the_new_one(
    make: Callable[[], Any], fit: Fit
) -> None:
    first, second = curve(40, seed=1), curve(44, seed=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        new = fit(make(), second)
        trial, model = fit(make(), first), fit(make(), first)
        old = dict(vars(model))
        with Interrupt() as counter:
            fit(trial, second)
        lines = counter.lines
        kept_old = 0
        points = {lines - back for back in range(LAST)}
        points |= {lines * part // (SPREAD + 1) for part in range(1, SPREAD + 1)}
        for number, at in enumerate(sorted(points)):
            error = MemoryError if number % 2 else KeyboardInterrupt
            try:
                with Interrupt(at, error):
                    fit(model, second)
            except error:
                pass
            if assert_old_or_new(model, old, new):
                kept_old += 1
            else:
                model = fit(make(), first)
                old = dict(vars(model))
        assert kept_old >= SPREAD  # the interrupts did strike


@pytest.mark.parametrize("entry", [*METHODS, *CLUSTERINGS], ids=lambda entry: entry.class_name)
def test_a_cancelled_refit_leaves_the_old_state(entry: Any) -> None:
    fit = _fit_classes if entry.name == "supervised_lle" else _fit
    model, _ = quietly(lambda: fit(entry.load()(), curve(40, seed=1)))
    old = dict(vars(model))
    seen: list[Progress] = []
    with unbend.monitoring(seen.append):
        quietly(lambda: fit(entry.load()(), curve(44, seed=2)))
    for last in {len(seen) // 2, len(seen) - 1}:
        calls = iter(range(len(seen)))
        with pytest.raises(Cancelled), unbend.monitoring(lambda _: next(calls) < last):  # noqa: B023
            quietly(lambda: fit(model, curve(44, seed=2)))
        assert vars(model).keys() == old.keys()
        assert all(vars(model)[name] is value for name, value in old.items())


@pytest.mark.parametrize(
    ("make", "before", "after"),
    [
        (
            unbend.LaplacianEigenmaps,
            {},
            {"n_neighbors": None, "weights": "heat", "eigen_solver": unbend.Nystrom(20)},
        ),
        (unbend.MetricMDS, {}, {"solver": "sgd"}),
        (unbend.MVU, {}, {"connect": "components"}),
        (unbend.SpectralClustering, {}, {}),
    ],
)
def test_a_refit_leaves_nothing_of_the_fit_before(
    make: type, before: dict[str, Any], after: dict[str, Any]
) -> None:
    frame = pd.DataFrame(curve(60), columns=list("xyz"))
    model, _ = quietly(lambda: make(**before).fit(frame))
    quietly(lambda: model.set_params(**after).fit(curve(80, seed=2)))
    fresh, _ = quietly(lambda: make(**after).fit(curve(80, seed=2)))
    assert vars(model).keys() == vars(fresh).keys()


# Calls that compute what is then kept, such as trees and regressions: all of the library's lines.
CALLS = (PACKAGE,)


class InterruptCall(Interrupt):
    """Counts the lines that a block executes anywhere in the library."""

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._line if frame.f_code.co_filename.startswith(CALLS) else None


def _call(model: Any, rows: np.ndarray) -> np.ndarray:
    """Use a fitted model on new samples."""
    if not hasattr(model, "transform"):
        return np.asarray(model.predict(rows))
    if isinstance(model, unbend.ReplicatedMDS | unbend.WeightedMDS):
        to_fitted = cdist(rows, curve(40, seed=1))
        return np.asarray(model.transform([to_fitted, to_fitted]))
    return np.asarray(model.transform(rows))


def use_cases() -> list[Any]:
    """Estimators with a transform or a predict."""
    own = {entry.class_name for entry in (*METHODS, *CLUSTERINGS, *CLASSIFIERS, *SEVERAL)}
    return [case for case in cases() if case.id in own]


@pytest.mark.parametrize(("make", "fit"), use_cases())
def test_an_interrupted_transform_changes_no_state_and_no_later_answer(
    make: Callable[[], Any], fit: Fit
) -> None:
    rows = curve(9, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = _call(fit(make(), curve(40, seed=1)), rows)
        model = fit(make(), curve(40, seed=1))
        with InterruptCall() as counter:
            _call(fit(make(), curve(40, seed=1)), rows)
        whole = counter.lines
        with InterruptCall() as counter:
            fit(make(), curve(40, seed=1))
        lines = whole - counter.lines
        old, struck = dict(vars(model)), 0
        for number, part in enumerate((0.1, 0.4, 0.7, 0.95)):
            error = MemoryError if number % 2 else KeyboardInterrupt
            try:
                with InterruptCall(max(1, int(part * lines)), error):
                    _call(model, rows)
            except error:
                struck += 1
            assert vars(model).keys() == old.keys()
            assert all(vars(model)[name] is value for name, value in old.items())
            # A fit of the same rows may differ in the last bits only where threads order sums.
            assert _call(model, rows).tobytes() == expected.tobytes()
    assert struck


@pytest.mark.parametrize("method", [unbend.Isomap, unbend.LTSA, unbend.MetricMDS, unbend.PCA])
def test_a_real_interrupt_leaves_the_old_state_or_the_new_one(method: type) -> None:
    first, second = curve(40, seed=1), curve(300, seed=2)
    model, _ = quietly(lambda: method().fit(first))
    new, _ = quietly(lambda: method().fit(second))
    struck = 0
    for delay in (0.0005, 0.002, 0.006, 0.015):
        old = dict(vars(model))
        timer = threading.Timer(delay, signal.raise_signal, [signal.SIGINT])
        try:
            timer.start()
            quietly(partial(model.fit, second))
            timer.join()
            time.sleep(0.001)  # handlers run between instructions of this thread
        except KeyboardInterrupt:
            struck += 1
        timer.join()
        if not assert_old_or_new(model, old, new):
            model, _ = quietly(lambda: method().fit(first))
    assert struck


def test_what_scikit_learn_was_configured_to_outlives_a_fit() -> None:
    model = unbend.PCA().set_output(transform="pandas").fit(curve(40))
    assert isinstance(model.fit(curve(40)).transform(curve(40)), pd.DataFrame)
