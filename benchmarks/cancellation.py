"""How soon a fit of 100 000 rows stops: `python -m benchmarks.cancellation [METHOD ...]`.

Methods that store all pairs refuse so many rows; the figure is how soon. (Several matrices of so
many objects do not fit in memory themselves.) For the others there are two, in seconds of CPU of
one thread, so that other work on the machine does not count: the longest time between two calls of
the progress callback, which could cancel the fit there, with the stage in which it was, and the
longest time from Ctrl-C to KeyboardInterrupt, over signals at points spread evenly over the fit.
"""

import argparse
import json
import signal
import sys
import threading
import time
import warnings
from contextlib import suppress
from typing import Any

import numpy as np

import unbend
from benchmarks.measure import in_new_process
from benchmarks.output import results_of
from unbend.memory import NotEnoughMemory
from unbend.progress import Cancelled

RESULTS = results_of(__file__)
ROWS, SIGNALS = 100_000, 4
# Fits that take longer are cancelled.
LONGEST = 20.0
# Methods that take this many rows, with parameters where the defaults do not.
METHODS: dict[str, dict[str, Any]] = {
    "PCA": {},
    "KernelPCA": {"eigen_solver": "Nystrom"},
    "RandomProjection": {},
    "ClassicalMDS": {},
    "LandmarkMDS": {},
    "MetricMDS": {"solver": "sgd", "max_iter": 200},
    "LandmarkIsomap": {},
    "LLE": {},
    "SupervisedLLE": {},
    "LTSA": {},
    "HessianLLE": {},
    "RigidAlignment": {},
    "LaplacianEigenmaps": {},
    "DiffusionMaps": {},
    "NeighborEmbedding": {"max_iter": 50},
    "SpectralClustering": {},
    "SubspaceRecognizer": {},
    "LandmarkMVU": {},
    "MVU": {},
    "Isomap": {},
    "NonmetricMDS": {},
}
# Refusals do not depend on the machine; all others take less.
MEMORY = 8_000_000_000


def make(name: str) -> Any:
    """Make an estimator that takes 100 000 rows."""
    options = dict(METHODS[name])
    if options.get("eigen_solver") == "Nystrom":
        options["eigen_solver"] = unbend.Nystrom(500)
    return getattr(unbend, name)(**options)


def fit(name: str, rows: np.ndarray) -> None:
    """Fit with classes where they are needed."""
    with unbend.memory_limit(MEMORY):
        make(name).fit(rows, np.arange(len(rows)) % 3)


def longest_gap(name: str, rows: np.ndarray) -> tuple[float, str, float]:
    """Return the longest time between calls, the stage in which it was, and the whole time."""
    start = last = time.process_time()
    gap, where, before = 0.0, "", "begin"

    def note(progress: Any) -> bool:
        nonlocal last, gap, where, before
        now = time.process_time()
        if now - last > gap:
            gap, where = now - last, f"{before} to {progress.stage}"
        last, before = now, progress.stage
        return now - start < LONGEST

    with suppress(Cancelled), unbend.monitoring(note):
        fit(name, rows)
    end = time.process_time()
    if end - last > gap:
        gap, where = end - last, f"{before} to end"
    return gap, where, end - start


def longest_interrupt(name: str, rows: np.ndarray, seconds: float) -> float:
    """Return the longest time from a signal to the exception."""
    worst = 0.0
    for number in range(SIGNALS):
        sent: list[float] = []
        over = threading.Event()
        after = seconds * (number + 0.5) / SIGNALS
        start = time.process_time()

        def strike(
            after: float = after, start: float = start, sent: Any = sent, over: Any = over
        ) -> None:
            while time.process_time() - start < after and not over.is_set():
                time.sleep(0.002)
            if not over.is_set():
                sent.append(time.process_time())
                signal.raise_signal(signal.SIGINT)

        thread = threading.Thread(target=strike)
        try:
            thread.start()
            fit(name, rows)
            over.set()
            thread.join()
        except KeyboardInterrupt:
            worst = max(worst, time.process_time() - sent[0])
        thread.join()
    return worst


def measure(name: str) -> dict[str, Any]:
    """Measure one method in this process."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    fit(name, unbend.datasets.swiss_roll(500, random_state=0).points)
    rows = np.asarray(unbend.datasets.swiss_roll(ROWS, random_state=0).points)
    start = time.process_time()
    try:
        gap, where, seconds = longest_gap(name, rows)
    except NotEnoughMemory:
        return {"status": "refused", "after": round(time.process_time() - start, 3)}
    interrupt = longest_interrupt(name, rows, min(seconds, LONGEST / SIGNALS))
    return {
        "status": "done",
        "fit": round(seconds, 2),
        "callback": round(gap, 3),
        "stage": where,
        "signal": round(interrupt, 3),
    }


def main() -> None:
    """Measure every method, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*", default=list(METHODS))
    parser.add_argument("--one")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.one)))
        return
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in given.methods:
        known[name] = in_new_process(
            "benchmarks.cancellation", "--one", name, threads=1, timeout=1800
        )
        print(name, known[name], file=sys.stderr, flush=True)
        RESULTS.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
