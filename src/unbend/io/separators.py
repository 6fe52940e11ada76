"""Which character separates the fields of a table of text."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from unbend.io.files import LONGEST_LINE
from unbend.io.numerals import MISSING, is_number

# Where two split a table equally well, the one that comes first is taken.
SEPARATORS = (",", "\t", ";", "|", " ")
# Lines of a table of one column are not split: text does not hold this control character.
ONE_COLUMN = "\x1f"


class Records(Protocol):
    """Lines split into fields, as Python's csv reader gives them."""

    @property
    def line_num(self) -> int:
        """Lines read so far."""

    def __iter__(self) -> Iterator[list[str]]: ...


def fields(lines: Iterable[str], separator: str) -> Records:
    """Split lines into fields; quotation marks protect separators and line ends."""
    # The limit belongs to the csv module, and its usual 131 072 characters are less than a line
    # of 30 000 numbers, which is one field until the separator is found.
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE))
    if separator != " ":
        return csv.reader(lines, delimiter=separator)
    stripped = (line.rstrip(" \r\n") + "\n" for line in lines)
    return csv.reader(stripped, delimiter=" ", skipinitialspace=True)


def check_separator(separator: str | None) -> None:
    """Raise for a separator that no table can have."""
    if separator is None:
        return
    if not isinstance(separator, str) or len(separator) != 1 or separator in '"\r\n\0':
        raise ValueError(
            f"separator={separator!r} is not allowed: it must be one character, such as ',' or "
            "'\\t', other than a quotation mark or a line end"
        )


def separator_of(lines: list[str], cut: bool) -> str:
    """Choose the separator of the first lines of a table.

    A separator fits as many lines as it splits into as many fields as the first. The one that fits
    most is taken; among equals, the one that leaves the largest share of numbers. Text has spaces,
    so a space is taken only where no other separator fits, or where commas are decimal marks.

    Parameters
    ----------
    lines : list of str
        The first lines.
    cut : bool
        Whether there are more, so that the last record may be incomplete.
    """
    splits = [Split.of(lines, separator, cut) for separator in SEPARATORS]
    *marks, space = splits
    best = max((split for split in marks if split.is_table), key=Split.rank, default=None)
    if space.is_table and (best is None or space.beats(best)):
        return " "
    return _one_column(lines) if best is None else best.separator


def _one_column(lines: list[str]) -> str:
    """Numbers keep the comma, so that a second field further down is noticed."""
    below = [record[0] for record in fields(lines, ONE_COLUMN) if record][1:]
    return "," if all(_is_value(text) and "," not in text for text in below) else ONE_COLUMN


def _is_value(text: str) -> bool:
    """Whether a field is a number or missing."""
    return is_number(text, comma=True) or text.strip() in MISSING


@dataclass(frozen=True)
class Split:
    """The first lines, split at one separator."""

    separator: str
    first: list[str]
    rows: list[list[str]]

    @classmethod
    def of(cls, lines: list[str], separator: str, cut: bool) -> "Split":
        """Split lines, and leave out the last record where it may be incomplete."""
        records = [record for record in fields(lines, separator) if record]
        if cut and len(records) > 2:
            records.pop()
        return cls(separator, records[0] if records else [], records[1:])

    @cached_property
    def fit(self) -> float:
        """Share of the rows that are as long as the header, or have names that it has not."""
        return max(self._share(len(self.first)), self._share(len(self.first) + 1))

    @cached_property
    def same(self) -> bool:
        """Whether the header has a name for each field of the rows."""
        return len(self.first) > 1 and self._share(len(self.first)) >= self.fit

    def _share(self, width: int) -> float:
        if not self.rows:
            return float(width == len(self.first))
        return sum(len(row) == width for row in self.rows) / len(self.rows)

    @cached_property
    def numeric(self) -> float:
        """Share of the fields that are numbers."""
        comma = self.separator != ","
        told = [is_number(field, comma) for row in (self.first, *self.rows) for field in row]
        return sum(told) / max(len(told), 1)

    def rank(self) -> tuple[float, bool, float]:
        """Tell how well the separator fits, for comparison."""
        return self.fit, self.same, self.numeric

    @property
    def is_table(self) -> bool:
        """Whether this could be a table of several columns."""
        if len(self.first) < 2:
            return self._has_unnamed_column
        if self.separator != " ":
            return True
        if self.fit < 1:
            return self.numeric > 0.5
        return self.same or any(map(_are_values, self._columns[1:]))

    @property
    def _has_unnamed_column(self) -> bool:
        """Whether rows below a single name are numbers, which may follow the name of the row."""
        widths = set(map(len, self.rows))
        if len(widths) != 1 or widths == {1}:
            return False
        if self.separator == "," and all(is_number(",".join(row), comma=True) for row in self.rows):
            # One column with decimal commas, unless the rows are numbered.
            numbers = [row[0].strip() for row in self.rows]
            return numbers in (
                [str(place + start) for place in range(len(numbers))] for start in (0, 1)
            )
        columns = self._columns if widths != {2} else self._columns[1:]
        return all(map(_are_values, columns))

    @property
    def _columns(self) -> list[tuple[str, ...]]:
        width = max(map(len, self.rows), default=0)
        return list(zip(*(row for row in self.rows if len(row) == width), strict=True))

    def beats(self, best: "Split") -> bool:
        """Whether spaces separate the fields although another separator could."""
        if self.same and self.fit == 1 and not best.same:
            return True
        held = (field for row in self.rows or [self.first] for field in row)
        decimal = all(is_number(field, comma=True) for field in held if best.separator in field)
        return decimal and self.rank() > best.rank()


def _are_values(column: Iterable[str]) -> bool:
    return all(map(_is_value, column))
