"""Compiled stages with one thread and with two: `python -m benchmarks.stages [--quick] [--limit]`.

A stage is a name and a function of `quick` that makes its input and returns a function of the
number of threads, with the least work that it has. To measure another one, write such a function
and add it to `STAGES`. With `--limit` that work is compared with what the machine does
(`limits.py`): the bound is the largest of the bytes at the bandwidth, the flops at the rate of
products, and the decisions at the rate of branches that no processor foresees.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.limits import bound_of, measure_machine
from unbend._kernels import kernels
from unbend.datasets import swiss_roll
from unbend.eigen.shift_invert import Symbolic, analyse
from unbend.gram import Gram
from unbend.graphs import geodesics, undirected
from unbend.local import affine_bases, align, quadratic_bases
from unbend.mds import MetricStress, Pairs
from unbend.neighbors import PointSpace

ROUNDS = 3
# Neighbours of all graphs, rows of a neighbourhood, and right-hand sides.
NEAR, BLOCK, SIDES = 12, 13, 6


@dataclass(frozen=True)
class Stage:
    """A function of the number of threads, and the least work that it has.

    `bytes` must go through memory, `flops` of a `kind` be computed, and `decisions` be taken that
    depend on the data, one after another. `why` says what the bound leaves out.
    """

    run: Callable[[int], Any]
    bytes: float = 0.0
    flops: float = 0.0
    kind: str = "dgemm"
    decisions: float = 0.0
    why: str = ""


def _graph(n: int) -> Any:
    return undirected(PointSpace(swiss_roll(n, random_state=0).points).nearest(NEAR)).lengths


def all_geodesics(quick: bool) -> Stage:
    """Shortest paths between all vertices: each settles once for each source."""
    n = 1500 if quick else 4000
    graph = _graph(n)
    return Stage(
        lambda threads: geodesics(graph, threads=threads),
        bytes=8 * n**2,
        decisions=n**2,
        why="every settled vertex compares about 14 others, half of which are settled already",
    )


def scattered_geodesics(quick: bool) -> Stage:
    """Shortest paths from a few scattered vertices of a large graph."""
    n, count = (20_000, 50) if quick else (100_000, 100)
    graph = _graph(n)
    sources = np.random.default_rng(0).choice(n, count, replace=False)
    return Stage(
        lambda threads: geodesics(graph, sources, threads=threads),
        bytes=8 * n * count,
        decisions=n * count,
        why="as above, and the graph and one row of distances leave the second cache",
    )


def nearest_rows(quick: bool) -> Stage:
    """Neighbours of all rows in three dimensions, building the tree included."""
    n = 50_000 if quick else 300_000
    points = swiss_roll(n, random_state=0).points
    # A sorted list of k takes k rows, and k log(c/k) more of c that are met in random order; about
    # five leaves of a dozen rows meet a ball of k.
    compared = 5 * NEAR
    entered = NEAR * (1 + np.log(compared / NEAR))
    return Stage(
        lambda threads: PointSpace(points, workers=threads).nearest(NEAR),
        bytes=n * (3 * 8 * 3 + 12 * NEAR),
        flops=n * 8 * compared,
        decisions=n * (entered + np.log2(n / NEAR) / 2),
        why="half of it are boxes that are measured and left out",
    )


def squared_products(quick: bool) -> Stage:
    """Products of a kernel of distances with six vectors."""
    n = 2000 if quick else 8000
    rng = np.random.default_rng(0)
    distances, vectors = rng.random((n, n), dtype=np.float32), rng.normal(size=(n, SIDES))
    return Stage(
        lambda threads: Gram(distances, threads=threads).operator() @ vectors,
        bytes=4 * n**2,
        flops=n**2 * (1 + 2 * SIDES),
    )


def new_paths(quick: bool) -> Stage:
    """Place new rows by their geodesics."""
    n, new = (1000, 2000) if quick else (4000, 20_000)
    rng = np.random.default_rng(0)
    paths, weights = rng.random((n, n), dtype=np.float32), rng.normal(size=(2, n))
    near = rng.integers(0, n, (new, NEAR)).astype(np.int32)
    far, placed = rng.random((new, NEAR), dtype=np.float32), np.empty((new, 2))
    return Stage(
        lambda threads: kernels.place_by_paths(
            paths, near, far, 0.0, weights, threads, _unheard, placed
        ),
        bytes=4 * n**2,
        # An addition and a minimum for each neighbour, a square, and products with two weights; no
        # multiply-add, so half of the rate of products can be had.
        flops=2 * new * n * (2 * NEAR + 5),
        kind="sgemm",
        why="rows of geodesics come from the third cache: four bytes for two operations",
    )


def stress(quick: bool) -> Stage:
    """Stress of a configuration in the plane, and its gradient."""
    n = 2000 if quick else 8000
    rng = np.random.default_rng(0)
    pairs = Pairs(n, rng.random(n * (n - 1) // 2, dtype=np.float32))
    configuration = rng.normal(size=(n, 2))
    return Stage(
        lambda threads: MetricStress(pairs, threads=threads)(configuration),
        bytes=4 * n * (n - 1) / 2,
        # A root and a division take about eight operations each.
        flops=n * (n - 1) / 2 * 32,
    )


def _unheard(done: int, total: int) -> None:
    """Hear of progress and say nothing."""


def _neighborhoods(quick: bool) -> tuple[int, Any, Any, Any]:
    n = 10_000 if quick else 100_000
    space = PointSpace(swiss_roll(n, random_state=0).points)
    neighbors = space.nearest(NEAR)
    offsets, members = neighbors.with_self()
    return n, offsets, members, space.coordinates(members.reshape(n, BLOCK))


def local_bases(quick: bool) -> Stage:
    """Bases of Hessian LLE."""
    n, _, _, coordinates = _neighborhoods(quick)
    # Products of three columns, a spectrum of 3 x 3, six functions, and their orthogonal basis.
    flops = BLOCK * 3 * 3 + 500 + BLOCK * 12 + 2 * BLOCK * 6 * 6
    return Stage(
        lambda threads: quadratic_bases(coordinates, 2, threads),
        bytes=n * BLOCK * 8 * (3 + 3),
        flops=n * flops,
        why="chains of divisions and roots in matrices of three columns and of six",
    )


def alignment(quick: bool) -> Stage:
    """Sum of the blocks of LTSA."""
    n, offsets, members, coordinates = _neighborhoods(quick)
    bases = affine_bases(coordinates, 2).reshape(-1, 3)
    entries = align(n, offsets, members, bases, complement=True).nnz
    return Stage(
        lambda threads: align(n, offsets, members, bases, complement=True, threads=threads),
        bytes=12 * entries + n * BLOCK * (8 * 3 + 4) * BLOCK,
        flops=n * BLOCK**2 * 6,
        # Each entry finds its place in a sorted row.
        decisions=entries,
    )


def _symbolic(quick: bool) -> Symbolic:
    n, offsets, members, coordinates = _neighborhoods(quick)
    bases = affine_bases(coordinates, 2).reshape(-1, 3)
    return analyse(align(n, offsets, members, bases, complement=True))


def factorisation(quick: bool) -> Stage:
    """Cholesky factor of the kernel of LTSA, after its analysis."""
    symbolic = _symbolic(quick)
    return Stage(
        lambda threads: symbolic.factor(1e-9, threads),
        bytes=2 * 8 * symbolic.analysis.stored,
        flops=symbolic.analysis.flops,
        why="small supernodes: a block of a few columns reads as much as it computes",
    )


def substitution(quick: bool) -> Stage:
    """Solution for six right-hand sides."""
    symbolic = _symbolic(quick)
    factor, right = symbolic.factor(1e-9), np.ones((len(symbolic.row) - 1, SIDES))
    solution = np.empty_like(right)
    return Stage(
        lambda threads: factor.solve(right, threads, solution),
        bytes=2 * 8 * symbolic.analysis.stored,
        flops=4 * SIDES * symbolic.analysis.stored,
    )


def sparse_products(quick: bool) -> Stage:
    """Product of the kernel of LTSA with six vectors, ten times."""
    symbolic = _symbolic(quick)
    block = np.ones((len(symbolic.row) - 1, SIDES))
    image, matrix = np.empty_like(block), (symbolic.row, symbolic.column, symbolic.values)

    def products(threads: int) -> None:
        for _ in range(10):
            kernels.sparse_product(*matrix, block, threads, image)

    return Stage(
        products,
        bytes=10 * 12 * len(symbolic.values),
        flops=10 * 2 * SIDES * len(symbolic.values),
    )


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
    stage.run(2)
    for _ in range(ROUNDS):
        for threads, seconds in times.items():
            wall, cpu = time.perf_counter(), time.process_time()
            stage.run(threads)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            seconds.append((wall, cpu))
    one, (two, cpu) = min(times[1])[0], min(times[2])
    figures = {"one": one, "two": two, "speedup": one / two, "cores": cpu / two}
    return {name: round(figure, 4) for name, figure in figures.items()}


def measure_stages(quick: bool, limit: bool) -> dict[str, dict[str, Any]]:
    """Measure every stage of the list."""
    with threadpool_limits(1):
        machine = measure_machine() if limit else None
    found: dict[str, dict[str, Any]] = {}
    for name, make in STAGES:
        stage = make(quick)
        found[name] = dict(speedup(stage))
        if machine:
            limits = bound_of(stage.bytes, stage.flops, stage.kind, stage.decisions, machine)
            share = round(limits["seconds"] / found[name]["one"], 3)
            found[name]["limit"] = limits | {"fraction": share, "why": stage.why}
    return found


if __name__ == "__main__":
    print(json.dumps(measure_stages("--quick" in sys.argv, "--limit" in sys.argv)))
