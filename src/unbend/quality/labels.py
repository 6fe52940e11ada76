"""Measures that know the classes of the points."""

import numpy as np
from numpy.typing import ArrayLike

from unbend.quality._checks import checked_count, checked_points
from unbend.quality._ranks import nearest_others
from unbend.quality.measure import Measure, mean_measure, sampled_rows
from unbend.report import stage


def neighborhood_hit(
    embedding: ArrayLike,
    labels: ArrayLike,
    *,
    n_neighbors: int = 5,
    max_rows: int | None = None,
    random_state: int = 0,
    threads: int = 1,
) -> Measure:
    """Share of the neighbours in the embedding that have the same label.

    It is 1 where classes are apart; guessing gives the sum of the squared shares of the classes.
    Compare it with that of the data themselves: classes that overlap there should overlap in the
    picture too, and a method that pulls them apart, having seen the labels, gets a hit it does not
    deserve. It cannot see what happens inside a class.

    Parameters
    ----------
    embedding : array_like of shape (n, d)
        Coordinates, or the data themselves.
    labels : array_like of shape (n,)
        Classes, of any type that can be compared.
    n_neighbors : int
        Neighbours of each point, less than n.
    max_rows, random_state, threads
        As in `trustworthiness`.

    Returns
    -------
    Measure
        Between 0 and 1; `local` is the share of each point.

    References
    ----------
    F. V. Paulovich, L. G. Nonato, R. Minghim and H. Levkowitz, "Least square projection", IEEE
    Trans. Vis. Comput. Graph. 14 (2008).

    Examples
    --------
    >>> neighborhood_hit([[0.0], [1.0], [5.0], [6.0]], list("aabb"), n_neighbors=1)
    1.0
    """
    points = checked_points("embedding", embedding)
    classes = np.asarray(labels)
    n, k = len(points), checked_count("n_neighbors", n_neighbors)
    if classes.shape != (n,):
        raise ValueError(
            f"labels must be one for each of the {n} points, but their shape is {classes.shape}."
        )
    if k >= n:
        raise ValueError(f"n_neighbors must be less than the number of points, {n}, but it is {k}.")
    rows = sampled_rows(n, max_rows, random_state)
    _, numbers = np.unique(classes, return_inverse=True)
    with stage("neighbors"):
        neighbors = nearest_others(points, rows, k, threads)
    same = numbers[neighbors] == numbers[rows, None]
    return mean_measure(same.mean(axis=1), rows, n)
