"""The share of neighbours that an embedding keeps."""

import numpy as np
from numpy.typing import ArrayLike

from unbend.arrays import FloatArray, IntArray
from unbend.quality._checks import checked_count
from unbend.quality._seen import Metric, seen
from unbend.quality.measure import Measure, mean_measure, sampled_rows
from unbend.report import stage


def neighborhood_preservation(
    X: ArrayLike,
    embedding: ArrayLike,
    *,
    n_neighbors: int = 10,
    metric: Metric = "euclidean",
    max_rows: int | None = None,
    random_state: int = 0,
    threads: int = 1,
) -> Measure:
    r"""Share of the neighbours that are kept, beyond what chance would keep.

    .. math:: \frac{(n - 1) Q - k}{n - 1 - k}

    with Q the mean share of the k nearest in the data that are among the k nearest in the
    embedding: R_NX at one k, without the sorting that `coranking` needs for all. 0 is a random
    embedding and 1 a perfect one; above 0.7 is good for small k. Stricter than trustworthiness
    and continuity, it does not forgive a neighbour that is only just missed; it cannot see how far
    off the others are.

    Parameters
    ----------
    X : array_like of shape (n, D) or (n, n)
        The data, or their distances.
    embedding : array_like of shape (n, d)
        Its coordinates, in the same order.
    n_neighbors : int
        The number k, at most n − 2.
    metric, max_rows, random_state, threads
        As in `trustworthiness`.

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
    data, coordinates = seen(X, embedding, metric)
    n, k = data.n, checked_count("n_neighbors", n_neighbors)
    if k > n - 2:
        raise ValueError(f"n_neighbors must be at most {n - 2} of {n} points, but it is {k}.")
    rows = sampled_rows(n, max_rows, random_state)
    with stage("neighbors"):
        before = data.nearest(rows, k, threads)
        after = coordinates.nearest(rows, k, threads)
    return mean_measure(agreement(before, after, n - 1), rows, n)


def agreement(before: IntArray, after: IntArray, others: int) -> FloatArray:
    """Share of each row's entries in common, beyond chance, when drawn from so many others."""
    k = before.shape[1]
    both = np.sort(np.concatenate((before, after), axis=1), axis=1)
    shares = (both[:, 1:] == both[:, :-1]).sum(axis=1) / k
    return np.asarray((others * shares - k) / (others - k))
