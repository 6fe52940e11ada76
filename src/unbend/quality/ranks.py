"""Measures that compare who is near whom, by rank, before and after the embedding."""

import numpy as np
from numpy.typing import ArrayLike

from unbend.quality._checks import checked_count
from unbend.quality._seen import Metric, Seen, seen
from unbend.quality.measure import Measure, mean_measure, sampled_rows
from unbend.report import stage


def trustworthiness(
    X: ArrayLike,
    embedding: ArrayLike,
    *,
    n_neighbors: int = 5,
    metric: Metric = "euclidean",
    max_rows: int | None = None,
    random_state: int = 0,
    threads: int = 1,
) -> Measure:
    r"""How far the neighbours in the embedding are neighbours in the data.

    .. math:: 1 - \frac{2}{nk(2n - 3k - 1)} \sum_i \sum_{j \in U_i} (r(i, j) - k)

    where :math:`U_i` holds the points that are among the k nearest of i in the embedding but not
    in the data, and j is the :math:`r(i, j)`-th nearest of i in the data. It is 1 when no false
    neighbour was brought in. Equal distances are ordered by row number, and a point is never its
    own neighbour. On a lattice, rounding of the coordinates changes that order: use `shepard`,
    which gives tied distances equal ranks. The time grows as n², the memory as n.

    Above 0.99 nearly all neighbours are true ones; a random embedding has about 0.5, and 0.9 is
    poor, since a surface folded on itself may still have it. It cannot see neighbours that were
    torn apart (`continuity` does), nor lengths, nor anything beyond the k nearest.

    Parameters
    ----------
    X : array_like of shape (n, D) or (n, n)
        The data, or their distances.
    embedding : array_like of shape (n, d)
        Its coordinates, in the same order.
    n_neighbors : int
        The number k, less than n/2.
    metric : {"euclidean", "precomputed"}
        Whether X holds points or distances, geodesic ones for example: on a bent surface they
        tell who is really near.
    max_rows : int, optional
        Above this number of rows, look from that many drawn at random only. Their neighbours
        and ranks are still those among all rows; the `error` of the result tells the rest.
    random_state : int
        Seed of the drawing.
    threads : int
        Threads; the result does not depend on it.

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
    data, coordinates = seen(X, embedding, metric)
    return _score(data, coordinates, n_neighbors, max_rows, random_state, threads)


def continuity(
    X: ArrayLike,
    embedding: ArrayLike,
    *,
    n_neighbors: int = 5,
    metric: Metric = "euclidean",
    max_rows: int | None = None,
    random_state: int = 0,
    threads: int = 1,
) -> Measure:
    r"""How far the neighbours in the data are still neighbours in the embedding.

    This is `trustworthiness` with the roles of data and embedding exchanged: it is 1 when no
    neighbourhood was torn. Good and poor values are the same. It cannot see false neighbours: all
    points thrown together, or a surface pressed flat, may be continuous.

    Parameters
    ----------
    X : array_like of shape (n, D) or (n, n)
        The data, or their distances.
    embedding : array_like of shape (n, d)
        Its coordinates, in the same order.
    n_neighbors : int
        The number of neighbours, less than n/2.
    metric, max_rows, random_state, threads
        As in `trustworthiness`.

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
    data, coordinates = seen(X, embedding, metric)
    return _score(coordinates, data, n_neighbors, max_rows, random_state, threads)


def mean_relative_rank_errors(
    X: ArrayLike,
    embedding: ArrayLike,
    *,
    n_neighbors: int = 5,
    metric: Metric = "euclidean",
    max_rows: int | None = None,
    random_state: int = 0,
    threads: int = 1,
) -> tuple[Measure, Measure]:
    r"""How far ranks move, relative to themselves: among neighbours found, and among true ones.

    .. math::
        \frac{1}{C} \sum_i \sum_{r_{ij} \le k} \frac{|\rho_{ij} - r_{ij}|}{r_{ij}}, \quad
        \frac{1}{C} \sum_i \sum_{\rho_{ij} \le k} \frac{|\rho_{ij} - r_{ij}|}{\rho_{ij}}, \quad
        C = n \sum_{m=1}^k \frac{|n - 2m|}{m}

    where j is the :math:`\rho_{ij}`-th nearest of i in the data and the :math:`r_{ij}`-th in the
    embedding. Both are 0 when the order of the neighbours is kept, and 1 when all ranks are
    reversed. Unlike trustworthiness and continuity, of which they are the two sides, they see
    neighbours that change places among themselves, the first ones most of all. Below 0.01 is
    good. They cannot see lengths, nor anything beyond the k nearest.

    Parameters
    ----------
    X : array_like of shape (n, D) or (n, n)
        The data, or their distances.
    embedding : array_like of shape (n, d)
        Its coordinates, in the same order.
    n_neighbors : int
        The number k, less than n/2.
    metric, max_rows, random_state, threads
        As in `trustworthiness`.

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
    >>> found > true  # pressed flat: false neighbours, hardly a tear
    True
    """
    data, coordinates = seen(X, embedding, metric)
    n, k = data.n, _checked_neighbors(n_neighbors, data.n)
    rows = sampled_rows(n, max_rows, random_state)
    places = np.arange(1, k + 1)
    worst = float((np.abs(n - 2 * places) / places).sum())
    errors = []
    with stage("ranks"):
        sides: tuple[tuple[Seen, Seen], ...] = ((data, coordinates), (coordinates, data))
        for reference, chosen in sides:
            neighbors = chosen.nearest(rows, k, threads)
            ranks = reference.ranks(rows, neighbors, threads)
            local = (np.abs(ranks - places) / places).sum(axis=1) / worst
            errors.append(mean_measure(local, rows, n))
    return errors[0], errors[1]


def _score(
    reference: Seen,
    chosen: Seen,
    n_neighbors: int,
    max_rows: int | None,
    random_state: int,
    threads: int,
) -> Measure:
    """Penalise the nearest points in `chosen` by how far down the ranks of `reference` they are."""
    n, k = reference.n, _checked_neighbors(n_neighbors, reference.n)
    rows = sampled_rows(n, max_rows, random_state)
    with stage("ranks"):
        neighbors = chosen.nearest(rows, k, threads)
        ranks = reference.ranks(rows, neighbors, threads)
    penalties = np.maximum(ranks - k, 0).sum(axis=1, dtype=np.int64)
    factor = 2 / (k * (2 * n - 3 * k - 1))
    local = mean_measure(1 - factor * penalties, rows, n)
    # From the sum of whole numbers, so that no order of summation shows.
    value = 1 - 2 * int(penalties.sum()) / (len(rows) * k * (2 * n - 3 * k - 1))
    return Measure(value, local.local, rows, local.error)


def _checked_neighbors(n_neighbors: object, n: int) -> int:
    k = checked_count("n_neighbors", n_neighbors)
    if 2 * k >= n:
        raise ValueError(
            f"n_neighbors must be less than half the number of points, but it is {k} of {n}."
        )
    return k
