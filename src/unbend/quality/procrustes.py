"""Procrustes error: distance to the true coordinates after the best alignment."""

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lstsq, svd

from unbend.arrays import FloatArray
from unbend.quality._spaces import check_pair
from unbend.quality.measure import Measure
from unbend.validation.scalars import check_choice

Kind: TypeAlias = Literal["similarity", "affine"]


def procrustes(truth: ArrayLike, embedding: ArrayLike, *, kind: Kind = "similarity") -> Measure:
    r"""Share of the truth's variance that the best map of the embedding leaves unexplained.

    .. math:: \min_T \|A - T(B)\|_F^2 \,/\, \|A - \bar A\|_F^2

    for the truth A, its mean :math:`\bar A` and the embedding B, where T runs over the
    similarities or over the affine maps.

    Below 0.01 the truth is found, but for details; above 0.1 something is folded or torn. It needs
    the truth, and says nothing of neighbours: a chart bent slightly into a bow may have a larger
    error than one with a small tear. Large distances decide. The affine kind cannot see a
    stretching, not even one to a thread; `local_isometry_error` does.

    Parameters
    ----------
    truth : array_like of shape (n, d)
        The true coordinates.
    embedding : array_like of shape (n, p)
        The coordinates found, in the same order.
    kind : {"similarity", "affine"}
        Similarity: one scale, a rotation or reflection, a translation; the narrower matrix is
        padded with zero columns. Affine: any linear map and a translation, for methods that
        normalise their coordinates.

    Returns
    -------
    Measure
        0 for a perfect embedding, 1 for one that says nothing of the truth; its `local` values,
        whose mean it is, belong to the points.

    See Also
    --------
    align : The mapped embedding itself.

    Examples
    --------
    >>> from unbend.datasets import swiss_roll
    >>> chart = swiss_roll(200, random_state=0).chart
    >>> turned_and_stretched = chart @ [[0.0, 3.0], [-1.0, 0.0]]
    >>> procrustes(chart, turned_and_stretched) > 0.01
    True
    >>> procrustes(chart, turned_and_stretched, kind="affine") < 1e-12
    True
    """
    target, points = check_pair("truth", truth, embedding)
    if (target == target[0]).all():
        raise ValueError("All rows of truth are equal. Pass at least two different points.")
    mapped = align(target, points, kind=kind)
    missed = np.sum((_pad(target, mapped.shape[1]) - mapped) ** 2, axis=1)
    size = np.sum((target - target.mean(axis=0)) ** 2)
    return Measure(float(missed.sum() / size), missed * (len(target) / size))


def align(truth: ArrayLike, embedding: ArrayLike, *, kind: Kind = "similarity") -> FloatArray:
    """Map the embedding as closely onto the truth as a map of the given kind can.

    Drawn over the truth, a good embedding covers it: what is left is `procrustes`, below 0.01 of
    the variance. The map is one for all points: it cannot see that each of two parts is right where
    they are not turned alike.

    Parameters
    ----------
    truth : array_like of shape (n, d)
        The true coordinates.
    embedding : array_like of shape (n, p)
        The coordinates found, in the same order.
    kind : {"similarity", "affine"}
        The maps to choose from, as in `procrustes`.

    Returns
    -------
    ndarray of shape (n, d) or (n, max(d, p))
        The mapped embedding. It has the truth's columns, except that a similarity cannot drop
        a dimension: if p > d, the columns beyond d are what the truth, padded with zeros,
        does not have.

    See Also
    --------
    procrustes : The error that is left.

    Examples
    --------
    >>> align([[0, 0], [2, 0], [0, 4]], [[1, 1], [1, 2], [-1, 1]]).round(12) + 0.0
    array([[0., 0.],
           [2., 0.],
           [0., 4.]])
    """
    target, points = check_pair("truth", truth, embedding)
    check_choice("kind", kind, get_args(Kind))
    return _fit_similarity(target, points) if kind == "similarity" else _fit_affine(target, points)


def _fit_similarity(target: FloatArray, points: FloatArray) -> FloatArray:
    columns = max(target.shape[1], points.shape[1])
    target, points = _pad(target, columns), _pad(points, columns)
    mean = target.mean(axis=0)
    centred = points - points.mean(axis=0)
    left, singular_values, right = svd(centred.T @ (target - mean))
    size = np.sum(centred**2)
    # Points that all coincide are mapped to the mean, the best they can do.
    scale = singular_values.sum() / size if size > 0 else 0.0
    mapped: FloatArray = mean + scale * (centred @ (left @ right))
    return mapped


def _fit_affine(target: FloatArray, points: FloatArray) -> FloatArray:
    mean = target.mean(axis=0)
    centred = points - points.mean(axis=0)
    # The least-norm solution: repeated or constant columns of the embedding do no harm.
    linear, *_ = lstsq(centred, target - mean)
    mapped: FloatArray = mean + centred @ linear
    return mapped


def _pad(points: FloatArray, columns: int) -> FloatArray:
    return np.pad(points, ((0, 0), (0, columns - points.shape[1])))
