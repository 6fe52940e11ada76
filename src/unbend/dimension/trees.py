"""Entropic graphs: how the length of a spanning tree grows with the number of rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from unbend._kernels import kernels
from unbend.arrays import TIED
from unbend.dimension._rows import distinct_rows, generator, not_isolated
from unbend.dimension.value import PARAMETERS, Curve, Dimension
from unbend.docstrings import complete_docstring
from unbend.neighbors import MetricName
from unbend.validation.random_state import RandomState
from unbend.validation.scalars import check_integer

# Samples are these shares of the rows. Smaller ones would leave too few of the neighbours.
SHARES = np.append(np.geomspace(0.35, 0.8, 4), 1.0)
# Neighbours of each row in a sample, on average, among which the tree is looked for.
NEIGHBORS = 10


@complete_docstring(PARAMETERS)
def entropic_graph(
    X: Any,
    *,
    repeats: int = 4,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    random_state: RandomState = None,
) -> Dimension:
    r"""Dimension by the growth of the geodesic minimal spanning tree (Costa and Hero).

    The total length of the tree of m rows in d dimensions grows as :math:`L_m \sim m^{(d-1)/d}`,
    so that with a the slope of log L against log m, :math:`d = 1/(1 - a)`. Trees are those of
    random samples of 35 % to 100 % of the rows, along the graph of neighbours: its edges are
    geodesics, and no edge jumps across a gap.

    Parameters
    ----------
    repeats : int
        Samples of each size.
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
    many trees, which does not matter. It cannot see that they differ in dimension.

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
    rows = distinct_rows(X, metric, metric_params, n_jobs, min_rows=20)
    count = check_integer("repeats", repeats, 2, 1000)
    rng = generator(random_state)
    k = min(int(NEIGHBORS / SHARES[0]), rows.n - 1)
    neighbors = rows.space.nearest(k)
    distances = np.ascontiguousarray(neighbors.distances.reshape(rows.n, k), dtype=np.float64)
    company = np.flatnonzero(not_isolated(distances))
    # There is but one sample of all rows.
    shares = np.append(np.repeat(SHARES[:-1], count), 1.0)
    inside = np.zeros((len(shares), rows.n), dtype=np.bool_)
    for share, sample in zip(shares, inside, strict=True):
        sample[rng.permutation(company)[: max(2, int(share * len(company)))]] = True
    widths = np.minimum(k, np.ceil(NEIGHBORS / shares)).astype(np.int64)
    edges, lengths = np.empty(len(shares), dtype=np.int64), np.empty(len(shares))
    indices = np.ascontiguousarray(neighbors.indices.reshape(rows.n, k), dtype=np.int32)
    kernels.spanning_trees(indices, distances, inside, widths, edges, lengths)
    x, y = np.log(inside.sum(axis=1)), np.log(lengths / edges)
    # Of the mean edge L/m the slope is a - 1 = -1/d.
    (slope, intercept), covariance = np.polyfit(x, y, 1, cov=True)
    if slope > -TIED:
        raise ValueError("the trees of larger samples are not denser: X has too few rows")
    dimension = -1 / float(slope)
    error = float(np.sqrt(covariance[0, 0])) * dimension**2
    each, place = np.unique(x, return_inverse=True)
    means = np.bincount(place, y) / np.bincount(place)
    curve = Curve(
        each,
        means + each,
        "log m",
        "log L",
        (float(each[0]), float(each[-1])),
        intercept + (slope + 1) * each,
    )
    return Dimension("entropic_graph", dimension, error, None, curve, rows.n - len(company))
