"""The co-ranking matrix, and the curves Q_NX, R_NX and LCMC computed from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unbend.arrays import TIED, FloatArray, IntArray, row_chunks
from unbend.docstrings import complete_docstring
from unbend.memory import reserve
from unbend.neighbors import MetricName, Space
from unbend.quality._spaces import PARAMETERS, all_ranks, open_pair
from unbend.quality.measure import Measure, mean_measure, sample_rows
from unbend.report import stage, step


@dataclass(frozen=True, eq=False)
class CoRanking:
    r"""Neighbourhood preservation for every size k of the neighbourhoods.

    The curves begin with k = 1. With n points, m of them sampled as centres, and
    :math:`\nu_k(i), n_k(i)` the k nearest of i in data and embedding:

    .. math::
        Q_{NX}(k) = \frac{1}{mk} \sum_i |\nu_k(i) \cap n_k(i)|, \quad
        \mathrm{LCMC}(k) = Q_{NX}(k) - \frac{k}{n-1}, \quad
        R_{NX}(k) = \frac{(n-1) Q_{NX}(k) - k}{n - 1 - k}

    R_NX is 0 for a random embedding and 1 for a perfect one at every k, so it can be compared
    between different n and k. High values at small k mean that neighbourhoods are preserved, at
    large k only that the global arrangement is. It cannot detect changed lengths, and it ranks by
    straight-line distances: a Swiss roll that is unrolled correctly has a lower R_NX at large k
    than its projection on a plane.

    Attributes
    ----------
    n : int
        Number of points.
    rows : ndarray of shape (m,)
        The sampled centres.
    q_nx, lcmc : ndarray of shape (n - 1,)
        Curves.
    r_nx : ndarray of shape (n - 2,)
        Curve; it ends before k = n − 1, where nothing can be wrong.
    q_nx_error : ndarray of shape (n - 1,)
        Standard error of `q_nx` and of `lcmc` from sampling; zero where all rows were used.
    q_nx_auc, lcmc_auc, r_nx_auc : Measure
        Means of the curves with weights 1/k: areas over log k, in which small neighbourhoods
        count as much as large ones. Their `local` values belong to the sampled centres.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(300, random_state=0)
    >>> flat = unbend.LTSA(n_neighbors=8).fit_transform(roll.points)
    >>> found = unbend.quality.coranking(roll.points, flat)
    >>> bool(found.r_nx_auc > 0.3), len(found.q_nx)
    (True, 299)
    """

    n: int
    rows: IntArray
    q_nx: FloatArray
    q_nx_error: FloatArray
    q_nx_auc: Measure
    r_nx_auc: Measure

    @property
    def lcmc(self) -> FloatArray:
        """Local continuity meta-criterion: Q_NX above that of a random embedding."""
        return self.q_nx - np.arange(1, self.n) / (self.n - 1)

    @property
    def r_nx(self) -> FloatArray:
        """Q_NX between random (0) and perfect (1)."""
        k = np.arange(1, self.n - 1)
        return np.asarray(((self.n - 1) * self.q_nx[:-1] - k) / (self.n - 1 - k))

    @property
    def r_nx_error(self) -> FloatArray:
        """Standard error of `r_nx` from sampling."""
        k = np.arange(1, self.n - 1)
        return np.asarray((self.n - 1) * self.q_nx_error[:-1] / (self.n - 1 - k))

    @property
    def lcmc_auc(self) -> Measure:
        """Area under LCMC over log k."""
        # A random embedding has Q_NX = k/(n − 1), and weights 1/k make that constant.
        random = float(1 / np.sum(1 / np.arange(1, self.n)))
        area = self.q_nx_auc
        return Measure(float(area) - random, area.local - random, area.rows, area.error)

    @property
    def k_max(self) -> int:
        """The k with the largest LCMC, which separates local from global neighbourhoods."""
        # The smallest of tied ones: rounding must not choose among equal values.
        return int(np.argmax(self.lcmc >= self.lcmc.max() - TIED)) + 1

    @property
    def q_local(self) -> float:
        """Mean of Q_NX up to `k_max` (Lee and Verleysen)."""
        return float(self.q_nx[: self.k_max].mean())

    @property
    def q_global(self) -> float:
        """Mean of Q_NX from `k_max` on."""
        return float(self.q_nx[self.k_max - 1 :].mean())


@complete_docstring(PARAMETERS)
def coranking(
    X: ArrayLike,
    embedding: ArrayLike,
    *,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    max_rows: int | None = 2000,
    random_state: int = 0,
) -> CoRanking:
    """Compare all ranks in the data with all ranks in the embedding.

    The curves come from the co-ranking matrix (`coranking_matrix`), which is never formed: the
    memory grows as n and the time as n log n for each sampled row. A good embedding has an `r_nx`
    near 1 at small k; a random one has 0. Ranks cannot detect changed lengths, nor whether
    straight-line distances are the right ones: see `CoRanking`.

    Parameters
    ----------
    max_rows : int or None
        Above this number of rows, use that many random ones as centres, and rank all others from
        each; the curves then have standard errors. None uses all rows.

    Returns
    -------
    CoRanking
        Curves, areas, and the areas of every point.

    References
    ----------
    J. A. Lee and M. Verleysen, "Quality assessment of dimensionality reduction: rank-based
    criteria", Neurocomputing 72 (2009); J. A. Lee, E. Renard, G. Bernard, P. Dupont and
    M. Verleysen, "Type 1 and 2 mixtures of Kullback–Leibler divergences …", Neurocomputing 112
    (2013), for the area over log k; L. Chen and A. Buja, JASA 104 (2009), for LCMC.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(400, random_state=0)
    >>> laid_out = coranking(roll.points, roll.chart)
    >>> pressed = coranking(roll.points, roll.points[:, :2])
    >>> bool(laid_out.r_nx[4] > 2 * pressed.r_nx[4])
    True
    """
    data, coordinates = open_pair(X, embedding, metric, metric_params, min_rows=3)
    n = data.n
    rows = sample_rows(n, max_rows, random_state)
    m, k = len(rows), np.arange(1, n)
    q_sum, q_squares = np.zeros(n - 1), np.zeros(n - 1)
    areas = np.empty((2, m))
    with stage("ranks"):
        for part in row_chunks(m, 96 * n):
            later = np.maximum(_ranks(data, rows[part]), _ranks(coordinates, rows[part]))
            shares = _within(later) / k
            q_sum += shares.sum(axis=0)
            q_squares += (shares**2).sum(axis=0)
            areas[:, part] = _areas(shares)
            step(part.stop, m)
    q_nx = q_sum / m
    # Sampling m of n without replacement: the finite population correction.
    variance = np.maximum(q_squares / m - q_nx**2, 0.0) / max(m - 1, 1) * (1 - m / n)
    return CoRanking(
        n,
        rows,
        q_nx,
        np.sqrt(variance),
        mean_measure(areas[0], rows, n),
        mean_measure(areas[1], rows, n),
    )


@complete_docstring(PARAMETERS)
def coranking_matrix(
    X: ArrayLike,
    embedding: ArrayLike,
    *,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
) -> IntArray:
    """Count the pairs of points with each rank in the data and each rank in the embedding.

    Entry (k, l), counted from 1, is the number of pairs (i, j) such that j is the k-th nearest of i
    in the data and the l-th nearest in the embedding. A perfect embedding has n on the diagonal
    and zeros elsewhere; below the diagonal are intrusions, above it extrusions. In a
    good embedding all counts are near the diagonal. Ranks cannot detect changed lengths. The matrix
    is meant for plots; for numbers use `coranking`, which needs no n² memory.

    Returns
    -------
    ndarray of shape (n - 1, n - 1)
        Rows and columns sum to n.

    Examples
    --------
    >>> coranking_matrix([[0.0], [1.0], [3.0]], [[0.0], [1.0], [1.5]])
    array([[2, 1],
           [1, 2]])
    """
    data, coordinates = open_pair(X, embedding, metric, metric_params, min_rows=3)
    n = data.n
    reserve(8 * (n - 1) ** 2, f"{n - 1} x {n - 1} numbers", "use coranking, which gives the curves")
    counts: IntArray = np.zeros((n - 1) ** 2, dtype=np.int64)
    with stage("ranks"):
        for part in row_chunks(n, 96 * n):
            rows = np.arange(part.start, part.stop)
            place = (_ranks(data, rows) - 1) * (n - 1) + _ranks(coordinates, rows) - 1
            places, times = np.unique(place, return_counts=True)
            counts[places] += times
            step(part.stop, n)
    return counts.reshape(n - 1, n - 1)


def _ranks(space: Space, rows: IntArray) -> IntArray:
    """Ranks (m, n − 1) of the other rows, ordered by row number, from the centres `rows`."""
    ranks = all_ranks(space, rows)
    return ranks[ranks > 0].reshape(len(rows), space.n - 1)


def _within(later: IntArray) -> IntArray:
    """Size of the common k-neighbourhood for each k, from the larger of both ranks of each pair."""
    m, most = later.shape
    places = later + (np.arange(m) * most)[:, None] - 1
    return np.cumsum(np.bincount(places.ravel(), minlength=m * most).reshape(m, most), axis=1)


def _areas(shares: FloatArray) -> FloatArray:
    """Areas under Q_NX and R_NX over log k of each row: both are sums over k with weights."""
    most = shares.shape[1]
    k = np.arange(1, most + 1)
    below = k[:-1]
    weights, inner = 1 / k / np.sum(1 / k), 1 / below / np.sum(1 / below)
    random = float(np.sum(inner * below / (most - below)))
    adjusted = shares[:, :-1] @ (inner * most / (most - below)) - random
    return np.stack((shares @ weights, adjusted))
