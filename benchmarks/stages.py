"""Compiled stages with one thread and with two: `python -m benchmarks.stages [--quick]`.

A stage is a name and a function of `quick` that makes its input and returns a function of the
number of threads. To measure another one, write such a function and add it to `STAGES`.
"""

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from unbend.datasets import swiss_roll
from unbend.graphs import geodesics, undirected
from unbend.neighbors import PointSpace

Stage = Callable[[int], Any]
ROUNDS = 3


def _graph(n: int) -> Any:
    return undirected(PointSpace(swiss_roll(n, random_state=0).points).nearest(12)).lengths


def all_geodesics(quick: bool) -> Stage:
    """Shortest paths between all vertices."""
    graph = _graph(1500 if quick else 4000)
    return lambda threads: geodesics(graph, threads=threads)


def scattered_geodesics(quick: bool) -> Stage:
    """Shortest paths from a few scattered vertices of a large graph."""
    n, count = (20_000, 50) if quick else (100_000, 100)
    graph = _graph(n)
    sources = np.random.default_rng(0).choice(n, count, replace=False)
    return lambda threads: geodesics(graph, sources, threads=threads)


STAGES: list[tuple[str, Callable[[bool], Stage]]] = [
    ("geodesics, all sources", all_geodesics),
    ("geodesics, scattered sources", scattered_geodesics),
]


def speedup(stage: Stage) -> dict[str, float]:
    """Wall seconds with one thread and with two, in turn, best of three.

    `cores` is CPU over wall time of the best run with two threads: far below two, either the
    machine was busy with other work or the stage is partly serial. Repeat it on an idle machine.
    """
    times: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    stage(2)
    for _ in range(ROUNDS):
        for threads, seconds in times.items():
            wall, cpu = time.perf_counter(), time.process_time()
            stage(threads)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            seconds.append((wall, cpu))
    one, (two, cpu) = min(times[1])[0], min(times[2])
    figures = {"one": one, "two": two, "speedup": one / two, "cores": cpu / two}
    return {name: round(figure, 4) for name, figure in figures.items()}


def measure_stages(quick: bool) -> dict[str, dict[str, float]]:
    """Measure every stage of the list."""
    makers = ((name, partial(make, quick)) for name, make in STAGES)
    return {name: speedup(make()) for name, make in makers}


if __name__ == "__main__":
    print(json.dumps(measure_stages("--quick" in sys.argv)))
