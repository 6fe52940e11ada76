"""Dimension by principal components: of all rows together, or of every neighbourhood."""

from collections.abc import Mapping
from math import sqrt
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from unbend.arrays import TIED, BoolArray, FloatArray, IntArray, row_chunks
from unbend.dimension._rows import Rows, distinct_rows, generator
from unbend.dimension._spectra import FAR, block_variances, near_products, nearest_centre
from unbend.dimension.value import PARAMETERS, Curve, Dimension, integer_error
from unbend.docstrings import complete_docstring
from unbend.neighbors import MetricName, PointSpace
from unbend.neighbors.metrics.norms import PNorm
from unbend.neighbors.space import centered_gram
from unbend.validation.random_state import RandomState
from unbend.validation.scalars import check_integer, check_real

# Most rows whose distances are decomposed, where the metric has no coordinates.
CLOUD = 2000
# Most neighbourhoods looked at: those of neighbouring rows are nearly the same.
CENTRES = 2500
# A neighbourhood has one of so many rows, where the user names no number, within these sizes.
SHARE, SIZES = 40, (12, 100)
# Ratios below this, times the number of directions, are rounding.
FLOOR = 1e-14
# Shares of neighbourhoods farther than this from one half do not cross it in another sample.
DECIDED = 0.45
# Values that stand for a normal law.
NORMAL = ndtri((np.arange(16) + 0.5) / 16)
# So many deviations, twice, are never seen.
CERTAIN = 8.0
# In place of zero, where a logarithm is taken.
TINY = float(np.finfo(np.float64).tiny)


@complete_docstring(PARAMETERS)
def pca(
    X: Any,
    *,
    threshold: float = 0.05,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    random_state: RandomState = None,
) -> Dimension:
    r"""Linear dimension: directions with more than a share of the largest variance.

    .. math:: d = \#\{i : \lambda_i > \alpha \lambda_1\}

    with the eigenvalues of the covariance matrix (Fukunaga and Olsen). With another metric than
    the Euclidean distance of some features the eigenvalues are those of classical scaling.

    Parameters
    ----------
    threshold : float
        α. Small ones count noise, large ones leave out short directions.
    random_state : None, int, Generator or RandomState
        Draws the rows whose distances are decomposed where there are more than 2000.

    Returns
    -------
    Dimension
        An integer. The uncertainty counts the eigenvalues that another sample might put on the
        other side of the threshold. `local` is None: this is the dimension of one plane for all
        rows; `local_pca` has one a row. The curve shows λᵢ/λ₁.

    Notes
    -----
    Good is a curve that drops steeply where it crosses the threshold; one that crosses it slowly
    has no linear dimension. It cannot see that data are bent: a curve that winds through ten
    dimensions has linear dimension ten. The result bounds the dimension from above only where the
    threshold is below the variance of every direction, such as 1e-9 for data without noise: with
    the default a box of 10 × 10 × 1 has two dimensions. Rows far from all others are
    left out, and `outliers` counts them.

    References
    ----------
    K. Fukunaga and D. R. Olsen, "An algorithm for finding intrinsic dimensionality of data" (1971).
    Book sections 1.4.1 and 5.1.

    Examples
    --------
    >>> plane = np.random.default_rng(0).normal(size=(500, 2)) @ [[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]
    >>> pca(plane).dimension
    2.0
    """
    share = check_real("threshold", threshold, 0, 1, closed="low")
    rows = distinct_rows(X, metric, metric_params, n_jobs)
    variances, tails, outliers = _spectrum(rows, generator(random_state))
    if not variances[0] > 0:
        raise ValueError("the rows of X do not differ in any direction")
    ratios = variances / variances[0]
    floor = max(share, FLOOR * len(variances))
    dimension = float(np.count_nonzero(_above(ratios, floor)))
    error = _count_error(ratios, floor, sqrt(2 * tails))
    number = np.arange(1.0, len(ratios) + 1)
    line = np.full(len(ratios), floor)
    curve = Curve(number, ratios, "direction", "variance / largest", (1.0, dimension), line)
    return Dimension("pca", dimension, error, None, curve, outliers)


def _above(ratios: FloatArray, floor: float) -> BoolArray:
    """Whether ratios are larger than the floor by more than rounding."""
    return np.asarray(ratios > floor * (1 + TIED))


def _flat(rows: Rows) -> bool:
    """Whether the metric is the Euclidean distance of features."""
    space = rows.space
    if not isinstance(space, PointSpace):
        return False
    norm = space.metric.norm
    return isinstance(norm, PNorm) and norm.p == 2


def _count_error(ratios: FloatArray, floor: float, deviation: float) -> float:
    """Spread of the number of ratios above the floor, where logarithms of variances vary.

    The largest variance is in all ratios, so that they cross the floor together: the spread is
    that given the largest, and that of the mean as the largest varies.
    """
    margins = np.log(np.maximum(ratios[1:], TINY) / floor) / deviation
    if np.abs(margins).min(initial=CERTAIN) >= CERTAIN:
        return 0.0
    above = ndtr(np.add.outer(margins, NORMAL))
    count = above.sum(axis=0)
    given = (count - np.einsum("ij,ij->j", above, above)).mean()
    return sqrt(given + count.var())


def _tails(fourth: float, variances: FloatArray, n: int) -> float:
    """Relative variance of an eigenvalue, over 2: 1/n if rows are Gaussian, more with long tails.

    That is the fourth moment of the lengths by the one they have if Gaussian (of elliptical laws).
    """
    gaussian = float(variances.sum()) ** 2 + 2 * float(variances @ variances)
    return fourth / max(gaussian, TINY) / n


def _spectrum(rows: Rows, rng: np.random.Generator) -> tuple[FloatArray, float, int]:
    """Variances along the principal directions, descending, without outliers; tails; outliers."""
    space = rows.space
    if isinstance(space, PointSpace) and _flat(rows):
        features = np.ascontiguousarray(space.features, dtype=np.float64)
        products, kept, fourth = near_products(features)
        all_rows = len(features)
    else:
        drawn = np.sort(rng.permutation(rows.n)[:CLOUD])
        part = space.take(drawn)
        distances = part.distances_of(part.rows(np.arange(part.n)))
        near = _near(np.median(distances, axis=1))
        products = centered_gram(distances[np.ix_(near, near)][None])[0]
        fourth = float(np.square(products.diagonal()).mean())
        kept, all_rows = len(products), part.n
    values = np.maximum(np.linalg.eigvalsh(products)[::-1][:kept] / kept, 0.0)
    return values, _tails(fourth, values, kept), all_rows - kept


def _near(away: FloatArray) -> BoolArray:
    return np.asarray(away <= FAR * np.median(away))


@complete_docstring(PARAMETERS)
def local_pca(
    X: Any,
    *,
    n_neighbors: int | None = None,
    threshold: float = 0.05,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    random_state: RandomState = None,
) -> Dimension:
    r"""Dimension of the plane near each row: directions with a share of the largest variance.

    Parameters
    ----------
    X : array_like, data frame or Space
        Rows of numbers, or a square matrix of distances with ``metric="precomputed"``, of which
        local coordinates are found by classical scaling.
    n_neighbors : int, optional
        Rows of a neighbourhood besides its centre, several times the dimension; fewer where there
        are fewer rows. By default a fortieth of the rows, from 12 to 100, so that neighbourhoods
        are flat; doubled, up to 100, where the estimate exceeds half of it.
    threshold : float
        α: directions with more than α times the largest variance are counted.
    random_state : None, int, Generator or RandomState
        Draws the neighbourhoods that are looked at where there are more than 2500 rows.

    Returns
    -------
    Dimension
        The median of `local`, an integer at each row; of more than 2500 rows, that of the
        nearest neighbourhood looked at. The uncertainty is that of the median, where
        neighbourhoods that overlap vary together. The curve is the median spectrum of the
        neighbourhoods, λᵢ/λ₁.

    Notes
    -----
    Good is a curve with a steep drop at the threshold. It needs neighbourhoods that are flat, and
    much larger than the noise; curvature adds directions, and `multiscale_svd` separates them by
    their growth. It cannot see more than `n_neighbors` dimensions, and few neighbours for the
    dimension make it too small.

    The default number was chosen on eleven families of curves and surfaces, where a fortieth of
    300, 1000 and 2000 rows was right in 97, 100 and 100 % of the samples, and a tenth in 91 %. On
    thirteen other families and other seeds, those of `unbend.datasets` among them, it was right in
    all of 195 samples without noise (``benchmarks/local_dimension.json``).

    References
    ----------
    K. Fukunaga and D. R. Olsen, "An algorithm for finding intrinsic dimensionality of data" (1971).
    Book section 1.4.1.

    Examples
    --------
    >>> from unbend.datasets import swiss_roll
    >>> found = local_pca(swiss_roll(2000, random_state=0).points)
    >>> found.dimension, found.local.shape
    (2.0, (2000,))
    """
    share = check_real("threshold", threshold, 0, 1, closed="low")
    rows = distinct_rows(X, metric, metric_params, n_jobs)
    centres = np.sort(generator(random_state).permutation(rows.n)[:CENTRES])
    automatic = n_neighbors is None
    k = int(np.clip(rows.n // SHARE, *SIZES)) if n_neighbors is None else n_neighbors
    k = min(check_integer("n_neighbors", k, 2), rows.n - 1)
    while True:
        ratios, near = _spectra(rows, centres, k)
        floor = max(share, FLOOR * ratios.shape[1])
        local = np.sum(_above(ratios, floor), axis=1) * 1.0
        if not automatic or np.median(local) <= k / 2 or k >= min(SIZES[1], rows.n - 1):
            break
        k = min(2 * k, SIZES[1], rows.n - 1)
    dimension = float(np.median(local))
    error = _median_error(local, centres, near, rows.n)
    if len(centres) < rows.n:
        local = local[nearest_centre(rows.space, centres)]
    number = np.arange(1.0, ratios.shape[1] + 1)
    line = np.full(len(number), floor)
    spectrum = np.median(ratios, axis=0)
    curve = Curve(number, spectrum, "direction", "variance / largest", (1.0, dimension), line)
    return Dimension("local_pca", dimension, error, local[rows.copy], curve)


def _spectra(rows: Rows, centres: IntArray, k: int) -> tuple[FloatArray, IntArray]:
    """Variances of neighbourhoods over the largest of each, and the rows that these hold."""
    found, near = [], []
    for chunk in row_chunks(len(centres), 48 * (k + 1) ** 2 + 16 * rows.n):
        blocks, _ = rows.space.nearest_of(rows.space.rows(centres[chunk]), k + 1)
        found.append(block_variances(rows.space, blocks))
        near.append(blocks)
    variances = np.concatenate(found)
    largest = np.maximum(variances[:, :1], np.finfo(float).tiny)
    return variances / largest, np.concatenate(near)


def _median_error(local: FloatArray, centres: IntArray, near: IntArray, n: int) -> float:
    """Spread of the median of integers: it exceeds l where more than half of them do.

    Neighbourhoods share rows, so their numbers vary together, and the variance of a share is the
    mean over all pairs of the product of their deviations. It is zero on average for pairs of
    neighbourhoods that lie apart, which would add nothing but chance.
    """
    place = np.full(n, len(centres))
    place[centres] = np.arange(len(centres))
    sharing = place[near]
    exceeds = []
    for value in range(int(local.max()) + 1):
        above = (local > value) * 1.0
        share = float(above.mean())
        if abs(share - 0.5) > DECIDED:
            exceeds.append(float(share > 0.5))
            continue
        # The last is that of the rows which are no centres.
        deviations = np.append(above - share, 0.0)
        together = deviations[:-1] @ deviations[sharing].sum(axis=1)
        variance = max(together, deviations @ deviations) / len(centres) ** 2
        exceeds.append(float(ndtr((share - 0.5) / np.sqrt(variance))))
    return integer_error(np.array(exceeds))
