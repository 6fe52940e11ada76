"""Whether the columns of a table share one unit, so that their spreads may be compared."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray

# Standard deviations within this factor count as one unit.
FACTOR = 10.0
# Columns from which a table may be an image or a document-term matrix, or a spectrum.
PIXELS, CHANNELS = 16, 20
# A document-term matrix has at least this share of zeros.
ZEROS = 0.6
# Neighbouring channels of a spectrum: correlation at least, and change of log spread at most.
CORRELATED, SMOOTH = 0.9, 0.2


@dataclass(frozen=True)
class ScaleDecision:
    """The scaling chosen for a table and the reason, in one line.

    Attributes
    ----------
    scale : {"none", "standard"}
    reason : str
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
        return ScaleDecision("standard", "no numeric columns")
    if other_columns:
        return ScaleDecision(
            "standard", f"{other_columns[0]!r} is not numeric and shares no unit with numbers"
        )
    spreads = values.std(axis=0)
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


def _shared_unit(values: FloatArray, spreads: FloatArray, names: Sequence[str]) -> str:
    """Name the kind of data whose columns share a unit, or return an empty string."""
    p = values.shape[1]
    series = "a spectrum or series: columns share one unit"
    tests = (
        (p >= CHANNELS and _is_counts(values), "a document-term matrix: columns share one unit"),
        (p >= PIXELS and _is_image(values), "pixels: columns share one range"),
        (p >= CHANNELS and (_is_axis(names) or _is_spectrum(values, spreads)), series),
        (p >= 2 and _is_scores(values, spreads), "an embedding: spreads carry meaning"),
    )
    return next((name for holds, name in tests if holds), "")


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
    varying = spreads > 0
    if not varying.all():
        return False
    standard = (values - values.mean(axis=0)) / spreads
    correlation = np.mean(standard[:, 1:] * standard[:, :-1], axis=0)
    return bool(
        np.median(correlation) >= CORRELATED
        and np.median(np.abs(np.diff(np.log(spreads)))) <= SMOOTH
    )


def _is_scores(values: FloatArray, spreads: FloatArray) -> bool:
    """Whether columns are scores of PCA: centred, uncorrelated, of descending spread."""
    varying = spreads > 0
    z, s = values[:, varying], spreads[varying]
    if np.any(np.diff(s) > 0) or np.any(np.abs(z.mean(axis=0)) > 1e-6 * s):
        return False
    standard = z / s
    correlation = standard.T @ standard / len(z) - np.eye(len(s))
    return bool(np.abs(correlation).max() <= 1e-6)
