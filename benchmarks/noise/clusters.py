"""Whether clusters are taken for a surface: 1500 rows in 5 to 10 columns, by their separation.

python -m benchmarks.noise.clusters

Clusters are normal, uniform in balls, or of different widths along the columns, all with a standard
deviation of about one; separations are typical distances of their centres. Connectivity and
valleys were calibrated on clusters of other seeds, sizes and numbers of columns. Counted are what
the measurement takes rows for, and in how many draws LTSA with denoise='auto' fits landmarks; and
which surfaces for calibration are taken for clusters. Writes noise_clusters.json; a later run goes
on with it, and keeps what was counted before there were valleys ("connectivity alone").
"""

import json
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import unbend
from benchmarks.noise.cases import make_cases
from benchmarks.noise.surfaces import Array
from unbend.denoising import Sample, measure_noise
from unbend.neighbors import PointSpace

RESULTS = Path(__file__).parent.parent / "noise_clusters.json"
ROWS, SEED = 1500, 77
COLUMNS, CLUSTERS, DIMENSIONS = (5, 7, 10), (3, 5, 12), (1, 2)
# Surfaces for calibration: those of each half up to a number, and their rows at most.
SURFACES, SURFACE_ROWS = {"seen": 160, "folded": 160}, 6000
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


def is_denoised(rows: Array, d: int) -> bool:
    """Whether LTSA fits landmarks in place of the rows."""
    model = unbend.LTSA(d, denoise="auto").fit(rows)
    return "landmarks" in model.report_.stage("denoise").facts


def count_surfaces() -> dict[str, object]:
    """Count the surfaces for calibration that are taken for clusters."""
    cases = [
        case
        for half, count in SURFACES.items()
        for case in make_cases(half, count)
        if case.n <= SURFACE_ROWS
    ]
    mistaken = [
        case.name for case in cases if judge(case.draw(0, most_feet=1).rows, case.d) == "clusters"
    ]
    return {"surfaces": len(cases), "taken for clusters": mistaken}


def count_solid() -> dict[str, object]:
    """Count how many draws of normal and uniform rows LTSA fits landmarks of."""
    rng, denoised, draws = np.random.default_rng(SEED), 0, 0
    for d, n in product((2, 3, 4), (600, 1500)):
        for columns in (d + 1, d + 3, 10, 30):
            for rows in (rng.normal(size=(n, columns)), rng.uniform(size=(n, columns))):
                draws, denoised = draws + 1, denoised + is_denoised(rows, d)
    return {"normal and uniform rows": draws, "denoised by LTSA": denoised}


def count_clusters(separation: float) -> dict[str, object]:
    """Count the verdicts on clusters of a separation."""
    draws = [
        (make_clusters(columns, count, d, kind, separation), d)
        for columns, count, d, kind in product(COLUMNS, CLUSTERS, DIMENSIONS, KINDS)
    ]
    verdicts = Counter(judge(rows, d) for rows, d in draws)
    return {**verdicts, "denoised by LTSA": sum(is_denoised(rows, d) for rows, d in draws)}


def main() -> None:
    """Measure what is missing, and write it."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    parts: dict[str, Callable[[], dict[str, object]]] = {
        f"separation {separation}": partial(count_clusters, separation)
        for separation in SEPARATIONS
    }
    for name, measure in {**parts, "surfaces": count_surfaces, "solid": count_solid}.items():
        if name not in results:
            results[name] = measure()
            RESULTS.write_text(json.dumps(results, indent=1) + "\n")
            print(name, results[name], flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):
        main()
