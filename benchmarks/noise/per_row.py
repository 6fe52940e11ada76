"""One number of neighbours for all rows against one for each row.

python -m benchmarks.noise.per_row [--count 48]

On the calibration half, where the density falls by 5 or 20: the number that `choose_number` takes
for all rows; as many for each row as lie within the radius that this number has in the median; and
the geometric mean of both. Also whether the spectra of 24 neighbouring neighbourhoods of the sample
would choose another number than those of all. Written to per_row.json.
"""

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.noise.cases import Case, make_cases
from benchmarks.noise.neighborhoods import error_of
from unbend.denoising.sampling import shuffle_distinct
from unbend.neighborhood_sizes import SAMPLE, _choose, choose_number, measure_sizes, shares_across
from unbend.neighbors import PointSpace

RESULTS = Path(__file__).parent.parent / "per_row.json"
METHODS = ("LTSA", "LLE", "Isomap")
ROWS, MOST, POOL = 600, 60, 24


def local_sizes(space: PointSpace, d: int) -> list[int]:
    """Sizes that parts of the sample choose, each by itself."""
    found = measure_sizes(space, d)
    assert found is not None
    rows = shuffle_distinct(space.points)[:SAMPLE]
    shares = shares_across(space, rows, found.sizes, d)
    part = space.take(rows)
    pools, _ = part.nearest_of(part.points, POOL)
    chosen = {
        int(found.sizes[_choose(np.median(shares[pool], 0), np.quantile(shares[pool], 0.9, 0))])
        for pool in pools
    }
    return sorted(chosen)


def measure(case: Case) -> dict[str, Any]:
    """Errors with one number for all rows, and with one for each."""
    draw = case.draw(0, min(case.n, ROWS))
    space = PointSpace(np.ascontiguousarray(draw.rows))
    k = choose_number(space, case.d).n_neighbors
    distances = space.nearest(MOST).distances.reshape(space.n, MOST)
    least = max(8, 2 * case.d + 2)
    radius = np.median(distances[:, k - 1])
    within = np.clip((distances <= radius).sum(axis=1), least, MOST)
    between = np.clip(np.sqrt(k * within).round().astype(int), least, MOST)
    numbers = {"all": k, "within": within, "between": between}
    errors = {
        method: {name: error_of(case, draw, method, value) for name, value in numbers.items()}
        for method in METHODS
    }
    return {
        "case": case.name,
        "d": case.d,
        "density": case.density,
        "share": round(case.share, 4),
        "n_neighbors": k,
        "measured_in_parts": local_sizes(space, case.d),
        "errors": errors,
    }


def main() -> None:
    """Measure, write and print geometric means of the errors over those of one number."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=48)
    cases = make_cases("calibration", parser.parse_args().count)
    records = []
    for case in cases:
        if case.density > 1 and case.columns <= 30:
            records.append(measure(case))
            RESULTS.write_text(json.dumps(records, indent=1) + "\n")
    for method in METHODS:
        for name in ("within", "between"):
            logs = [np.log(r["errors"][method][name] / r["errors"][method]["all"]) for r in records]
            print(method, name, f"{np.exp(np.mean(logs)):.2f}")
    same = sum(len(one["measured_in_parts"]) == 1 for one in records)
    print(f"the same number in all parts: {same} of {len(records)}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):
        main()
