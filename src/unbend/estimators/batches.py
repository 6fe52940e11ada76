"""Incremental fitting on batches."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from unbend.arrays import FloatArray, IntArray
from unbend.estimators.inputs import check_input, feature_names
from unbend.report import step
from unbend.validation.arrays import check_scale
from unbend.validation.conditioning import SAMPLE, check_rounding


@dataclass(frozen=True, eq=False)
class Batches:
    """Rows that can be read again; their number, dtype and mean."""

    source: Iterable[Any]
    estimator: BaseEstimator
    n: int
    dtype: np.dtype[Any]
    mean: FloatArray

    def __iter__(self) -> Iterator[FloatArray]:
        """Yield the rows of each batch in double precision."""
        done = 0
        for rows in _read(self.estimator, self.source, reset=False):
            done += len(rows)
            yield rows.astype(np.float64, copy=False)
            step(min(done, self.n), self.n)
        if done != self.n:
            raise ValueError(
                f"the batches had {self.n} rows on the first pass and {done} now: pass "
                "something that yields the same rows each time, as a list or unbend.io.batches"
            )

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.mean)

    def factor(self, project: Callable[[FloatArray], FloatArray] | None = None) -> FloatArray:
        """Triangular R with R'R the scatter of the rows, or of their linear projections."""
        if project is None:
            return triangular_factor(self, self.mean)
        return triangular_factor((project(rows) for rows in self), project(self.mean[None])[0])

    def take(self, numbers: IntArray) -> FloatArray:
        """Collect some of the rows, by ascending numbers."""
        held = np.empty((len(numbers), self.columns))
        start = 0
        for rows in self:
            low, high = np.searchsorted(numbers, [start, start + len(rows)])
            held[low:high] = rows[numbers[low:high] - start]
            start += len(rows)
        return held


def open_batches(estimator: BaseEstimator, source: Iterable[Any]) -> Batches:
    """Read all batches once: validate them, count their rows and compute their mean."""
    if iter(source) is source:
        raise TypeError(
            "batches are read more than once, which an iterator does not allow: pass a "
            "list, or unbend.io.batches"
        )
    n, largest = 0, 0.0
    total: FloatArray = np.zeros(1)
    first: FloatArray = np.zeros((1, 1))
    sample: FloatArray = np.zeros((0, 1))
    types = set()
    for rows in _read(estimator, source, reset=True):
        if not n:
            first, sample = rows[:1].astype(np.float64), rows[:0]
        n += len(rows)
        largest = max(largest, float(np.abs(rows).max(initial=0.0)))
        # About a row: sums of rows far from the origin would round.
        total = total + (rows - first).sum(axis=0, dtype=np.float64)
        types.add(rows.dtype)
        sample = np.vstack([sample, rows[:: -(-len(rows) // SAMPLE)]])
        sample = sample[:: -(-len(sample) // SAMPLE)]
    if n < 2:
        raise ValueError(f"the batches have {n} rows together and at least 2 are needed")
    check_scale(largest)
    check_rounding(sample, feature_names(estimator))
    dtype = types.pop() if len(types) == 1 else np.dtype(np.float64)
    return Batches(source, estimator, n, dtype, first[0] + total / n)


def _read(estimator: BaseEstimator, source: Iterable[Any], reset: bool) -> Iterator[FloatArray]:
    for batch in source:
        yield check_input(estimator, batch, reset=reset, min_rows=1, scale=False)
        reset = False


def triangular_factor(batches: Iterable[FloatArray], mean: FloatArray) -> FloatArray:
    """Triangular R with R'R the scatter of the rows about their mean, batch by batch.

    As the factor of all rows at once, it keeps the small singular values that the scatter itself,
    with their squares, would lose. A column of ones takes what is left of the mean, which far from
    the origin is rounded, and would pass for a direction. Memory: one batch and R.
    """
    factor: FloatArray = np.zeros((0, len(mean) + 1))
    for rows in batches:
        centered = np.hstack([np.ones((len(rows), 1)), rows - mean])
        factor = np.asarray(np.linalg.qr(np.vstack([factor, centered]), mode="r"))
    return np.asarray(factor[1:, 1:])
