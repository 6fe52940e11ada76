"""Swiss rolls of many rows, and the edges of denoised arcs and sheets.

python -m benchmarks.noise.rolls [--rows 100000 --noise 0.5] [--only rolls] [--most ROWS]

Without options each roll is fitted in a process of its own, so that its memory is known, several
draws of some sizes show how the error falls, and all is written to noise_rolls.json.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np
from scipy.spatial import KDTree
from threadpoolctl import threadpool_limits

import unbend
from benchmarks.noise.cases import REACH
from benchmarks.noise.surfaces import Array
from benchmarks.output import FOLDER

RESULTS = FOLDER / "noise_rolls.json"
ROLLS = (
    (100_000, 0.2),
    (100_000, 0.5),
    (100_000, 1.0),
    (5_000, 0.5),
    (20_000, 0.5),
    (50_000, 0.5),
    (200_000, 0.5),
    (1_000_000, 0.5),
)
# Sizes of which several draws are fitted, all with noise of 0.5, and their seeds.
GROWTH, SEEDS = (5_000, 20_000, 50_000, 200_000, 1_000_000), range(4)
# Rows that errors are measured on, and the parameters of the roll and its width.
SCORED, FIRST, LAST, WIDTH = 4000, 1.5 * np.pi, 4.5 * np.pi, 21.0


def foot_chart(points: Array) -> tuple[Array, Any]:
    """Chart of the nearest points of the roll, by a fine mesh of its spiral.

    Second comes which rows are near enough to have a certain one (`REACH` of the gap, as in the
    cases): half-way between two sheets noise has moved rows to the other one.
    """
    t = np.linspace(FIRST, LAST, 200_001)
    mesh = KDTree(t[:, None] * np.column_stack((np.cos(t), np.sin(t))))
    far, nearest = mesh.query(points[:, [0, 2]])
    at = t[nearest]
    length = (at * np.hypot(1, at) + np.arcsinh(at)) / 2
    chart = np.column_stack((length, np.clip(points[:, 1], 0, WIDTH)))
    return chart, far < REACH * 2 * np.pi


def explained(truth: Array, coordinates: Array) -> list[float]:
    """R² of each column of the truth by an affine map of the coordinates."""
    functions = np.column_stack((np.ones(len(truth)), coordinates))
    rest = truth - functions @ np.linalg.lstsq(functions, truth, rcond=None)[0]
    return [round(float(one), 6) for one in 1 - rest.var(axis=0) / truth.var(axis=0)]


def measure_growth(rows: int) -> dict[str, Any]:
    """Errors of the worse coordinate against foot points, of several draws of a size."""
    found = [measure_roll(rows, 0.5, seed)["foot_points"] for seed in SEEDS]
    errors = [round(float(np.sqrt(1 - min(one))), 4) for one in found]
    return {"rows": rows, "noise": 0.5, "errors": errors, "mean": round(float(np.mean(errors)), 4)}


def measure_roll(rows: int, noise: float, seed: int = 0) -> dict[str, Any]:
    """Fit one roll with 'auto': R² against foot points, its ceiling, CPU time and memory."""
    roll = unbend.datasets.swiss_roll(rows, noise=noise, random_state=seed)
    # Imports are no part of the time.
    unbend.LTSA(denoise="auto").fit(roll.points[:500])
    before = time.process_time()
    model = unbend.LTSA(denoise="auto").fit(roll.points)
    seconds = time.process_time() - before
    feet, certain = foot_chart(roll.points[:SCORED])
    found = np.asarray(model.embedding_[:SCORED])
    of_all = explained(feet, found)
    feet, chart, found = feet[certain], roll.chart[:SCORED][certain], found[certain]
    facts = model.report_.stage("denoise").facts
    return {
        "rows": rows,
        "noise": noise,
        "foot_points": explained(feet, found),
        "foot_points_of_all_rows": of_all,
        "chart": explained(chart, found),
        "ceiling": explained(chart, feet),
        "patch_size": facts.get("patch_size"),
        "landmarks": facts.get("landmarks"),
        "cpu_seconds": round(seconds, 2),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def measure_edges(seed: int, d: int) -> dict[str, Any]:
    """Measure the normal error near edges and inside, and the shift inwards, of a half pipe.

    The surface is an arc of radius one, for d = 2 times an interval. Rows whose foot points are on
    the edges themselves are left out: these feet are not along the normals.
    """
    rng, sigma, n, arc, width = np.random.default_rng(seed), 0.05, 4000 * d, 4.0, 3.0
    angle, height = rng.uniform(0, arc, n), rng.uniform(0, width, (n, d - 1))
    clean = np.column_stack((np.cos(angle), np.sin(angle), height))
    rows = clean + rng.normal(scale=sigma, size=clean.shape)
    points = unbend.denoise(rows, d).points

    def chart(some: Array) -> Array:
        return np.column_stack((np.arctan2(some[:, 1], some[:, 0]) % (2 * np.pi), some[:, 2:]))

    before, after, high = chart(rows), chart(points), np.array([arc, width][:d])
    # Both on one side of the jump of the angle by a full turn.
    after[:, 0] = before[:, 0] + (after[:, 0] - before[:, 0] + np.pi) % (2 * np.pi) - np.pi
    depth = np.minimum(before, high - before)
    inside = np.all(depth > 0, axis=1)
    edge = inside & (depth.min(axis=1) < 0.3)
    inner = inside & ~edge
    error = np.linalg.norm(points[:, :2], axis=1) - 1
    side = depth.argmin(axis=1)
    rises = np.where(before < high / 2, after - before, before - after)
    inward = np.take_along_axis(rises, side[:, None], axis=1)[edge, 0]
    return {
        "seed": seed,
        "d": d,
        "sigma": sigma,
        "inner_normal_error": float(np.sqrt(np.mean(error[inner] ** 2))),
        "edge_normal_error": float(np.sqrt(np.mean(error[edge] ** 2))),
        "edge_over_inner": float(np.sqrt(np.mean(error[edge] ** 2) / np.mean(error[inner] ** 2))),
        "inward_shift_over_sigma": float(np.mean(inward) / sigma),
    }


def main() -> None:
    """Measure one roll, or all of them and the edges."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--noise", type=float, default=0.5)
    parser.add_argument("--only", choices=("rolls", "growth", "edges"))
    parser.add_argument("--most", type=int, default=ROLLS[-1][0], help="rows of the largest roll")
    asked = parser.parse_args()
    if asked.rows is not None:
        print(json.dumps(measure_roll(asked.rows, asked.noise)))
        return
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if asked.only in (None, "rolls"):
        results["rolls"] = [
            json.loads(
                subprocess.run(
                    [sys.executable, "-m", __spec__.name, f"--rows={rows}", f"--noise={noise}"],
                    check=True,
                    capture_output=True,
                ).stdout
            )
            for rows, noise in ROLLS
            if rows <= asked.most
        ]
    if asked.only in (None, "growth"):
        results["growth"] = [measure_growth(rows) for rows in GROWTH]
    if asked.only in (None, "edges"):
        results["edges"] = [measure_edges(seed, d) for d in (1, 2) for seed in range(5)]
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):
        main()
