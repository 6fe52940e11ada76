"""Error of the repulsion in every iteration of a descent.

The rule of `unbend.layout.control` was chosen on `tuning.TUNED`; the data here are others. Errors
are those of 256 random points, which are not those by which the rule measures.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, make_blobs

import unbend
from benchmarks.data import digits as mnist
from benchmarks.data import fashion, glove
from benchmarks.picture.cases import Array
from unbend._kernels import kernels
from unbend.layout.control import ControlledRepulsion

BOUND, POINTS = 0.04, 256
JUDGED: dict[str, Callable[[], Array]] = {
    "mnist": lambda: mnist(4000)[0],
    "fashion": lambda: fashion(4000)[0],
    "words": lambda: glove(4000)[0],
    "small digits": lambda: load_digits().data,
    "other clusters": lambda: make_blobs(3000, 10, centers=12, random_state=5)[0],
    "other roll": lambda: unbend.datasets.swiss_roll(3000, noise=0.1, random_state=5).points,
}
# Exaggeration, perplexity, dimension.
SETTINGS = [(1.0, 30, 2), (4.0, 10, 2), (16.0, 10, 2), (4.0, 10, 1)]


def error_of(points: Array, forces: Array) -> float:
    """Error of forces relative to their size, on random points."""
    some = np.random.default_rng(7).permutation(len(points))[:POINTS]
    exact, sums = np.empty((len(some), points.shape[1]), points.dtype), np.empty(len(some))
    kernels.repel_exactly(np.ascontiguousarray(points[some]), points, 1, exact, sums)
    return float(np.linalg.norm(forces[some] - exact) / np.linalg.norm(exact))


def accuracy() -> dict[str, Any]:
    """Share of the iterations whose error passes the bound, and the largest error, by layout."""
    found = {}
    controlled = ControlledRepulsion.__call__
    for name, data in JUDGED.items():
        rows = data()
        for exaggeration, perplexity, dimension in SETTINGS:
            errors: list[float] = []

            def measured(
                self: Any, points: Array, box: Array, errors: list[float] = errors
            ) -> tuple[Array, float]:
                forces, total = controlled(self, points, box)
                errors.append(error_of(points, forces))
                return forces, total

            ControlledRepulsion.__call__ = measured  # type: ignore[method-assign]
            unbend.NeighborEmbedding(
                dimension, exaggeration=exaggeration, perplexity=perplexity, n_jobs=1
            ).fit(rows)
            case = f"{name}, exaggeration {exaggeration:g}, {dimension}-d"
            found[case] = {
                "iterations": len(errors),
                "share over bound": round(float(np.mean(np.array(errors) > BOUND)), 4),
                "median": round(float(np.median(errors)), 4),
                "largest": round(max(errors), 4),
            }
            print(case, found[case], flush=True)
    ControlledRepulsion.__call__ = controlled  # type: ignore[method-assign]
    return found
