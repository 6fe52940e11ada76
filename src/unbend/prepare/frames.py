"""Tables of any kind as tables of numbers: what the command line and the report study."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unbend.io.table import Frame, Table
from unbend.prepare.columns import Array, read_columns
from unbend.prepare.estimator import Prepare
from unbend.prepare.kinds import column_values
from unbend.validation.distances import is_distances

# Columns that a sentence names for each property.
MOST_NAMES = 6
SCALED = {
    "standard": "Standardised",
    "robust": "Scaled by median and interquartile range",
    "range": "Scaled to the range from 0 to 1",
    "log": "Took logarithms of and standardised",
    "gower": "Scaled for Gower's distance, by metric cityblock,",
}


@dataclass(frozen=True, eq=False)
class PreparedFrame:
    """Features of a frame.

    Attributes
    ----------
    table : Table
        The features, then the columns of the truth as they are.
    preparation : Prepare
        The fitted preparation.
    identity : bool
        Whether the features are the columns themselves, bit by bit: numbers that share a unit.
    rows : int
        Rows of the frame, some of which may have been dropped.
    """

    table: Table
    preparation: Prepare
    identity: bool
    rows: int

    @property
    def dropped(self) -> int:
        """Number of rows dropped because of missing values."""
        return self.rows - len(self.table)


def holds_distances(frame: Frame) -> bool:
    """Whether the columns of numbers are a matrix of distances between the rows."""
    numbers = [column for column in frame.columns.values() if column.dtype.kind in "iuf"]
    square = len(numbers) == len(frame) > 1
    return square and is_distances(np.column_stack(numbers).astype(np.float64))


def prepare_frame(frame: Frame, preparation: Prepare, truth: Sequence[str] = ()) -> PreparedFrame:
    """Fit a preparation to all columns but those of the truth, and apply it."""
    features = frame.select(name for name in frame.columns if name not in truth)
    rows = frame.take(preparation.fit(features).kept_rows_)
    if _is_identity(preparation, rows.select(features.columns)):
        return PreparedFrame(rows.to_table(), preparation, True, len(frame))
    columns = tuple(preparation.get_feature_names_out().tolist())
    table = replace(rows.rest, values=preparation.transform(features), columns=columns)
    known = [name for name in truth if name in rows.columns]
    if known:
        table = _append(table, rows.select(known).to_table())
    return PreparedFrame(table, preparation, False, len(frame))


def typed_columns(frame: Frame, preparation: Prepare) -> dict[str, Array]:
    """Return the columns as their kinds say: numbers as such also where they were text, dates too.

    Numbers have NaN, dates NaT and everything else None where a value is missing.
    """
    kinds = {column.name: column.kind for column in preparation.columns_}
    return {
        column.name: column_values(column, kinds[column.name])
        for column in read_columns(frame).columns
    }


def _is_identity(preparation: Prepare, rows: Frame) -> bool:
    kinds = {column.kind for column in preparation.columns_}
    if preparation.scale_ != "none" or not kinds <= {"numeric", "boolean", "constant"}:
        return False
    return all(
        column.dtype.kind in "biu" or (column.dtype.kind == "f" and bool(np.isfinite(column).all()))
        for column in rows.columns.values()
    )


def _append(table: Table, other: Table) -> Table:
    values = np.concatenate([table.values, other.values], axis=1)
    return replace(table, values=values, columns=(*table.columns, *other.columns))


def describe_preparation(preparation: Prepare, *, identity: bool = False) -> Iterator[str]:
    """Describe the scaling, the encoded columns, those left out, and those to look at."""
    used = [column for column in preparation.columns_ if column.features]
    scale, reason = preparation.scale_, preparation.scale_reason_
    if scale != "none":
        why = "" if reason == "as requested" else f": {reason}"
        yield f"{SCALED[scale]} {_count(len(used), 'column')}{why}."
    kinds = ("category", "ordinal", "date", "terms")
    encoded = [f"{c.name!r} ({c.kind})" for c in used if c.kind in kinds]
    if encoded:
        yield f"Encoded: {abbreviate_list(encoded)}."
    left_out = [f"{c.name!r} ({c.kind})" for c in preparation.columns_ if not c.features]
    if left_out and not identity:
        yield f"Left out: {abbreviate_list(left_out)}."
    for problem in preparation.problems_:
        if problem.what in ("Duplicate columns", "Columns to look at"):
            yield f"{problem.what}: {abbreviate_list(problem.columns)} [{problem.option}]."


def describe_gaps(preparation: Prepare, dropped: int) -> Iterator[str]:
    """Describe what was done about missing values."""
    gaps = [
        column
        for column in preparation.columns_
        if column.features and column.missing and column.kind != "terms"
    ]
    if dropped:
        yield f"Dropped {_count(dropped, 'row')} with missing values."
    elif gaps:
        ways: dict[str, list[str]] = {}
        for column in gaps:
            way = _imputation(preparation, column.kind)
            ways.setdefault(way, []).append(f"{column.name!r} ({column.missing})")
        listed = "; by ".join(f"{way}: {abbreviate_list(names)}" for way, names in ways.items())
        yield f"Imputed by {listed}."


def _imputation(preparation: Prepare, kind: str) -> str:
    """Name what takes the place of a missing value: a category has no mean and no median."""
    one_hot = kind == "category" and preparation.categories == "onehot"
    if preparation.missing == "indicator":
        return "a category of its own" if one_hot else "median and an indicator"
    way = "most_frequent" if one_hot else preparation.missing
    return {"most_frequent": "most frequent value"}.get(way, way)


def abbreviate_list(names: Sequence[str]) -> str:
    """Return the first names for a sentence, and how many more there are."""
    shown = ", ".join(names[:MOST_NAMES])
    return shown if len(names) <= MOST_NAMES else f"{shown} and {len(names) - MOST_NAMES} more"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
