"""The other methods with denoising: LLE, Isomap, MVU, Laplacian eigenmaps and diffusion maps.

python -m benchmarks.noise.others [--first 1500] [--count 1600] [--rows 3000] [--seconds 600]

Errors with `denoise="auto"` over errors of the fit of the rows, on cases of `fresh`, which had no
part in the choice of constants. LLE, Isomap and MVU give charts up to an affine map, and are
measured as LTSA is. The coordinates of eigenmaps and diffusion maps are curved functions of a
chart: their error is the share of the 15 nearest rows in the chart that are not among the 15
nearest in the embedding. Cases are written to noise_others.json in the order of their numbers; a
later run goes on with the file.
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
from benchmarks.noise.cases import Case, Draw, make_cases
from benchmarks.noise.run import REPORTED, SCORED, worst_error
from benchmarks.noise.surfaces import Array
from unbend.neighbors import PointSpace

RESULTS = Path(__file__).parent.parent / "noise_others.json"
CHARTS, FUNCTIONS = ("LLE", "Isomap", "MVU"), ("LaplacianEigenmaps", "DiffusionMaps")
# Rows up to which MVU is fitted: its time grows with a high power of them.
MVU_ROWS, NEAREST = 600, 15
LEVELS = (0.1, 0.5, 0.9, 0.95, 1.0)


def lost_neighbors(chart: Array, coordinates: Array) -> float:
    """Share of the nearest rows in the chart that are not nearest in the embedding."""
    true, found = (
        PointSpace(np.ascontiguousarray(points)).nearest(NEAREST).indices.reshape(-1, NEAREST)
        for points in (chart, coordinates)
    )
    kept = (true[:, :, None] == found[:, None, :]).any(axis=2).mean()
    return float(1 - kept)


def errors_of(case: Case, draw: Draw, method: str) -> dict[str, Any]:
    """Errors of a method without denoising and with it; 1 where it fails."""
    some = draw.regular
    measured: dict[str, Any] = {}
    for name, denoise in (("rows", False), ("auto", "auto")):
        try:
            model = getattr(unbend, method)(case.d, denoise=denoise).fit(draw.rows)
        except ValueError:
            measured[name] = 1.0
            continue
        error = worst_error if method in CHARTS else lost_neighbors
        coordinates = np.asarray(model.embedding_, dtype=float)[some]
        measured[name] = round(error(draw.foot_chart[some], coordinates), 5)
        if denoise:
            measured["declined"] = model.report_.stage("denoise").facts.get("declined")
    return measured


def measure(case: Case) -> dict[str, Any]:
    """Measure every method that the number of rows allows."""
    draw = case.draw(1, most_feet=SCORED)
    methods = [name for name in CHARTS + FUNCTIONS if name != "MVU" or case.n <= MVU_ROWS]
    return {
        **case.describe(draw),
        "errors": {method: errors_of(case, draw, method) for method in methods},
    }


def summarize(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Distributions of errors with denoising over those without, up to the noise that is scored."""
    summary = {}
    for method in CHARTS + FUNCTIONS:
        for group, noisy in (("noisy", True), ("without noise", False)):
            some = {
                one["case"]: one["errors"][method]
                for one in records
                if method in one["errors"]
                and one["share"] <= REPORTED
                and noisy == (one["share"] > 0 or one["noise"] == "outliers")
            }
            if not some:
                continue
            ratio = np.array([found["auto"] / found["rows"] for found in some.values()])
            worse = [
                f"{case}: {found['rows']}, {found['auto']}"
                for case, found in some.items()
                if found["auto"] > 1.1 * found["rows"]
            ]
            summary[f"{method}, {group}"] = {
                "cases": len(some),
                "denoised": sum(not found.get("declined") for found in some.values()),
                "auto_over_rows": np.quantile(ratio, LEVELS).round(3).tolist(),
                "worse_by_10_percent": worse,
            }
    return summary


def main() -> None:
    """Measure the cases that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=1500, help="cases before were seen")
    parser.add_argument("--count", type=int, default=1600)
    parser.add_argument("--rows", type=int, default=3000, help="rows of a case, at most")
    parser.add_argument("--seconds", type=float, default=np.inf, help="CPU time, at most")
    asked = parser.parse_args()
    records = json.loads(RESULTS.read_text())["cases"] if RESULTS.exists() else []
    known = {one["case"] for one in records}
    for case in make_cases("fresh", asked.count)[asked.first :]:
        if time.process_time() > asked.seconds:
            break
        if case.n <= asked.rows and case.name not in known:
            records.append(measure(case))
            found = {"summary": summarize(records), "cases": records}
            RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):
        main()
