"""Rows that come some at a time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from unbend.arrays import FloatArray
from unbend.estimators.inputs import rows_of_numbers
from unbend.report import step
from unbend.validation.arrays import check_scale


@dataclass(frozen=True, eq=False)
class Batches:
    """Rows that can be gone through again; the number of them, their type and their mean."""

    source: Iterable[Any]
    estimator: BaseEstimator
    n: int
    dtype: np.dtype[Any]
    mean: FloatArray

    def __iter__(self) -> Iterator[FloatArray]:
        """Give the rows of each batch in double precision."""
        done = 0
        for rows in _checked(self.estimator, self.source, reset=False):
            done += len(rows)
            yield rows.astype(np.float64, copy=False)
            step(min(done, self.n), self.n)
        if done != self.n:
            raise ValueError(
                f"the batches had {self.n} rows when first gone through and {done} now: pass "
                "something that gives the same rows every time, as a list or unbend.io.batches"
            )


def open_batches(estimator: BaseEstimator, source: Iterable[Any]) -> Batches:
    """Go through all batches once: check them, count their rows and find their mean."""
    if iter(source) is source:
        raise TypeError(
            "batches are gone through more than once, and an iterator can only be once: pass a "
            "list, or unbend.io.batches"
        )
    n, largest, total = 0, 0.0, np.zeros(1)
    types = set()
    for rows in _checked(estimator, source, reset=True):
        n += len(rows)
        largest = max(largest, float(np.abs(rows).max(initial=0.0)))
        total = total + rows.sum(axis=0, dtype=np.float64)
        types.add(rows.dtype)
    if n < 2:
        raise ValueError(f"the batches have {n} rows together and at least 2 are needed")
    check_scale(largest)
    dtype = types.pop() if len(types) == 1 else np.dtype(np.float64)
    return Batches(source, estimator, n, dtype, total / n)


def _checked(estimator: BaseEstimator, source: Iterable[Any], reset: bool) -> Iterator[FloatArray]:
    for batch in source:
        yield rows_of_numbers(estimator, batch, reset=reset, min_rows=1, scale=False)
        reset = False


def triangular_factor(batches: Iterable[FloatArray], mean: FloatArray) -> FloatArray:
    """Triangular R with R'R the scatter of the rows about their mean, batch by batch.

    As the factor of all rows at once, it keeps the small singular values that the scatter itself,
    with their squares, would lose. Memory: one batch and R.
    """
    factor: FloatArray = np.zeros((0, len(mean)))
    for rows in batches:
        factor = np.asarray(np.linalg.qr(np.vstack([factor, rows - mean]), mode="r"))
    return factor
