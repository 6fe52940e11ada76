"""Features of one column, and back: numbers, categories, dates.

A fitted encoder holds what `transform` and its inverse need. Every column of the table gets the
same weight, however many features it has: under ``scale="standard"``, ``"robust"`` and ``"log"``
its features have total variance one, under ``"range"`` and ``"gower"`` diameter one.
"""

import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, final

import numpy as np
from sklearn.preprocessing import MinMaxScaler, RobustScaler

from unbend.arrays import BoolArray, FloatArray
from unbend.io.columnar import level_name
from unbend.io.numerals import OtherUnit
from unbend.io.terms import Terms, english_stop_words
from unbend.prepare.columns import Array, Column
from unbend.prepare.kinds import Inference, parse_dates, parse_number

# Interquartile range of a normal distribution, in standard deviations.
NORMAL_IQR = 1.3489795003921634
# The rarest categories beyond this number share one feature.
MAX_LEVELS = 50
# Most terms of a text column that become features, and the share of a row's length from which a
# term belongs to it.
MAX_TERMS, HELD = 200, 0.1
OTHER, MISSING = "(other)", "(missing)"
# Cycles of dates, in seconds.
Cycle: TypeAlias = Literal["day", "week", "year"]
CYCLES: dict[Cycle, float] = {"day": 86_400.0, "week": 7 * 86_400.0, "year": 365.2425 * 86_400.0}
# A cycle is used from this many of its periods on, if the dates vary within it.
PERIODS, VARIES = 1.5, 1e-3


class Encoder(ABC):
    """A fitted column: names of its features, features of values, values of features."""

    name: str
    weight: float

    @property
    @abstractmethod
    def features(self) -> tuple[str, ...]:
        """Names of the features."""

    @abstractmethod
    def encode(self, column: Column) -> FloatArray:
        """Features (n, m) of a column, weighted."""

    @abstractmethod
    def decode(self, features: FloatArray) -> Array:
        """Values whose features are nearest to the given ones."""


def _scaling(values: FloatArray, scale: str) -> tuple[float, float]:
    """Location and scale of one column by scikit-learn's scalers."""
    if scale not in ("standard", "log", "robust", "range", "gower"):
        return 0.0, 1.0
    # The scalers take spreads near the rounding error of one for zero, whatever the unit is.
    unit = 2.0 ** np.frexp(np.ptp(values))[1]
    center, spread = _scaling_of_unit(values / unit, scale)
    return center * unit, spread * unit if spread else 1.0


def _scaling_of_unit(values: FloatArray, scale: str) -> tuple[float, float]:
    """Location and scale of values whose range is between a half and one; zero if it is zero."""
    column = values[:, None]
    if scale == "robust":
        robust = RobustScaler().fit(column)
        # Where more than half of the values are equal, the interquartile range says nothing.
        if np.ptp(np.percentile(values, [25, 75])) == 0:
            return float(robust.center_[0]), float(values.std())
        return float(robust.center_[0]), float(robust.scale_[0]) / NORMAL_IQR
    if scale in ("range", "gower"):
        unit = MinMaxScaler().fit(column)
        return float(unit.data_min_[0]), 1.0 / float(unit.scale_[0])
    # Of one column without gaps these are StandardScaler's numbers, in a tenth of its time.
    return float(values.mean()), float(values.std())


def _fill_value(values: FloatArray, missing: str) -> float:
    if missing == "mean":
        return float(values.mean())
    if missing == "most_frequent":
        distinct, counts = np.unique(values, return_counts=True)
        return float(distinct[np.argmax(counts)])
    return float(np.median(values))


@final
@dataclass(frozen=True)
class NumberEncoder(Encoder):
    """A number a row: a numeric column, or the place of a level in an ordinal or boolean one."""

    name: str
    levels: tuple[str, ...]
    # Decimal mark of amounts written as text; empty for plain numbers.
    decimal: str
    # Unit of sign(x) log(1 + |x| / unit); zero without a logarithm.
    log_unit: float
    center: float
    scale: float
    fill: float
    indicator: bool
    weight: float
    # Unit of amounts written as text; None in model files that did not keep it.
    unit: str | None = None

    @classmethod
    def fit(cls, column: Column, inference: Inference, scale: str, missing: str) -> "NumberEncoder":
        """Measure location and scale of a column."""
        levels, decimal, unit = inference.levels, inference.decimal, inference.unit
        values = _codes(column, levels) if levels else _floats(column, decimal, unit)
        absent = np.isnan(values)
        present = values[~absent]
        sizes = np.abs(present[present != 0])
        log_unit = float(np.median(sizes)) if scale == "log" and not levels and len(sizes) else 0.0
        center, spread = _scaling(_log(present, log_unit), scale)
        fill = _fill_value(present, missing)
        indicator = missing == "indicator" and bool(absent.any())
        return cls(
            column.name, levels, decimal, log_unit, center, spread, fill, indicator, 1.0, unit
        )

    @property
    def features(self) -> tuple[str, ...]:
        """The column, and whether its value is missing."""
        return (self.name, f"{self.name}={MISSING}") if self.indicator else (self.name,)

    def encode(self, column: Column) -> FloatArray:
        """Impute, take the logarithm, shift and scale."""
        if self.levels:
            values = _codes(column, self.levels)
        else:
            values = _floats(column, self.decimal, self.unit)
        absent = np.isnan(values)
        values = np.where(absent, self.fill, values)
        scaled = (_log(values, self.log_unit) - self.center) / self.scale
        parts = [scaled, absent.astype(np.float64)] if self.indicator else [scaled]
        return np.stack(parts, axis=1) * self.weight

    def decode(self, features: FloatArray) -> Array:
        """Undo the scaling; levels are the nearest ones."""
        features = features / self.weight
        values = features[:, 0] * self.scale + self.center
        if self.log_unit:
            values = np.sign(values) * self.log_unit * np.expm1(np.abs(values))
        absent = features[:, 1] > 0.5 if self.indicator else np.zeros(len(values), dtype=bool)
        if not self.levels:
            return np.where(absent, np.nan, values)
        places = np.clip(np.rint(values), 0, len(self.levels) - 1).astype(np.intp)
        return _names(np.array(self.levels, dtype=object)[places], absent)


def _log(values: FloatArray, unit: float) -> FloatArray:
    return np.sign(values) * np.log1p(np.abs(values) / unit) if unit else values


def _names(names: Array, absent: BoolArray) -> Array:
    names = names.copy()
    names[absent] = None
    return names


def _floats(column: Column, decimal: str, unit: str | None) -> FloatArray:
    if column.source != "text":
        return np.asarray(column.values, dtype=np.float64)
    values = np.empty(len(column.values))
    for row, text in enumerate(column.values):
        try:
            values[row] = parse_number(text, decimal, unit)
        except OtherUnit:
            raise ValueError(
                f"Column {column.name!r} was in {unit or 'no unit'} in fit and holds {text!r} now. "
                f"Convert the value{f' to {unit}' if unit else ''}."
            ) from None
        except ValueError:
            raise ValueError(
                f"Column {column.name!r} was numeric in fit and holds {text!r} now. Correct the "
                "value, or leave it empty."
            ) from None
    return values


def _words(column: Column) -> Array:
    """Values as the names of levels, None where missing."""
    if column.source == "text":
        return column.values
    names = np.array([level_name(float(value)) for value in column.values], dtype=object)
    if column.source == "boolean":
        names = np.array([str(bool(v)) if v == v else None for v in column.values], dtype=object)
    names[column.missing] = None
    return names


def _codes(column: Column, levels: tuple[str, ...]) -> FloatArray:
    place = {level: float(code) for code, level in enumerate(levels)}
    if column.source == "boolean" and levels == ("0", "1"):
        return np.asarray(column.values)
    words = _words(column).tolist()
    unseen = sorted(set(words) - {None, *place})
    if unseen:
        raise ValueError(
            f"Column {column.name!r} has the value {unseen[0]!r}, which is not one of its levels "
            f"({', '.join(levels)}). Correct it, or fit again with kinds={{{column.name!r}: "
            "'category'}."
        )
    return np.array([np.nan if word is None else place[word] for word in words])


def rank_levels(counts: Counter[str]) -> tuple[tuple[str, ...], str]:
    """Return the levels, those beyond a number as one, and the most frequent of them."""
    levels = sorted(counts)
    most = max(levels, key=lambda level: counts[level])
    if len(levels) > MAX_LEVELS:
        frequent = sorted(levels, key=lambda level: -counts[level])[: MAX_LEVELS - 1]
        levels = [*sorted(frequent), OTHER]
    return tuple(levels), most


@final
@dataclass(frozen=True)
class CategoryEncoder(Encoder):
    """A feature for each level, one in the row's own and zero elsewhere."""

    name: str
    levels: tuple[str, ...]
    fill: str
    weight: float

    @classmethod
    def fit(cls, column: Column, missing: str) -> "CategoryEncoder":
        """List the levels, the most frequent ones if there are many."""
        counts = Counter(_words(column).tolist())
        gaps = counts.pop(None, 0)
        levels, fill = rank_levels(counts)
        if missing == "indicator" and gaps:
            fill, levels = MISSING, (*levels, MISSING)
        return cls(column.name, levels, fill, 1.0)

    @property
    def features(self) -> tuple[str, ...]:
        """Levels, each with the name of the column."""
        return tuple(f"{self.name}={level}" for level in self.levels)

    def encode(self, column: Column) -> FloatArray:
        """One-hot features; a level not seen in `fit` has none, or that of the rare ones."""
        place = {level: code for code, level in enumerate(self.levels)}
        rest = place.get(OTHER, -1)
        gap = place.get(self.fill, rest)
        codes = np.array(
            [gap if word is None else place.get(word, rest) for word in _words(column).tolist()]
        )
        features = np.zeros((len(codes), len(self.levels)))
        known = np.flatnonzero(codes >= 0)
        features[known, codes[known]] = self.weight
        return features

    def unseen(self, column: Column) -> list[str]:
        """Levels that `fit` did not see."""
        if OTHER in self.levels:
            return []
        return sorted(set(_words(column).tolist()) - {None, *self.levels})

    def decode(self, features: FloatArray) -> Array:
        """Level with the largest feature."""
        names = np.array(self.levels, dtype=object)[np.argmax(features, axis=1)]
        return _names(names, names == MISSING)


@final
@dataclass(frozen=True)
class DateEncoder(Encoder):
    """Elapsed time, and its place in the day, the week and the year as points on circles."""

    name: str
    date_format: str
    cycles: tuple[Cycle, ...]
    center: float
    scale: float
    # Radius of the circles: those of one column weigh as much as the elapsed time.
    radius: float
    fill: float
    indicator: bool
    weight: float

    @classmethod
    def fit(cls, column: Column, inference: Inference, scale: str, missing: str) -> "DateEncoder":
        """Measure the span of the dates and find the cycles that it covers."""
        seconds = _seconds(column, inference.date_format)
        absent = np.isnan(seconds)
        present = seconds[~absent]
        center, spread = _scaling(present, "standard" if scale in ("none", "log") else scale)
        cycles = () if scale == "gower" else tuple(c for c in CYCLES if _covers(present, CYCLES[c]))
        radius = 0.5 if scale == "range" else 1.0
        indicator = missing == "indicator" and bool(absent.any())
        fill = _fill_value(present, missing)
        return cls(
            column.name, inference.date_format, cycles, center, spread, radius, fill, indicator, 1.0
        )

    @property
    def features(self) -> tuple[str, ...]:
        """Elapsed time, two numbers a cycle, and whether the date is missing."""
        parts = [f"{self.name}:elapsed"]
        parts += [f"{self.name}:{cycle}_{part}" for cycle in self.cycles for part in ("cos", "sin")]
        return (*parts, f"{self.name}={MISSING}") if self.indicator else tuple(parts)

    def encode(self, column: Column) -> FloatArray:
        """Impute, and compute elapsed time and phases."""
        seconds = _seconds(column, self.date_format)
        absent = np.isnan(seconds)
        seconds = np.where(absent, self.fill, seconds)
        parts = [(seconds - self.center) / self.scale]
        for cycle in self.cycles:
            phase = 2.0 * np.pi * np.remainder(seconds / CYCLES[cycle], 1.0)
            parts += [self.radius * np.cos(phase), self.radius * np.sin(phase)]
        if self.indicator:
            parts.append(absent.astype(np.float64))
        return np.stack(parts, axis=1) * self.weight

    def decode(self, features: FloatArray) -> Array:
        """Dates of the elapsed time."""
        features = features / self.weight
        seconds = features[:, 0] * self.scale + self.center
        dates: Array = np.rint(seconds * 1e6).astype(np.int64).astype("datetime64[us]")
        if self.indicator:
            dates[features[:, -1] > 0.5] = np.datetime64("NaT")
        return dates


@final
@dataclass(frozen=True)
class TermEncoder(Encoder):
    """Free text by its terms: term frequency times inverse document frequency, of unit length.

    A missing text has no terms.
    """

    name: str
    vocabulary: tuple[str, ...]
    # Inverse document frequency of each term.
    inverse: tuple[float, ...]
    weight: float

    @classmethod
    def fit(cls, column: Column) -> "TermEncoder":
        """List the terms of at least two rows, the most frequent ones if there are many."""
        counts = Counter(term for terms in _tokenize(column) for term in set(terms))
        shared = sorted(term for term, count in counts.items() if count > 1)
        if not shared:
            raise ValueError(
                f"Column {column.name!r} has no term that two rows share. Leave it out, or use "
                "'category'."
            )
        frequent = sorted(shared, key=lambda term: -counts[term])[:MAX_TERMS]
        vocabulary, n = tuple(sorted(frequent)), len(column.values)
        inverse = tuple(1.0 + float(np.log((1 + n) / (1 + counts[t]))) for t in vocabulary)
        return cls(column.name, vocabulary, inverse, 1.0)

    @property
    def features(self) -> tuple[str, ...]:
        """Terms, each with the name of the column."""
        return tuple(f"{self.name}:{term}" for term in self.vocabulary)

    def encode(self, column: Column) -> FloatArray:
        """Count the terms of the vocabulary, weigh them and normalise each row."""
        place = {term: code for code, term in enumerate(self.vocabulary)}
        features = np.zeros((len(column.values), len(place)))
        for row, terms in enumerate(_tokenize(column)):
            for term in terms:
                if term in place:
                    features[row, place[term]] += 1.0
        features *= np.array(self.inverse)
        lengths = np.linalg.norm(features, axis=1, keepdims=True)
        return features * (self.weight / np.where(lengths > 0, lengths, 1.0))

    def decode(self, features: FloatArray) -> Array:
        """Terms of a row, the heaviest first."""
        texts = np.empty(len(features), dtype=object)
        for row, weights in enumerate(features):
            order = np.argsort(-weights, kind="stable")
            held = [
                self.vocabulary[place] for place in order if weights[place] > HELD * self.weight
            ]
            texts[row] = " ".join(held) or None
        return texts


def _tokenize(column: Column) -> Iterator[list[str]]:
    if column.source != "text":
        raise ValueError(
            f"Column {column.name!r} had texts in fit and holds numbers now. Convert it to text."
        )
    terms = Terms(english_stop_words(), stem=False)
    return ([] if text is None else terms.tokenize(text) for text in column.values)


def _seconds(column: Column, date_format: str) -> FloatArray:
    """Seconds since 1970, NaN where missing."""
    dates = column.values
    if column.source == "text":
        try:
            dates = parse_dates(dates.tolist(), date_format)
        except ValueError as error:
            raise ValueError(
                f"Column {column.name!r} had dates in the format {date_format} in fit and now "
                f"holds another value ({error}). Correct it, or leave it empty."
            ) from None
    elif column.source != "date":
        raise ValueError(
            f"Column {column.name!r} had dates in fit and holds numbers now. Convert it to dates."
        )
    seconds = dates.astype("datetime64[us]").astype(np.int64) / 1e6
    return np.where(np.isnat(dates), np.nan, seconds)


def _covers(seconds: FloatArray, period: float) -> bool:
    phase = 2.0 * np.pi * np.remainder(seconds / period, 1.0)
    varies = np.var(np.cos(phase)) + np.var(np.sin(phase)) > VARIES
    return bool(np.ptp(seconds) >= PERIODS * period and varies)


class UnseenCategoryWarning(UserWarning):
    """New samples hold categories that the fit did not see.

    Examples
    --------
    >>> import warnings
    >>> import unbend
    >>> model = unbend.Prepare().fit({"kind": ["cat", "dog", "cat"], "age": [1.0, 2.0, 3.0]})
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = model.transform({"kind": ["fox"], "age": [2.0]})
    >>> any(issubclass(one.category, unbend.prepare.UnseenCategoryWarning) for one in caught)
    True
    """


def warn_unseen(pairs: list[tuple[Encoder, Column]]) -> None:
    """Warn of categories that the fit did not see."""
    for encoder, column in pairs:
        unseen = encoder.unseen(column) if isinstance(encoder, CategoryEncoder) else []
        if unseen:
            shown = ", ".join(map(repr, unseen[:5]))
            warnings.warn(
                f"Column {column.name!r} has categories that the fit did not see ({shown}): they "
                "get no feature. Fit again with rows that hold them.",
                UnseenCategoryWarning,
                stacklevel=3,
            )
