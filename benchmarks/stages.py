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

from unbend._kernels import kernels
from unbend.datasets import swiss_roll
from unbend.eigen.shift_invert import Symbolic, analyse
from unbend.gram import Gram
from unbend.graphs import geodesics, undirected
from unbend.local import affine_bases, align, quadratic_bases
from unbend.mds import MetricStress, Pairs
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


def nearest_rows(quick: bool) -> Stage:
    """Neighbours of all rows in three dimensions, building the tree included."""
    points = swiss_roll(50_000 if quick else 300_000, random_state=0).points
    return lambda threads: PointSpace(points, workers=threads).nearest(12)


def squared_products(quick: bool) -> Stage:
    """Products of a kernel of distances with six vectors."""
    n = 2000 if quick else 8000
    rng = np.random.default_rng(0)
    distances, vectors = rng.random((n, n), dtype=np.float32), rng.normal(size=(n, 6))
    return lambda threads: Gram(distances, threads=threads).operator() @ vectors


def new_paths(quick: bool) -> Stage:
    """Place new rows by their geodesics."""
    n, new = (1000, 2000) if quick else (4000, 20_000)
    rng = np.random.default_rng(0)
    paths, weights = rng.random((n, n), dtype=np.float32), rng.normal(size=(2, n))
    near = rng.integers(0, n, (new, 12)).astype(np.int32)
    far, placed = rng.random((new, 12), dtype=np.float32), np.empty((new, 2))
    return lambda threads: kernels.place_by_paths(
        paths, near, far, 0.0, weights, threads, _unheard, placed
    )


def stress(quick: bool) -> Stage:
    """Stress of a configuration in the plane, and its gradient."""
    n = 2000 if quick else 8000
    rng = np.random.default_rng(0)
    pairs = Pairs(n, rng.random(n * (n - 1) // 2, dtype=np.float32))
    configuration = rng.normal(size=(n, 2))
    return lambda threads: MetricStress(pairs, threads=threads)(configuration)


def _unheard(done: int, total: int) -> None:
    """Hear of progress and say nothing."""


def _neighborhoods(quick: bool) -> tuple[int, Any, Any, Any]:
    n = 10_000 if quick else 100_000
    space = PointSpace(swiss_roll(n, random_state=0).points)
    neighbors = space.nearest(12)
    offsets, members = neighbors.with_self()
    return n, offsets, members, space.coordinates(members.reshape(n, 13))


def local_bases(quick: bool) -> Stage:
    """Bases of Hessian LLE."""
    coordinates = _neighborhoods(quick)[3]
    return lambda threads: quadratic_bases(coordinates, 2, threads)


def alignment(quick: bool) -> Stage:
    """Sum of the blocks of LTSA."""
    n, offsets, members, coordinates = _neighborhoods(quick)
    bases = affine_bases(coordinates, 2).reshape(-1, 3)
    return lambda threads: align(n, offsets, members, bases, complement=True, threads=threads)


def _symbolic(quick: bool) -> Symbolic:
    n, offsets, members, coordinates = _neighborhoods(quick)
    bases = affine_bases(coordinates, 2).reshape(-1, 3)
    return analyse(align(n, offsets, members, bases, complement=True))


def factorisation(quick: bool) -> Stage:
    """Cholesky factor of the kernel of LTSA, after its analysis."""
    symbolic = _symbolic(quick)
    return lambda threads: symbolic.factor(1e-9, threads)


def substitution(quick: bool) -> Stage:
    """Solution for six right-hand sides."""
    symbolic = _symbolic(quick)
    factor, right = symbolic.factor(1e-9), np.ones((len(symbolic.row) - 1, 6))
    solution = np.empty_like(right)
    return lambda threads: factor.solve(right, threads, solution)


def sparse_products(quick: bool) -> Stage:
    """Product of the kernel of LTSA with six vectors, ten times."""
    symbolic = _symbolic(quick)
    block = np.ones((len(symbolic.row) - 1, 6))
    image, matrix = np.empty_like(block), (symbolic.row, symbolic.column, symbolic.values)

    def products(threads: int) -> None:
        for _ in range(10):
            kernels.sparse_product(*matrix, block, threads, image)

    return products


STAGES: list[tuple[str, Callable[[bool], Stage]]] = [
    ("nearest rows, 3-d", nearest_rows),
    ("geodesics, all sources", all_geodesics),
    ("geodesics, scattered sources", scattered_geodesics),
    ("products with squared distances", squared_products),
    ("places by geodesics", new_paths),
    ("stress and gradient", stress),
    ("local bases", local_bases),
    ("alignment", alignment),
    ("Cholesky factorisation", factorisation),
    ("Cholesky solution", substitution),
    ("sparse products", sparse_products),
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
