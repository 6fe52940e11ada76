"""Speed of low-rank methods: `python -m benchmarks.lowrank [job ...]`, writes `lowrank.json`.

CPU seconds on one thread and peak memory, each job in a process of its own; ratios come from runs
one after the other. Accuracy is measured beside them: a fast wrong answer is none.
"""

import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigh, subspace_angles
from sklearn.utils.extmath import randomized_svd as sklearn_svd
from threadpoolctl import threadpool_limits

import unbend
from benchmarks.book_tables import exact
from benchmarks.output import results_of
from unbend.arrays import FloatArray
from unbend.lowrank import fat, randomized_svd, single_pass_svd

Result = dict[str, Any]
REPEATS = 5


def timed(work: Callable[[], Any], repeats: int = 1) -> tuple[Any, float]:
    """Return the result, and the least CPU seconds of some runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return result, min(times)


def transformations() -> Result:
    """FAT against a full eigensolve of the same Isomap kernel, 2000 x 2000, d = 2, m = 17."""
    kernel = exact("swiss_roll", 0).kernel
    (_, vectors), full = timed(lambda: eigh(kernel), 2)
    found: Result = {"full_eigh_seconds": full}
    for mode in ("gat", "irat", "prat"):
        (_, near, bound), seconds = timed(lambda mode=mode: fat(kernel, 2, mode), REPEATS)
        found[mode] = {
            "seconds": seconds,
            "times_faster": full / seconds,
            "sine": float(np.sin(subspace_angles(vectors[:, -2:], near)[0])),
            "bound": bound,
        }
    return {
        **found,
        "least_times_faster": min(found[m]["times_faster"] for m in ("gat", "irat", "prat")),
    }


def columns_only() -> Result:
    """I-RAT Isomap of a roll of 100 000 points from 200 columns, against the true chart."""
    roll = unbend.datasets.swiss_roll(100_000, random_state=0)
    solver = unbend.Fat("irat", 200, columns_only=True)
    model, seconds = timed(lambda: unbend.Isomap(eigen_solver=solver).fit(roll.points))
    return {
        "seconds": seconds,
        "procrustes": unbend.quality.procrustes(roll.chart, model.embedding_),
    }


def svd_matrix(law: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Gaussian rows whose columns, in random axes, shrink by a law: 100 000 x 1000, float32."""
    rng = np.random.default_rng(0)
    sizes = law(np.arange(1.0, 1001.0)).astype(np.float32)
    turn = np.linalg.qr(rng.standard_normal((1000, 1000)))[0].astype(np.float32)
    return np.asarray((rng.standard_normal((100_000, 1000), dtype=np.float32) * sizes) @ turn)


def left_out(gram: FloatArray, right: FloatArray) -> float:
    """Frobenius norm outside a span, over the least possible for its size; `gram` is A'A."""
    best = np.linalg.eigvalsh(gram)[: -right.shape[1]].sum()
    basis = np.linalg.qr(right.astype(np.float64))[0]
    return float(np.sqrt((np.trace(gram) - np.trace(basis.T @ gram @ basis)) / best))


def decompositions() -> Result:
    """Randomised SVD of rank 20 against scikit-learn's: spectra that decay slowly and fast."""
    found: Result = {}
    for name, law in {"1/i": lambda i: 1 / i, "0.8^i": lambda i: 0.8**i}.items():
        matrix = svd_matrix(law)
        gram = (matrix.T @ matrix).astype(np.float64)
        runs = {
            "scikit_learn": lambda matrix=matrix: sklearn_svd(matrix, 20, random_state=0)[2].T,
            "same_powers": lambda matrix=matrix: randomized_svd(matrix, 20, power=7).right,
            "default": lambda matrix=matrix: randomized_svd(matrix, 20).right,
            "single_pass": lambda matrix=matrix: single_pass_svd(matrix, 20).right,
        }
        lines: Result = {}
        for who, run in runs.items():
            right, seconds = timed(run, 3)
            lines[who] = {"seconds": seconds, "error_over_best": left_out(gram, right)}
        theirs = lines["scikit_learn"]["seconds"]
        for line in lines.values():
            line["times_faster"] = theirs / line["seconds"]
        found[name] = lines
    return found


def kernel_pca() -> Result:
    """Nyström kernel PCA of a million rows, 50 columns, 500 landmarks; checked on 3000 rows."""
    rng = np.random.default_rng(0)
    mixing = rng.standard_normal((5, 50))
    points = rng.standard_normal((1_000_000, 5)) @ mixing
    points += 0.1 * rng.standard_normal(points.shape)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    solver = unbend.Nystrom(500)
    model, seconds = timed(lambda: unbend.KernelPCA(eigen_solver=solver).fit(points))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    some = points[:3000]
    whole = unbend.KernelPCA(gamma=model.gamma_, eigen_solver="lanczos").fit(some)
    part = unbend.KernelPCA(gamma=model.gamma_, eigen_solver=solver).fit(some)
    angle = subspace_angles(whole.embedding_, part.embedding_)[0]
    return {
        "seconds": seconds,
        "peak_gb": peak / 1e6,
        "added_gb": (peak - before) / 1e6,
        "sine_to_exact_on_3000": float(np.sin(angle)),
    }


JOBS = {
    "fat_2000": transformations,
    "columns_only_isomap_100000": columns_only,
    "randomized_svd_100000x1000": decompositions,
    "nystrom_kernel_pca_1000000": kernel_pca,
}


def run(name: str) -> Result:
    """Run one job on one thread."""
    with threadpool_limits(1):
        return JOBS[name]()


def main() -> None:
    """Run the jobs that are named, or all; print and write each as it ends."""
    results = results_of(__file__)
    found: Result = json.loads(results.read_text()) if results.exists() else {}
    for name in sys.argv[1:] or JOBS:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found[name] = pool.apply(run, (name,))
        print(name, json.dumps(found[name], indent=2))
        results.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
