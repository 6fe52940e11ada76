"""CPU seconds of rank-revealing factorisations: `python -m benchmarks.factorizations [--quick]`.

A matrix of 1000 × 1000 with singular values 10^(−i/5), rank 10, beside NumPy's SVD; and its Gram
matrix beside `eigh`. One thread, the least of three runs. Writes `factorizations.json`, from which
the line in `docs/lowrank.md` is taken. `--quick` takes 200 × 200.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.output import results_of
from unbend import lowrank

SIZE, QUICK_SIZE, RANK, RUNS = 1000, 200, 10, 3


def made(size: int) -> tuple[Any, Any]:
    """Return a matrix whose singular values decay, and its Gram matrix."""
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.standard_normal((size, size)))[0] for _ in range(2))
    matrix = (left * 10.0 ** (-np.arange(size) / 5)) @ right
    return matrix, matrix @ matrix.T


def cpu_seconds(run: Callable[[], Any]) -> float:
    """Least CPU seconds of a few runs."""
    taken = []
    for _ in range(RUNS):
        begun = time.process_time()
        run()
        taken.append(time.process_time() - begun)
    return min(taken)


def main() -> None:
    """Measure and write."""
    A, G = made(QUICK_SIZE if "--quick" in sys.argv else SIZE)
    runs: dict[str, Callable[[], Any]] = {
        "svd": lambda: np.linalg.svd(A),
        "strong_qr": lambda: lowrank.strong_qr(A, RANK),
        "rank_revealing_lu": lambda: lowrank.rank_revealing_lu(A, RANK),
        "ulv A": lambda: lowrank.ulv(A, RANK, algorithm="A"),
        "ulv L": lambda: lowrank.ulv(A, RANK, algorithm="L"),
        "interpolative": lambda: lowrank.interpolative(A, RANK),
        "randomized_interpolative": lambda: lowrank.randomized_interpolative(
            A, RANK, np.random.default_rng(0)
        ),
        "eigh": lambda: np.linalg.eigh(G),
        "vsv": lambda: lowrank.vsv(G, RANK),
        "pivoted_cholesky": lambda: lowrank.pivoted_cholesky(G, RANK),
    }
    with threadpool_limits(1):
        found = {name: cpu_seconds(run) for name, run in runs.items()}
    for name, seconds in found.items():
        print(f"{name:26} {seconds:.3f}")
    results_of(__file__).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
