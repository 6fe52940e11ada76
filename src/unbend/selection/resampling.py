"""Stability of an embedding under resampling of the rows."""

import warnings
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from unbend.arrays import FloatArray
from unbend.progress import advance, monitoring
from unbend.quality import Measure, align
from unbend.selection.inputs import check_estimator, check_points
from unbend.validation.random_state import generator
from unbend.validation.scalars import check_integer, check_real


def stability(
    estimator: Any,
    X: Any,
    *,
    n_resamples: int = 10,
    share: float = 0.8,
    kind: Literal["similarity", "affine"] = "similarity",
    random_state: int = 0,
) -> Measure:
    r"""Fit to parts of the rows again and again, and see how far the points move.

    Each fit to a share of the rows, drawn at random, is aligned with the fit to all of them;
    a point's spread is the root mean square of how far it lies off, over the parts it is in, in
    units of the root mean square radius of the embedding.

    Below 0.05 the picture does not depend on the sample; above 0.3 parts of it are chance, and
    `local` shows which. Stable is not right: PCA of a roll is stable and wrong. Vectors of
    nearly equal eigenvalues turn among themselves, which the alignment forgives; two that change
    places with one left out it does not, and should not.

    Parameters
    ----------
    estimator : estimator
        Fitted or not; it is cloned.
    X : array (n, D)
        Points.
    n_resamples : int
        Number of parts.
    share : float
        Share of the rows in each, below 1.
    kind : {"similarity", "affine"}
        What the alignment forgives; "affine" suits methods that give vectors of unit length.
    random_state : int
        Seed of the drawing.

    Returns
    -------
    Measure
        Root mean square of the spreads; `local` has that of each point, zero for one that was in
        no part.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(500, random_state=0)
    >>> stability(unbend.PCA(), roll.points, n_resamples=5) < 0.1
    True
    """
    whole, places = _resample(estimator, X, n_resamples, share, kind, random_state)
    radius = float(np.sqrt(np.mean(np.sum((whole - whole.mean(axis=0)) ** 2, axis=1))))
    squares = np.nansum(np.sum((places - whole) ** 2, axis=2), axis=0)
    times = np.isfinite(places[:, :, 0]).sum(axis=0)
    mean = np.divide(squares, times, out=np.zeros(len(whole)), where=times > 0)
    local = np.sqrt(mean) / (radius or 1.0)
    return Measure(float(np.sqrt(squares.sum() / times.sum())) / (radius or 1.0), local)


def resample(
    estimator: Any,
    X: Any,
    *,
    n_resamples: int = 10,
    share: float = 0.8,
    kind: Literal["similarity", "affine"] = "similarity",
    random_state: int = 0,
) -> FloatArray:
    """Fit to parts of the rows again and again, and return where the points fell.

    Parameters
    ----------
    estimator, X, n_resamples, share, kind, random_state
        As for `stability`, which sums this up.

    Returns
    -------
    array (n_resamples, n, p)
        Embeddings of the parts, aligned with that of all rows; NaN for rows not in the part.

    Examples
    --------
    >>> import unbend
    >>> curve = unbend.datasets.s_curve(200, random_state=0).points
    >>> places = resample(unbend.PCA(), curve, n_resamples=3, share=0.5)
    >>> places.shape, int(np.isnan(places[0, :, 0]).sum())
    ((3, 200, 2), 100)
    """
    return _resample(estimator, X, n_resamples, share, kind, random_state)[1]


def _resample(
    estimator: Any, X: Any, n_resamples: int, share: float, kind: Any, random_state: int
) -> tuple[FloatArray, FloatArray]:
    """Return the embedding of all rows, and those of the parts, aligned with it."""
    check_real("share", share, 0, 1, closed="neither")
    check_integer("n_resamples", n_resamples, 2)
    check_estimator("estimator", estimator)
    points = check_points(X)
    n, rng = len(points), generator(random_state, None)
    whole = _fit(estimator, points)
    places = np.full((n_resamples, *whole.shape), np.nan)
    # The fit of all rows warned; those of parts would repeat it.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(n_resamples):
            advance("stability", number, n_resamples)
            rows = np.sort(rng.choice(n, max(3, int(share * n)), replace=False))
            places[number, rows] = align(whole[rows], _fit(estimator, points[rows]), kind=kind)
    advance("stability", n_resamples, n_resamples)
    return whole, places


def _fit(estimator: Any, points: FloatArray) -> FloatArray:
    # The stages of the fits would drown the progress of the whole.
    with monitoring(lambda progress: None):
        return np.asarray(clone(estimator).fit(points).embedding_, dtype=np.float64)
