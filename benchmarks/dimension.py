"""Intrinsic dimension against scikit-dimension: `python -m benchmarks.dimension [--quick]`.

Accuracy: relative errors on scikit-dimension's own benchmark manifolds of dimension 1 to 20,
without and with noise, every estimator with its defaults. Speed: seconds of one thread at
n = 10 000, best of three, the peer after a warm-up that compiles it. Written to dimension.json.
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
PATIENCE, SHORT = 300.0, 20.0
RESULTS = Path(__file__).with_name("dimension.json")


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


def seconds(estimate: Estimate, points: Array, rounds: int = 3) -> float:
    """Best time of some rounds; one round is enough for what takes long."""
    times: list[float] = []
    while len(times) < rounds and sum(times) < SHORT:
        start = time.perf_counter()
        estimate(points)
        times.append(time.perf_counter() - start)
    return round(min(times), 4)


def speed(cases: dict[str, tuple[int, Array]]) -> dict[str, Any]:
    """Seconds of each pair of estimators, and their ratio, on every timed manifold."""
    small = next(iter(cases.values()))[1][:500]
    table: dict[str, Any] = {}
    for name, other in SAME.items():
        peer(other)(small)
        table[name] = {}
        for case, (_, points) in cases.items():
            mine, theirs = seconds(ours(name), points), seconds(peer(other), points)
            table[name][case] = [mine, theirs, round(theirs / mine, 1)]
            print("speed", name, case, *table[name][case], flush=True)
    for name in ALONE:
        table[name] = {case: [seconds(ours(name), points)] for case, (_, points) in cases.items()}
        print("speed", name, table[name], flush=True)
    return table


def main(quick: bool) -> None:
    """Measure all and write the results."""
    warnings.filterwarnings("ignore")
    n = 500 if quick else ROWS
    cases = {
        f"{name}, noise {noise:g}": case
        for seed, noise in enumerate(NOISES)
        for name, case in manifolds(n, noise, seed).items()
    }
    results: dict[str, Any] = {
        "rows": n,
        "dimensions": {name: d for name, (d, _) in cases.items()},
        "unbend": {},
        "scikit-dimension": {},
    }
    for name in (*SAME, *ALONE):
        record(results, "unbend", name, accuracy(ours(name), cases))
    many = manifolds(2 * n if quick else MANY, 0.0, 0)
    results["rows_timed"] = 2 * n if quick else MANY
    results["seconds"] = speed({name: many[name] for name in TIMED})
    for name in (*SAME.values(), *OTHERS[: 1 if quick else None]):
        record(results, "scikit-dimension", name, accuracy(peer(name), cases))


def record(results: dict[str, Any], side: str, name: str, row: dict[str, Any]) -> None:
    """Keep what was measured so far."""
    results[side][name] = row
    print(side, name, row.get("failed") or (row["median"], row["mean"], row["seconds"]), flush=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main("--quick" in sys.argv)
