"""The judge: errors of 'auto' against the best settings, on cases not used for calibration.

python -m benchmarks.noise.run [--half reporting] [--first 0] [--count 200] [--summary]

Cases are measured one after the other and written to noise.json, which a later run goes on with.
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
from benchmarks.noise.surfaces import Array

RESULTS = Path(__file__).parent.parent / "noise.json"
METHODS = {"LTSA": unbend.LTSA, "HessianLLE": unbend.HessianLLE}
# Settings that are searched: rows of a patch, landmarks, and neighbours.
PATCHES, LANDMARKS, NEIGHBORS = (20, 70, 240, 800), (150, 600, 2400), (8, 12, 20)
# Rows that errors are measured on, and rows up to which all rows are fitted as they are.
SCORED, FITTED = 2000, 30_000
# Noise, as a share of the gap, from which on cases are reported and not scored.
REPORTED = 0.15


def worst_error(truth: Array, coordinates: Array) -> float:
    """Root mean square error of the worse principal coordinate, after the best affine map.

    Relative to the spread of that coordinate: 1 − R² is its square.
    """
    functions = np.column_stack((np.ones(len(truth)), coordinates))
    centered = truth - truth.mean(axis=0)
    rest = centered - functions @ np.linalg.lstsq(functions, centered, rcond=None)[0]
    axes = np.linalg.svd(centered, full_matrices=False)[2].T
    spread = np.square(centered @ axes).mean(axis=0)
    return float(np.sqrt(np.max(np.square(rest @ axes).mean(axis=0) / spread)))


def error_of(case: Case, draw: Draw, method: str, **options: Any) -> tuple[float, Any]:
    """Error of a method on some regular rows, and the fitted model; 1 where it fails."""
    rows = np.flatnonzero(draw.regular)[:SCORED]
    try:
        model = METHODS[method](case.d, **options).fit(draw.rows)
    except ValueError:
        return 1.0, None
    return worst_error(draw.foot_chart[rows], model.transform(draw.rows[rows])), model


def best_settings(case: Case, draw: Draw, method: str) -> dict[str, Any]:
    """Search patch size, landmarks and then neighbours on one draw."""
    tried: list[tuple[float, dict[str, Any]]] = []

    def attempt(**options: Any) -> None:
        tried.append((error_of(case, draw, method, **options)[0], options))

    if case.n <= FITTED:
        attempt(n_neighbors=12, denoise=False)
    for size in PATCHES:
        for count in LANDMARKS:
            if size < case.n / 3 and count < case.n:
                attempt(n_neighbors=12, denoise={"patch_size": size, "n_landmarks": count})
    best = min(tried, key=lambda one: one[0])[1]
    for k in NEIGHBORS:
        if k != 12:
            attempt(n_neighbors=k, denoise=best["denoise"])
    return min(tried, key=lambda one: one[0])[1]


def measure(case: Case, method: str) -> dict[str, Any]:
    """Errors of today's fit, of 'auto' and of the best settings, on a draw of their own."""
    start = time.process_time()
    search, score = case.draw(0), case.draw(1)
    best = best_settings(case, search, method)
    rows = np.flatnonzero(score.regular)[:SCORED]
    auto_start = time.process_time()
    auto, model = error_of(case, score, method, denoise="auto")
    auto_seconds = time.process_time() - auto_start
    facts = model.report_.stage("denoise").facts if model is not None else {}
    today = error_of(case, score, method)[0] if case.n <= FITTED else None
    return {
        "case": case.name,
        "method": method,
        "family": case.family,
        "d": case.d,
        "columns": case.columns,
        "n": case.n,
        "density": case.density,
        "noise": case.noise,
        "share": round(case.share, 4),
        "sigma": round(case.sigma, 4),
        "sigma_found": facts.get("noise"),
        "patch_size": facts.get("patch_size"),
        "landmarks": facts.get("landmarks"),
        "declined": facts.get("declined"),
        "today": today,
        "auto": auto,
        "best": error_of(case, score, method, **best)[0],
        "best_settings": best,
        "ceiling": worst_error(score.foot_chart[rows], score.chart[rows]),
        "auto_seconds": round(auto_seconds, 2),
        "seconds": round(time.process_time() - start, 1),
    }


def summarize(records: list[dict[str, Any]]) -> None:
    """Print the distribution of the errors."""
    scored = [one for one in records if one["share"] <= REPORTED]
    for name, some in (
        ("all scored", scored),
        ("noisy", [one for one in scored if one["share"] > 0]),
        ("without noise", [one for one in scored if one["share"] == 0]),
        ("beyond 0.15", [one for one in records if one["share"] > REPORTED]),
    ):
        if not some:
            continue
        ratio = np.array([one["auto"] / one["best"] for one in some])
        known = [one for one in some if one["today"] is not None]
        worse = np.array([one["auto"] / one["today"] for one in known])
        shown = np.quantile(ratio, (0.1, 0.25, 0.5, 0.75, 0.8, 0.9, 0.95, 1.0)).round(2)
        print(f"{name}: {len(some)} cases, auto / best at 10 … 100 %: {shown}")
        print(f"  up to 1.5: {np.mean(ratio <= 1.5):.0%}, up to 3: {np.mean(ratio <= 3):.0%}")
        print(f"  auto / today: median {np.median(worse):.3f}, above 1.1: {np.sum(worse > 1.1)}")


def main() -> None:
    """Measure the cases that are missing, and print the summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", default="reporting")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--largest", type=int, default=10**9, help="numbers in X, at most")
    parser.add_argument("--summary", action="store_true")
    asked = parser.parse_args()
    records = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    known = {(one["case"], one["method"]) for one in records}
    cases = [] if asked.summary else make_cases(asked.half, asked.count)[asked.first :]
    for case in (one for one in cases if one.n * one.columns <= asked.largest):
        # Both methods agree but where a neighbourhood has few rows: one in four is enough.
        for method in ("LTSA", "HessianLLE")[: 2 if case.number % 4 == 3 and case.d > 1 else 1]:
            if (case.name, method) not in known:
                records.append(measure(case, method))
                RESULTS.write_text(json.dumps(records, indent=1) + "\n")
    summarize([one for one in records if one["case"].startswith(asked.half)])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):
        main()
