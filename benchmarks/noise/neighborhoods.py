"""Numbers of neighbours: 'auto' against every fixed number, on surfaces with known foot points.

python -m benchmarks.noise.neighborhoods [--half reporting] [--count 48]

Errors of five methods with each of some fixed numbers of neighbours, with 'auto', and with the
fewest neighbours that connect the graph, which 'auto' was before. Cases are measured one after the
other and written to neighborhoods.json, which a later run goes on with.
"""

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import unbend
from benchmarks.noise.cases import Case, Draw, make_cases
from benchmarks.noise.run import worst_error
from unbend.graphs import fewest_neighbors
from unbend.neighbors import PointSpace

RESULTS = Path(__file__).parent.parent / "neighborhoods.json"
METHODS = ("LTSA", "HessianLLE", "LLE", "Isomap", "LaplacianEigenmaps")
SIZES = (6, 8, 12, 18, 27, 40)
# Rows of a case at most: every case is fitted some thirty times.
ROWS = 1000


def error_of(case: Case, draw: Draw, method: str, n_neighbors: Any, **options: Any) -> float:
    """Error of a method on the regular rows; 1 where it fails."""
    try:
        model = getattr(unbend, method)(case.d, n_neighbors=n_neighbors, **options)
        embedding = model.fit(draw.rows).embedding_
    except ValueError:
        return 1.0
    return worst_error(draw.foot_chart[draw.regular], np.asarray(embedding)[draw.regular])


def fewest(case: Case, draw: Draw) -> int:
    """Return the fewest neighbours that connect the graph, which 'auto' took before."""
    nearest = PointSpace(np.ascontiguousarray(draw.rows)).nearest(40)
    return max(2 * (case.d + 1), fewest_neighbors(nearest).k)


def measure(case: Case, known: dict[str, dict[str, float]]) -> dict[str, Any]:
    """Errors of all methods with every number of neighbours that is not known."""
    draw = case.draw(0, min(case.n, ROWS))
    few = fewest(case, draw)
    errors: dict[str, dict[str, float]] = {}
    for method in METHODS:
        least = case.d + 2 if method != "HessianLLE" else (case.d + 1) * (case.d + 2) // 2
        some = [k for k in SIZES if k >= least]
        counts: dict[str, Any] = {str(k): k for k in some}
        counts |= {"fewest": max(least, few), "auto": "auto"}
        errors[method] = dict(known.get(method, {}))
        for name, k in counts.items():
            if name not in errors[method]:
                errors[method][name] = round(error_of(case, draw, method, k), 5)
    return {**case.describe(draw), "errors": errors}


def summarize(records: list[dict[str, Any]]) -> None:
    """Print errors over those of the best fixed number: geometric mean, and share within 1.5."""
    for method in METHODS:
        for name in (*map(str, SIZES), "fewest", "auto"):
            some = [one["errors"][method] for one in records if name in one["errors"][method]]
            best = [min(v for k, v in one.items() if k.isdigit()) for one in some]
            ratio = np.array([one[name] for one in some]) / np.array(best)
            if len(ratio):
                mean = np.exp(np.log(ratio).mean())
                near = np.mean(ratio <= 1.5)
                print(f"{method:<20} {name:>6}: {len(ratio)} cases, {mean:.2f}, {near:.0%}")


def main() -> None:
    """Measure the cases that are missing, and print the summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", default="reporting")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=48)
    asked = parser.parse_args()
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    records = {one["case"]: one for one in found}
    for case in make_cases(asked.half, asked.count)[asked.first :]:
        known = records.get(case.name, {}).get("errors", {})
        if any("auto" not in known.get(method, {}) for method in METHODS):
            records[case.name] = measure(case, known)
            RESULTS.write_text(json.dumps(list(records.values()), indent=1) + "\n")
    summarize([one for one in records.values() if one["case"].startswith(asked.half)])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):
        main()
