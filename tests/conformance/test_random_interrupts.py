"""Interrupts at random points: by Ctrl-C, by a callback, by lack of memory; of a fit or of a use.

Points are drawn from a seed, over every line of the library. After each the estimator has the old
state or the new one, and behaves as before or as after: no array that it holds was changed.
"""

import signal
import threading
import time
import warnings
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import unbend
import unbend.sklearn as names
from tests.conformance.cases import curve
from tests.conformance.test_interrupted_fits import (
    InterruptCall,
    _call,
    _fit,
    _fit_batches,
    assert_old_or_new,
    cases,
)
from unbend.progress import Cancelled
from unbend.registry import CLASSIFIERS, CLUSTERINGS, METHODS, SEVERAL

ROWS, MORE = curve(40, seed=1), curve(44, seed=2)
NEW = curve(9, seed=3)
KINDS = ("memory", "keyboard", "callback", "signal")
ACTIONS = ("first fit", "refit", "use")


def all_cases() -> list[Any]:
    """Every estimator: those of the registry, in batches, under scikit-learn's names, tables."""
    more = [
        ("Prepare", unbend.Prepare, _fit),
        ("Prepare in batches", unbend.Prepare, _fit_batches),
        ("sklearn TSNE", partial(names.TSNE, perplexity=5, max_iter=250), _fit),
    ]
    return [*cases(), *(pytest.param(make, fit, id=name) for name, make, fit in more)]


def digest(value: Any, seen: set[int] | None = None) -> int:
    """Checksum of every array that an object holds, however deep."""
    seen = set() if seen is None else seen
    library = type(value).__module__.partition(".")[0]
    if id(value) in seen or isinstance(value, type) or library in ("dask", "distributed"):
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return zlib.crc32(np.ascontiguousarray(value).tobytes()) if value.dtype.kind != "O" else 0
    if isinstance(value, dict):
        held: Any = list(value.values())
    elif isinstance(value, list | tuple):
        held = list(value)
    else:
        held = list(getattr(value, "__dict__", {}).values())
        held += [getattr(value, name, None) for name in getattr(value, "__slots__", ())]
    total = 0
    for number, one in enumerate(held):
        total = zlib.crc32(repr((number, digest(one, seen))).encode(), total)
    return total


class Strike:
    """Runs calls that are interrupted once, at a share of their lines, progress calls or time."""

    def __init__(self, kind: str, share: float) -> None:
        self.kind, self.share = kind, share

    def __call__(self, rehearsal: Callable[[], Any], action: Callable[[], Any]) -> bool:
        """Rehearse on a model that nobody needs, then interrupt the action; whether it struck."""
        return bool(getattr(self, f"_{self.kind}")(rehearsal, action))

    def _by_line(self, error: type[BaseException], rehearsal: Any, action: Any) -> bool:
        with InterruptCall() as counter:
            rehearsal()
        try:
            with InterruptCall(max(1, round(self.share * counter.lines)), error):
                action()
        except error:
            return True
        return False

    def _memory(self, rehearsal: Any, action: Any) -> bool:
        return self._by_line(MemoryError, rehearsal, action)

    def _keyboard(self, rehearsal: Any, action: Any) -> bool:
        return self._by_line(KeyboardInterrupt, rehearsal, action)

    def _callback(self, rehearsal: Any, action: Any) -> bool:
        seen: list[Any] = []
        with unbend.monitoring(seen.append):
            rehearsal()
        calls, last = iter(range(10**9)), int(self.share * len(seen))
        try:
            with unbend.monitoring(lambda _: next(calls) < last):
                action()
        except Cancelled:
            return True
        return False

    def _signal(self, rehearsal: Any, action: Any) -> bool:
        start = time.perf_counter()
        rehearsal()
        delay = self.share * (time.perf_counter() - start)
        timer = threading.Timer(delay, signal.raise_signal, [signal.SIGINT])
        struck = False
        try:
            timer.start()
            action()
        except KeyboardInterrupt:
            struck = True
        try:
            timer.join()
            time.sleep(0.001)  # handlers run between instructions of this thread
        except KeyboardInterrupt:
            pass
        return struck


def interrupt_once(
    name: str, make: Any, fit: Any, rng: np.random.Generator, call: Callable[..., Any] = _call
) -> str:
    """Interrupt one call of one kind at one point; return the kind, if it struck."""
    kind, action = KINDS[rng.integers(len(KINDS))], ACTIONS[rng.integers(len(ACTIONS))]
    strike = Strike(kind, float(rng.random()))
    if action == "use" and not usable(name):
        action = "refit"
    if action == "first fit":
        model, new = make(), fit(make(), MORE)
        before = vars(model).copy()
        struck = strike(lambda: fit(make(), MORE), lambda: fit(model, MORE))
        assert_old_or_new(model, before, new)
        return kind if struck else ""
    model, trial = fit(make(), ROWS), fit(make(), ROWS)
    before, checksum = vars(model).copy(), digest(vars(model))
    if action == "refit":
        new = fit(make(), MORE)
        struck = strike(lambda: fit(trial, MORE), lambda: fit(model, MORE))
        if assert_old_or_new(model, before, new):
            assert digest(vars(model)) == checksum, "an array of the old state was changed"
    else:
        expected = call(trial, NEW).tobytes()
        fresh = fit(make(), ROWS)
        struck = strike(lambda: call(fresh, NEW), lambda: call(model, NEW))
        assert all(vars(model)[name] is value for name, value in before.items())
        assert vars(model).keys() == before.keys()
        assert call(model, NEW).tobytes() == expected
    return kind if struck else ""


def usable(name: str) -> bool:
    """Whether the estimator has a transform or a predict for new samples."""
    own = {entry.class_name for entry in (*METHODS, *CLUSTERINGS, *CLASSIFIERS, *SEVERAL)}
    return name in own or name in ("Prepare", "Prepare in batches", "PCA in batches")


@pytest.mark.parametrize(
    "trials",
    [pytest.param((0, 3), id="few"), pytest.param((3, 60), id="many", marks=pytest.mark.slow)],
)
@pytest.mark.parametrize(("make", "fit"), all_cases())
def test_an_interrupt_at_a_random_point_leaves_one_whole_state(
    make: Any, fit: Any, trials: tuple[int, int], request: pytest.FixtureRequest
) -> None:
    name = request.node.callspec.id.rpartition("-")[0]
    struck = 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for trial in range(*trials):
            rng = np.random.default_rng([trial, zlib.crc32(name.encode())])
            struck += bool(interrupt_once(name, make, fit, rng))
    # An interrupt may miss a call of few lines, but not most of sixty.
    assert struck or trials[1] == 3
