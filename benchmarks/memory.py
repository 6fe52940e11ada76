"""Peak memory of every method: `python -m benchmarks.memory [--only=METHOD] [--most=ROWS]`.

What is in the file is not measured again, unless `--only` names its method or `--rows` its number
of rows, as of rolls with `--family=roll`.

Each measurement has a process of its own, which fits 300 rows first, lets the peak of its resident
memory begin anew and fits n rows; what X holds itself is not counted. Rolls and cubes of three and
six dimensions were used to choose the constants of `unbend.estimators.peak_memory`; the other rows,
clusters in 20 columns, judge them. For LandmarkMVU, whose constants were chosen when some of the
clusters had been seen, balls of eight dimensions in 30 columns judge them as well; MVU of balls has
no figure yet. Tables of 500 columns in single and double precision show what is saved where rows
are stored as given.
"""

import argparse
import gc
import json
import sys
import warnings
from typing import Any

import numpy as np

from benchmarks.measure import forget_peak, in_new_process, memory_mb
from benchmarks.output import results_of

RESULTS = results_of(__file__)
SIZES = (1000, 5000, 20_000, 200_000)
# Largest number of rows of methods whose memory or time grows faster than n log n.
LARGEST = {
    "KernelPCA": 5000,
    "ClassicalMDS": 20_000,
    "MetricMDS": 5000,
    "NonmetricMDS": 1000,
    "Isomap": 10_000,
    "MVU": 20_000,
    "LandmarkMVU": 200_000,
    "SupervisedLLE": 5000,
    "NeighborEmbedding": 5000,
    "ReplicatedMDS": 1000,
    "WeightedMDS": 1000,
    "SubspaceRecognizer": 5000,
}
FAMILIES = ("roll", "cube3", "cube6", "clusters", "balls", "single500", "double500")
# In 20 columns exact searches compare all pairs, and factors fill in.
MOST = {"roll": 200_000, "cube3": 20_000, "cube6": 5000, "clusters": 5000, "balls": 5000}
MOST |= {"single500": 20_000, "double500": 20_000}
# Cubes are measured for methods whose factors fill in.
FILLING = ("LLE", "LTSA", "LaplacianEigenmaps", "MVU", "LandmarkMVU")
# A semidefinite program of full rank takes minutes.
FULL_RANK = 1000
UNFOLDING = ("MVU", "LandmarkMVU")
# Methods that are measured in single and double precision, with 20 000 rows.
BOTH_PRECISIONS = ("LandmarkMDS", "LaplacianEigenmaps")


def make_rows(family: str, n: int) -> np.ndarray:
    """Draw a Swiss roll, a cube, clusters about ten centres, or a ball of eight dimensions."""
    import unbend

    if family == "roll":
        return np.asarray(unbend.datasets.swiss_roll(n, random_state=0).points)
    rng = np.random.default_rng(1)
    if family.startswith("cube"):
        return rng.uniform(size=(n, int(family[4:])))
    if family == "balls":
        return np.asarray(rng.standard_normal((n, 8)) @ rng.standard_normal((8, 30)))
    if family.endswith("500"):
        rows = rng.standard_normal((10, 500), dtype=np.float32)[np.arange(n) % 10]
        rows += rng.standard_normal((n, 500), dtype=np.float32)
        return rows.astype(family[:6])
    rows = rng.standard_normal((10, 20))[np.arange(n) % 10] + rng.standard_normal((n, 20))
    return np.asarray(rows)


def fit(method: str, rows: np.ndarray) -> Any:
    """Fit a method with its defaults."""
    import unbend

    model = getattr(unbend, method)()
    if method in ("ReplicatedMDS", "WeightedMDS"):
        from scipy.spatial.distance import pdist, squareform

        return model.fit([squareform(pdist(rows)), squareform(pdist(rows[:, :2]))])
    if method in ("SupervisedLLE", "SubspaceRecognizer"):
        return model.fit(rows, np.arange(len(rows)) % 3)
    return model.fit(rows)


def measure(method: str, family: str, n: int) -> dict[str, Any]:
    """Return the peak of one fit in this process, in MB."""
    warnings.simplefilter("ignore")
    fit(method, make_rows(family, 300))
    rows = make_rows(family, n)
    gc.collect()
    forget_peak()
    before = memory_mb("VmRSS")
    fit(method, rows)
    return {"status": "done", "peak_mb": round(memory_mb("VmHWM") - before, 2)}


def cases(only: str | None) -> list[tuple[str, str, int]]:
    """List what is measured."""
    from unbend.registry import CLASSIFIERS, CLUSTERINGS, METHODS, SEVERAL

    return [
        (entry.class_name, family, n)
        for entry in (*METHODS, *CLUSTERINGS, *CLASSIFIERS, *SEVERAL)
        for family in FAMILIES
        for n in sorted({*SIZES, LARGEST.get(entry.class_name, SIZES[-1])})
        if (entry.class_name in FILLING or not family.startswith("cube"))
        and (entry.class_name in UNFOLDING or family != "balls")
        and (entry.class_name != "MVU" or family in ("roll", "cube3") or n <= FULL_RANK)
        and (not family.endswith("500") or (entry.class_name in BOTH_PRECISIONS and n == 20_000))
        and n <= min(LARGEST.get(entry.class_name, SIZES[-1]), MOST[family])
        and (only is None or entry.class_name == only)
    ]


def main() -> None:
    """Measure what is not in the file yet, or what is named again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only")
    parser.add_argument("--most", type=int, default=SIZES[-1])
    parser.add_argument("--family", choices=FAMILIES)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--one", nargs=3)
    given = parser.parse_args()
    if given.one:
        method, family, n = given.one
        print(json.dumps(measure(method, family, int(n))))
        return
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for method, family, n in cases(given.only):
        name = f"{method} {family} {n}"
        if n > given.most or given.rows not in (None, n) or given.family not in (None, family):
            continue
        if name in known and given.only is None and given.rows is None:
            continue
        found = in_new_process(
            "benchmarks.memory", "--one", method, family, n, threads=1, timeout=1800
        )
        known[name] = found.get("peak_mb", found["status"])
        print(name, known[name], file=sys.stderr, flush=True)
        RESULTS.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
