"""Measures that compare who is near whom, by rank, before and after the embedding."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.quality._checks import checked_count, checked_pair


def trustworthiness(X: ArrayLike, embedding: ArrayLike, *, n_neighbors: int = 5) -> float:
    r"""How far the neighbours in the embedding are neighbours in the data.

    .. math:: 1 - \frac{2}{nk(2n - 3k - 1)} \sum_i \sum_{j \in U_i} (r(i, j) - k)

    where :math:`U_i` holds the points that are among the k nearest of i in the embedding but not
    in the data, and j is the :math:`r(i, j)`-th nearest of i in the data. It is 1 when no false
    neighbour was brought in. Distances are Euclidean, equal ones are ordered by row number, and
    a point is never its own neighbour. The time grows as n², the memory as n.

    Parameters
    ----------
    X : array_like of shape (n, D)
        The data.
    embedding : array_like of shape (n, d)
        Its coordinates, in the same order.
    n_neighbors : int
        The number k, less than n/2.

    Returns
    -------
    float
        Between 0 and 1.

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
    """
    data, coordinates = checked_pair("X", X, embedding)
    return _score(data, coordinates, n_neighbors)


def continuity(X: ArrayLike, embedding: ArrayLike, *, n_neighbors: int = 5) -> float:
    r"""How far the neighbours in the data are still neighbours in the embedding.

    This is `trustworthiness` with the roles of data and embedding exchanged: it is 1 when no
    neighbourhood was torn.

    Parameters
    ----------
    X : array_like of shape (n, D)
        The data.
    embedding : array_like of shape (n, d)
        Its coordinates, in the same order.
    n_neighbors : int
        The number of neighbours, less than n/2.

    Returns
    -------
    float
        Between 0 and 1.

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
    data, coordinates = checked_pair("X", X, embedding)
    return _score(coordinates, data, n_neighbors)


def _score(reference: FloatArray, chosen: FloatArray, n_neighbors: int) -> float:
    """Penalise the nearest points in `chosen` by how far down the ranks of `reference` they are."""
    n, k = len(reference), checked_count("n_neighbors", n_neighbors)
    if 2 * k >= n:
        raise ValueError(
            f"n_neighbors must be less than half the number of points, but it is {k} of {n}."
        )
    penalty = 0
    # Distances, sorted distances, two orders and the ranks: five numbers of 8 bytes a pair.
    for rows in row_chunks(n, bytes_per_row=40 * n):
        # Column 0 is the point itself.
        neighbors = _order(chosen, rows)[:, 1 : k + 1]
        order = _order(reference, rows)
        ranks = np.empty_like(order)
        np.put_along_axis(ranks, order, np.arange(n)[None], axis=1)
        excess = np.take_along_axis(ranks, neighbors, axis=1) - k
        penalty += int(np.maximum(excess, 0).sum())
    return 1 - 2 * penalty / (n * k * (2 * n - 3 * k - 1))


def _order(points: FloatArray, rows: slice) -> IntArray:
    """All points, by (distance, row number) from each of the given rows, itself first."""
    # Differences, not |x|² + |y|² - 2xy: duplicates must be at distance 0, and ties be ties.
    distances = cdist(points[rows], points, "sqeuclidean")
    np.fill_diagonal(distances[:, rows], -1)
    order = np.argsort(distances, axis=1)
    # A stable sort everywhere would be right too, but takes three times as long.
    ascending = np.take_along_axis(distances, order, axis=1)
    tied = (ascending[:, 1:] == ascending[:, :-1]).any(axis=1)
    order[tied] = np.argsort(distances[tied], axis=1, kind="stable")
    return order
