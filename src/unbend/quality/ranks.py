"""Rank-based measures of neighbourhood preservation."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unbend.arrays import FloatArray, IntArray
from unbend.docstrings import complete_docstring
from unbend.neighbors import MetricName, Space
from unbend.quality._spaces import PARAMETERS, nearest_others, open_pair, ranks_of
from unbend.quality.measure import Measure, mean_measure, sample_rows
from unbend.report import stage
from unbend.validation.scalars import check_neighbors


@complete_docstring(PARAMETERS)
def trustworthiness(
    X: ArrayLike,
    embedding: ArrayLike,
    *,
    n_neighbors: int = 5,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    max_rows: int | None = None,
    random_state: int = 0,
    threads: int = 1,
) -> Measure:
    r"""Trustworthiness: to what degree neighbours in the embedding are neighbours in the data.

    .. math:: 1 - \frac{2}{nk(2n - 3k - 1)} \sum_i \sum_{j \in U_i} (r(i, j) - k)

    where :math:`U_i` holds the points that are among the k nearest of i in the embedding but not
    in the data, and j is the :math:`r(i, j)`-th nearest of i in the data. It is 1 when there are
    no false neighbours. Equal distances are ordered by row number, and a point is never its
    own neighbour. On a lattice, rounding of the coordinates changes that order: use `shepard`,
    which gives tied distances equal ranks. The time grows as n², the memory as n.

    Above 0.99 nearly all neighbours are true ones; a random embedding has about 0.5, and 0.9 is
    poor, since a surface folded on itself may still have it. It cannot detect lost neighbours
    (`continuity` does), changed lengths, or anything beyond the k nearest.

    Parameters
    ----------
    n_neighbors : int
        The number k, less than n/2.

    Returns
    -------
    Measure
        A number between 0 and 1; its `local` values, whose mean it is, belong to the points.

    References
    ----------
    J. Venna and S. Kaski, "Neighborhood preservation in nonlinear projection methods: an
    experimental study", ICANN 2001.

    Examples
    --------
    >>> from unbend.datasets import swiss_roll
    >>> roll = swiss_roll(500, random_state=0)
    >>> squashed = roll.points[:, :2]
    >>> trustworthiness(roll.points, roll.chart) > trustworthiness(roll.points, squashed)
    True
    >>> trustworthiness(roll.points, squashed).local.shape
    (500,)
    """
    data, coordinates = open_pair(X, embedding, metric, metric_params, threads)
    return _score(data, coordinates, n_neighbors, max_rows, random_state)


@complete_docstring(PARAMETERS)
def continuity(
    X: ArrayLike,
    embedding: ArrayLike,
    *,
    n_neighbors: int = 5,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    max_rows: int | None = None,
    random_state: int = 0,
    threads: int = 1,
) -> Measure:
    r"""Continuity: to what degree neighbours in the data are neighbours in the embedding.

    This is `trustworthiness` with the roles of data and embedding exchanged: it is 1 when no
    neighbour is lost. Good and poor values are the same. It cannot detect false neighbours: a map
    of all points to one, or a projection of a folded surface, may be continuous.

    Parameters
    ----------
    n_neighbors : int
        The number of neighbours, less than n/2.

    Returns
    -------
    Measure
        A number between 0 and 1, with its `local` values.

    References
    ----------
    J. Venna and S. Kaski, "Neighborhood preservation in nonlinear projection methods: an
    experimental study", ICANN 2001.

    Examples
    --------
    >>> import numpy as np
    >>> angle = np.linspace(0, 2 * np.pi, 50, endpoint=False)
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> cut_open = angle[:, None]
    >>> continuity(circle, cut_open) < trustworthiness(circle, cut_open)
    True
    """
    data, coordinates = open_pair(X, embedding, metric, metric_params, threads)
    return _score(coordinates, data, n_neighbors, max_rows, random_state)


@complete_docstring(PARAMETERS)
def mean_relative_rank_errors(
    X: ArrayLike,
    embedding: ArrayLike,
    *,
    n_neighbors: int = 5,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    max_rows: int | None = None,
    random_state: int = 0,
    threads: int = 1,
) -> tuple[Measure, Measure]:
    r"""Mean relative rank errors among neighbours in the embedding, and among those in the data.

    .. math::
        \frac{1}{C} \sum_i \sum_{r_{ij} \le k} \frac{|\rho_{ij} - r_{ij}|}{r_{ij}}, \quad
        \frac{1}{C} \sum_i \sum_{\rho_{ij} \le k} \frac{|\rho_{ij} - r_{ij}|}{\rho_{ij}}, \quad
        C = n \sum_{m=1}^k \frac{|n - 2m|}{m}

    where j is the :math:`\rho_{ij}`-th nearest of i in the data and the :math:`r_{ij}`-th in the
    embedding. Both are 0 when the order of the neighbours is preserved, and 1 when all ranks are
    reversed. Unlike trustworthiness and continuity, to which they correspond, they also
    count changes of order within the neighbourhood, those of the nearest most. Below 0.01 is
    good. They cannot detect changed lengths, nor anything beyond the k nearest.

    Parameters
    ----------
    n_neighbors : int
        The number k, less than n/2.

    Returns
    -------
    found, true : Measure
        Errors among the neighbours in the embedding, and among those in the data.

    References
    ----------
    J. A. Lee and M. Verleysen, "Quality assessment of dimensionality reduction: rank-based
    criteria", Neurocomputing 72 (2009).

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(500, random_state=0)
    >>> found, true = mean_relative_rank_errors(roll.points, roll.points[:, :2])
    >>> found > true  # a projection has false neighbours, and loses few true ones
    True
    """
    data, coordinates = open_pair(X, embedding, metric, metric_params, threads)
    n, k = data.n, _check_few(n_neighbors, data.n)
    rows = sample_rows(n, max_rows, random_state)
    places = np.arange(1, k + 1)
    worst = float((np.abs(n - 2 * places) / places).sum())
    errors = []
    with stage("ranks"):
        sides: tuple[tuple[Space, Space], ...] = ((data, coordinates), (coordinates, data))
        for reference, chosen in sides:
            neighbors = nearest_others(chosen, rows, k)
            ranks = ranks_of(reference, rows, neighbors)
            local = (np.abs(ranks - places) / places).sum(axis=1) / worst
            errors.append(mean_measure(local, rows, n))
    return errors[0], errors[1]


@complete_docstring(PARAMETERS)
def neighborhood_preservation(
    X: ArrayLike,
    embedding: ArrayLike,
    *,
    n_neighbors: int = 10,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    max_rows: int | None = None,
    random_state: int = 0,
    threads: int = 1,
) -> Measure:
    r"""Share of preserved neighbours, adjusted for chance.

    .. math:: \frac{(n - 1) Q - k}{n - 1 - k}

    with Q the mean share of the k nearest in the data that are among the k nearest in the
    embedding: R_NX at one k, without the sorting that `coranking` needs for all. 0 is a random
    embedding and 1 a perfect one; above 0.7 is good for small k. Stricter than trustworthiness
    and continuity, it counts a neighbour at rank k + 1 as lost, and cannot detect by how
    many ranks neighbours are lost.

    Parameters
    ----------
    n_neighbors : int
        The number k, at most n − 2.

    Returns
    -------
    Measure
        At most 1, with its `local` values.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(500, random_state=0)
    >>> kept = neighborhood_preservation(roll.points, roll.chart)
    >>> pressed = neighborhood_preservation(roll.points, roll.points[:, :2])
    >>> kept > 0.9 > pressed
    True
    """
    data, coordinates = open_pair(X, embedding, metric, metric_params, threads)
    n, k = data.n, check_neighbors(n_neighbors, data.n, high=data.n - 2)
    rows = sample_rows(n, max_rows, random_state)
    with stage("neighbors"):
        before = nearest_others(data, rows, k)
        after = nearest_others(coordinates, rows, k)
    return mean_measure(agreement(before, after, n - 1), rows, n)


def agreement(before: IntArray, after: IntArray, others: int) -> FloatArray:
    """Share of each row's entries in common, beyond chance, when sampled from so many others."""
    k = before.shape[1]
    both = np.sort(np.concatenate((before, after), axis=1), axis=1)
    shares = (both[:, 1:] == both[:, :-1]).sum(axis=1) / k
    return np.asarray((others * shares - k) / (others - k))


def _score(
    reference: Space,
    chosen: Space,
    n_neighbors: int,
    max_rows: int | None,
    random_state: int,
) -> Measure:
    """Penalise the nearest points in `chosen` by how far down the ranks of `reference` they are."""
    n, k = reference.n, _check_few(n_neighbors, reference.n)
    rows = sample_rows(n, max_rows, random_state)
    with stage("ranks"):
        neighbors = nearest_others(chosen, rows, k)
        ranks = ranks_of(reference, rows, neighbors)
    penalties = np.maximum(ranks - k, 0).sum(axis=1, dtype=np.int64)
    factor = 2 / (k * (2 * n - 3 * k - 1))
    local = mean_measure(1 - factor * penalties, rows, n)
    # From a sum of integers, so that the result does not depend on the order of summation.
    value = 1 - 2 * int(penalties.sum()) / (len(rows) * k * (2 * n - 3 * k - 1))
    return Measure(value, local.local, rows, local.error)


def _check_few(n_neighbors: object, n: int) -> int:
    """Return a number of neighbours below half the number of rows."""
    return check_neighbors(n_neighbors, n, high=(n - 1) // 2)
