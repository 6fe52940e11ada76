"""Derivatives of an embedding: lengths, angles, densities and noise, at each point."""

import numpy as np
from numpy.typing import ArrayLike

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.docstrings import complete_docstring
from unbend.neighbors import PointSpace
from unbend.quality._spaces import PARAMETERS, check_pair, nearest_others
from unbend.quality.measure import (
    Measure,
    jackknife_error,
    mean_measure,
    root_mean_square,
    sample_rows,
)
from unbend.report import stage
from unbend.validation.scalars import check_neighbors

# Directions of a neighbourhood shorter than this share of the longest one have no derivative.
FLAT = 1e-10


@complete_docstring(PARAMETERS)
def local_isometry_error(
    chart: ArrayLike,
    embedding: ArrayLike,
    *,
    n_neighbors: int = 10,
    scaled: bool = True,
    max_rows: int | None = None,
    random_state: int = 0,
) -> Measure:
    r"""How far the map from the true chart to the embedding changes lengths, point by point.

    At each point the derivative J is fitted to the k nearest in the chart; G = J'J is the metric
    that the embedding has there. With s the best scale for all points,

    .. math:: \sqrt{\frac{1}{n} \sum_i e_i^2}, \quad e_i = \|s G_i - I\|_F / \sqrt{d}

    It is 0 where the embedding is the chart, moved and scaled, even if only piece by piece; below
    0.1 lengths are right to a few percent; 1 is the worst where the best scale is taken. It sees
    what a linear map between the two would hide from `procrustes` of kind "affine". It cannot
    see tears and folds, at which few points lie, nor pieces that lie on each other.

    Parameters
    ----------
    chart : array_like of shape (n, d)
        The true coordinates, isometric to the surface.
    embedding : array_like of shape (n, p)
        The coordinates found, in the same order.
    n_neighbors : int
        Points from which each derivative is fitted, at least d.
    scaled : bool
        Whether one scale for all points is free.

    Returns
    -------
    Measure
        At least 0; `local` are the :math:`e_i`.

    References
    ----------
    Y. Goldberg and Y. Ritov, "Local Procrustes for manifold embedding", Machine Learning 77
    (2009), for the idea.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(500, random_state=0)
    >>> local_isometry_error(roll.chart, -3 * roll.chart) < 1e-10
    True
    """
    truth, coordinates = check_pair("chart", chart, embedding)
    n, d = truth.shape
    k = check_neighbors(n_neighbors, n, low=d)
    rows = sample_rows(n, max_rows, random_state)
    metric = pullback_metric(truth, coordinates, rows, k, d)
    traces, squares = np.trace(metric, axis1=1, axis2=2), np.sum(metric**2, axis=(1, 2))
    free = scaled and squares.sum() > 0
    scale = float(traces.sum() / squares.sum()) if free else 1.0
    local = np.linalg.norm(scale * metric - np.eye(d), axis=(1, 2)) / np.sqrt(d)
    measure = root_mean_square(local, rows, n)
    if not free:
        return measure
    # The scale depends on the sample too. With the best one the square is 1 − (Σ tr G)²/(md Σ|G|²).
    left = (traces.sum() - traces) ** 2 / np.maximum(squares.sum() - squares, np.finfo(float).tiny)
    without = np.sqrt(np.maximum(1 - left / (max(len(rows) - 1, 1) * d), 0.0))
    return Measure(float(measure), local, rows, jackknife_error(without, n))


@complete_docstring(PARAMETERS)
def conformality_error(
    chart: ArrayLike,
    embedding: ArrayLike,
    *,
    n_neighbors: int = 10,
    max_rows: int | None = None,
    random_state: int = 0,
) -> Measure:
    r"""How far the map from the true chart to the embedding changes angles, point by point.

    .. math:: \frac{1}{n} \sum_i \Bigl(1 - \frac{(\mathrm{tr}\, G_i)^2}{d\, \mathrm{tr}\, G_i^2}
        \Bigr)

    with G as in `local_isometry_error`. It is 0 where small circles stay circles, of whatever
    size, and 1 − 1/d where they become lines; a point whose neighbours fall together counts as 1.
    Below 0.05 the axes of the ellipses differ by less than about 1.6. It cannot see changes of
    size (`density_distortion` does), and at d = 1 it is always 0.

    Parameters
    ----------
    chart : array_like of shape (n, d)
        The true coordinates.
    embedding : array_like of shape (n, p)
        The coordinates found, in the same order.
    n_neighbors : int
        Points from which each derivative is fitted, at least d.

    Returns
    -------
    Measure
        Between 0 and 1, with its `local` values.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.random.default_rng(0).uniform(1, 2, (2000, 2)) @ [1, 1j]
    >>> plane, squared = np.c_[z.real, z.imag], np.c_[(z**2).real, (z**2).imag]
    >>> conformality_error(plane, squared) < 1e-3 < local_isometry_error(plane, squared)
    True
    """
    truth, coordinates = check_pair("chart", chart, embedding)
    n, d = truth.shape
    k = check_neighbors(n_neighbors, n, low=d)
    rows = sample_rows(n, max_rows, random_state)
    metric = pullback_metric(truth, coordinates, rows, k, d)
    traces, squares = np.trace(metric, axis1=1, axis2=2), np.sum(metric**2, axis=(1, 2))
    round_part = np.divide(traces**2, d * squares, out=np.zeros_like(traces), where=squares > 0)
    return mean_measure(np.clip(1 - round_part, 0.0, 1.0), rows, n)


@complete_docstring(PARAMETERS)
def density_distortion(
    X: ArrayLike,
    embedding: ArrayLike,
    *,
    n_neighbors: int = 10,
    max_rows: int | None = None,
    random_state: int = 0,
) -> Measure:
    r"""How unevenly the embedding changes density.

    .. math:: \mathrm{std}_i \; d \log \frac{r_i(\mathrm{embedding})}{r_i(X)}

    with r the root mean square distance of the k nearest, in the data and in the embedding each
    for itself, and d the columns of the embedding: the spread of the logarithm of what happens to
    volumes. It is 0 where the density of the points is kept up to one factor; 0.7 means that
    volumes typically change by a factor of two more or less than elsewhere. `local` is positive
    where points were spread apart and negative where they were pressed together, so that a blank
    or a crowd in the picture can be told from one in the data. It cannot see who the neighbours
    are, and on data of more dimensions than the embedding it mostly shows noise.

    Parameters
    ----------
    n_neighbors : int
        The number k, less than n.

    Returns
    -------
    Measure
        At least 0; `local` has mean 0.

    References
    ----------
    A. Narayan, B. Berger and H. Cho, "Assessing single-cell transcriptomic variability through
    density-preserving data visualization", Nature Biotechnology 39 (2021), for local radii.

    Examples
    --------
    >>> import unbend
    >>> sheet = unbend.datasets.square(300, random_state=0)
    >>> density_distortion(sheet.points, 5 * sheet.chart) < 1e-9
    True
    """
    data, coordinates = check_pair("X", X, embedding)
    k = check_neighbors(n_neighbors, len(data), low=1)
    rows = sample_rows(len(data), max_rows, random_state)
    with stage("neighbors"):
        before, after = _log_radii(data, rows, k), _log_radii(coordinates, rows, k)
    local = coordinates.shape[1] * (after - before)
    return root_mean_square(local - local.mean(), rows, len(data))


@complete_docstring(PARAMETERS)
def noise_amplification(
    X: ArrayLike,
    embedding: ArrayLike,
    *,
    n_neighbors: int = 10,
    scaled: bool = False,
    max_rows: int | None = None,
    random_state: int = 0,
) -> Measure:
    r"""How much the embedding amplifies noise: :math:`\|dh\|^2` at each point (book (4.5)).

    If noise of variance :math:`\sigma^2` is added to a point, its coordinates move by at most
    :math:`\|dh\|^2 \sigma^2` in the mean square, with dh the derivative of the coordinates along
    the data's tangent plane, here fitted to the k nearest. The value is the mean over the points,
    which bounds the noise of the whole embedding for noise that is the same everywhere;
    ``local.max()`` is the book's bound for any noise.

    With ``scaled=True`` it is 1 for an isometry and larger the more unevenly directions and places
    are stretched; 2 is fair and 10 means that some coordinates are mostly noise. It is a bound to
    first order: it cannot see noise large enough to change who is a neighbour.

    Parameters
    ----------
    n_neighbors : int
        Points from which each derivative is fitted, at least d.
    scaled : bool
        Whether to divide by the mean squared stretch, so that units do not matter.

    Returns
    -------
    Measure
        At least 0; `local` are the squared norms.

    Examples
    --------
    >>> import unbend
    >>> sheet = unbend.datasets.square(500, random_state=0)
    >>> stretched = sheet.chart * [3.0, 1.0]
    >>> round(noise_amplification(sheet.points, stretched), 6)
    9.0
    """
    data, coordinates = check_pair("X", X, embedding)
    d = min(coordinates.shape[1], data.shape[1])
    k = check_neighbors(n_neighbors, len(data), low=d)
    rows = sample_rows(len(data), max_rows, random_state)
    metric = pullback_metric(data, coordinates, rows, k, d)
    local = np.linalg.eigvalsh(metric)[:, -1].clip(min=0.0)
    typical = float(np.trace(metric, axis1=1, axis2=2).mean()) / d
    if scaled and typical > 0:
        local = local / typical
    return mean_measure(local, rows, len(data))


def _log_radii(points: FloatArray, rows: IntArray, k: int) -> FloatArray:
    others = nearest_others(PointSpace(points), rows, k)
    squares = np.empty(len(rows))
    for part in row_chunks(len(rows), 16 * k * points.shape[1]):
        away = points[others[part]] - points[rows[part], None]
        squares[part] = np.mean(np.sum(away**2, axis=2), axis=1)
    radius = np.sqrt(squares)
    # Points with k copies have no radius: they get the smallest there is.
    least = float(radius[radius > 0].min(initial=np.inf))
    return np.asarray(np.log(np.maximum(radius, least if np.isfinite(least) else 1.0)))


def pullback_metric(
    points: FloatArray, values: FloatArray, rows: IntArray, k: int, d: int
) -> FloatArray:
    """J'J (m, d, d) of the linear maps that fit the values best around each point.

    Along the d principal directions of each neighbourhood; zero in those that it does not have.
    """
    with stage("neighbors"):
        neighbors = nearest_others(PointSpace(points), rows, k)
    metric = np.empty((len(rows), d, d))
    for part in row_chunks(len(rows), 64 * k * (points.shape[1] + values.shape[1])):
        block = np.column_stack((rows[part], neighbors[part]))
        local, images = _center(points, block), _center(values, block)
        left, lengths, right = np.linalg.svd(local, full_matrices=False)
        reach = lengths[:, :1] * FLAT
        inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > reach)
        slopes = (left.mT @ images) * inverse[:, :, None]
        slopes = slopes[:, :d]
        found = slopes @ slopes.mT
        if d == points.shape[1]:
            # All directions are there: back to those of the points themselves.
            found = right.mT @ found @ right
        metric[part] = found
    return metric


def _center(points: FloatArray, block: IntArray) -> FloatArray:
    local = points[block]
    return np.asarray(local - local.mean(axis=1, keepdims=True))
