"""Recall against CPU of approximate neighbours: `python -m benchmarks.descent_curves [ROWS...]`.

NN-descent of ours, pynndescent and hnswlib (where they are installed), each with several settings,
on word vectors (GloVe, 100 columns), digits of MNIST (784) and rows like SIFT descriptors (128
columns: clusters of non-negative values of heavy tails, clipped and scaled to one length). One
thread, CPU seconds of building and asking for the 15 nearest of all rows; exact products stand
beside. Recall is that of 1000 rows. Writes `descent_curves.json`, case by case; 50 000 rows unless
others are named.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.data import digits, glove
from unbend.neighbors import BruteForce, NNDescent

RESULTS = Path(__file__).with_suffix(".json")
K, SAMPLE = 15, 1000


def sift_like(n: int) -> Any:
    """Rows like SIFT descriptors."""
    rng = np.random.default_rng(3)
    centers = rng.gamma(0.5, 1.0, size=(200, 128))
    rows = centers[rng.integers(200, size=n)] * rng.gamma(2.0, 0.5, size=(n, 128))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    rows = np.minimum(rows, 0.2)
    return rows / np.linalg.norm(rows, axis=1)[:, None]


DATA: dict[str, Callable[[int], Any]] = {
    "GloVe": lambda n: glove(n)[0],
    "SIFT-like": sift_like,
    "MNIST": lambda n: digits(n)[0],
}


def ours(points: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield searches of ours."""
    yield "exact products", lambda: BruteForce().build(points).query_self(K)[0]
    for recall in (0.9, 0.95, 0.98):
        yield (
            f"NNDescent(recall={recall})",
            lambda recall=recall: NNDescent(recall=recall).build(points).query_self(K)[0],
        )


def peers(points: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield searches of other libraries, in single precision."""
    single = points.astype(np.float32)
    try:
        import pynndescent
    except ImportError:
        print("pynndescent is not installed")
    else:
        pynndescent.NNDescent(single[:3000], n_neighbors=K + 1, n_jobs=1)
        for neighbors in (K + 1, 30):
            yield (
                f"pynndescent(n_neighbors={neighbors})",
                lambda count=neighbors: pynndescent.NNDescent(
                    single, n_neighbors=count, n_jobs=1, random_state=0
                ).neighbor_graph[0][:, 1 : K + 1],
            )
    try:
        import hnswlib
    except ImportError:
        print("hnswlib is not installed")
        return

    def search(ef: int) -> Any:
        index = hnswlib.Index(space="l2", dim=single.shape[1])
        index.init_index(max_elements=len(single), ef_construction=ef, M=16)
        index.set_num_threads(1)
        index.add_items(single)
        index.set_ef(ef)
        return index.knn_query(single, k=K + 1)[0][:, 1:]

    for ef in (50, 100):
        yield f"hnswlib(ef={ef})", lambda ef=ef: search(ef)


def measure(name: str, n: int) -> None:
    """Measure all searches of one table."""
    points = np.ascontiguousarray(DATA[name](n), dtype=np.float64)
    sample = np.sort(np.random.default_rng(1).choice(len(points), SAMPLE, replace=False))
    exact = BruteForce().build(points).query(points[sample], K + 1)[0]
    title = f"{name} {len(points)} x {points.shape[1]}"
    for search, run in (*ours(points), *peers(points)):
        start = time.process_time()
        found = run()
        seconds = time.process_time() - start
        shared = [
            len(np.intersect1d(one[one != row][:K], other)) / K
            for one, row, other in zip(exact, sample, found[sample], strict=True)
        ]
        record(title, search, {"cpu": round(seconds, 2), "recall": round(np.mean(shared), 4)})
        print(f"{title:<28}{search:<32}{seconds:8.2f} s  recall {np.mean(shared):.4f}", flush=True)


def record(title: str, search: str, value: dict[str, float]) -> None:
    """Write one result beside the others."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    known.setdefault(title, {})[search] = value
    RESULTS.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    with threadpool_limits(1):
        for rows in map(int, sys.argv[1:] or ["50000"]):
            for table in DATA:
                measure(table, rows)
