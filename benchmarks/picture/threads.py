"""What a second thread gains: the share of code without threads, and wall-clock time."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import unbend.layout.repulsion as repulsion_module
import unbend.methods.neighbor_embedding as method
from benchmarks.data import digits as mnist
from benchmarks.measure import ROOT, THREAD_VARIABLES, touch_memory
from benchmarks.picture.cases import CONTENDERS
from unbend import NeighborEmbedding
from unbend._kernels import kernels
from unbend.eigen.krylov import KrylovSpace
from unbend.layout.affinities import Affinities
from unbend.neighbors.metrics import feature_maps

# Fits whose threads are looked at.
TIMED: dict[str, dict[str, Any]] = {
    "unbend, exaggeration 1": {},
    "unbend, exaggeration 4, 15 neighbours": {"exaggeration": 4, "n_neighbors": 15},
}
# Megabytes of a fit of 70 000 rows.
NEEDED = 2500
# Kernels that share their work between threads.
THREADED = [
    "attract", "attractive_energy", "convolve", "descend", "gather_forces", "offer_columns",
    "offer_pairs", "rank", "renumber", "repel_by_tree", "repel_exactly", "sort_shortlists",
    "sparse_product", "spread_density", "sum_weights",
]  # fmt: skip


def share_of_threads() -> dict[str, Any]:
    """Shares of a fit of MNIST 70k with one thread that threads of ours or of BLAS would divide.

    What two threads gain at most follows (Amdahl).
    """
    rows, _ = mnist(70_000)
    inside = {"ours": 0.0, "BLAS": 0.0}

    def timed(function: Callable[..., Any], whose: str) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            before, start = sum(inside.values()), time.process_time()
            found = function(*arguments, **options)
            # What a function inside of this one counted is not counted again.
            within = sum(inside.values()) - before
            inside[whose] += time.process_time() - start - within
            return found

        return call

    for name in THREADED:
        setattr(kernels, name, timed(getattr(kernels, name), "ours"))
    for name in ("rfft", "fft", "ifft", "irfft"):
        setattr(repulsion_module.fft, name, timed(getattr(repulsion_module.fft, name), "ours"))
    Affinities.of_neighbors = timed(Affinities.of_neighbors, "ours")  # type: ignore[method-assign]
    method.sample_rows = timed(method.sample_rows, "ours")
    method.exact_axes = timed(method.exact_axes, "BLAS")
    feature_maps.row_products = timed(feature_maps.row_products, "BLAS")
    for name in ("orthonormal", "add", "ritz", "restart", "vectors"):
        setattr(KrylovSpace, name, timed(getattr(KrylovSpace, name), "BLAS"))
    results = {}
    for name in TIMED:
        CONTENDERS[name](rows[:3000], 0, "")
        inside.update(dict.fromkeys(inside, 0.0))
        start = time.process_time()
        CONTENDERS[name](rows, 0, "")
        total = time.process_time() - start
        shares = {whose: round(seconds / total, 3) for whose, seconds in inside.items()}
        serial = 1.0 - sum(shares.values())
        gain = round(2 / (1 + serial), 2)
        results[name] = {**shares, "serial": round(serial, 3), "two": gain}
        print(name, results[name], flush=True)
    return results


def time_threads(name: str, rows: int, before: dict[str, Any]) -> dict[str, Any]:
    """Wall-clock seconds of fits with one and with two threads, in turns, each a process.

    Two fits of one thread side by side bound what two threads can gain on this machine: cores
    share a memory bus and perhaps more. `busy` are cores that other processes took meanwhile: of
    this turn and the one recorded, if it had as many rows, the one with fewer counts.
    """
    turns = [before[name]] if before.get(name, {}).get("rows") == rows else []
    one, two = _run(name, rows, 1), _run(name, rows, 2)
    pair = _run(name, rows, 1, copies=2)
    alone = _run(name, rows, 2, blas=1)
    runs = {"one": one, "two": two, "two, one of BLAS": alone, "pair": pair}
    busy = sum(run["others"] for run in runs.values())
    busy /= sum(run["seconds"] for run in runs.values())
    gains = {"gain": one["seconds"] / two["seconds"]}
    gains["bound"] = 2 * one["seconds"] / pair["seconds"]
    turns.append({"rows": rows, **_round(gains), "busy": round(busy, 3), **runs})
    print(name, turns[-1], flush=True)
    return {**before, name: min(turns, key=lambda turn: turn["busy"])}


def _run(
    name: str, rows: int, threads: int, copies: int = 1, blas: int | None = None
) -> dict[str, float]:
    """Fit in processes side by side; the means of their times."""
    environment = os.environ | dict.fromkeys(THREAD_VARIABLES, str(blas or threads))
    command = [sys.executable, "-m", "benchmarks.picture.threads", name, str(rows), str(threads)]
    pipe = subprocess.PIPE
    started = [
        subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True)
        for _ in range(copies)
    ]
    for process in started:
        assert process.stdout is not None
        process.stdout.readline()
    before = _busy_seconds()
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    times = np.array([process.communicate()[0].split() for process in started], dtype=float)
    seconds, cpu = times.mean(axis=0)
    others = _busy_seconds() - before - copies * cpu
    return _round({"seconds": seconds, "cpu": cpu, "others": max(others, 0.0)})


def _busy_seconds() -> float:
    """CPU seconds of all processes since the system started."""
    numbers = [int(word) for word in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    return (sum(numbers) - numbers[3] - numbers[4]) / float(os.sysconf("SC_CLK_TCK"))


def _round(numbers: dict[str, float]) -> dict[str, float]:
    return {key: round(float(value), 3) for key, value in numbers.items()}


def main() -> None:
    """Warm up, wait for a line, fit, and print wall-clock and CPU seconds."""
    name, rows, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    points, _ = mnist(rows)
    model = NeighborEmbedding(random_state=0, n_jobs=threads, **TIMED[name])
    model.fit(points[:2000])
    touch_memory(NEEDED * rows / 70_000)
    print("ready", flush=True)
    sys.stdin.readline()
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(points)
    print(time.perf_counter() - wall, time.process_time() - cpu)


if __name__ == "__main__":
    main()
