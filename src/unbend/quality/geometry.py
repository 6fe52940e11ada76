"""Derivatives of an embedding: lengths, angles, densities and noise, at each point."""

import numpy as np
from numpy.typing import ArrayLike

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.neighbors import PointSpace
from unbend.quality._checks import checked_count, checked_pair
from unbend.quality._ranks import nearest_others
from unbend.quality.measure import Measure, mean_measure
from unbend.report import stage

# Directions of a neighbourhood shorter than this share of the longest one have no derivative.
FLAT = 1e-10


def local_isometry_error(
    chart: ArrayLike, embedding: ArrayLike, *, n_neighbors: int = 10, scaled: bool = True
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
    metric = _chart_metric(chart, embedding, n_neighbors)
    d = metric.shape[1]
    traces, squares = np.trace(metric, axis1=1, axis2=2), np.sum(metric**2, axis=(1, 2))
    scale = 1.0
    if scaled and squares.sum() > 0:
        scale = float(traces.sum() / squares.sum())
    local = np.linalg.norm(scale * metric - np.eye(d), axis=(1, 2)) / np.sqrt(d)
    return Measure(float(np.sqrt(np.mean(local**2))), local)


def conformality_error(chart: ArrayLike, embedding: ArrayLike, *, n_neighbors: int = 10) -> Measure:
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
    metric = _chart_metric(chart, embedding, n_neighbors)
    d = metric.shape[1]
    traces, squares = np.trace(metric, axis1=1, axis2=2), np.sum(metric**2, axis=(1, 2))
    round_part = np.divide(traces**2, d * squares, out=np.zeros_like(traces), where=squares > 0)
    local = np.clip(1 - round_part, 0.0, 1.0)
    return mean_measure(local, np.arange(len(local)), len(local))


def density_distortion(X: ArrayLike, embedding: ArrayLike, *, n_neighbors: int = 10) -> Measure:
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
    X : array_like of shape (n, D)
        The data.
    embedding : array_like of shape (n, d)
        Its coordinates, in the same order.
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
    data, coordinates = checked_pair("X", X, embedding)
    k = _checked_neighbors(n_neighbors, 1, len(data))
    with stage("neighbors"):
        before, after = _log_radii(data, k), _log_radii(coordinates, k)
    local = coordinates.shape[1] * (after - before)
    local -= local.mean()
    return Measure(float(local.std()), local)


def noise_amplification(
    X: ArrayLike, embedding: ArrayLike, *, n_neighbors: int = 10, scaled: bool = False
) -> Measure:
    r"""How much the embedding magnifies noise: :math:`\|dh\|^2` at each point (book (4.5)).

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
    X : array_like of shape (n, D)
        The data.
    embedding : array_like of shape (n, d)
        Its coordinates, in the same order.
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
    data, coordinates = checked_pair("X", X, embedding)
    d = min(coordinates.shape[1], data.shape[1])
    k = _checked_neighbors(n_neighbors, d, len(data))
    metric = _metric(data, coordinates, k, d)
    local = np.linalg.eigvalsh(metric)[:, -1].clip(min=0.0)
    typical = float(np.trace(metric, axis1=1, axis2=2).mean()) / d
    if scaled and typical > 0:
        local = local / typical
    return mean_measure(local, np.arange(len(local)), len(local))


def _chart_metric(chart: ArrayLike, embedding: ArrayLike, n_neighbors: int) -> FloatArray:
    truth, coordinates = checked_pair("chart", chart, embedding)
    d = truth.shape[1]
    return _metric(truth, coordinates, _checked_neighbors(n_neighbors, d, len(truth)), d)


def _checked_neighbors(value: object, least: int, n: int) -> int:
    k = checked_count("n_neighbors", value)
    if not least <= k < n:
        raise ValueError(f"n_neighbors must lie between {least} and {n - 1}, but it is {k}.")
    return k


def _metric(points: FloatArray, values: FloatArray, k: int, d: int) -> FloatArray:
    """J'J (n, d, d) of the linear maps that fit the values best around each point.

    Along the d principal directions of each neighbourhood; zero in those that it does not have.
    """
    n = len(points)
    with stage("neighbors"):
        neighbors = nearest_others(points, np.arange(n), k, 1)
    metric = np.empty((n, d, d))
    for part in row_chunks(n, 64 * k * (points.shape[1] + values.shape[1])):
        block = np.column_stack((np.arange(part.start, part.stop), neighbors[part]))
        local, images = _centred(points, block), _centred(values, block)
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


def _centred(points: FloatArray, block: IntArray) -> FloatArray:
    local = points[block]
    return np.asarray(local - local.mean(axis=1, keepdims=True))


def _log_radii(points: FloatArray, k: int) -> FloatArray:
    distances = PointSpace(points).nearest(k).distances.reshape(-1, k)
    radius = np.sqrt(np.mean(distances**2, axis=1))
    # Points with k copies have no radius: they get the smallest there is.
    least = float(radius[radius > 0].min(initial=np.inf))
    return np.asarray(np.log(np.maximum(radius, least if np.isfinite(least) else 1.0)))
