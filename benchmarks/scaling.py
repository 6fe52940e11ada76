"""Scaling by stress against scikit-learn: `python -m benchmarks.scaling [--quick]`.

Both start from classical scaling of the 1797 digits of scikit-learn, in turn, one BLAS thread, CPU
seconds. Stresses are computed from the embeddings by one function, and ours must not be higher.
scikit-learn's non-metric fit is cut after 30 of its 300 iterations. The last lines give metric
scaling of 10 000 points, and one evaluation of stress and gradient over the time in which the
machine reads the pairs' bytes once. Writes `scaling.json`.
"""

import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.manifold
from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

import unbend
from benchmarks.output import results_of
from unbend.mds import MetricStress, Monotone, Pairs, Stress1
from unbend.neighbors import PointSpace

ROUNDS = 3


def cpu_of(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds and result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def compare(points: Any, metric: bool) -> dict[str, float]:
    """Ratio of CPU seconds, the least of some rounds each, and both stresses."""
    options: dict[str, Any] = {"init": "classical_mds", "metric_mds": metric}
    if not metric:
        options["max_iter"] = 30
    peer = sklearn.manifold.MDS(**options)
    own = unbend.MetricMDS() if metric else unbend.NonmetricMDS(ties="secondary")
    pairs = Pairs.from_points(PointSpace(points))

    def stress1(embedding: Any) -> float:
        if not metric:
            monotone = Monotone(pairs, equal_ties=True)
            return float(np.sqrt(Stress1(pairs.n, monotone)(embedding)[0]))
        return float(np.sqrt(np.mean((pdist(embedding) - pairs.dissimilarities) ** 2)))

    times: dict[str, list[float]] = {"scikit_learn": [], "unbend": []}
    for number in range(ROUNDS):
        if metric or number == 0:
            seconds, theirs = cpu_of(lambda: peer.fit_transform(points))
            times["scikit_learn"].append(seconds)
        seconds, ours = cpu_of(lambda: own.fit_transform(points))
        times["unbend"].append(seconds)
    slow, fast = min(times["scikit_learn"]), min(times["unbend"])
    return {
        "scikit_learn": round(slow, 3),
        "unbend": round(fast, 3),
        "ratio": round(slow / fast, 1),
        "stress_scikit_learn": round(stress1(theirs), 5),
        "stress_unbend": round(stress1(ours), 5),
        "iterations": own.n_iter_,
    }


def large(n: int) -> dict[str, float]:
    """CPU seconds and peak memory of metric scaling of n points with 50 columns."""
    points = np.random.default_rng(0).normal(size=(n, 50)) * np.linspace(3.0, 0.5, 50)
    seconds, fitted = cpu_of(lambda: unbend.MetricMDS().fit(points))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {
        "n": n,
        "cpu": round(seconds, 2),
        "peak_gb": round(peak, 2),
        "iterations": fitted.n_iter_,
    }


def bandwidth_share(n: int) -> dict[str, float]:
    """One evaluation, against reading as many bytes as the pairs have."""
    rng = np.random.default_rng(0)
    pairs = Pairs(n, rng.random(n * (n - 1) // 2, dtype=np.float32))
    stress, x = MetricStress(pairs), rng.normal(size=(n, 2))
    target = np.empty_like(pairs.dissimilarities)
    target[:] = 0
    evaluated, copied = [], []
    for _ in range(3 * ROUNDS):
        evaluated.append(cpu_of(lambda: stress(x))[0])
        copied.append(cpu_of(lambda: np.copyto(target, pairs.dissimilarities))[0])
    # A copy reads and writes.
    bound = min(copied) / 2
    figures = {"ms": 1e3 * min(evaluated), "bound_ms": 1e3 * bound, "over": min(evaluated) / bound}
    return {"n": n} | {name: round(figure, 2) for name, figure in figures.items()}


def main() -> None:
    """Measure, print and write."""
    quick = "--quick" in sys.argv
    points = load_digits().data[: 600 if quick else None]
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        results = {
            "evaluation": bandwidth_share(2000 if quick else 10_000),
            "large": large(3000 if quick else 10_000),
            "metric": compare(points, True),
            "non-metric": compare(points, False),
        }
    for name, figures in results.items():
        print(name, figures)
    if not quick:
        path = results_of(__file__)
        path.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
