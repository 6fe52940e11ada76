"""Numbers written as text."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Fields that mark a missing value, as R, pandas, Excel, Weka and databases write them.
MISSING = (
    "",
    "NA",
    "N/A",
    "n/a",
    "#N/A",
    "<NA>",
    "NaN",
    "nan",
    "-NaN",
    "-nan",
    "NULL",
    "null",
    "None",
    "?",
)
# Characters beyond which NumPy's text, all entries as long as the longest, takes too much memory.
LONG = 100
_ABSENT = frozenset(MISSING)
# Integers as they are usually written, and digits that begin with an idle zero.
INTEGER, CODE = re.compile(r"-?(0|[1-9][0-9]*)"), re.compile(r"0[0-9]+")
# What stands beside an amount, before it or after it.
_UNIT = "[%‰€$£¥₹]|EUR|USD|GBP|CHF|JPY|INR"
_BESIDE = re.compile(
    rf"(?P<sign>[+-]?)(?P<before>{_UNIT})?\s*(?P<amount>.*?)\s*(?P<after>{_UNIT})?"
)
# A measure, as in "70 kg", "21°C" or "3 €/m²": one word behind a number, no exponent and no code
# that begins with an idle zero.
_MEASURE = re.compile(
    r"(?P<amount>[+-]?(?!0\d)\d[\d.,'’\s]*?)\s*(?P<unit>(?![eE]\d)(?:[^\W\d_²³¹]|[°€$£¥₹])[\w/°²³·^]{0,11})"
)
# Amounts by their decimal mark, perhaps with marks between groups of three digits.
_AMOUNTS = {
    ".": re.compile(r"[+-]?(\d{1,3}([,'’\s]\d{3})+|\d+)(\.\d+)?"),
    ",": re.compile(r"[+-]?(\d{1,3}([.'’\s]\d{3})+|\d+)(,\d+)?"),
}
_RATES = ("%", "‰")
_BOOLEANS = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}


def parse_numbers(texts: Sequence[str], comma: bool) -> Array | None:
    """Parse a column of numbers, NaN where missing; None if some field is not a number.

    With `comma` the decimal mark may be a comma. Words for true and false count as 1 and 0.
    """
    try:
        parsed = np.fromiter(map(float, texts), dtype=np.float64, count=len(texts))
    except ValueError:
        readings: list[Callable[[str], float]] = [float, _parse_bool, *([_parse_comma] * comma)]
        found = (_parse_column(texts, reading) for reading in readings)
        return next((column for column in found if column is not None), None)
    # Python reads 1_000 as a number, no table means it.
    return None if "_" in "".join(texts) else parsed


def find_overflow(numbers: Array, texts: Sequence[str]) -> str | None:
    """Return the first text that became infinite though it is written in digits.

    Examples
    --------
    >>> find_overflow(np.array([1.0, np.inf, np.inf]), ["1", "inf", "1e999"])
    '1e999'
    """
    infinite = (texts[int(place)] for place in np.flatnonzero(np.isinf(numbers)))
    return next((text for text in infinite if any(mark.isdigit() for mark in text)), None)


def _parse_column(texts: Sequence[str], reading: Callable[[str], float]) -> Array | None:
    if "_" in "".join(texts):
        return None
    try:
        return np.array(
            [np.nan if text.strip() in _ABSENT else reading(text) for text in texts], dtype=float
        )
    except ValueError:
        return None


def _parse_bool(text: str) -> float:
    try:
        return _BOOLEANS[text.strip()]
    except KeyError:
        raise ValueError(text) from None


def _parse_comma(text: str) -> float:
    if "." in text:
        raise ValueError(text)
    return float(text.replace(",", "."))


class OtherUnit(ValueError):
    """An amount has another unit than its column."""


def find_decimal_mark(texts: Sequence[str]) -> tuple[str, str] | None:
    """Find the decimal mark and the unit of amounts such as "1.234,50 €"; None if they are none.

    One mark of one kind with three digits behind it may be either: in amounts of money it groups
    digits, in shares it is decimal, and otherwise it is undecided. Currencies and per cent may be
    missing in some cells; any other unit must be the same in all.

    Examples
    --------
    >>> find_decimal_mark(["1.234,50 €", "950 €"]), find_decimal_mark(["3.5%", "12%"])
    ((',', '€'), ('.', '%'))
    >>> find_decimal_mark(["70.5 kg", "81 kg"])
    ('.', 'kg')
    >>> find_decimal_mark(["1,234", "5,678"]) is None
    True
    """
    pairs = [_split_unit(text) for text in texts]
    units = {unit for _, unit in pairs}
    if not pairs or len(units - {""}) > 1:
        return None
    unit = max(units)
    if unit and not is_currency_or_rate(unit) and "" in units:
        return None
    if not unit and any(re.search(r"\s", amount) for amount, _ in pairs):
        return None
    marks = [
        mark
        for mark, pattern in _AMOUNTS.items()
        if all(pattern.fullmatch(amount) for amount, _ in pairs)
    ]
    if len(marks) < 2:
        return (marks[0], unit) if marks else None
    found = {mark for mark in ".," if any(mark in amount for amount, _ in pairs)}
    if not found:
        return ".", unit
    if not is_currency_or_rate(unit):
        return None
    decimal = found == {","} if unit in _RATES else found == {"."}
    return ("," if decimal else "."), unit


def is_currency_or_rate(unit: str) -> bool:
    """Whether a unit is a currency, per cent or per mille."""
    return re.fullmatch(_UNIT, unit) is not None


def parse_amount(text: str, decimal: str, unit: str | None = None) -> float:
    """Parse a number with its unit and marks between groups of digits.

    A unit other than the given one is refused; None accepts any.

    Examples
    --------
    >>> parse_amount("-1.234,50 €", ","), parse_amount("$1,234", ".")
    (-1234.5, 1234.0)
    """
    amount, found = _split_unit(text)
    if _AMOUNTS[decimal].fullmatch(amount) is None:
        raise ValueError(text)
    if unit is not None and found not in ("", unit):
        raise OtherUnit(text)
    kept = "".join(mark for mark in amount if mark.isdigit() or mark in f"+-{decimal}")
    return float(kept.replace(",", "."))


def _split_unit(text: str) -> tuple[str, str]:
    """Return the amount with its sign, and its unit or an empty text."""
    text = text.strip().replace("−", "-")
    parts = _BESIDE.fullmatch(text)
    if parts is not None and (parts["before"] or parts["after"]):
        return parts["sign"] + parts["amount"], parts["before"] or parts["after"]
    measure = _MEASURE.fullmatch(text)
    if measure is not None:
        return measure["amount"], measure["unit"]
    return (text if parts is None else parts["sign"] + parts["amount"]), ""


def is_number(text: str, comma: bool) -> bool:
    """Whether a field of text is a number that is not missing."""
    if "_" in text or text.strip() in _ABSENT:
        return False
    try:
        (_parse_comma if comma and "," in text else float)(text)
    except ValueError:
        return False
    return True


def infer_column(texts: Sequence[str], comma: bool) -> Array:
    """Infer the type of a label or id column: integers, numbers, or text, None where empty."""
    stripped = [text.strip() for text in texts]
    if all(INTEGER.fullmatch(text) for text in stripped):
        try:
            return np.array(list(map(int, stripped)), dtype=np.int64)
        except (OverflowError, ValueError):
            # Too large for 64 bits, or longer than Python reads.
            return text_array(stripped)
    # 007 is a name: as a number it would lose its zeros.
    names = any(text in _BOOLEANS or CODE.fullmatch(text) for text in stripped)
    parsed = None if names else parse_numbers(stripped, comma)
    if parsed is not None:
        return parsed
    if "" in stripped:
        return np.array([text or None for text in stripped], dtype=object)
    return text_array(stripped)


def text_array(texts: Sequence[str]) -> Array:
    """Array of text; of Python's own strings if a long one would make all entries long."""
    long = max(map(len, texts), default=0) > LONG
    return np.array(texts, dtype=object if long else np.str_)
