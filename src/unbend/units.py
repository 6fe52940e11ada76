"""Whether the columns of a table share one unit, so that their spreads may be compared."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray
from unbend.validation.arrays import LEAST_ROWS, column_deviations, sampling_step

# Standard deviations within this factor count as one unit.
FACTOR = 10.0
# Columns from which a table may be an image or a document-term matrix, or a spectrum.
PIXELS, CHANNELS = 16, 20
# A table stays an image, spectrum or document-term matrix beside one other column in so many.
FEW_OTHERS = 10
# A document-term matrix has at least this share of zeros.
ZEROS = 0.6
# Neighbouring channels of a spectrum: correlation at least, and change of log spread at most.
CORRELATED, SMOOTH = 0.9, 0.2
# After robust scaling medians are zero and interquartile ranges equal, within these shares of one.
CENTRED, EQUAL = 0.1, 0.25
# Share of the variance above which a column hides all others: of a table, and of points in a plane
# or in space, where an object may be thirty times as long as it is wide.
SHARE, POINT_SHARE = 0.9, 0.999
# Names of coordinates in a plane or in space.
COORDINATE = re.compile(r"[xyzuvw]?_?\d*", re.IGNORECASE)


class ScaleWarning(UserWarning):
    """One column holds nearly all of the variance of X: columns have different units.

    Estimators issue it when fitted, and never rescale X themselves. `unbend.Prepare` does, where
    columns differ in units; if the spreads are meant, filter the warning by this category.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import unbend
    >>> X = np.random.default_rng(0).normal(size=(100, 4)) * [1, 1, 1000, 1]
    >>> with warnings.catch_warnings(record=True) as issued:
    ...     warnings.simplefilter("always")
    ...     _ = unbend.PCA().fit(X)
    >>> issued[0].category.__name__
    'ScaleWarning'
    """


@dataclass(frozen=True)
class ScaleDecision:
    """The scaling chosen for a table and the reason, in one line.

    Attributes
    ----------
    scale : {"none", "standard"}
    reason : str

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> table = {"size": ["low", "high", "low"], "price": [1.0, np.nan, 3.0]}
    >>> unbend.Prepare(missing="median").fit(table).scale_
    'standard'
    """

    scale: str
    reason: str


def decide_scale(
    values: FloatArray, names: Sequence[str], other_columns: Sequence[str] = ()
) -> ScaleDecision:
    """Decide whether numeric columns are standardised.

    Columns are standardised if their standard deviations differ by more than a factor of ten,
    unless the table is an image, a spectrum, a document-term matrix or an embedding, whose columns
    share one unit.

    Parameters
    ----------
    values : array (n, p)
        Numeric columns, without NaN.
    names : sequence of str
        Their names.
    other_columns : sequence of str
        Categories and dates of the same table: these share no unit with numbers.

    Returns
    -------
    ScaleDecision

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> decision = decide_scale(rng.normal(size=(100, 2)) * [1, 1000], ["height", "salary"])
    >>> decision.scale, decision.reason
    ('standard', "standard deviations range from 0.97 ('height') to 945 ('salary'): units differ")
    """
    if values.shape[1] == 0:
        return ScaleDecision("standard", "no column is numeric")
    spreads = values.std(axis=0)
    few = FEW_OTHERS * len(other_columns) <= values.shape[1]
    if other_columns and few and (shared := _shared_unit(values, spreads, names)):
        return ScaleDecision("none", shared)
    if other_columns:
        return ScaleDecision(
            "standard", f"{other_columns[0]!r} is not numeric and shares no unit with numbers"
        )
    varying = np.flatnonzero(spreads > 0)
    if len(varying) < 2:
        return ScaleDecision("none", "one numeric column")
    low = varying[np.argmin(spreads[varying])]
    high = varying[np.argmax(spreads[varying])]
    if spreads[high] <= FACTOR * spreads[low]:
        return ScaleDecision(
            "none",
            f"standard deviations agree within a factor of {spreads[high] / spreads[low]:.2g}",
        )
    shared = _shared_unit(values, spreads, names)
    if shared:
        return ScaleDecision("none", shared)
    return ScaleDecision(
        "standard",
        f"standard deviations range from {spreads[low]:.2g} ({names[low]!r}) to "
        f"{spreads[high]:.3g} ({names[high]!r}): units differ",
    )


def find_dominant_column(
    values: FloatArray, names: Sequence[str] = (), deviations: FloatArray | None = None
) -> tuple[int, float] | None:
    """Find a column that hides all others because its unit differs.

    It holds more than 90 % of the variance, and `decide_scale` would standardise the columns. Two
    or three columns without names, or named as coordinates are, may be points of an object whose
    extents merely differ: there it holds more than 99.9 %. Large tables are judged by a sample of
    evenly spaced rows.

    Parameters
    ----------
    values : array (n, p)
        Columns, without NaN.
    names : sequence of str
        Their names, if they have any.
    deviations : array (p,), optional
        Their `column_deviations`, where these are known.

    Returns
    -------
    tuple of int and float, or None
        The column, and its share of the variance.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 4)) * [1, 1, 1000, 1]
    >>> find_dominant_column(X)[0]
    2
    """
    n, p = values.shape
    if p < 2:
        return None
    variances = column_deviations(values) if deviations is None else deviations
    column = int(variances.argmax())
    share = float(variances[column] / max(variances.sum(), 1e-300))
    in_space = p <= 3 and all(COORDINATE.fullmatch(name) for name in names)
    if share <= (POINT_SHARE if in_space else SHARE):
        return None
    labels = list(names) or ["column"] * p
    some = values[:: sampling_step(n, p)].astype(np.float64, copy=False)
    return (column, share) if decide_scale(some, labels).scale == "standard" else None


def _shared_unit(values: FloatArray, spreads: FloatArray, names: Sequence[str]) -> str:
    """Name the kind of data whose columns share a unit, or return an empty string."""
    p = values.shape[1]
    if p >= CHANNELS and _is_counts(values):
        return "a document-term matrix: columns share one unit"
    if p >= PIXELS and _is_image(values):
        return "pixels: columns share one range"
    if p >= CHANNELS and (_is_axis(names) or _is_spectrum(values, spreads)):
        return "a spectrum or series: columns share one unit"
    if p >= 2 and _is_scores(values, spreads):
        return "an embedding: spreads carry meaning"
    if p >= 2 and _is_robust(values):
        return "scaled by quartiles already: columns share one scale"
    return ""


def _is_counts(values: FloatArray) -> bool:
    return bool(values.min() >= 0 and np.mean(values == 0) >= ZEROS)


def _is_image(values: FloatArray) -> bool:
    """Whether at least half of the columns reach half of one common bound, from one lower bound."""
    lowest, highest = values.min(axis=0), values.max(axis=0)
    bound = highest.max()
    return bool(
        values.min() >= 0
        and np.mean(highest >= bound / 2) >= 0.5
        and np.mean(lowest <= 0.1 * bound) >= 0.9
    )


def _is_axis(names: Sequence[str]) -> bool:
    """Whether the names are ascending numbers, as wavelengths and times are."""
    try:
        places = np.array([float(name) for name in names])
    except ValueError:
        return False
    return bool(np.all(np.diff(places) > 0))


def _is_spectrum(values: FloatArray, spreads: FloatArray) -> bool:
    """Whether neighbouring columns are alike: correlated, of similar spread."""
    if not spreads.all() or np.median(np.abs(np.diff(np.log(spreads)))) > SMOOTH:
        return False
    standard = (values - values.mean(axis=0)) / spreads
    correlation = np.mean(standard[:, 1:] * standard[:, :-1], axis=0)
    return bool(np.median(correlation) >= CORRELATED)


def _is_scores(values: FloatArray, spreads: FloatArray) -> bool:
    """Whether columns are scores of PCA: centred, uncorrelated, of descending spread."""
    varying = spreads > 0
    z, s = values[:, varying], spreads[varying]
    if np.any(np.diff(s) > 0) or np.any(np.abs(z.mean(axis=0)) > 1e-6 * s):
        return False
    standard = z / s
    correlation = standard.T @ standard / len(z) - np.eye(len(s))
    return bool(np.abs(correlation).max() <= 1e-6)


def _is_robust(values: FloatArray) -> bool:
    """Whether columns were scaled by their quartiles: outliers make variances differ, not units."""
    # Quartiles of a few rows rule out nearly all tables, and cost little.
    some = np.percentile(values[:: -(-len(values) // LEAST_ROWS)], [25, 75], axis=0)
    extents = np.diff(some, axis=0)
    if extents.max() > FACTOR * np.min(extents[extents > 0], initial=np.inf):
        return False
    low, median, high = np.percentile(values, [25, 50, 75], axis=0)
    ranges = high - low
    wide = ranges > 0
    return bool(
        wide.sum() >= 2
        and ranges.max() <= (1 + EQUAL) * ranges[wide].min()
        and np.all(np.abs(median[wide]) <= CENTRED * ranges[wide])
    )
