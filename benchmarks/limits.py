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

The best of five each. Every compiled stage has a bound (`stages.py --limit`): the largest of the
three for the work that it cannot avoid.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Record = dict[str, Any]
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


if __name__ == "__main__":
    print(json.dumps(measure_machine()))
