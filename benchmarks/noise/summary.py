"""Distributions of the judge's errors, for docs/noise.md.

python -m benchmarks.noise.summary [--collect FILE ...]

`--collect` gathers the files of shards into noise.json first. Judged cases were measured once,
after the last rule was set; 'auto' of the others was measured again after rules changed.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent.parent / "noise.json"
REPORTED = 0.15
LEVELS = (0.1, 0.25, 0.5, 0.75, 0.8, 0.9, 0.95, 1.0)

Record = dict[str, Any]
# Hessian LLE of curves has one condition for each row, as few as there are unknowns, and is lost
# with noise whatever is done: it is listed by itself.
GROUPS: dict[str, Callable[[Record], bool]] = {
    "scored": lambda one: one["share"] <= REPORTED and not _curve(one),
    "noisy": lambda one: 0 < one["share"] <= REPORTED and not _curve(one),
    "denoised": lambda one: one["share"] <= REPORTED and not one["declined"] and not _curve(one),
    "declined": lambda one: one["share"] <= REPORTED and bool(one["declined"]) and not _curve(one),
    "without noise": lambda one: one["share"] == 0 and one["noise"] != "outliers",
    "outliers without noise": lambda one: one["share"] == 0 and one["noise"] == "outliers",
    "beyond 0.15": lambda one: one["share"] > REPORTED and not _curve(one),
    "Hessian LLE of curves": lambda one: one["share"] <= REPORTED and _curve(one),
    "scored, up to 1349 rows": lambda one: _scored(one, 0, 1349),
    "scored, 1350 to 25 000 rows": lambda one: _scored(one, 1350, 25_000),
    "scored, more rows": lambda one: _scored(one, 25_001, 10**9),
}


def _scored(one: Record, least: int, most: int) -> bool:
    return one["share"] <= REPORTED and not _curve(one) and least <= one["n"] <= most


def _curve(one: Record) -> bool:
    return bool(one["d"] == 1 and one["method"] == "HessianLLE")


def describe(records: list[Record]) -> dict[str, Any]:
    """Summarise a group of fits."""
    ratio = np.array([one["auto"] / one["best"] for one in records])
    known = [one for one in records if one["today"] is not None]
    worse = np.array([one["auto"] / one["today"] for one in known])
    return {
        "cases": len({one["case"] for one in records}),
        "fits": len(records),
        "auto_over_best": np.quantile(ratio, LEVELS).round(3).tolist(),
        "up_to_1.5": round(float(np.mean(ratio <= 1.5)), 3),
        "up_to_3": round(float(np.mean(ratio <= 3)), 3),
        "auto_over_today": [round(float(q), 3) for q in np.quantile(worse, LEVELS)]
        if known
        else [],
        "worse_than_today_by_10_percent": [
            f"{one['case']} {one['method']}: {one['today']:.3f}, {one['auto']:.3f}"
            for one in known
            if one["auto"] > 1.1 * one["today"]
        ],
    }


def summarize(records: list[Record]) -> dict[str, Any]:
    """Summarise all groups of some fits."""
    groups = {name: [one for one in records if belongs(one)] for name, belongs in GROUPS.items()}
    return {name: describe(some) for name, some in groups.items() if some}


def main() -> None:
    """Collect shards where asked, and print and store the distributions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--collect", nargs="*", type=Path, default=[])
    asked = parser.parse_args()
    if asked.collect:
        records = [one for path in asked.collect for one in json.loads(path.read_text())["fits"]]
    else:
        records = json.loads(RESULTS.read_text())["fits"]
    records.sort(key=lambda one: (one["case"], one["method"]))
    judged = [one for one in records if not one.get("again")]
    again = [one for one in records if one.get("again")]
    summary = {"judged": summarize(judged), "measured again": summarize(again)}
    RESULTS.write_text(json.dumps({"summary": summary, "fits": records}, indent=1) + "\n")
    print(json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()
