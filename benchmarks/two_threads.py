"""Whole fits with one thread and with two: `python -m benchmarks.two_threads [--quick] [method…]`.

Wall seconds in turns, the least of two or three rounds each, at a size at which a fit takes about a
second. BLAS has one thread, whose waiting would count as work, but where it is all that has threads
(methods without `n_jobs`). Beside the gain stands what explains it: the stages of
the report with one thread and with two, and `undivided`, the share of the CPU time with two threads
that the calling thread has beyond its half. It bounds the gain (Amdahl: 2 / (1 + share)), and other
work on the machine does not change it, as it does the wall time. `cores` is CPU over wall time of
the best run with two threads. `copies` is the other bound: twice the wall time of a fit with one
thread over that of one beside a second process that does the same, with which it shares memory
and cache, but no work. Writes `two_threads.json`, method by method. Needs an idle machine.
"""

import json
import multiprocessing
import sys
import time
import warnings
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.method_cost import data_of
from benchmarks.output import results_of
from unbend.registry import CLUSTERINGS, METHODS, SEVERAL, Entry

ROWS = {
    "pca": 128_000,
    "kernel_pca": 4000,
    "landmark_mds": 128_000,
    "metric_mds": 8000,
    "nonmetric_mds": 1000,
    "isomap": 8000,
    "landmark_isomap": 50_000,
    "mvu": 1000,
    "landmark_mvu": 8000,
    "lle": 100_000,
    "supervised_lle": 100_000,
    "ltsa": 100_000,
    "hessian_lle": 100_000,
    "rigid_alignment": 100_000,
    "laplacian_eigenmaps": 200_000,
    "diffusion_maps": 100_000,
    "neighbor_embedding": 10_000,
    "replicated_mds": 2000,
    "weighted_mds": 1000,
    "spectral_clustering": 50_000,
}
MILLION = "laplacian_eigenmaps_1M"
ENTRIES = {entry.name: entry for entry in (*METHODS, *SEVERAL, *CLUSTERINGS)}
QUICK_ROWS, ROUNDS, LONG = 300, 3, 3.0

# Wall and CPU seconds, CPU seconds of the calling thread, and wall seconds of the stages.
Run = tuple[float, float, float, dict[str, float]]


def fit_once(entry: Entry, arguments: Any, threads: int) -> Run:
    """Fit with so many threads."""
    model = entry.load()()
    ours = "n_jobs" in model.get_params()
    if ours:
        model.set_params(n_jobs=threads)
    with threadpool_limits(1 if ours else threads):
        wall, cpu, own = time.perf_counter(), time.process_time(), time.thread_time()
        model.fit(*arguments)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        own = time.thread_time() - own
    stages: dict[str, float] = {}
    for stage in model.report_.stages:
        stages[stage.name] = stages.get(stage.name, 0.0) + stage.seconds
    return wall, cpu, own, stages


def fit_until(name: str, rows: int, ready: Any, done: Any) -> None:
    """Fit with one thread over and over, in a process of its own."""
    warnings.simplefilter("ignore")
    entry = ENTRIES[name]
    arguments = data_of(entry)[0](rows)
    fit_once(entry, arguments, 1)
    ready.set()
    parent = multiprocessing.parent_process()
    while not done.is_set() and parent is not None and parent.is_alive():
        fit_once(entry, arguments, 1)


def time_beside_copy(entry: Entry, arguments: Any, rows: int, rounds: int) -> float:
    """Wall seconds of a fit with one thread while a copy of it runs in another process."""
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    copy = context.Process(target=fit_until, args=(entry.name, rows, ready, done), daemon=True)
    copy.start()
    try:
        ready.wait()
        return min(fit_once(entry, arguments, 1)[0] for _ in range(rounds))
    finally:
        done.set()
        copy.join()


def measure(entry: Entry, rows: int) -> dict[str, Any]:
    """Fit in turns with one thread and with two."""
    arguments = data_of(entry)[0](rows)
    runs: dict[int, list[Run]] = {1: [], 2: []}
    fit_once(entry, data_of(entry)[0](QUICK_ROWS), 2)  # imports, and threads
    rounds = ROUNDS
    while len(runs[2]) < rounds:
        for threads, found in runs.items():
            found.append(fit_once(entry, arguments, threads))
        if runs[1][-1][0] > LONG:
            rounds = 2
    one, two = (min(found, key=lambda run: run[0]) for found in runs.values())
    gain = one[0] / two[0]
    beside = time_beside_copy(entry, arguments, rows, rounds)
    stages = {
        name: [round(seconds, 3), round(two[3].get(name, 0.0), 3)]
        for name, seconds in one[3].items()
        if seconds > 0.02 * one[0]
    }
    return {
        "rows": rows,
        "one": round(one[0], 4),
        "two": round(two[0], 4),
        "speedup": round(gain, 3),
        "cores": round(two[1] / two[0], 2),
        "undivided": round(max(0.0, 2 * two[2] / two[1] - 1), 3),
        "copies": round(2 * one[0] / beside, 2),
        "stages": stages,
    }


def record(name: str, value: dict[str, Any]) -> None:
    """Write one method beside the others."""
    path = results_of(__file__)
    known = json.loads(path.read_text()) if path.exists() else {}
    known[name] = value
    path.write_text(json.dumps(known, indent=1) + "\n")


def main() -> None:
    """Measure the methods that are named, or all."""
    quick = "--quick" in sys.argv
    names = [word for word in sys.argv[1:] if word != "--quick"]
    if unknown := set(names) - {*ROWS, MILLION}:
        raise SystemExit(f"no method {', '.join(sorted(unknown))}: name {', '.join(ROWS)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names or ROWS:
            rows = 1_000_000 if name == MILLION else ROWS[name]
            found = measure(ENTRIES[name.removesuffix("_1M")], QUICK_ROWS if quick else rows)
            record(name, found)
            print(
                f"{name:<22}{found['rows']:>8} {found['one']:8.3f} s {found['two']:8.3f} s "
                f"{found['speedup']:6.2f}x  {found['cores']} cores, undivided "
                f"{found['undivided']:.0%}, copies {found['copies']}x  {found['stages']}",
                flush=True,
            )


if __name__ == "__main__":
    main()
