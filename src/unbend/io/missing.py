"""What to do about values that are missing."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from unbend.arrays import BoolArray, FloatArray
from unbend.io.table import Table

POLICIES = ("refuse", "drop", "mean", "median")


def check_policy(missing: str) -> None:
    """Raise for a policy that there is not."""
    if missing not in POLICIES:
        allowed = ", ".join(repr(policy) for policy in POLICIES)
        raise ValueError(f"missing={missing!r} is not allowed: it must be one of {allowed}")


def settled(table: Table, missing: str, where: str) -> Table:
    """Apply a policy to a table that holds all rows."""
    absent: BoolArray = np.isnan(table.values)
    if not absent.any():
        return table
    if missing == "refuse":
        raise ValueError(_first_missing(table, where))
    if missing == "drop":
        kept = _complete(table)
        if not len(kept):
            raise ValueError(f"every row of {where} has a missing value: none would be left")
        return kept
    _check_some_value(table, np.asarray(absent.all(axis=0)), where)
    if missing == "mean":
        return filled(table, np.nanmean(table.values, axis=0, dtype=np.float64))
    return filled(table, np.nanmedian(table.values, axis=0))


def _complete(table: Table) -> Table:
    return table.take(np.asarray(~np.isnan(table.values).any(axis=1)))


def settled_batch(table: Table, missing: str, means: FloatArray | None, where: str) -> Table:
    """Apply a policy to one batch; `means` are those of all rows."""
    if means is not None:
        return filled(table, means)
    if missing == "drop":
        return _complete(table)
    return settled(table, missing, where)


def filled(table: Table, centres: FloatArray) -> Table:
    """Put the centre of its column wherever a value is missing."""
    values = table.values.copy()
    rows, columns = np.nonzero(np.isnan(values))
    values[rows, columns] = centres[columns]
    return replace(table, values=values)


def column_means(tables: Iterable[Table], where: str) -> FloatArray:
    """Mean of the values there are in each column, in one pass."""
    total: FloatArray = np.zeros(1)
    count: FloatArray = np.zeros(1)
    last = None
    for last in tables:
        total = total + np.nansum(last.values, axis=0, dtype=np.float64)
        count = count + np.count_nonzero(~np.isnan(last.values), axis=0)
    if last is not None:
        _check_some_value(last, count == 0, where)
    return total / count


def _check_some_value(table: Table, empty: BoolArray, where: str) -> None:
    if empty.any():
        name = table.columns[int(np.argmax(empty))]
        raise ValueError(f"column {name!r} of {where} has no value at all: leave it out")


def _first_missing(table: Table, where: str) -> str:
    rows, columns = np.nonzero(np.isnan(table.values))
    first = f"row {table.rows[rows[0]] + 1} and column {table.columns[columns[0]]!r}"
    count = (
        f"a value is missing in {where}, in {first}"
        if len(rows) == 1
        else f"{len(rows)} values are missing in {where}, the first in {first}"
    )
    return (
        f"{count} (rows are counted from 1): choose a policy for missing values ('drop', 'mean' or "
        "'median'), or leave the column out"
    )
