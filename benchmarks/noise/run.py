"""The judge: errors of 'auto' against the best settings, on cases not used for calibration.

python -m benchmarks.noise.run [--half fresh] [--first 1200] [--count 1400] [--rows 6000]
    [--least 0] [--shard 0/3] [--seconds 80] [--results FILE]

Cases are measured in the order of their numbers and written to the file, which a later run goes on
with; `--again` measures only 'auto' of those that are there.
Shards have files of their own; `python -m benchmarks.noise.summary` collects them.
"""

import argparse
import json
import time
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import unbend
from benchmarks.noise.cases import Case, Draw, make_cases
from benchmarks.noise.surfaces import Array
from unbend.denoising import Sample, project_landmarks
from unbend.neighbors import PointSpace

RESULTS = Path(__file__).parent.parent / "noise.json"
METHODS = {"LTSA": unbend.LTSA, "HessianLLE": unbend.HessianLLE}
# Settings that are searched: rows of a patch, landmarks, and neighbours. Of more rows than this the
# first two are searched on a coarser grid.
PATCHES, LANDMARKS, NEIGHBORS = (20, 70, 240, 800), (150, 500, 1500), (8, 12, 20)
LARGE, LARGE_PATCHES, LARGE_LANDMARKS = 6000, (240, 800, 2400), (500, 1500)
# Rows up to which the rows as they are take part in the search, and are fitted at all.
SEARCHED, FITTED = 2500, 25_000
# Rows that errors are measured on: rows are independent, so the first are a sample.
SCORED = 800
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


def least_neighbors(method: str, d: int) -> int:
    """Fewest neighbours that a method takes."""
    return d + 1 if method == "LTSA" else (d + 1) * (d + 2) // 2


@dataclass(frozen=True, eq=False)
class Trials:
    """Fits to one draw, which share the projections of landmarks."""

    case: Case
    draw: Draw

    def error(self, model: Any) -> float:
        """Error on the scored rows."""
        some = self.draw.regular
        return worst_error(self.draw.foot_chart[some], model.transform(self.draw.rows[some]))

    def plain(self, method: str, k: int, **options: Any) -> tuple[float, Any]:
        """Error of a fit of all rows, and the model; 1 where it fails."""
        k = max(k, least_neighbors(method, self.case.d))
        try:
            model = METHODS[method](self.case.d, n_neighbors=k, **options).fit(self.draw.rows)
        except ValueError:
            return 1.0, None
        return self.error(model), model

    def landmarks(self, size: int) -> Array:
        """Landmarks by patches of a size: any from the front are a sample."""
        if size not in self._projected:
            most = min(max(LANDMARKS), self._sample.n)
            found = project_landmarks(self._sample, size, most, self.case.d)
            self._projected[size] = found.points
        return self._projected[size]

    @cached_property
    def _sample(self) -> Sample:
        return Sample.of(PointSpace(self.draw.rows), self.case.d)

    @cached_property
    def _projected(self) -> dict[int, Array]:
        return {}

    def setting(self, method: str, setting: tuple[int, int, int]) -> float:
        """Error of (patch size, landmarks, neighbours); of 0, 0, k that of all rows."""
        size, count, k = setting
        if size == 0:
            return self.plain(method, k)[0]
        points = self.landmarks(size)[:count]
        k = max(k, least_neighbors(method, self.case.d))
        try:
            return self.error(METHODS[method](self.case.d, n_neighbors=k).fit(points))
        except ValueError:
            return 1.0

    def best(self, method: str) -> tuple[int, int, int]:
        """Search patch size and landmarks, then neighbours."""
        n = self.case.n
        large = n > LARGE
        tried = {
            (size, count, 12): 0.0
            for size in (LARGE_PATCHES if large else PATCHES)
            for count in (LARGE_LANDMARKS if large else LANDMARKS)
            if size < n / 3 and count <= max(0.63 * n, min(LANDMARKS))
        }
        if n <= SEARCHED:
            tried[0, 0, 12] = 0.0
        tried = {setting: self.setting(method, setting) for setting in tried}
        size, count, _ = min(tried, key=lambda one: tried[one])
        for k in NEIGHBORS:
            if (size, count, k) not in tried:
                tried[size, count, k] = self.setting(method, (size, count, k))
        return min(tried, key=lambda one: tried[one])


def measure_auto(score: Trials, method: str) -> dict[str, Any]:
    """Error of 'auto', and what it measured and chose."""
    begin = time.process_time()
    auto, model = score.plain(method, 10, denoise="auto")
    seconds = time.process_time() - begin
    facts = dict(model.report_.stage("denoise").facts) if model is not None else {}
    return {
        "sigma_found": facts.get("noise"),
        "patch_size": facts.get("patch_size"),
        "landmarks": facts.get("landmarks"),
        "landmark_neighbors": facts.get("neighbors"),
        "declined": facts.get("declined"),
        "evenness": facts.get("evenness"),
        "auto": auto,
        "auto_seconds": round(seconds, 2),
    }


def measure_again(case: Case, known: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Measure 'auto' again, whose rules have no part in the other errors."""
    score = Trials(case, case.draw(1, most_feet=SCORED))
    return [{**one, **measure_auto(score, one["method"]), "again": True} for one in known]


def measure(case: Case) -> list[dict[str, Any]]:
    """Errors of today's fit, of 'auto' and of the best settings, on a draw of their own."""
    search, score = (Trials(case, case.draw(number, most_feet=SCORED)) for number in (0, 1))
    some = score.draw.regular
    records = []
    for method in METHODS:
        if method == "HessianLLE" and case.d == 1 and case.n > FITTED:
            # 'auto' leaves the rows of curves as they are, which are too many to be fitted.
            continue
        start = time.process_time()
        best = search.best(method)
        found = score.setting(method, best)
        auto = measure_auto(score, method)
        today = None
        if case.n <= FITTED:
            # A fit that declines has no other bits.
            today = auto["auto"] if auto["declined"] else score.plain(method, 10)[0]
            # Found on this draw, which is to the disadvantage of 'auto'.
            found = min(found, today)
        records.append(
            {
                "method": method,
                **case.describe(score.draw),
                "sigma": round(case.sigma, 4),
                **auto,
                "today": today,
                "best": found,
                "best_settings": best,
                "ceiling": worst_error(score.draw.foot_chart[some], score.draw.chart[some]),
                "seconds": round(time.process_time() - start, 1),
            }
        )
    return records


def main() -> None:
    """Measure the cases that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", default="fresh")
    parser.add_argument("--first", type=int, default=1200, help="cases before were seen")
    parser.add_argument("--count", type=int, default=1400)
    parser.add_argument("--least", type=int, default=0, help="rows of a case, at least")
    parser.add_argument("--rows", type=int, default=200_000, help="rows of a case, at most")
    parser.add_argument("--again", action="store_true", help="measure 'auto' of all cases again")
    parser.add_argument("--shard", default="0/1", help="number of this run / number of runs")
    parser.add_argument("--seconds", type=float, default=np.inf, help="CPU time, at most")
    parser.add_argument("--results", type=Path, default=RESULTS)
    asked = parser.parse_args()
    shard, shards = map(int, asked.shard.split("/"))
    records = json.loads(asked.results.read_text())["fits"] if asked.results.exists() else []
    cases = make_cases(asked.half, asked.count)[asked.first :][shard::shards]
    for case in cases:
        known = [one for one in records if one["case"] == case.name]
        if time.process_time() > asked.seconds:
            break
        if case.n > FITTED and case.share == 0:
            # Nothing to denoise, and too many rows to be fitted as they are.
            continue
        if asked.least <= case.n <= asked.rows and asked.again == bool(known):
            found = measure_again(case, known) if known else measure(case)
            records = [one for one in records if one["case"] != case.name] + found
            asked.results.write_text(json.dumps({"fits": records}, indent=1) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):
        main()
