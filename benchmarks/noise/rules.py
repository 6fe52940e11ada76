"""What single rules of denoising cost or gain on rolls: each is changed, the others stay.

python -m benchmarks.noise.rules [--rows 5000 100000] [--rules "as it is"]

Errors are those of `rolls.py`, the worse coordinate against foot points. Seeds are not those of
its table. Writes noise_rules.json, which a later run goes on with.
"""

import argparse
import json
import warnings
from pathlib import Path
from unittest.mock import patch

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.noise.rolls import measure_roll

RESULTS = Path(__file__).parent.parent / "noise_rules.json"
LANDMARKS, MEASUREMENT = "unbend.denoising.landmarks", "unbend.denoising.measurement"
# Candidates up to which only those are left out that differ from the ones around them, and rows of
# the patches of the last projection.
RULES: dict[str, dict[str, float]] = {
    "as it is": {},
    "37 % of all candidates left out": {f"{LANDMARKS}.FEW_ROWS": 0},
    "few of 4000 candidates left out": {f"{LANDMARKS}.FEW_ROWS": 4000},
    "few of all candidates left out": {f"{LANDMARKS}.FEW_ROWS": 10**9},
    "last patches as the others": {f"{MEASUREMENT}.LAST_PATCH_ROWS": 256},
}
ROLLS = ((1000, 0.5), (2000, 0.5), (5000, 0.5), (100_000, 1.0))
SEEDS = range(10, 18)


def error(rows: int, noise: float, seed: int) -> float:
    """Return √(1 − R²) of the worse coordinate."""
    found = measure_roll(rows, noise, seed)["foot_points"]
    return round(float(np.sqrt(1 - min(found))), 4)


def measure(rows: int, noise: float, rule: str) -> dict[str, object]:
    """Errors of several draws of a roll under a rule."""
    changes = [patch(name, value) for name, value in RULES[rule].items()]
    for change in changes:
        change.start()
    try:
        errors = [error(rows, noise, seed) for seed in SEEDS]
    finally:
        for change in changes:
            change.stop()
    summary = {"mean": round(float(np.mean(errors)), 4), "worst": max(errors)}
    return {"rows": rows, "noise": noise, "rule": rule, **summary, "errors": errors}


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", help="sizes of rolls; all by default")
    parser.add_argument("--rules", nargs="*", default=list(RULES), help="names of rules")
    asked = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    known = {(one["rows"], one["noise"], one["rule"]) for one in results}
    for rows, noise in ROLLS:
        for rule in asked.rules:
            if (rows, noise, rule) not in known and rows in (asked.rows or [rows]):
                results.append(measure(rows, noise, rule))
                RESULTS.write_text(json.dumps(results, indent=1) + "\n")
                print(results[-1], flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):
        main()
