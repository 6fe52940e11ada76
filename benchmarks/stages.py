"""Compiled stages with one thread and with two: `python -m benchmarks.stages [--quick] [--limit]`.

A stage is a name and a function of `quick` that makes its input and returns a function of the
number of threads, with the least work that it has. To measure another one, write such a function
and add it to `STAGES`. With `--limit` that work is compared with what the machine does
(`limits.py`): the bound is the largest of the bytes at the bandwidth, the flops at the rate of
products, and the decisions at the rate of branches that no processor foresees. It counts less than
any program does, so that no share can be above one.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.limits import Work, bound_of, measure_machine
from unbend._kernels import kernels
from unbend.datasets import swiss_roll
from unbend.eigen.shift_invert import Symbolic, analyse
from unbend.gram import Gram
from unbend.graphs import geodesics, undirected
from unbend.local import affine_bases, align, quadratic_bases
from unbend.mds import MetricStress, Pairs
from unbend.neighbors import PointSpace
from unbend.neighbors.order import spatial_order

ROUNDS = 3
# Neighbours of all graphs, rows of a neighbourhood, and right-hand sides.
NEAR, BLOCK, SIDES = 12, 13, 6
# Sources near each other that one run of shortest paths serves.
LANES = 32


@dataclass(frozen=True)
class Stage:
    """A function of the number of threads, the least work that it has, and its rows.

    `why` says what the bound leaves out.
    """

    run: Callable[[int], Any]
    rows: int
    work: Work
    why: str


def _rows(n: int) -> Any:
    """Points of a roll in the order in which fits take them: near rows are mostly near."""
    points = swiss_roll(n, random_state=0).points
    return points[spatial_order(points)]


def _graph(n: int) -> Any:
    return undirected(PointSpace(_rows(n)).nearest(NEAR)).lengths


def all_geodesics(quick: bool) -> Stage:
    """Shortest paths between all vertices, in single precision, 32 sources at once."""
    n = 1500 if quick else 4000
    graph = _graph(n)
    return Stage(
        lambda threads: geodesics(graph, threads=threads),
        n,
        Work(
            bytes=4 * n**2,
            # A sum and a minimum for every edge and source; whether an edge leads to a vertex that
            # was not met before is decided for all lanes together.
            single=2 * n * graph.nnz,
            decisions=2 * n * n / LANES,
        ),
        "sources of a group settle a vertex at different times: it is looked at about three times, "
        "and 128 bytes of distances a neighbour come from the second cache",
    )


def scattered_geodesics(quick: bool) -> Stage:
    """Shortest paths from a few scattered vertices of a large graph."""
    n, count = (20_000, 50) if quick else (100_000, 100)
    graph = _graph(n)
    sources = np.random.default_rng(0).choice(n, count, replace=False)
    return Stage(
        lambda threads: geodesics(graph, sources, threads=threads),
        n,
        Work(
            # The graph does not fit in the second cache and is read for every source.
            bytes=4 * n * count + 8 * graph.nnz * count,
            single=2 * count * graph.nnz,
            # A vertex that is met, and its place in a bucket, each guessed wrong once.
            decisions=4 * n * count,
        ),
        "sources far apart share no lanes: one distance at a time is read, at a random place in "
        "the second cache, added and compared, 16 a settled vertex",
    )


def nearest_rows(quick: bool) -> Stage:
    """Neighbours of all rows in three dimensions, building the tree included."""
    n = 50_000 if quick else 300_000
    points = _rows(n)
    # About five leaves of a dozen rows meet a ball of k. Of rows in random order the i-th is among
    # the k nearest so far with the chance k/i, and guessed wrong with that or its complement.
    compared = 5 * NEAR
    chance = NEAR / np.arange(NEAR, compared)
    wrong = np.minimum(chance, 1 - chance).sum()
    return Stage(
        lambda threads: PointSpace(points, workers=threads).nearest(NEAR),
        n,
        Work(
            bytes=n * (3 * 8 * 3 + 12 * NEAR),
            double=n * 8 * compared,
            decisions=n * (2 * wrong + np.log2(n / NEAR)),
        ),
        "boxes that are measured and left out, the place of a row in its list of 12, sorting of "
        "the lists and of the tree",
    )


def squared_products(quick: bool) -> Stage:
    """Products of a kernel of distances with six vectors."""
    n = 2000 if quick else 8000
    rng = np.random.default_rng(0)
    distances, vectors = rng.random((n, n), dtype=np.float32), rng.normal(size=(n, SIDES))
    return Stage(
        lambda threads: Gram(distances, threads=threads).operator() @ vectors,
        n,
        Work(bytes=4 * n**2, double=n**2 * (2 + 2 * SIDES)),
        "conversions to double precision, and means of rows and columns in a pass of their own",
    )


def new_paths(quick: bool) -> Stage:
    """Place new rows by their geodesics."""
    n, new = (1000, 2000) if quick else (4000, 20_000)
    rng = np.random.default_rng(0)
    paths, weights = rng.random((n, n), dtype=np.float32), rng.normal(size=(2, n))
    # Neighbours are near each other, and so are their numbers here.
    near = (rng.integers(0, n, (new, 1)) + np.arange(NEAR)).astype(np.int32) % n
    far, placed = rng.random((new, NEAR), dtype=np.float32), np.empty((new, 2))
    return Stage(
        lambda threads: kernels.place_by_paths(
            paths, near, far, 0.0, weights, threads, _unheard, placed
        ),
        n,
        # An addition and a minimum for each neighbour; a shift, a square and products with two
        # weights in double precision.
        Work(bytes=4 * n**2, single=new * n * 2 * NEAR, double=new * n * 6),
        "every number is loaded for two operations, the geodesics of other neighbours from the "
        "second cache, and squares are converted to double precision",
    )


def stress(quick: bool) -> Stage:
    """Stress of a configuration in the plane, and its gradient."""
    n = 2000 if quick else 8000
    rng = np.random.default_rng(0)
    pairs = Pairs(n, rng.random(n * (n - 1) // 2, dtype=np.float32))
    configuration = rng.normal(size=(n, 2))
    return Stage(
        lambda threads: MetricStress(pairs, threads=threads)(configuration),
        n,
        # In single precision: differences and their squares (5), the residual and its square (3),
        # and moves of both ends in two columns (8).
        Work(bytes=4 * n * (n - 1) / 2, single=n * (n - 1) / 2 * 16, roots=n * (n - 1) / 2),
        "sums of both ends are loaded and stored",
    )


def _unheard(done: int, total: int) -> None:
    """Hear of progress and say nothing."""


def _neighborhoods(quick: bool) -> tuple[int, Any, Any, Any]:
    n = 10_000 if quick else 100_000
    space = PointSpace(_rows(n))
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
        n,
        Work(bytes=n * BLOCK * 8 * (3 + 3), double=n * flops),
        "an eigenproblem of order three and six columns made orthogonal, twice, are chains of "
        "about a hundred roots, divisions and sums of 13 that wait for each other",
    )


def alignment(quick: bool) -> Stage:
    """Sum of the blocks of LTSA."""
    n, offsets, members, coordinates = _neighborhoods(quick)
    bases = affine_bases(coordinates, 2).reshape(-1, 3)
    entries = align(n, offsets, members, bases, complement=True).nnz
    return Stage(
        lambda threads: align(n, offsets, members, bases, complement=True, threads=threads),
        n,
        Work(
            bytes=12 * entries + n * BLOCK * (8 * 3 + 4),
            double=n * BLOCK**2 * 6,
            # Sorting the columns of a row takes a decision a halving.
            decisions=entries * np.log2(entries / n),
        ),
        "each of 13² products a neighbourhood is added at a random place in the second cache, and "
        "places are counted in a pass of their own",
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
        len(symbolic.row) - 1,
        Work(bytes=2 * 8 * symbolic.analysis.stored, double=symbolic.analysis.flops),
        "small supernodes: a block of a few columns reads as much as it computes",
    )


def substitution(quick: bool) -> Stage:
    """Solution for six right-hand sides."""
    symbolic = _symbolic(quick)
    factor, right = symbolic.factor(1e-9), np.ones((len(symbolic.row) - 1, SIDES))
    solution = np.empty_like(right)
    return Stage(
        lambda threads: factor.solve(right, threads, solution),
        len(right),
        Work(bytes=2 * 8 * symbolic.analysis.stored, double=4 * SIDES * symbolic.analysis.stored),
        "rows of the right-hand sides are gathered and scattered for every supernode",
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
        len(block),
        Work(bytes=10 * 12 * len(symbolic.values), double=10 * 2 * SIDES * len(symbolic.values)),
        "rows of the vectors are gathered at random places of the third cache",
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
        found[name] = {"rows": stage.rows, **speedup(stage)}
        if machine:
            limits = bound_of(stage.work, machine)
            share = round(limits["seconds"] / found[name]["one"], 3)
            found[name]["limit"] = limits | {"fraction": share, "why": stage.why}
    return found


if __name__ == "__main__":
    print(json.dumps(measure_stages("--quick" in sys.argv, "--limit" in sys.argv)))
