"""Every sparse method on a Swiss roll of 20 000 points, each in a process of its own.

Writes `foundation.json`: seconds, CPU seconds, peak memory and error to the true chart.
"""

import json
import platform
import subprocess
import sys
from pathlib import Path

METHODS = ("LLE", "LTSA", "HessianLLE", "LaplacianEigenmaps")
ROWS, NEIGHBORS = 20_000, 12

FIT = """
import json, resource, sys, time
import unbend
from unbend.quality import procrustes
method, rows, neighbors = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
roll = unbend.datasets.swiss_roll(rows, random_state=0)
estimator = getattr(unbend, method)(n_neighbors=neighbors)
wall, cpu = time.perf_counter(), time.process_time()
estimator.fit(roll.points)
print(json.dumps({
    "seconds": round(time.perf_counter() - wall, 3),
    "cpu_seconds": round(time.process_time() - cpu, 3),
    "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 3),
    "affine_error": procrustes(roll.chart, estimator.embedding_, kind="affine"),
}))
"""

IMPORT = """
import time
start = time.perf_counter()
import numpy, scipy.sparse.linalg, scipy.spatial
base = time.perf_counter() - start
start = time.perf_counter()
import unbend
print(time.perf_counter() - start, base)
"""


def in_new_process(code: str, *arguments: object) -> str:
    """Run code in a fresh interpreter and return what it prints."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def measure_fit(method: str, rows: int = ROWS, neighbors: int = NEIGHBORS) -> dict[str, float]:
    """Seconds, memory and error of one fit."""
    measured: dict[str, float] = json.loads(in_new_process(FIT, method, rows, neighbors))
    return measured


def main() -> None:
    """Measure, print and write."""
    own, base = map(float, in_new_process(IMPORT).split())
    results = {
        "machine": platform.machine(),
        "rows": ROWS,
        "neighbors": NEIGHBORS,
        "import_seconds": {"unbend": round(own, 3), "numpy_and_scipy": round(base, 3)},
        "methods": {method: measure_fit(method) for method in METHODS},
    }
    for method, row in results["methods"].items():  # type: ignore[attr-defined]
        seconds, memory, error = row["seconds"], row["peak_gb"], row["affine_error"]
        print(f"{method:<20}{seconds:8.2f} s {memory:6.2f} GB {error:.2e}")
    Path(__file__).with_suffix(".json").write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
