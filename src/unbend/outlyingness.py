"""Out-of-distribution scores: how far new samples are from the fitted rows, by local spacing."""

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.neighbors.space import COMPARED
from unbend.report import warn

# Score above which a sample is far outside. At most 0.2 % of held-out rows exceed it in each of the
# families that it was chosen by: normal, uniform, log-normal, Cauchy and Student's t with three
# degrees of freedom, of 1 to 50 columns, clusters of different density, rolls and digits.
FAR = 5.0
# Share of far samples from which on `transform` warns.
SHARE = 0.01


class OutOfDistributionWarning(UserWarning):
    """More than 1 % of the new samples are far outside the fitted rows.

    Examples
    --------
    >>> import warnings
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(500, random_state=0).points
    >>> model = unbend.Isomap(n_neighbors=8).fit(roll)
    >>> with warnings.catch_warnings(record=True) as issued:
    ...     warnings.simplefilter("always")
    ...     _ = model.transform([[1e4, 0.0, 0.0]])
    >>> issued[0].category.__name__
    'OutOfDistributionWarning'
    """


class UndefinedScore(ValueError):
    """The model has no fitted rows, or no distances, to compare new samples with."""


def score_rows(indices: IntArray, distances: FloatArray, spacing: FloatArray) -> FloatArray:
    """Mean distance to the nearest fitted rows over the mean spacing of these.

    Parameters
    ----------
    indices, distances : array (m, k)
        The nearest fitted rows of each sample, infinitely far where unknown; five are compared.
    spacing : array (n,)
        Mean distance of each fitted row to its nearest others.

    Returns
    -------
    array (m,)
        Zero where both are zero.

    Examples
    --------
    >>> import numpy as np
    >>> score_rows(np.array([[0, 1]]), np.array([[3.0, 5.0]]), np.array([1.0, 1.0]))
    array([4.])
    """
    near = distances[:, :COMPARED]
    known = np.isfinite(near)
    far = np.where(known, near, 0.0).sum(axis=1)
    local = np.where(known, spacing[indices[:, :COMPARED]], 0.0).sum(axis=1)
    ratios = np.divide(far, local, out=np.full(len(far), np.inf), where=local > 0)
    return np.where(far > 0, ratios, 0.0)


def warn_outliers(scores: FloatArray) -> None:
    """Warn if more than 1 % of new samples are far outside the fitted rows."""
    far = np.flatnonzero(scores > FAR)
    if len(far) > SHARE * len(scores):
        warn(
            f"{len(far)} of {len(scores)} new samples are far outside the fitted rows (sample "
            f"{far[0]} is {scores[far[0]]:.3g} times as far from the nearest ones as these are "
            "from each other), so their coordinates are extrapolated. Score each sample by "
            "outlyingness(X), and drop those above 5.",
            OutOfDistributionWarning,
        )
