"""Preparation of tables larger than memory: kinds by some rows of every batch, scales by all."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.io.columnar import level_name
from unbend.prepare.columns import Array, Column, Columns, read_columns
from unbend.prepare.encoders import (
    CategoryEncoder,
    DateEncoder,
    Encoder,
    NumberEncoder,
    TermEncoder,
    rank_levels,
)

# Rows by which kinds are inferred: so many of a batch at first, and in all.
BATCH_ROWS, MOST_ROWS = 2000, 20_000


@dataclass
class BatchSummary:
    """Some rows of all batches, and counts over all rows.

    Attributes
    ----------
    sample : Columns
        Evenly spaced rows of every batch.
    words : dict of Counter
        How often each text occurs, by column.
    missing : dict of int
        Missing values by column.
    rows : int
    """

    sample: Columns
    words: dict[str, Counter[str]]
    missing: dict[str, int]
    rows: int


def summarize_batches(batches: Iterable[Any]) -> BatchSummary:
    """Read all batches once."""
    parts: list[Columns] = []
    words: dict[str, Counter[str]] = {}
    missing: Counter[str] = Counter()
    rows, most = 0, BATCH_ROWS
    for batch in batches:
        table = read_columns(batch)
        if parts and table.names != parts[0].names:
            raise ValueError("The batches have different columns. Pass parts of one table.")
        rows += len(table)
        for column in table.columns:
            missing[column.name] += int(column.missing.sum())
            if column.source == "text":
                words.setdefault(column.name, Counter()).update(column.present.tolist())
        parts.append(_space(table, most))
        if sum(map(len, parts)) > MOST_ROWS:
            most = max(most // 2, 1)
            parts = [_space(part, -(-len(part) // 2)) for part in parts]
    if not parts:
        raise ValueError("There are no batches to fit to.")
    columns = (_join(group) for group in zip(*(part.columns for part in parts), strict=True))
    return BatchSummary(Columns(tuple(columns), parts[0].library), words, dict(missing), rows)


def _space(table: Columns, most: int) -> Columns:
    """Take evenly spaced rows."""
    rows = np.linspace(0, len(table) - 1, min(len(table), most)).round().astype(np.intp)
    return replace(table, columns=tuple(column.take(rows) for column in table.columns))


def _join(parts: tuple[Column, ...]) -> Column:
    """Join parts of a column; numbers become text where another batch has some."""
    sources = {part.source for part in parts if not part.missing.all()} or {parts[0].source}
    if len(sources) == 1:
        same = [part for part in parts if part.source in sources]
        kept = same if len(same) == len(parts) else [_convert(part, same[0]) for part in parts]
        return replace(same[0], values=np.concatenate([part.values for part in kept]))
    return Column(parts[0].name, np.concatenate([_texts(part) for part in parts]), "text")


def _convert(part: Column, like: Column) -> Column:
    """Give a part without a value the type of another."""
    if part.source == like.source:
        return part
    empty = np.full(len(part.values), None if like.source == "text" else np.nan, dtype=object)
    return replace(like, values=empty.astype(like.values.dtype))


def _texts(part: Column) -> Array:
    if part.source == "text":
        return part.values
    named = [level_name(float(v)) if part.source == "number" else str(v) for v in part.values]
    texts = np.array(named, dtype=object)
    texts[part.missing] = None
    return texts


@dataclass
class Moments:
    """Mean, squared deviations, least and largest value of features, over parts (Chan et al.)."""

    count: int = 0
    # Rows without a value, which do not count.
    gaps: int = 0
    mean: FloatArray = field(default_factory=lambda: np.zeros(1))
    squares: FloatArray = field(default_factory=lambda: np.zeros(1))
    least: FloatArray = field(default_factory=lambda: np.full(1, np.inf))
    most: FloatArray = field(default_factory=lambda: np.full(1, -np.inf))

    def add(self, features: FloatArray) -> None:
        """Take more rows."""
        if len(features):
            mean = features.mean(axis=0)
            self._merge(len(features), mean, ((features - mean) ** 2).sum(axis=0))
            self.least = np.minimum(self.least, features.min(axis=0))
            self.most = np.maximum(self.most, features.max(axis=0))

    def fill(self, features: FloatArray) -> None:
        """Take the gaps, all with the same features."""
        if self.gaps:
            self._merge(self.gaps, features, np.zeros(len(features)))

    def _merge(self, n: int, mean: FloatArray, squares: FloatArray) -> None:
        total, shift = self.count + n, mean - self.mean
        self.squares = self.squares + squares + shift**2 * self.count * n / total
        self.mean = self.mean + shift * n / total
        self.count = total

    @property
    def variance(self) -> FloatArray:
        """Variances of the features."""
        return self.squares / max(self.count, 1)


def with_all_levels(encoders: Iterable[Encoder], summary: BatchSummary) -> Iterator[Encoder]:
    """Give categories the levels of all rows, where the sample may lack some."""
    for encoder in encoders:
        if isinstance(encoder, CategoryEncoder) and encoder.name in summary.words:
            levels, fill = rank_levels(summary.words[encoder.name])
            yield replace(encoder, levels=levels, fill=fill, weight=1.0)
        else:
            yield replace(encoder, weight=1.0)  # type: ignore[type-var]


def measure(encoders: tuple[Encoder, ...], parts: Iterable[list[Column]]) -> list[Moments]:
    """Measure the features of all rows, in one reading; gaps of numbers and dates are counted."""
    found = [Moments() for _ in encoders]
    for columns in parts:
        for encoder, column, moments in zip(encoders, columns, found, strict=True):
            if not isinstance(encoder, CategoryEncoder | TermEncoder):
                present = np.flatnonzero(~column.missing)
                moments.gaps += len(column.values) - len(present)
                column = column.take(present)
            moments.add(encoder.encode(column))
    return found


def rescale(encoder: Encoder, moments: Moments, scale: str) -> tuple[Encoder, float]:
    """Give an encoder the location and scale of all rows; return it and its total variance."""
    if not isinstance(encoder, NumberEncoder | DateEncoder):
        return encoder, float(moments.variance.sum())
    mean, low = float(moments.mean[0]), float(moments.mean[0])
    width = float(np.sqrt(moments.variance[0])) or 1.0
    if scale in ("range", "gower"):
        low, width = float(moments.least[0]), float(moments.most[0] - moments.least[0])
    if isinstance(encoder, NumberEncoder) and scale == "none":
        low, width = 0.0, 1.0
    filled = replace(encoder, fill=encoder.center + encoder.scale * mean)
    if isinstance(filled, DateEncoder):
        gap = Column(filled.name, np.array(["NaT"], dtype="datetime64[us]"), "date")
        moments.fill(filled.encode(gap)[0])
    else:
        moments.fill(moments.mean.copy())
    variance = moments.variance.copy()
    variance[0] /= width**2
    center = encoder.center + encoder.scale * low
    return replace(filled, center=center, scale=encoder.scale * width), float(variance.sum())
