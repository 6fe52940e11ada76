"""CPU seconds of methods over the number of rows: `python -m benchmarks.method_cost [--quick]`.

Rows double until the next fit would take longer than the limit, as far as the last two show, or
until `LARGEST`, or until it would need more memory than `MEMORY`. Neighbourhood methods and
scalings fit points of a Swiss roll (three columns), linear and kernel methods rows of 100 normal
columns, and scalings of several matrices three tables of distances. One thread, one fit each,
default parameters. Writes `method_cost.json`, which the pages of the methods draw.
"""

import json
import math
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import unbend
from benchmarks.machine import cpu_name
from benchmarks.output import results_of
from unbend.registry import CLASSIFIERS, CLUSTERINGS, METHODS, SEVERAL, Entry

SMALLEST, LARGEST = 250, 128_000
LIMIT, QUICK_LIMIT = 6.0, 0.1
MEMORY = 2_500_000_000
COLUMNS = 100
WIDE = ("pca", "kernel_pca", "random_projection", "subspace_recognizer")


def roll(n: int) -> tuple[Any, ...]:
    """Points of a Swiss roll."""
    return (unbend.datasets.swiss_roll(n, random_state=0).points,)


def wide(n: int) -> tuple[Any, ...]:
    """Rows of normal columns."""
    return (np.random.default_rng(0).normal(size=(n, COLUMNS)),)


def labelled(n: int) -> tuple[Any, ...]:
    """Points of a roll and five classes along it."""
    made = unbend.datasets.swiss_roll(n, random_state=0)
    edges = np.quantile(made.chart[:, 0], [0.2, 0.4, 0.6, 0.8])
    return made.points, np.searchsorted(edges, made.chart[:, 0])


def wide_labelled(n: int) -> tuple[Any, ...]:
    """Rows of normal columns, in classes of ten."""
    label = np.arange(n) // 10
    centers = np.random.default_rng(1).normal(size=(label[-1] + 1, COLUMNS))
    return wide(n)[0] * 0.5 + centers[label], label


def tables(n: int) -> tuple[Any, ...]:
    """Three tables of distances between the same points."""
    points = np.random.default_rng(0).normal(size=(n, 2))
    weights = ((1.0, 1.0), (2.0, 0.5), (0.5, 2.0))
    return ([np.linalg.norm((points[:, None] - points) * one, axis=2) for one in weights],)


def data_of(entry: Entry) -> tuple[Callable[[int], tuple[Any, ...]], str]:
    """Return what a method is fitted to, and how the page names it."""
    if entry in SEVERAL:
        return tables, "three tables of distances"
    if entry in CLASSIFIERS:
        return wide_labelled, f"rows of {COLUMNS} columns in classes of ten"
    if entry.name in WIDE:
        return wide, f"rows of {COLUMNS} columns"
    if entry.name == "supervised_lle":
        return labelled, "points of a Swiss roll in five classes"
    return roll, "points of a Swiss roll"


def cpu_seconds(entry: Entry, arguments: tuple[Any, ...]) -> float:
    """CPU seconds of one fit with default parameters."""
    begun = time.process_time()
    entry.load()(**({"n_components": 2} if entry.name == "random_projection" else {})).fit(
        *arguments
    )
    return time.process_time() - begun


def measure(entry: Entry, limit: float) -> dict[str, Any]:
    """Measure a method at growing numbers of rows."""
    make, name = data_of(entry)
    rows: list[int] = []
    seconds: list[float] = []
    n = SMALLEST
    cpu_seconds(entry, make(n))  # imports
    while n <= LARGEST:
        try:
            with unbend.memory_limit(MEMORY):
                seconds.append(cpu_seconds(entry, make(n)))
        except MemoryError:
            break
        rows.append(n)
        growth = seconds[-1] / seconds[-2] if len(seconds) > 1 and seconds[-1] > 0.05 else 2.0
        n *= 2
        if seconds[-1] * max(growth, 2.0) > limit:
            break
    slope = math.log(seconds[-1] / seconds[-3], rows[-1] / rows[-3]) if len(rows) > 2 else None
    return {"data": name, "rows": rows, "seconds": seconds, "exponent": slope}


def main() -> None:
    """Measure every method, and write the file."""
    limit = QUICK_LIMIT if "--quick" in sys.argv else LIMIT
    path = results_of(__file__)
    # What is not measured again, or not reached, stays.
    found = json.loads(path.read_text())["methods"] if path.exists() else {}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for entry in (*METHODS, *SEVERAL, *CLUSTERINGS, *CLASSIFIERS):
            found[entry.name] = one = measure(entry, limit)
            last = f"{one['rows'][-1]} rows in {one['seconds'][-1]:.2f} CPU-s"
            print(f"{entry.name:22} {last}, exponent {one['exponent']}", flush=True)
            if "--quick" not in sys.argv:
                stored = {"cpu": cpu_name(), "version": unbend.__version__, "methods": found}
                path.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
