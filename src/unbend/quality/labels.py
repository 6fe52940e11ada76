"""Measures from labels or values of the points: neighbourhood hit and colour mixing."""

import numpy as np
from numpy.typing import ArrayLike

from unbend.arrays import FloatArray, IntArray
from unbend.docstrings import complete_docstring
from unbend.neighbors import PointSpace
from unbend.quality._spaces import PARAMETERS, check_points, nearest_others
from unbend.quality.measure import Measure, mean_measure, sample_rows
from unbend.report import stage
from unbend.validation.arrays import check_labels, check_same_rows, known_labels, real_array
from unbend.validation.scalars import check_neighbors


@complete_docstring(PARAMETERS)
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
        Classes, of any type that can be compared. Points whose label is None or NaN are left out.
    n_neighbors : int
        Neighbours of each point, less than n.

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
    points = check_points("embedding", embedding, min_rows=2)
    classes = check_labels("labels", labels, len(points))
    labelled = np.flatnonzero(known_labels(classes))
    points, n = points[labelled], len(labelled)
    k = check_neighbors(n_neighbors, n)
    rows = sample_rows(n, max_rows, random_state)
    _, numbers = np.unique(classes[labelled], return_inverse=True)
    with stage("neighbors"):
        neighbors = nearest_others(PointSpace(points, workers=threads), rows, k)
    same = numbers[neighbors] == numbers[rows, None]
    return mean_measure(same.mean(axis=1), labelled[rows], n)


@complete_docstring(PARAMETERS)
def color_mixing(
    embedding: ArrayLike,
    values: ArrayLike,
    *,
    n_neighbors: int = 10,
    max_rows: int | None = None,
    random_state: int = 0,
    threads: int = 1,
) -> Measure:
    r"""How far the colours of a picture are mixed.

    .. math:: \frac{1}{nk} \sum_i \sum_{j \in N_k(i)} \frac{(v_j - v_i)^2}{2 \sigma^2}

    where :math:`N_k(i)` are the k nearest of i in the embedding and :math:`\sigma^2` is the
    variance of the values v; of several columns of values, the mean. This is what the eye does
    with a coloured picture, and by what the book calls a result valid: colours that were side by
    side on the surface must not be mixed.

    It is 0 where neighbours have the same colour and 1 where colours are random. Values
    that vary smoothly over the data leave about k/n of it even in a perfect picture; above 0.05
    the eye sees mixed areas, which `local` shows. It cannot see separated neighbours, nor
    stretching, nor what the colours do not show.

    Parameters
    ----------
    embedding : array_like of shape (n, d)
        Coordinates.
    values : array_like of shape (n,) or (n, c)
        Numbers to colour by: true coordinates, angles, times.
    n_neighbors : int
        The number k, less than n.

    Returns
    -------
    Measure
        At least 0; `local` is the mixing around each point.

    References
    ----------
    R. C. Geary, "The contiguity ratio and statistical mapping", The Incorporated Statistician 5
    (1954); book section 5.2.3.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(500, random_state=0)
    >>> color_mixing(roll.chart, roll.chart) < 0.05 < color_mixing(roll.points[:, :2], roll.chart)
    True
    """
    points = check_points("embedding", embedding, min_rows=2)
    n = len(points)
    given = real_array(values, "values")
    colors = check_points("values", given[:, None] if given.ndim == 1 else given)
    check_same_rows(values=colors, embedding=points)
    k = check_neighbors(n_neighbors, n)
    rows = sample_rows(n, max_rows, random_state)
    with stage("neighbors"):
        neighbors = nearest_others(PointSpace(points, workers=threads), rows, k)
    return mean_measure(_contiguity(colors, rows, neighbors), rows, n)


def _contiguity(colors: FloatArray, rows: IntArray, neighbors: IntArray) -> FloatArray:
    """Mean squared difference to the neighbours, in units of that to anyone."""
    spread = colors.std(axis=0)
    # A column that does not vary has nothing to mix.
    colors = (colors - colors.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    local = np.zeros(len(rows))
    for place in range(neighbors.shape[1]):
        local += np.mean((colors[neighbors[:, place]] - colors[rows]) ** 2, axis=1)
    return np.asarray(local / (2 * neighbors.shape[1]))
