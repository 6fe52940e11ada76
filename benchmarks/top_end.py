"""Kernels whose top is wanted, against scikit-learn: `python -m benchmarks.top_end [--quick]`.

Both fit the same rows in turn, one BLAS thread, CPU seconds, the least of three rounds: rows of
rank ten with noise in 784 columns, and the digits of scikit-learn. Ratios are ours over theirs.
Writes `top_end.json`. `--quick` takes 300 rows only.
"""

import json
import sys
import time
import warnings
from typing import Any

import numpy as np
import sklearn.decomposition
import sklearn.manifold
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

import unbend
from benchmarks.output import results_of

ROUNDS = 3
ROWS = (300, 600, 1000, 2000)
WANTED = (2, 10)


def low_rank(n: int) -> Any:
    """Draw rows near ten directions of falling size."""
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(n, 10)) * np.arange(10, 0, -1) @ rng.normal(size=(10, 784))
    return plane / 10 + rng.normal(size=(n, 784))


def models(d: int, gamma: float) -> dict[str, tuple[Any, Any]]:
    """Ours and theirs, by name."""
    pairs: dict[str, tuple[Any, Any]] = {}
    for kernel in ("rbf", "linear", "poly", "sigmoid", "cosine"):
        options: dict[str, Any] = {"n_components": d, "kernel": kernel, "gamma": gamma}
        pairs[f"KernelPCA {kernel}"] = (
            unbend.KernelPCA(**options),
            sklearn.decomposition.KernelPCA(**options),
        )
    pairs["ClassicalMDS"] = (
        unbend.ClassicalMDS(n_components=d),
        sklearn.manifold.ClassicalMDS(n_components=d),
    )
    pairs["PCA dual"] = (
        unbend.PCA(n_components=d, svd_solver="dual"),
        sklearn.decomposition.PCA(n_components=d, svd_solver="arpack"),
    )
    return pairs


def cpu_seconds(model: Any, points: Any) -> float:
    """CPU time of one fit."""
    start = time.process_time()
    model.fit(points)
    return time.process_time() - start


def compare(points: Any, d: int) -> dict[str, dict[str, Any]]:
    """Seconds of both, their ratio, and which solver we chose."""
    rows: dict[str, dict[str, Any]] = {}
    gamma = 1.0 / (2.0 * float(points.var(axis=0).sum()))
    for name, (ours, theirs) in models(d, gamma).items():
        times = [(cpu_seconds(ours, points), cpu_seconds(theirs, points)) for _ in range(ROUNDS)]
        own, peer = (min(column) for column in zip(*times, strict=True))
        solver = ours.report_.stage("spectrum").facts["solver"]
        rows[name] = {
            "unbend": round(own, 4),
            "scikit_learn": round(peer, 4),
            "ratio": round(own / peer, 2),
            "solver": solver,
        }
        print(f"{len(points):6}{d:4} {name:<20}{own:8.3f} s{peer:8.3f} s{own / peer:7.2f} {solver}")
    return rows


def main() -> None:
    """Measure, print and write."""
    digits, results = load_digits().data, {}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for n in ROWS[:1] if "--quick" in sys.argv else ROWS:
            for data, points in (("low rank", low_rank(n)), ("digits", digits[:n])):
                if len(points) == n:
                    for d in WANTED:
                        results[f"{data}, {n} rows, {d} wanted"] = compare(points, d)
    path = results_of(__file__)
    path.write_text(json.dumps({"cpu_seconds": results}, indent=2) + "\n")


if __name__ == "__main__":
    main()
