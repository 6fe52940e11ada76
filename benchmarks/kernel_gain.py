"""What single kernels are worth in whole operations: `python -m benchmarks.kernel_gain [SO]`.

Each operation runs with the compiled kernel and without it in turns, on one thread; the ratio is
that of the least CPU times. `near_products` and `distinct_rows` are replaced by NumPy. For
`kd_leaf_search` SO is a second build of `_native` with `together = 0` in csrc/kd_search.hpp and an
NB_DOMAIN of its own, in which every row goes through the tree by itself. Written to
kernel_gain.json.
"""

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import unbend
from benchmarks.machine import facts
from unbend import dimension
from unbend._kernels import kernels, reference
from unbend.neighbors import PointSpace

Array = NDArray[Any]
RESULTS = Path(__file__).with_name("kernel_gain.json")
# Turns of each side, and the seconds after which no further ones begin.
TURNS, SHORT = 60, 8.0


def distinct_rows(points: Array, vanishing: float, copies: Array) -> tuple[bool, float, bool, int]:
    """Survey rows in NumPy: equal rows have equal hashes, which are sorted."""
    largest = float(max(points.max(), -points.min()))
    sizes = np.abs(points)
    tiny = bool(sizes.min() < vanishing and ((sizes < vanishing) & (sizes > 0)).any())
    bits = (points + 0.0).view(np.uint64)
    factors = np.random.default_rng(0).integers(2**64, size=points.shape[1], dtype=np.uint64) | 1
    hashes = np.sort((bits ^ (bits >> 32)) @ factors)
    if (hashes[1:] != hashes[:-1]).all():
        return bool(np.isfinite(largest)), largest, tiny, len(points)
    return reference.distinct_rows(points, vanishing, copies)


def least(run: Callable[[], Any], name: str, other: Any) -> dict[str, float]:
    """CPU seconds with the kernel and with the other, in turns, and their ratio."""
    own, times = getattr(kernels, name), []
    start = time.perf_counter()
    while len(times) < 3 or (len(times) < TURNS and time.perf_counter() - start < SHORT):
        times.append([])
        for kernel in (own, other):
            setattr(kernels, name, kernel)
            begun = time.process_time()
            run()
            times[-1].append(time.process_time() - begun)
        setattr(kernels, name, own)
    seconds, without = np.min(times[1:], axis=0)
    return {
        "seconds": round(float(seconds), 6),
        "without": round(float(without), 6),
        "ratio": round(float(without / seconds), 3),
        "turns": len(times),
    }


def estimates(columns: int) -> dict[str, Callable[[], Any]]:
    """Return estimates of the dimension of 10 000 rows of numbers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, min(columns, 5))) @ rng.normal(size=(min(columns, 5), columns))
    X = X + 0.1 * rng.normal(size=X.shape)
    return {
        f"dimension.{name}, 10000 x {columns}": partial(getattr(dimension, name), X)
        for name in ("pca", "mle", "two_nn")
    }


def searches(n: int, columns: int) -> dict[str, Callable[[], Any]]:
    """Return a search for the neighbours of all rows of a swiss roll, and fits that begin with one.

    Beyond three columns, uniform noise is appended.
    """
    points = unbend.datasets.swiss_roll(n, random_state=0).points
    noise = np.random.default_rng(1).uniform(size=(n, 2))
    X = np.ascontiguousarray(np.hstack((points, noise))[:, :columns])
    methods = {"LTSA": unbend.LTSA, "LandmarkIsomap": unbend.LandmarkIsomap}
    return {
        f"exact neighbours, {n} x {columns}": lambda: PointSpace(X).nearest(10),
        f"dimension.two_nn, {n} x {columns}": lambda: dimension.two_nn(X),
    } | {
        f"{name}, {n} x {columns}": partial(method(n_neighbors=10, n_jobs=1).fit, X)
        for name, method in methods.items()
    }


def second_build(path: str) -> Any:
    """Load another build of the kernels."""
    loader = ExtensionFileLoader("_native", path)
    module = module_from_spec(spec_from_loader("_native", loader))
    loader.exec_module(module)
    return module


def main() -> None:
    """Measure, print and write."""
    twins: dict[str, Any] = {
        "near_products": reference.near_products,
        "distinct_rows": distinct_rows,
    }
    table: dict[str, Any] = {"machine": facts()}
    with threadpool_limits(1):
        for columns in (3, 20, 72):
            for operation, run in estimates(columns).items():
                for name, twin in twins.items():
                    table.setdefault(name, {})[operation] = least(run, name, twin)
                    print(name, operation, table[name][operation], flush=True)
        for path in sys.argv[1:]:
            tree = second_build(path).KdTree
            for n in (10_000, 100_000):
                for columns in (2, 3, 5):
                    for operation, run in searches(n, columns).items():
                        found = least(run, "KdTree", tree)
                        table.setdefault("kd_leaf_search", {})[operation] = found
                        print("kd_leaf_search", operation, found, flush=True)
                        RESULTS.write_text(json.dumps(table, indent=1) + "\n")
    RESULTS.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
