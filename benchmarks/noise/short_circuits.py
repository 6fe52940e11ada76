"""Short circuits in noisy graphs: what removal costs and changes, where it was not asked for.

python -m benchmarks.noise.short_circuits [--half reporting] [--count 60]

Errors of three methods with short_circuits='keep' and 'remove' on the surfaces of this folder, how
many edges were removed, and the CPU time of the search over that of the fits. Written to
short_circuits_noise.json, which a later run goes on with.
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import unbend
from benchmarks.noise.cases import Case, make_cases
from benchmarks.noise.run import worst_error
from unbend.graphs import find_short_circuits
from unbend.graphs.short_circuits import judge_edges
from unbend.neighbors import PointSpace

RESULTS = Path(__file__).parent.parent / "short_circuits_noise.json"
METHODS = ("LTSA", "LLE", "Isomap")
ROWS, K = 800, 10


def measure(case: Case) -> dict[str, Any]:
    """Errors with and without the edges that are found, and CPU times."""
    draw = case.draw(0, min(case.n, ROWS))
    found = find_short_circuits(draw.rows, case.d, K)
    space = PointSpace(np.ascontiguousarray(draw.rows))
    neighbors = space.nearest(K)
    start = time.process_time()
    judge_edges(space, neighbors, case.d)
    search = time.process_time() - start
    apart = np.linalg.norm(
        draw.foot_chart[found.first] - draw.foot_chart[found.second], axis=1
    ) / np.maximum(found.lengths, 1e-300)
    errors: dict[str, dict[str, float]] = {}
    seconds: dict[str, float] = {}
    for method in METHODS:
        errors[method] = {}
        for policy in ("keep", "remove") if len(found) else ("keep",):
            start = time.process_time()
            model = getattr(unbend, method)(case.d, n_neighbors=K, short_circuits=policy)
            embedding = np.asarray(model.fit(draw.rows).embedding_)[draw.regular]
            errors[method][policy] = round(worst_error(draw.foot_chart[draw.regular], embedding), 5)
            seconds.setdefault(method, round(time.process_time() - start, 3))
    return {
        "case": case.name,
        "d": case.d,
        "columns": case.columns,
        "n": len(draw.rows),
        "noise": case.noise,
        "share": round(case.share, 4),
        "removed": len(found),
        "true": int(np.sum(apart > 3)),
        "false": int(np.sum(apart < 1.5)),
        "undetermined": found.undetermined,
        "errors": errors,
        "search_seconds": round(search, 3),
        "fit_seconds": seconds,
    }


def summarize(records: list[dict[str, Any]]) -> None:
    """Print how removal changes errors, and what the search costs."""
    some = [one for one in records if one["removed"]]
    undetermined = sum(bool(one["undetermined"]) for one in records)
    print(f"{len(records)} cases, removed in {len(some)}, not determined in {undetermined}")
    for method in METHODS:
        ratio = [one["errors"][method]["remove"] / one["errors"][method]["keep"] for one in some]
        cost = [one["search_seconds"] / one["fit_seconds"][method] for one in records]
        change = np.quantile(ratio or [1.0], (0, 0.5, 0.9, 1)).round(2)
        costs = np.quantile(cost, (0.5, 0.9)).round(2)
        print(f"  {method}: remove / keep {change}, search / fit {costs}")


def main() -> None:
    """Measure the cases that are missing, and print the summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", default="reporting")
    parser.add_argument("--count", type=int, default=60)
    asked = parser.parse_args()
    records = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    known = {one["case"] for one in records}
    for case in make_cases(asked.half, asked.count):
        if case.name not in known:
            records.append(measure(case))
            RESULTS.write_text(json.dumps(records, indent=1) + "\n")
    summarize([one for one in records if one["case"].startswith(asked.half)])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):
        main()
