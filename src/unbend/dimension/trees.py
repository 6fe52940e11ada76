"""Entropic graphs: how the length of a spanning tree grows with the number of rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from unbend.arrays import FloatArray, IntArray
from unbend.dimension._gate import (
    MetricName,
    RandomState,
    checked_count,
    crowded,
    generator,
    opened,
)
from unbend.dimension.value import Curve, Dimension

# Samples are these shares of the rows. Smaller ones would leave too few of the neighbours.
SHARES = np.geomspace(0.3, 1.0, 6)
# Neighbours of each row among which the tree is looked for.
NEIGHBORS = 32


def entropic_graph(
    X: Any,
    *,
    repeats: int = 8,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    random_state: RandomState = None,
) -> Dimension:
    r"""Dimension by the growth of the geodesic minimal spanning tree (Costa and Hero).

    The total length of the tree of m rows in d dimensions grows as :math:`L_m \sim m^{(d-1)/d}`,
    so that with a the slope of log L against log m, :math:`d = 1/(1 - a)`. Trees are those of
    random samples of 30 % to 100 % of the rows, along the graph of neighbours: its edges are
    geodesics, and no edge jumps across a gap.

    Parameters
    ----------
    X : array_like, data frame or Space
        Rows of numbers, or a square matrix of distances with ``metric="precomputed"``.
    repeats : int
        Samples of each size.
    metric, metric_params, n_jobs
        As the estimators of `unbend` take them.
    random_state : None, int, Generator or RandomState
        Draws the samples.

    Returns
    -------
    Dimension
        The uncertainty is that of the slope. `local` is None: a tree is one of all rows. The
        curve is log L against log m.

    Notes
    -----
    Good is a straight curve. Since d = 1/(1 − a) the error grows with d²: at d = 10 a slope that is
    wrong by 0.01 changes it by one. Noise as large as the distance between neighbours counts as
    dimensions. Isolated rows are left out, and `outliers` counts them; groups far apart are as
    many trees, which does not matter.

    References
    ----------
    J. A. Costa and A. O. Hero, "Geodesic entropic graphs for dimension and entropy estimation in
    manifold learning", IEEE Transactions on Signal Processing 52 (2004). Book section 1.4.4.

    Examples
    --------
    >>> square = np.random.default_rng(0).uniform(size=(1000, 2))
    >>> round(entropic_graph(square).dimension)
    2
    """
    rows = opened(X, metric, metric_params, n_jobs, least=20)
    count = checked_count("repeats", repeats, 2, 1000)
    rng = generator(random_state)
    k = min(NEIGHBORS, rows.n - 1)
    neighbors = rows.space.nearest(k)
    inside = crowded(neighbors.distances.reshape(rows.n, k))
    edges = csr_array(neighbors.graph()[inside][:, inside])
    n = edges.shape[0]
    sizes = np.repeat(np.maximum(2, (SHARES * n).astype(int)), count)
    steps = np.array([_mean_step(edges, np.sort(rng.permutation(n)[:m])) for m in sizes])
    x, y = np.log(sizes), np.log(steps)
    # Of the mean edge L/m the slope is a - 1 = -1/d.
    (slope, intercept), covariance = np.polyfit(x, y, 1, cov=True)
    if slope >= 0:
        raise ValueError("the trees of larger samples are not denser: X has too few rows")
    dimension = -1 / float(slope)
    error = float(np.sqrt(covariance[0, 0])) * dimension**2
    each = np.log(np.unique(sizes))
    means = y.reshape(-1, count).mean(axis=1)
    curve = Curve(
        each, means + each, "log m", "log L", (each[0], each[-1]), intercept + (slope + 1) * each
    )
    return Dimension("entropic_graph", dimension, error, None, curve, int(np.sum(~inside)))


def _mean_step(edges: csr_array, rows: IntArray) -> float:
    """Mean length of the edges of the spanning trees of some rows."""
    tree: FloatArray = minimum_spanning_tree(edges[rows][:, rows]).data
    return float(tree.mean())
