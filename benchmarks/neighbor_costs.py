"""Cost of the neighbour searches: `python -m benchmarks.neighbor_costs calibrate | judge | curves`.

`calibrate` measures KD-tree, exact products and NN-descent on Gaussian clouds and cubes of several
dimensions, turned into several columns, and prints the constants of `neighbors/index/choice.py`.
`judge` measures the choice on other families: CPU of the search chosen over the best one. `curves`
measures recall against CPU of NN-descent, pynndescent and hnswlib. All CPU seconds, one thread.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import least_squares

import unbend
from benchmarks.data import digits, glove
from unbend.neighbors import BruteForce, KDTree, NNDescent
from unbend.neighbors.index import choice

RESULTS = Path(__file__).with_suffix(".json")
K = 15
# Queries of a tree that would take long.
FEW = 1000


def cpu_of(run: Callable[[], Any]) -> float:
    """CPU seconds of this process."""
    start = time.process_time()
    run()
    return time.process_time() - start


def tree_seconds(points: Any, k: int) -> float:
    """Return the CPU of building a tree and searching it, the latter from a sample."""
    tree = None

    def build() -> None:
        nonlocal tree
        tree = KDTree().build(points)

    built, some = cpu_of(build), points[:: max(1, len(points) // FEW)]
    # Neighbours of a leaf's own rows share work, which single queries do not: whole where cheap.
    asked = cpu_of(lambda: tree.query(some, k + 1)) * len(points) / len(some)  # type: ignore[attr-defined]
    if asked < 1.0:
        asked = cpu_of(lambda: tree.query_self(k))  # type: ignore[attr-defined]
    return built + asked


def times_of(points: Any, k: int) -> dict[str, float]:
    """CPU seconds of the three searches."""
    return {
        "tree": tree_seconds(points, k),
        "products": cpu_of(lambda: BruteForce().build(points).query_self(k)),
        "descent": cpu_of(lambda: NNDescent(recall=0.95).build(points).query_self(k)),
    }


def clouds() -> Iterator[tuple[int, int, Any]]:
    """Yield rows of known dimension for the calibration, with their dimension and k."""
    rng = np.random.default_rng(11)
    for n in (3000, 12000):
        for d in (1, 2, 3, 4, 6, 9, 14):
            for number, columns in enumerate((4, 8, 16, 40, 100)):
                if columns < d:
                    continue
                draw = rng.normal if (d + number) % 2 else rng.uniform
                turn = np.linalg.qr(rng.normal(size=(columns, d)))[0]
                rows = draw(size=(n, d)) @ turn.T + 1e-4 * rng.normal(size=(n, columns))
                yield d, (5, 15, 40)[(d + number) % 3], np.ascontiguousarray(rows)


def calibrate() -> None:
    """Measure the calibration families and fit the constants."""
    cases = []
    for d, k, points in clouds():
        probed = choice.probe_dimension(points, k)
        one = {"n": len(points), "columns": points.shape[1], "d": d, "k": k, "probed": probed}
        cases.append(one | times_of(points, k))
        print(cases[-1], flush=True)
    fitted = {name: fit(name, cases) for name in ("tree", "products", "descent")}
    print(json.dumps(fitted, indent=1))
    record("calibration", {"cases": cases, "fitted": fitted})


def fit(name: str, cases: list[dict[str, float]]) -> dict[str, float]:
    """Fit the constants of one search to the logarithms of its times."""
    start = choice.CONSTANTS[name]

    def off(logs: Any) -> Any:
        constants = dict(zip(start, np.exp(logs), strict=True))
        return [
            np.log(
                choice.FORMULAS[name](
                    one["n"], one["columns"], one["probed"], one["k"], **constants
                )
                / one[name]
            )
            for one in cases
        ]

    found = least_squares(off, np.log(list(start.values())), loss="soft_l1", f_scale=0.3)
    print(name, "median error of the logarithm", np.median(np.abs(off(found.x))).round(3))
    return {key: float(f"{value:.3g}") for key, value in zip(start, np.exp(found.x), strict=True)}


def judged() -> Iterator[tuple[str, Any]]:
    """Yield families that were not calibrated on."""
    rng = np.random.default_rng(29)
    for n in (2000, 20000):
        roll = unbend.datasets.swiss_roll(n, random_state=1).points
        wide = roll @ np.linalg.qr(rng.normal(size=(30, 3)))[0].T
        yield f"roll in 3 columns {n}", roll
        yield f"roll in 30 columns {n}", wide
        yield f"noisy roll in 30 columns {n}", wide + 0.5 * rng.normal(size=wide.shape)
        sphere = rng.normal(size=(n, 6))
        sphere /= np.linalg.norm(sphere, axis=1)[:, None]
        yield f"sphere of dimension 5 {n}", sphere
        centers = 10 * rng.normal(size=(20, 12))
        yield (
            f"20 clusters in 12 columns {n}",
            centers[rng.integers(20, size=n)] + rng.normal(size=(n, 12)),
        )
        yield (
            f"closed curve in 50 columns {n}",
            np.cos(
                rng.uniform(0, 2 * np.pi, n)[:, None]
                * np.arange(1, 6)
                @ rng.normal(size=(5, 50))
                / 4
            ),
        )
    yield "digits of MNIST 10000 x 784", np.ascontiguousarray(digits(10000)[0], dtype=np.float64)
    yield "word vectors 20000 x 100", np.ascontiguousarray(glove(20000)[0], dtype=np.float64)


def judge() -> None:
    """Compare the search chosen with the best exact one on families not calibrated on."""
    found = {}
    for name, points in judged():
        times = times_of(points, K)
        chosen = choice.cheapest(points, K)
        asked = choice.cheapest(points, K, recall=0.95)
        exact = min(times["tree"], times["products"])
        found[name] = {
            "chosen": chosen,
            "over_best": round(times[chosen] / exact, 2),
            "chosen_at_0.95": asked,
            "over_best_at_0.95": round(times[asked] / min(times.values()), 2),
            "probed": round(choice.probe_dimension(points, K), 1),
            "probe_seconds": round(cpu_of(lambda p=points: choice.probe_dimension(p, K)), 4),
            **{key: round(value, 4) for key, value in times.items()},
        }
        print(name, found[name], flush=True)
    record("judged", found)


def record(part: str, value: Any) -> None:
    """Write one part beside the others."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    known[part] = value
    RESULTS.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    for word in sys.argv[1:] or ["judge"]:
        {"calibrate": calibrate, "judge": judge}[word]()
