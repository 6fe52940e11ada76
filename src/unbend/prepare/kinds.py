"""Kind of a column (numeric, ordinal, category, date, boolean, terms, text, id, constant)."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from unbend.io.columnar import level_name
from unbend.io.numerals import find_decimal_mark, is_currency_or_rate, parse_amount
from unbend.prepare.columns import Array, Column

Kind: TypeAlias = Literal[
    "numeric", "ordinal", "category", "date", "boolean", "terms", "text", "id", "constant"
]
KINDS: tuple[str, ...] = get_args(Kind)
# Kinds that give no features.
UNUSED: tuple[str, ...] = ("text", "id", "constant")

# A column of strings is free text beyond this many characters or words on average.
TEXT_CHARACTERS, TEXT_WORDS = 40.0, 5.0
# Share of distinct values from which strings, or integers named as an id, identify rows.
DISTINCT = 0.9
# An id cannot be recognised in fewer rows.
FEW_ROWS = 20
# Integers with at most this many values may be codes of classes.
CODES = 20
# Consecutive integers from 0 or 1 up to this many are probably classes.
CLASSES = 12

ID_NAME = re.compile(
    r"(^|[_\s.-])(id|ids|uuid|guid|index|idx|key|rowid|rownames)$|^unnamed: 0$|^$", re.I
)
LABEL_NAME = re.compile(
    r"(^|[_\s.-])(class|label|target|category|cluster|group|type|species|code|status)s?$",
    re.I,
)
# Integers of such names are no amounts, however many there are.
CODE_NAME = re.compile(r"(^|[_\s.-])(zip|zipcode|zip_code|postcode|postal_code|plz|phone)$", re.I)
BOOLEANS = (
    ("false", "true"),
    ("no", "yes"),
    ("n", "y"),
    ("f", "t"),
    ("off", "on"),
    ("nein", "ja"),
    ("non", "oui"),
)
SCALES = (
    ("very low", "low", "medium", "high", "very high"),
    ("low", "moderate", "high"),
    ("low", "mid", "high"),
    ("low", "normal", "high"),
    ("xxs", "xs", "s", "m", "l", "xl", "xxl"),
    ("small", "medium", "large"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("strongly disagree", "disagree", "neither agree nor disagree", "agree", "strongly agree"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("bad", "average", "good"),
    ("mild", "moderate", "severe"),
)
DATE_FORMATS = tuple(
    day + time
    for day in ("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d-%m-%Y", "%d %b %Y", "%b %d, %Y")
    for time in ("", " %H:%M", " %H:%M:%S")
)
ISO = "ISO 8601"
# A date must have a digit and a mark between its parts; what NumPy parses as well; how ISO begins.
DIGIT, MARK = re.compile(r"\d"), re.compile(r"[-./: ]")
PLAIN_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?")
ISO_START = re.compile(r"\d{4}-\d{2}")
CLOCK = re.compile(r"\d{1,2}:\d{2}(:\d{2})?")


@dataclass(frozen=True)
class Inference:
    """The kind of a column and why.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    reason : str
    remark : str
        What the user may want to change, or empty.
    levels : tuple of str
        Levels of an ordinal or boolean column, ascending.
    date_format : str
        How dates written as text are parsed.
    decimal : str
        Decimal mark of amounts written as text with a unit or grouped digits; empty for plain
        numbers.
    unit : str
        Unit of amounts written as text, or empty.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> table = {"size": ["low", "high", "low"], "price": [1.0, np.nan, 3.0]}
    >>> columns = unbend.prepare.read_columns(table).columns
    >>> unbend.prepare.infer_kind(columns[0]).kind
    'ordinal'
    """

    kind: Kind
    reason: str
    remark: str = ""
    levels: tuple[str, ...] = ()
    date_format: str = ""
    decimal: str = ""
    unit: str = ""


def infer_kind(column: Column) -> Inference:
    """Infer the kind of a column from its values and its name.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.prepare.columns import Column
    >>> column = Column("size", np.array(["low", "high", "medium"], dtype=object), "text")
    >>> infer_kind(column).kind, infer_kind(column).levels
    ('ordinal', ('low', 'medium', 'high'))
    """
    values = column.present
    if not len(values) or bool(np.all(values == values[0])):
        what = f"all values equal {values[0]}" if len(values) else "no value at all"
        return Inference("constant", what)
    if column.source == "date":
        return Inference("date", "stored as dates")
    if column.source == "boolean":
        return Inference("boolean", "stored as booleans", levels=("False", "True"))
    if column.source == "number":
        return _of_numbers(column.name, values)
    return _of_text(column, values)


def override(column: Column, kind: str) -> Inference:
    """Inference for a kind that the user names."""
    if kind not in KINDS:
        raise ValueError(
            f"kinds[{column.name!r}]={kind!r} is not allowed. Pass one of {', '.join(KINDS)}."
        )
    chosen: Kind = kind  # type: ignore[assignment]
    guess = infer_kind(column)
    if kind == guess.kind:
        return replace(guess, reason="as requested", remark="")
    levels: tuple[str, ...] = ()
    if kind in ("ordinal", "boolean"):
        levels = column.levels or _sorted_levels(column)
        if kind == "boolean" and len(levels) != 2:
            raise ValueError(
                f"kinds[{column.name!r}]='boolean' needs two values and the column has "
                f"{len(levels)}. Use 'category'."
            )
    if kind == "terms" and column.source != "text":
        raise ValueError(
            f"kinds[{column.name!r}]='terms' is not possible: its values are not text. Use "
            "'category'."
        )
    date_format = ""
    if kind == "date" and column.source != "date":
        date_format = (_date_formats(column.present) or ("",))[0] if column.source == "text" else ""
        if not date_format:
            raise ValueError(
                f"kinds[{column.name!r}]='date' is not possible: its values are not dates in a "
                "known format. Convert the column to dates first."
            )
    decimal, unit = "", ""
    if kind == "numeric" and column.source in ("text", "date"):
        amounts = find_amounts(column.present) if column.source == "text" else None
        if amounts is None:
            raise ValueError(
                f"kinds[{column.name!r}]='numeric' is not possible: {str(column.present[0])!r} is "
                "not a number, or units differ. Use 'category' or 'ordinal', or write all values "
                "in one unit."
            )
        decimal, unit = amounts
    return Inference(chosen, "as requested", "", levels, date_format, decimal, unit)


def _sorted_levels(column: Column) -> tuple[str, ...]:
    values = column.present
    if column.source != "text":
        return tuple(level_name(value) for value in np.unique(values))
    guess = _scale_of(np.unique(values.astype(str)))
    return guess or tuple(np.unique(values.astype(str)))


def _of_numbers(name: str, values: Array) -> Inference:
    if not name.strip():
        return Inference("id", "a column without a name, as an index is written")
    if not _are_integers(values):
        return Inference("numeric", "numbers")
    with np.errstate(over="ignore"):
        distinct, n, span = _count_integers(values), len(values), np.ptp(values)
    if distinct == 2 and span == 1 and values.min() == 0:
        return Inference("boolean", "values are 0 and 1", levels=("0", "1"))
    if n >= FEW_ROWS:
        if distinct == n and span == n - 1:
            return Inference("id", "consecutive integers, all distinct")
        if ID_NAME.search(name) and distinct >= DISTINCT * n:
            return Inference("id", "integers that identify rows, and the name of an id")
    remark = ""
    if CODE_NAME.search(name):
        remark = "is named like a code: use it as a category, or leave it out"
    elif distinct <= CODES and LABEL_NAME.search(name):
        remark = f"looks like codes of {distinct} classes: use it as label, or as a category"
    elif ID_NAME.search(name):
        remark = "named like an id: leave it out if it identifies rows"
    elif n >= FEW_ROWS and distinct == n and values.min() >= 0:
        remark = "holds integers that are all distinct: leave it out if it identifies rows"
    return Inference("numeric", "integers", remark)


def _are_integers(values: Array) -> bool:
    # Most columns show a fraction in their first rows.
    return all(
        bool(np.all(np.isfinite(part)) and np.all(part == np.round(part)))
        for part in (values[:100], values)
    )


def _count_integers(values: Array) -> int:
    """Count different integers, without a sort where they lie close together."""
    low, span = values.min(), np.ptp(values)
    if span < 4 * len(values):
        return int(np.count_nonzero(np.bincount((values - low).astype(np.intp))))
    return len(np.unique(values))


def remark_class_codes(
    columns: Sequence[Column], inferences: dict[str, Inference]
) -> dict[str, Inference]:
    """Remark a first or last column that counts a few classes, which are often a label.

    Columns of a table that are mostly such codes, as answers and pixels, are no labels.
    """
    codes = [c for c in columns if c.source == "number" and _counts_classes(c.present)]
    numbers = sum(column.source == "number" for column in columns)
    remarks = {}
    for column in {columns[0].name: columns[0], columns[-1].name: columns[-1]}.values():
        inference = inferences[column.name]
        if column in codes and 2 * len(codes) <= numbers and not inference.remark:
            count = len(np.unique(column.present))
            remark = f"looks like codes of {count} classes: use it as label, or as a category"
            remarks[column.name] = replace(inference, remark=remark)
    return inferences | remarks


def _counts_classes(values: Array) -> bool:
    """Whether values are 0, 1, 2, … or 1, 2, 3, … up to a few, each many times."""
    most = min(CLASSES, len(values) / FEW_ROWS)
    if not len(values) or values.max() > most or values.min() not in (0.0, 1.0):
        return False
    unique = np.unique(values)
    return bool(2 <= len(unique) <= most and np.all(np.diff(unique) == 1.0))


def _of_text(column: Column, values: Array) -> Inference:
    if column.levels is not None:
        return Inference("ordinal", "an ordered categorical", levels=column.levels)
    if column.categorical:
        return Inference("category", "stored as a categorical")
    counts = Counter(map(str, values.tolist()))
    unique, n = sorted(counts), len(values)
    if (pair := _boolean_levels(unique)) is not None:
        return Inference("boolean", f"two words, {pair[0]} and {pair[1]}", levels=pair)
    amounts = find_amounts(unique)
    if amounts is not None and not _numbers_rows(column.name, values, *amounts):
        decimal, unit = amounts
        reason = f"numbers in {unit}" if unit else "numbers written as text"
        return Inference("numeric", reason, decimal=decimal, unit=unit)
    if formats := _date_formats(unique):
        remark = f"also matches {formats[1]}" if len(formats) > 1 else ""
        return Inference("date", f"text in the format {formats[0]}", remark, date_format=formats[0])
    if (scale := _scale_of(unique)) is not None:
        return Inference("ordinal", "words of a known scale", levels=scale)
    return _of_words(column.name, counts, n)


def _numbers_rows(name: str, values: Array, decimal: str, unit: str) -> bool:
    """Whether numbers with a letter, as 1A, 2A, 3A, identify rows."""
    if not unit or is_currency_or_rate(unit):
        return False
    return _of_numbers(name, np.array([parse_amount(v, decimal) for v in values])).kind == "id"


def _of_words(name: str, counts: Counter[str], n: int) -> Inference:
    remark, distinct = _remark_numbers(counts, n), len(counts)
    words = sum(count * len(text.split()) for text, count in counts.items()) / n
    characters = sum(count * len(text) for text, count in counts.items()) / n
    if characters > TEXT_CHARACTERS or (words > TEXT_WORDS and distinct > CODES):
        return Inference("text", f"free text, {words:.0f} words a row on average", remark)
    if n >= FEW_ROWS and distinct >= DISTINCT * n:
        return Inference("id", f"{distinct} distinct strings in {n} rows", remark)
    if n >= FEW_ROWS and ID_NAME.search(name) and distinct > n / 2:
        reason = f"{distinct} distinct strings in {n} rows, and the name of an id"
        return Inference("id", reason, remark)
    return Inference("category", f"{distinct} distinct strings", remark)


def _remark_numbers(counts: Counter[str], n: int) -> str:
    """Remark numbers that a few words, or several units, keep from being read as numbers."""
    if all(CLOCK.fullmatch(text.strip()) for text in counts):
        return "holds times: write them as numbers, for example of hours"
    words = [text for text in counts if find_amounts([text]) is None]
    if 2 * sum(counts[text] for text in words) >= n:
        return ""
    if words:
        return f"holds numbers and words, such as {min(words)!r}: leave the cells of words empty"
    # A few numbers with a letter, as 1a and 2b, are codes.
    return "holds numbers in several units or formats: write all in one" * (len(counts) > CODES)


def _boolean_levels(unique: Sequence[str]) -> tuple[str, str] | None:
    if len(unique) != 2:
        return None
    by_word = {str(word).strip().lower(): str(word) for word in unique}
    for low, high in BOOLEANS:
        if by_word.keys() == {low, high}:
            return by_word[low], by_word[high]
    return None


def _scale_of(unique: Sequence[str] | NDArray[np.str_]) -> tuple[str, ...] | None:
    """Levels in the order of a known scale, or None."""
    by_word = {str(word).strip().lower(): str(word) for word in unique}
    if len(by_word) != len(unique) or len(by_word) < 2:
        return None
    for scale in SCALES:
        if by_word.keys() <= set(scale):
            return tuple(by_word[word] for word in scale if word in by_word)
    return None


def find_amounts(values: Array | Sequence[str]) -> tuple[str, str] | None:
    """Find the decimal mark and the unit of numbers written as text; None if they are none.

    Both are empty for numbers as Python writes them.
    """
    try:
        parsed = [float(value) for value in values]
    except ValueError:
        return find_decimal_mark([str(value) for value in values])
    return ("", "") if all(map(np.isfinite, parsed)) else None


def parse_number(text: str | None, decimal: str, unit: str | None = None) -> float:
    """Parse a number written as text, in the given unit if it has one, NaN where missing."""
    if text is None:
        return np.nan
    return parse_amount(text, decimal, unit) if decimal else float(text)


def _date_formats(values: Array | Sequence[str]) -> tuple[str, ...]:
    """List the formats under which every value is a date."""
    unique = sorted({str(value).strip() for value in values})
    if not all(DIGIT.search(text) and MARK.search(text) for text in unique):
        return ()
    return tuple(form for form in (ISO, *DATE_FORMATS) if _all_parse(unique, form))


def _all_parse(texts: Sequence[str], form: str) -> bool:
    try:
        # Most formats fail on the first text.
        parse_dates(texts[:1], form)
        parse_dates(texts, form)
    except ValueError:
        return False
    return True


def parse_dates(texts: Sequence[str | None], form: str) -> Array:
    """Parse dates written as text, NaT where missing; times with a zone are converted to UTC."""
    stripped = [None if text is None else text.strip() for text in texts]
    if form == ISO and all(text is None or PLAIN_ISO.fullmatch(text) for text in stripped):
        return np.array(stripped, dtype="datetime64[us]")
    days = [None if text is None else _parse_date(text, form) for text in stripped]
    return np.array(days, dtype="datetime64[us]")


def _parse_date(text: str, form: str) -> datetime:
    if form != ISO:
        return datetime.strptime(text, form)
    if not ISO_START.match(text):
        raise ValueError(text)
    parsed = datetime.fromisoformat(text)
    return parsed.astimezone(UTC).replace(tzinfo=None) if parsed.tzinfo else parsed


def column_values(column: Column, kind: str) -> Array:
    """Return the values of a column as its kind says: numbers, dates, or what they are."""
    if column.source != "text" or kind not in ("numeric", "date"):
        return column.values
    if kind == "numeric":
        decimal, _ = find_amounts(column.present) or ("", "")
        return np.array([parse_number(text, decimal) for text in column.values])
    return parse_dates(column.values.tolist(), _date_formats(column.present)[0])
