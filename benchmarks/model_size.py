"""Size of saved models: `python -m benchmarks.model_size [--quick]`.

Every method on 3000 points of a roll: megabytes of its file and of its joblib pickle (MVU on 600).
Then Isomap on 10 000 points: size, beside that of the geodesics which files of format 2 held; the
error of 1000 new samples, mean distance to their place in the true chart relative to its radius, of
the fitted and of the reloaded model, which must be the same; and the seconds of both for 10 and for
1000 new samples, one thread. Writes `model_size.json`.
"""

import json
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

import unbend
from benchmarks.output import results_of
from unbend.quality import align
from unbend.registry import METHODS

ROWS, MVU_ROWS, ISOMAP_ROWS = 3000, 600, 10_000
FEW, MANY = 10, 1000


def sizes(model: Any, folder: Path) -> dict[str, float]:
    """Megabytes of the file and of the pickle."""
    model.save(folder / "model.unbend")
    joblib.dump(model, folder / "model.joblib")
    return {
        "file_mb": (folder / "model.unbend").stat().st_size / 1e6,
        "joblib_mb": (folder / "model.joblib").stat().st_size / 1e6,
    }


def seconds_of(model: Any, rows: Any) -> tuple[float, Any]:
    """Seconds and coordinates of new samples."""
    start = time.perf_counter()
    placed = model.transform(rows)
    return time.perf_counter() - start, placed


def chart_error(model: Any, fitted: Any, new: Any, placed: Any) -> float:
    """Error of new samples in the chart to which the fitted coordinates were aligned."""
    both = np.concatenate((model.embedding_, placed))
    moved = align(np.concatenate((fitted.chart, new.chart)), both)
    away = np.linalg.norm(moved[len(fitted.chart) :] - new.chart, axis=1)
    return float(away.mean() / np.linalg.norm(new.chart - new.chart.mean(axis=0), axis=1).mean())


def measure_isomap(n: int, folder: Path) -> dict[str, float]:
    """Size, error and time of an Isomap model, before and after it is saved."""
    fitted = unbend.datasets.swiss_roll(n, random_state=0)
    new = unbend.datasets.swiss_roll(MANY, random_state=1)
    start = time.perf_counter()
    model = unbend.Isomap(n_neighbors=8).fit(fitted.points)
    facts = {"rows": n, "fit_s": time.perf_counter() - start}
    facts |= sizes(model, folder) | {"geodesics_mb": model.geodesics_.nbytes / 1e6}
    facts["fitted_few_s"], _ = seconds_of(model, new.points[:FEW])
    facts["fitted_many_s"], before = seconds_of(model, new.points)
    start = time.perf_counter()
    again = unbend.load(folder / "model.unbend")
    facts["load_s"] = time.perf_counter() - start
    facts["reloaded_few_s"], _ = seconds_of(again, new.points[:FEW])
    facts["reloaded_many_s"], after = seconds_of(again, new.points)
    facts["reloaded_many_again_s"], _ = seconds_of(again, new.points)
    facts["fitted_error"] = chart_error(model, fitted, new, before)
    facts["reloaded_error"] = chart_error(again, fitted, new, after)
    facts["same_bits"] = float(before.tobytes() == after.tobytes())
    return facts


def main() -> None:
    """Measure all methods and write the figures."""
    quick = "--quick" in sys.argv
    results: dict[str, Any] = {"methods": {}}
    with tempfile.TemporaryDirectory() as name, threadpool_limits(limits=1):
        folder = Path(name)
        for entry in METHODS:
            n = MVU_ROWS if quick or entry.class_name == "MVU" else ROWS
            points = unbend.datasets.swiss_roll(n, random_state=0).points
            model = entry.load()().fit(points, np.zeros(n))
            results["methods"][entry.name] = {"rows": n, **sizes(model, folder)}
            print(entry.name, results["methods"][entry.name], flush=True)
        results["isomap"] = measure_isomap(MVU_ROWS if quick else ISOMAP_ROWS, folder)
    print(json.dumps(results["isomap"], indent=1))
    if not quick:
        target = results_of(__file__)
        target.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
