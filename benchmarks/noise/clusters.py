"""Whether clusters are taken for a surface: 1500 rows in 5 to 10 columns, by their separation.

python -m benchmarks.noise.clusters

Clusters are normal, uniform in balls, or of different widths along the columns, all with a standard
deviation of about one; separations are typical distances of their centres. Connectivity was
calibrated on clusters of other seeds and sizes. Writes noise_clusters.json.
"""

import json
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.noise.surfaces import Array
from unbend.denoising import Sample, measure_noise
from unbend.neighbors import PointSpace

RESULTS = Path(__file__).parent.parent / "noise_clusters.json"
ROWS, SEED = 1500, 77
COLUMNS, CLUSTERS, DIMENSIONS = (5, 7, 10), (3, 5, 12), (1, 2)
KINDS, SEPARATIONS = ("normal", "ball", "elongated"), (6, 8, 10, 12, 15, 20)


def make_clusters(columns: int, count: int, d: int, kind: str, separation: float) -> Array:
    """Draw rows of so many clusters."""
    rng = np.random.default_rng([SEED, columns, count, d, len(kind), int(separation)])
    rows = rng.normal(size=(ROWS, columns))
    if kind == "ball":
        radius = np.sqrt(columns + 2.0) * rng.uniform(size=(ROWS, 1)) ** (1 / columns)
        rows *= radius / np.linalg.norm(rows, axis=1)[:, None]
    cluster = rng.integers(count, size=ROWS)
    if kind == "elongated":
        rows *= rng.uniform(0.5, 1.5, size=(count, columns))[cluster]
    centers = rng.normal(size=(count, columns)) * separation / np.sqrt(2 * columns)
    return np.asarray(rows + centers[cluster])


def judge(rows: Array, d: int) -> str:
    """Return what the measurement takes rows for."""
    found = measure_noise(Sample.of(PointSpace(rows), d), d)
    if found.clustered:
        return "clusters"
    return "no surface" if found.patch_size is None else "surface"


def main() -> None:
    """Count the verdicts of each separation."""
    results = []
    for separation in SEPARATIONS:
        settings = product(COLUMNS, CLUSTERS, DIMENSIONS, KINDS)
        verdicts = Counter(
            judge(make_clusters(columns, count, d, kind, separation), d)
            for columns, count, d, kind in settings
        )
        results.append({"separation": separation, **verdicts})
        print(results[-1])
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
