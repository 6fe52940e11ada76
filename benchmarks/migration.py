"""`unbend.sklearn` against scikit-learn: the same class, the same data, in turn, best of three.

Writes `migration.json`: CPU seconds of both and their ratio. `--quick` fits 500 rows.
"""

import json
import sys
import time
import warnings
from typing import Any

import sklearn.cluster
import sklearn.manifold
from threadpoolctl import threadpool_limits

import unbend.datasets
import unbend.sklearn
from benchmarks.output import results_of

ROWS, QUICK_ROWS = 4000, 500
CASES: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "Isomap": (sklearn.manifold, "Isomap", {"n_neighbors": 12}),
    "LLE": (sklearn.manifold, "LocallyLinearEmbedding", {"n_neighbors": 12}),
    "LTSA": (
        sklearn.manifold,
        "LocallyLinearEmbedding",
        {"n_neighbors": 12, "method": "ltsa", "eigen_solver": "arpack"},
    ),
    "SpectralEmbedding": (sklearn.manifold, "SpectralEmbedding", {"n_neighbors": 12}),
    "SpectralClustering": (
        sklearn.cluster,
        "SpectralClustering",
        {"n_clusters": 4, "affinity": "nearest_neighbors", "n_neighbors": 12},
    ),
}


def cpu_seconds(estimator: Any, points: Any) -> float:
    """CPU time of one fit."""
    start = time.process_time()
    # One BLAS thread for both: idle ones spin, and would be counted as work.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        estimator.fit(points)
    return time.process_time() - start


def main() -> None:
    """Measure, print and write."""
    rows = QUICK_ROWS if "--quick" in sys.argv else ROWS
    points = unbend.datasets.swiss_roll(rows, random_state=0).points
    results = {}
    for title, (module, name, options) in CASES.items():
        pairs = [
            (
                cpu_seconds(getattr(module, name)(**options), points),
                cpu_seconds(getattr(unbend.sklearn, name)(**options), points),
            )
            for _ in range(3)
        ]
        theirs, ours = (min(times) for times in zip(*pairs, strict=True))
        results[title] = {
            "scikit_learn": round(theirs, 3),
            "unbend": round(ours, 3),
            "ratio": round(theirs / ours, 1),
        }
        print(f"{title:<20}{theirs:8.2f} s {ours:8.2f} s {theirs / ours:6.1f}x")
    path = results_of(__file__)
    path.write_text(json.dumps({"rows": rows, "cpu_seconds": results}, indent=2) + "\n")


if __name__ == "__main__":
    main()
