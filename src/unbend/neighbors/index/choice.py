"""Which neighbour search is cheapest, predicted from rows, columns and the intrinsic dimension.

A KD-tree visits rows whose number grows exponentially with the intrinsic dimension, however many
columns there are; products of all pairs take n² of them whatever the data are; NN-descent grows
with n log n. The dimension is probed at the scale that matters, by the distances of a few rows to
their nearest neighbours among all. The constants were fitted on Gaussian clouds and cubes and
judged on other families: `benchmarks/neighbor_costs.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.neighbors.index.brute_force import BruteForce, Cloud
from unbend.neighbors.index.kd_tree import KDTree
from unbend.neighbors.index.nn_descent import NNDescent
from unbend.neighbors.index.protocol import contiguous_points, require_built
from unbend.report import note
from unbend.validation.scalars import check_count, check_integer, check_real, check_threads

# Rows whose neighbours are looked at, and the fewest neighbours: nearer than the rows of a leaf,
# noise may fill all columns that a tree does not see.
PROBES, PROBED_NEIGHBORS = 48, 64
# Dimensions are only told apart up to here: beyond, a tree visits everything.
MOST = 40.0
# Rows up to which, and columns up to which, the probe would take longer than it could save.
FEW_ROWS, FEW_COLUMNS = 2000, 3
# Neighbours for which a structure is chosen that serves any number.
USUAL = 15

# Fitted to CPU seconds of one thread; only their ratios matter.
CONSTANTS: dict[str, dict[str, float]] = {
    "tree": {
        "row": 3.63e-8,
        "point": 3.22e-9,
        "entry": 2.49e-10,
        "visited": 5.79,
        "growth": 0.948,
        "power": 0.716,
    },
    "products": {"row": 1.06e-6, "pair": 2.36e-10, "entry": 1.33e-11, "neighbor": 1.27e-7},
    "descent": {"row": 4.92e-7, "entry": 4.16e-9, "slope": 4.2e-8},
}


def _tree(
    n: int,
    columns: int,
    dimension: float,
    k: int,
    *,
    row: float,
    point: float,
    entry: float,
    visited: float,
    growth: float,
    power: float,
) -> float:
    near = visited * (1.0 + growth) ** dimension * k**power
    points = 1.0 / (1.0 / n + 1.0 / near)
    return float(n * (row * np.log2(n) + (point + entry * columns) * points))


def _products(
    n: int,
    columns: int,
    dimension: float,
    k: int,
    *,
    row: float,
    pair: float,
    entry: float,
    neighbor: float,
) -> float:
    return n * (row + neighbor * k) + n * n * (pair + entry * columns)


def _descent(
    n: int,
    columns: int,
    dimension: float,
    k: int,
    *,
    row: float,
    entry: float,
    slope: float,
) -> float:
    each = row + entry * columns + slope * dimension
    return float(n * np.log2(n) * (k + 8) / 23 * each)


FORMULAS: dict[str, Callable[..., float]] = {
    "tree": _tree,
    "products": _products,
    "descent": _descent,
}


def predict_costs(n: int, columns: int, dimension: float, k: int) -> dict[str, float]:
    """Predict the cost of each search, in CPU seconds of the machine that was calibrated on.

    Examples
    --------
    >>> flat, full = (predict_costs(100_000, 30, d, 15) for d in (2.0, 25.0))
    >>> min(flat, key=flat.get), full["products"] < full["tree"]
    ('tree', True)
    """
    return {
        name: formula(n, columns, dimension, k, **CONSTANTS[name])
        for name, formula in FORMULAS.items()
    }


def probe_dimension(points: FloatArray, k: int) -> float:
    """Estimate the intrinsic dimension at the scale of the k-th neighbour, from a few rows.

    Maximum likelihood (Levina and Bickel, 2005; averaged as by MacKay and Ghahramani) of evenly
    spaced rows, each compared with all. Duplicates tell nothing: zero where there is nothing else.

    Examples
    --------
    >>> import numpy as np
    >>> plane = np.random.default_rng(0).uniform(size=(5000, 2)) @ np.ones((2, 9))
    >>> bool(0.5 < probe_dimension(plane, 15) < 2.0)
    True
    """
    n = len(points)
    some = points[np.linspace(0, n - 1, min(PROBES, n)).astype(np.intp)]
    count = min(max(k, PROBED_NEIGHBORS) + 1, n)
    distances = Cloud.of(points).nearest_of(some, count)[1][:, 1:]
    last = distances[:, -1:]
    inner = distances[:, :-1]
    usable = (inner > 0) & (last > inner)
    if not usable.any():
        return 0.0
    logs = np.log(np.broadcast_to(last, inner.shape)[usable] / inner[usable])
    return min(MOST, float(1.0 / logs.mean()))


def cheapest(points: FloatArray, k: int = USUAL, recall: float = 1.0) -> str:
    """Return the search of least predicted cost: "tree", "products" or "descent".

    Parameters
    ----------
    points : array (n, D)
        Rows.
    k : int
        Neighbours of each.
    recall : float
        Share of the neighbours that must be found; with 1 the search is exact, not "descent".
    """
    dimension = probe_dimension(points, k)
    n, columns = points.shape
    costs = predict_costs(n, columns, dimension, k)
    names = [name for name in costs if recall < 1.0 or name != "descent"]
    chosen = min(names, key=costs.__getitem__)
    note(structure=chosen, probed_dimension=dimension)
    return chosen


@dataclass(frozen=True)
class AutoIndex:
    """The cheapest search that meets a recall, predicted from the data; a `NeighborIndex`.

    Exact by a KD-tree or by products of all pairs, or approximate by NN-descent where a recall
    below 1 allows it. `query` is exact; only `query_self` may be approximate.

    Parameters
    ----------
    recall : float
        Share of the neighbours that must be found.
    seed : int
        Random seed of NN-descent.
    threads : int
        Number of threads; an estimator sets it to its `n_jobs`.
    points : array, optional
        Set by `build`.

    Examples
    --------
    >>> import unbend
    >>> from unbend.neighbors import AutoIndex
    >>> roll = unbend.datasets.swiss_roll(3000, random_state=0).points
    >>> model = unbend.LTSA(neighbors_algorithm=AutoIndex(recall=0.95)).fit(roll)
    >>> model.report_.stage("neighbors").facts["structure"]
    'tree'
    """

    recall: float = 1.0
    seed: int = 0
    threads: int = 1
    points: FloatArray | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_threads(self.threads)
        check_integer("seed", self.seed, 0)
        check_real("recall", self.recall, 0, 1)

    def build(self, points: FloatArray) -> "AutoIndex":
        """Return an index of the points."""
        return replace(self, points=contiguous_points(points))

    def query(self, rows: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Find the k points nearest to each row, exactly."""
        return self._exact(cheapest(require_built(self.points, self), k)).query(rows, k)

    def query_self(self, k: int) -> tuple[IntArray, FloatArray]:
        """Find the k nearest other points of every point, by the cheapest search."""
        points = require_built(self.points, self)
        check_count(k, len(points) - 1)
        chosen = cheapest(points, k, self.recall)
        if chosen == "descent":
            descent = NNDescent(recall=self.recall, seed=self.seed, threads=self.threads)
            return descent.build(points).query_self(k)
        return self._exact(chosen).query_self(k)

    def _exact(self, chosen: str) -> KDTree | BruteForce:
        index = KDTree(threads=self.threads) if chosen == "tree" else BruteForce(self.threads)
        return index.build(require_built(self.points, self))
