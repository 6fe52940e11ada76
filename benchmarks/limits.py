"""What the machine allows: bytes at its bandwidth, products at their rate, decisions at theirs.

`python -m benchmarks.limits` measures them, with the threads of the environment:

- bandwidth: copying 256 MB, read and written, or reading as much for a scalar product, the faster;
- rates: products of 1500 × 1500 matrices in single and double precision. An addition or a minimum
  counts as one of their flops: no core does more of these in a cycle than multiply-adds count two;
- roots: a square root and a division in single precision count as two divisions, which are timed
  on arrays that stay in cache: no root takes less than a division;
- latency: bisections of 1024 sorted numbers. The ten steps for a random key are guessed wrong every
  other time, those for a repeated key never: a tenth of the difference is what a decision that
  nobody foresees costs on average.

The best of five each. The stages (`stages.py --limit`) have bounds for the work of each, the
largest of the three. The bounds of whole cases below count less: what any method must read and
write at all.

The bound of a case is the time below which nobody can do the task *in the form named here*, with n
rows, D columns, k neighbours, d coordinates, m new rows or landmarks. Memory and arithmetic may
overlap, so the larger counts.

- PCA: read the rows once, 8nD bytes; 2nDd flops.
- Classical MDS, kernel PCA: write and read n² doubles once; 2n²D flops.
- Isomap: write the n² geodesics in single precision and read them for one product, 8n² bytes.
- Landmark Isomap: the same for n·m distances, 8nm bytes.
- LLE, LTSA, Hessian LLE, eigenmaps, diffusion maps, clustering: where the report tells the entries
  of the factor, write it and read it twice, for one solve, 36 bytes an entry; else read the nk
  (local methods: nk²) entries of the kernel, 12 bytes each, for each of d products.
- kNN, up to 15 columns: read the rows, write k indices and distances, n(8D + 12k) bytes.
- kNN, more columns: 2n²D flops in single precision.
- Transform, Isomap: read the n² geodesics once, 4n² bytes; 2mkn flops in single precision.
- Transform, local methods: read the new rows and k neighbours of each, 8mD(k + 1) bytes.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Record = dict[str, Any]
COLUMNS = {"roll": 3, "images": 784, "digits": 784}
DENSE_KERNELS = ("ClassicalMDS", "KernelPCA")
LOCAL = ("LLE", "LTSA", "HessianLLE")
TREE_COLUMNS = 15


# Numbers of an array that stays in the second cache, and calls of a measurement of it.
CACHED, CALLS = 16_384, 100


def best_of_five(work: Callable[[], Any]) -> float:
    """Least wall seconds."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def measure_machine() -> dict[str, float]:
    """Bandwidth in bytes and products in flops, both a second."""
    source = np.ones(32_000_000)
    target = np.empty_like(source)
    target[:] = 0
    copied = 2 * source.nbytes / best_of_five(lambda: np.copyto(target, source))
    machine = {"bandwidth": max(copied, source.nbytes / best_of_five(lambda: source @ source))}
    for name, dtype in (("sgemm", np.float32), ("dgemm", np.float64)):
        square = np.ones((1500, 1500), dtype=dtype)
        machine[name] = 2 * 1500**3 / best_of_five(lambda square=square: square @ square)
    return machine | {"root": root_seconds(), "decision": decision_seconds()}


def root_seconds() -> float:
    """Seconds of two divisions in single precision."""
    numbers = 1 + np.random.default_rng(0).random(CACHED, dtype=np.float32)
    result = np.empty_like(numbers)

    def work() -> None:
        for _ in range(CALLS):
            np.divide(numbers, numbers, out=result)

    return 2 * best_of_five(work) / (CALLS * CACHED)


def decision_seconds() -> float:
    """Seconds of a decision that is guessed wrong every other time."""
    table, keys = np.arange(1024.0), 1024 * np.random.default_rng(0).random(100_000)
    # Steps of a key that is met again begin anew, and take the same turns.
    same = np.full_like(keys, 1000.5)
    unforeseen, foreseen = (
        best_of_five(lambda asked=asked: np.searchsorted(table, asked)) for asked in (keys, same)
    )
    return max(unforeseen - foreseen, 0.0) / (10 * len(keys))


@dataclass(frozen=True)
class Work:
    """What a stage cannot avoid.

    `bytes` must go through memory; flops be computed in single and in double precision, and
    `roots` with a division each; and `decisions` be taken that depend on the data.
    """

    bytes: float = 0.0
    single: float = 0.0
    double: float = 0.0
    roots: float = 0.0
    decisions: float = 0.0


def bound_of(work: Work, machine: dict[str, float]) -> Record:
    """Return the least seconds of some work, and by what it is bound.

    Roots have a unit of their own beside that of the products.
    """
    products = work.single / machine["sgemm"] + work.double / machine["dgemm"]
    bounds = {
        "bandwidth": work.bytes / machine["bandwidth"],
        "arithmetic": max(products, work.roots * machine["root"]),
        "latency": work.decisions * machine["decision"],
    }
    by = max(bounds, key=bounds.__getitem__)
    return {"seconds": round(bounds[by], 5), "by": by}


def work_of(record: Record) -> tuple[float, float, str]:
    """Bytes, flops and the kind of product that a case needs at the least."""
    n, k, d = record["n"], record["k"], record["d"]
    columns, method = COLUMNS[record["data"]], record["method"]
    if record["new"]:
        return _placing(record, columns)
    if method == "kNN":
        if columns <= TREE_COLUMNS:
            return n * (8 * columns + 12 * k), 0, "sgemm"
        return 8 * n * columns, 2 * n**2 * columns, "sgemm"
    if method == "PCA":
        return 8 * n * columns, 2 * n * columns * d, "dgemm"
    if method in DENSE_KERNELS:
        return 16 * n**2, 2 * n**2 * columns, "dgemm"
    if method == "Isomap":
        return 8 * n**2, 0, "sgemm"
    if method == "LandmarkIsomap":
        return 8 * n * record["options"]["n_landmarks"], 0, "sgemm"
    facts = record["contenders"]["unbend"].get("facts", {})
    if "factor_entries" in facts:
        return 36 * facts["factor_entries"], 0, "dgemm"
    return 12 * d * n * (k**2 if method in LOCAL else k), 0, "dgemm"


def _placing(record: Record, columns: int) -> tuple[float, float, str]:
    n, k, m = record["n"], record["k"], record["new"]
    if record["method"] == "Isomap":
        return 4 * n**2, 2 * m * k * n, "sgemm"
    return 8 * m * columns * (k + 1), 0, "dgemm"


def bound(record: Record, machine: dict[str, float]) -> Record:
    """Return the least seconds of a case and our fraction of what is possible."""
    size, flops, kind = work_of(record)
    moved, computed = size / machine["bandwidth"], flops / machine[kind]
    seconds = max(moved, computed)
    limit = {"seconds": seconds, "by": "bandwidth" if moved >= computed else kind}
    ours = record["contenders"]["unbend"]
    if ours["status"] == "ok":
        limit["fraction"] = seconds / ours["wall"]
    return limit


if __name__ == "__main__":
    print(json.dumps(measure_machine()))
