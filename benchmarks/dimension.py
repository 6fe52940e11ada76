"""Dimension against scikit-dimension: `python -m benchmarks.dimension [--quick] [name …]`.

With names of functions or of the peer's classes only these are measured again, and the other
figures are kept.

Accuracy: relative errors on scikit-dimension's own benchmark manifolds of dimension 1 to 20,
without and with noise, every estimator with its defaults. Speed: CPU seconds at n = 10 000, best of
twenty that take turns, or of ten seconds; both sides on the one thread that is their default and
BLAS held to one, the peer after a warm-up that compiles it. Written to dimension.json, and with
--quick (n = 500 and 1000) to results-quick-dimension.json.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.output import results_of
from unbend import dimension

Array = NDArray[Any]
Estimate = Callable[[Array], float]
ROWS, MANY, NEIGHBORS = 2000, 10_000, 100
NOISES = (0.0, 0.01)
# The same estimator on both sides; the rest of the peer's compete for its best.
SAME = {
    "pca": "lPCA",
    "local_pca": "lPCA, local",
    "correlation": "CorrInt",
    "mle": "MLE",
    "two_nn": "TwoNN",
    "entropic_graph": "KNN",
}
ALONE = ("capacity", "multiscale_svd", "u_statistic")
OTHERS = ("MOM", "MADA", "TLE", "FisherS", "MiND_ML", "ESS", "GRIDE", "PH", "DANCo")
TIMED = ("M7_Roll", "M9_Affine", "Mn1_Nonlinear")
# An estimator that takes longer than this for all manifolds is left out, and said so; of what takes
# half a minute one round is timed.
PATIENCE, SHORT, ROUNDS = 300.0, 10.0, 20
RESULTS = results_of(__file__)
QUICK = RESULTS.with_name("results-quick-dimension.json")


def ours(name: str) -> Estimate:
    """Estimate by one of our functions."""
    function = getattr(dimension, name)
    return lambda X: float(function(X).dimension)


def peer(name: str) -> Estimate:
    """Estimate by a peer's class; its local PCA is averaged over all rows."""
    import skdim

    if name == "lPCA, local":
        return lambda X: float(
            np.mean(skdim.id.lPCA().fit_pw(X, n_neighbors=NEIGHBORS).dimension_pw_)
        )
    return lambda X: float(getattr(skdim.id, name)().fit(X).dimension_)


def manifolds(n: int, noise: float, seed: int) -> dict[str, tuple[int, Array]]:
    """Return the peer's benchmark manifolds of at most 20 dimensions, and their dimensions."""
    from skdim.datasets import BenchmarkManifolds

    source = BenchmarkManifolds(random_state=seed, noise_type="normal")
    truth = source.truth["Intrinsic Dimension"]
    return {
        name: (int(truth[name]), points)
        for name, points in source.generate(n=n, noise=noise).items()
        if truth[name] <= 20
    }


def accuracy(estimate: Estimate, cases: dict[str, tuple[int, Array]]) -> dict[str, Any]:
    """Estimates on every manifold, their relative errors, and the seconds they took."""
    found: dict[str, float] = {}
    start = time.perf_counter()
    for name, (_, points) in cases.items():
        try:
            found[name] = round(estimate(points), 3)
        except Exception as error:
            return {"failed": f"{name}: {type(error).__name__}: {error}"[:200]}
        if time.perf_counter() - start > PATIENCE:
            return {"failed": f"took more than {PATIENCE:.0f} s for {len(found)} manifolds"}
    errors = [abs(found[name] - d) / d for name, (d, _) in cases.items()]
    return {
        "median": round(float(np.median(errors)), 4),
        "mean": round(float(np.mean(errors)), 4),
        "exact": sum(error == 0 for error in errors),
        "seconds": round(time.perf_counter() - start, 2),
        "estimates": found,
    }


def seconds(estimates: list[Estimate], points: Array) -> list[float]:
    """Least CPU time of each in rounds that take turns; one round is enough for what takes long."""
    times: list[list[float]] = []
    with threadpool_limits(1):
        while len(times) < ROUNDS and np.sum(times) < SHORT:
            times.append([])
            for estimate in estimates:
                start = time.process_time()
                estimate(points)
                times[-1].append(time.process_time() - start)
    return [round(float(least), 5) for least in np.min(times, axis=0)]


def speed(name: str, cases: dict[str, tuple[int, Array]]) -> dict[str, list[float]]:
    """Seconds of an estimator, of its peer if it has one, and their ratio, on every manifold."""
    estimates = [ours(name)]
    if name in SAME:
        estimates.append(peer(SAME[name]))
        estimates[1](next(iter(cases.values()))[1][:500])
    table = {}
    for case, (_, points) in cases.items():
        table[case] = seconds(estimates, points)
        if name in SAME:
            table[case].append(round(table[case][1] / table[case][0], 1))
    return table


def main(quick: bool, names: list[str]) -> None:
    """Measure all, or only some, and write the results."""
    warnings.filterwarnings("ignore")
    n, many, path = (500, 1000, QUICK) if quick else (ROWS, MANY, RESULTS)
    cases = {
        f"{name}, noise {noise:g}": case
        for seed, noise in enumerate(NOISES)
        for name, case in manifolds(n, noise, seed).items()
    }
    results: dict[str, Any] = {
        "rows": n,
        "rows_timed": many,
        "dimensions": {name: d for name, (d, _) in cases.items()},
        "unbend": {},
        "seconds": {},
        "scikit-dimension": {},
    }
    if names and path.exists():
        results = json.loads(path.read_text())
    large = {name: case for name, case in manifolds(many, 0.0, 0).items() if name in TIMED}
    chosen = names or [*SAME, *ALONE, *SAME.values(), *OTHERS[: 1 if quick else None]]
    for name in (name for name in chosen if name in {*SAME, *ALONE}):
        row = accuracy(ours(name), cases)
        results["seconds"][name] = speed(name, large)
        print("seconds", name, results["seconds"][name], flush=True)
        record(results, "unbend", name, row, path)
    for name in (name for name in chosen if name in {*SAME.values(), *OTHERS}):
        record(results, "scikit-dimension", name, accuracy(peer(name), cases), path)


def record(results: dict[str, Any], side: str, name: str, row: dict[str, Any], path: Path) -> None:
    """Keep what was measured so far."""
    results[side][name] = row
    print(side, name, row.get("failed") or (row["median"], row["mean"], row["seconds"]), flush=True)
    path.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main("--quick" in sys.argv, [name for name in sys.argv[1:] if name != "--quick"])
