"""Thresholds on distances, learnt from classes that are held out in turn."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.recognition.examples import Examples
from unbend.report import note, warn


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Distances of held-out samples, and how many independent groups these are."""

    residuals: FloatArray
    within: FloatArray
    scores: FloatArray
    groups: int


def hold_out(
    rows: FloatArray,
    codes: IntArray,
    most_folds: int,
    fit: Callable[[FloatArray, IntArray], Examples],
    rng: np.random.Generator,
) -> HeldOut:
    """Hold out classes, or samples where there is one class, and measure their distances.

    `fit` makes examples of the rows that are left; their codes number the classes without gaps.
    """
    members = codes if codes.max() > 0 else np.arange(len(codes))
    count = int(members.max()) + 1
    folds = min(most_folds, count)
    group = rng.permutation(count)[members] % folds
    residuals, within, scores = np.empty((3, len(rows)))
    for fold in range(folds):
        out = group == fold
        part = fit(rows[~out], np.unique(codes[~out], return_inverse=True)[1])
        residuals[out] = part.subspace_distance(rows[out])
        within[out] = part.within_distance(rows[out])
        scores[out] = part.search(rows[out])[2]
    note(folds=folds, held_out="classes" if members is codes else "samples")
    return HeldOut(residuals, within, scores, count)


def false_acceptance_threshold(values: FloatArray, rate: float, groups: int) -> float:
    """Threshold below which a share `rate` of new values falls, at most, in the mean.

    Below the r-th smallest of n independent values fall r/(n + 1) of all, so the quantile of the
    sample is taken at a lower level, down to the smallest value.
    """
    least = 1 / (groups + 1)
    if rate < least:
        warn(
            f"{groups} classes are too few to learn a threshold that accepts only {rate:.2g} of "
            f"new classes: about {least:.2g} may be accepted. Pass at least "
            f"{int(np.ceil(1 / rate)) - 1} classes, a larger false_acceptance, or "
            "example_threshold."
        )
    return _quantile(values, rate, groups)


def acceptance_threshold(values: FloatArray, rate: float, groups: int) -> float:
    """Threshold above which a share `rate` of new values lies; the largest value, of few groups."""
    return _quantile(values, 1 - rate, groups)


def _quantile(values: FloatArray, share: float, groups: int) -> float:
    level = (share * (groups + 1) - 1) / max(groups - 1, 1)
    return float(np.quantile(values, min(max(level, 0.0), 1.0)))
