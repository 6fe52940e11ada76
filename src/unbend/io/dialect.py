"""The dialect of a table of text: encoding, separator, header."""

import codecs
import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import IO, Protocol

import numpy as np

from unbend.cached import cached_property
from unbend.io.numerals import INTEGER, MISSING, is_number, parse_numbers
from unbend.io.source import CHUNK, LONGEST_LINE, Source
from unbend.report import warn

# Sample from which the dialect is detected: bytes at least, and lines at most.
SAMPLE_BYTES, SAMPLE_LINES = 1 << 18, 200
# Bytes by which the sample grows at most.
MORE_BYTES = 1 << 23
# A first line that counts so many columns is a header, whatever is below.
COUNTED_COLUMNS = 10
# A first line of numbers may be an axis from so many columns and rows below on.
AXIS_COLUMNS, AXIS_ROWS = 20, 3
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Bytes that are searched for what is not UTF-8; what comes behind is decoded when it is read.
SCANNED_BYTES = 1 << 25
# What a text is in if it is not UTF-8, as Excel and databases export it on Windows.
WINDOWS = "cp1252"
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


def split_fields(lines: Iterable[str], separator: str) -> Records:
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


def detect_separator(lines: list[str], cut: bool) -> str:
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
    below = [record[0] for record in split_fields(lines, ONE_COLUMN) if record][1:]
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
        records = [record for record in split_fields(lines, separator) if record]
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
        numeric = [is_number(field, comma) for row in (self.first, *self.rows) for field in row]
        return sum(numeric) / max(len(numeric), 1)

    def rank(self) -> tuple[float, bool, float]:
        """Return how well the separator fits, for comparison."""
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


@dataclass(frozen=True)
class Dialect:
    """Encoding, separator (a space stands for any number of them), names and header lines.

    The header lines are all that come before the first row, comments among them.
    """

    encoding: str
    separator: str
    names: tuple[str, ...]
    header_lines: int
    # Whether every row ends with a separator, behind which there is nothing.
    trailing: bool
    # Characters of the longest line in the sample, and of a line on average.
    longest: int
    mean_length: float
    # Of the columns in the sample: which hold nothing but numbers, and which have decimal commas.
    numeric: tuple[bool, ...]
    decimal_comma: bool

    @property
    def comma(self) -> bool:
        """Whether a comma may be a decimal mark."""
        return self.separator != ","

    def records(self, stream: IO[bytes]) -> Records:
        """Read lines of fields, from the first row on."""
        text = io.TextIOWrapper(stream, encoding=self.encoding, newline="")
        for _ in range(self.header_lines):
            text.readline()
        return split_fields(text, self.separator)


def detect_dialect(
    source: Source,
    *,
    counted: bool = True,
    separator: str | None = None,
    encoding: str | None = None,
) -> Dialect:
    """Detect the dialect of a text file from its beginning.

    With `counted`, a first line 0, 1, 2, … may be a header, as pandas numbers columns; among pairs
    and their distances it may also be a pair. A given `separator` or `encoding` is not detected.
    """
    check_separator(separator)
    sample = _sample(source, _detect_encoding(source) if encoding is None else codec(encoding))
    try:
        return _detect(sample, _lead(sample.lines), source, counted, separator)
    except csv.Error as error:
        raise ValueError(
            f"{source.name} cannot be split into fields ({error}): it is not a table of text, or a "
            "quotation mark is not closed"
        ) from error


@dataclass(frozen=True)
class _Sample:
    """The first lines; `cut` says that there are more, so that a quoted field may be open."""

    encoding: str
    lines: list[str]
    cut: bool


def _detect(
    sample: _Sample, lead: int, source: Source, counted: bool, given: str | None
) -> Dialect:
    """Detect the dialect below `lead` lines of comments, or without them if they hold a row."""
    above, lines = sample.lines[:lead], sample.lines[lead:]
    tabs = source.suffix in (".tsv", ".tab") and any("\t" in line for line in lines)
    separator = given or ("\t" if tabs else detect_separator(lines, sample.cut))
    reader = split_fields(lines, separator)
    found = [(record, reader.line_num) for record in reader if record]
    if sample.cut and len(found) > 2:
        found.pop()
    if not found:
        raise ValueError(f"{source.name} holds nothing but empty lines")
    (first, header_lines), below = found[0], [record for record, _ in found[1:]]
    comma = separator != ","
    commented = _commented_names(above, separator, len(first))
    if _names_numbers(first, below, comma):
        header = True
    elif _holds_row(above, separator, len(first)):
        return _detect(sample, 0, source, counted, given)
    else:
        header = commented is None and (
            _is_header(first, comma)
            or (counted and (_is_counted(first, below) or _is_axis(first, below, comma)))
        )
    if header:
        names = _header_names(first, below)
    else:
        names = commented or tuple(f"x{place}" for place in range(len(first)))
        header_lines, below = 0, [first, *below]
    kinds = [_kind(column, comma) for column in zip(*_even(below, len(names)), strict=True)]
    kinds = kinds or ["number"] * len(names)
    trailing = _is_trailing(names, first if header else [""], below)
    count = len(names) - trailing
    return Dialect(
        sample.encoding,
        separator,
        names[:count],
        lead + header_lines,
        trailing,
        max(map(len, sample.lines)),
        sum(map(len, sample.lines)) / len(sample.lines),
        tuple(kind != "text" for kind in kinds[:count]),
        "decimal comma" in kinds[:count],
    )


def _is_trailing(names: tuple[str, ...], header: list[str], below: list[list[str]]) -> bool:
    """Whether the last column has neither a name nor a value: lines end with a separator."""
    nameless = len(header) < len(names) or not header[-1].strip()
    rows = list(_even(below, len(names)))
    return len(names) > 1 and nameless and bool(rows) and not any(row[-1].strip() for row in rows)


def _lead(lines: list[str]) -> int:
    """Count the lines before the first that is no comment, if there are comments."""
    is_row = (bool(line.strip()) and not line.startswith("#") for line in lines)
    count = next((place for place, row in enumerate(is_row) if row), 0)
    return count if any(line.startswith("#") for line in lines[:count]) else 0


def _holds_row(comments: list[str], separator: str, width: int) -> bool:
    """Whether a line that begins as a comment is a row whose first field does, as #ff0000,1,2."""
    return any(
        len(record) == width and any(is_number(field, separator != ",") for field in record)
        for record in split_fields(comments, separator)
    )


def _commented_names(comments: list[str], separator: str, width: int) -> tuple[str, ...] | None:
    """Names in the last line of comments, as NumPy writes them; None if these are no names."""
    marked = [line for line in comments if line.startswith("#")]
    # Number signs before several names belong to them.
    for line in (marked[-1], marked[-1].lstrip("# ")) if marked else ():
        names = tuple(name.strip() for name in next(iter(split_fields([line], separator)), []))
        own = sum(name.startswith("#") for name in names)
        if len(names) == width and all(names) and own != 1:
            return names
    return None


def _header_names(first: list[str], below: list[list[str]]) -> tuple[str, ...]:
    """Names of the columns; only the first may have none, as the index that pandas writes."""
    names = [name.strip() or (f"x{place}" if place else "") for place, name in enumerate(first)]
    if below and all(len(record) == len(names) + 1 for record in below):
        if all(not record[-1] for record in below):
            # Every line but the header ends with a separator.
            return (*names, f"x{len(names)}")
        # R writes the names of rows without a name for their column.
        return ("", *names)
    return tuple(names)


def codec(encoding: str) -> str:
    """Return the name of an encoding of text, as Python spells it."""
    try:
        "\n".encode(encoding)
        return codecs.lookup(encoding).name
    except (LookupError, UnicodeError, TypeError) as error:
        raise ValueError(f"encoding={encoding!r} is not known, or not one of text") from error


def _detect_encoding(source: Source) -> str:
    """Detect the encoding: by a byte order mark, else UTF-8, else Windows-1252 with a warning."""
    with source.lines() as stream:
        part = stream.read(CHUNK)
        marks = (name for mark, name in BYTE_ORDER_MARKS.items() if part.startswith(mark))
        marked = next(marks, None)
        if marked is not None:
            return marked
        decoder, left = codecs.getincrementaldecoder("utf-8")(), SCANNED_BYTES
        try:
            while part and left > 0:
                decoder.decode(part)
                left -= len(part)
                part = stream.read(CHUNK)
            if not part:
                decoder.decode(b"", True)
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            warn(
                f"{source.name} is not in UTF-8 (it holds the byte 0x{byte:02x}): it is read as "
                "Windows-1252; if letters are wrong, pass encoding="
            )
            return WINDOWS
    return "utf-8"


def _sample(source: Source, encoding: str) -> _Sample:
    """Read full lines from the beginning, two at least."""
    with source.lines() as stream:
        head = stream.read(SAMPLE_BYTES)
        # Lines beyond the limit are refused by the stream, before more of them is held.
        while head.count(b"\n") < 2 and (more := stream.read(min(len(head), MORE_BYTES))):
            head += more
        rest = stream.read(1)
    if rest and has_plain_line_ends(encoding):
        head = head[: head.rfind(b"\n") + 1] or head
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head, not rest)
    except UnicodeError as error:
        raise ValueError(undecodable(source.name, encoding, error)) from error
    if "\x00" in text:
        raise ValueError(f"{source.name} is not text: it holds zero bytes")
    lines = list(islice(io.StringIO(text, newline=""), SAMPLE_LINES + 1))
    return _Sample(encoding, lines[:SAMPLE_LINES], bool(rest) or len(lines) > SAMPLE_LINES)


def has_plain_line_ends(encoding: str) -> bool:
    """Whether lines end in one byte, as in ASCII: not in UTF-16."""
    return encoding.startswith("utf-8") or "\n".encode(encoding) == b"\n"


def undecodable(name: str, encoding: str, error: UnicodeError) -> str:
    """Return the refusal of a file that is in another encoding."""
    named = "UTF-8" if encoding.startswith("utf-8") else encoding
    held = ""
    if isinstance(error, UnicodeDecodeError):
        held = f" (it holds the byte 0x{error.object[error.start]:02x})"
    remedy = "save it as UTF-8, or pass encoding="
    return f"{name} is not in {named}{held}: {remedy}"


def _names_numbers(first: list[str], below: list[list[str]], comma: bool) -> bool:
    """Whether the first line has a word over numbers."""
    columns = zip(*_even(below, len(first)), strict=True)
    return any(
        not is_number(name, comma)
        and name.strip() not in MISSING
        and any(is_number(field, comma) for field in column)
        for name, column in zip(first, columns, strict=False)
    )


def _is_header(first: list[str], comma: bool) -> bool:
    """Whether the first line names the columns, whatever is below.

    It does if it has no number at all, or words and then 0, 1, 2, … as pandas numbers columns.
    Numbers with a word over words (5.1, 3.5, setosa) are data.
    """
    numeric = [is_number(field, comma) for field in first]
    words = any(
        not number and field.strip() not in MISSING
        for number, field in zip(numeric, first, strict=True)
    )
    if not any(numeric):
        return words
    counted = [field.strip() for number, field in zip(numeric, first, strict=True) if number]
    count = len(counted)
    numbered = counted == _count_from(0, count) or (count > 1 and counted == _count_from(1, count))
    return not numeric[0] and (words or first[0] == "") and numbered


def _is_counted(first: list[str], below: list[list[str]]) -> bool:
    """Whether the first line is 0, 1, 2, … and no line below could be that header.

    Integers below may continue the first line, unless it counts further than data do.
    """
    count = len(first)
    if count < 2 or not below or [field.strip() for field in first] != _count_from(0, count):
        return False
    fractions = all(any(not INTEGER.fullmatch(text.strip()) for text in line) for line in below)
    goes_on = [field.strip() for field in below[0]] == _count_from(count, count)
    return fractions or (count >= COUNTED_COLUMNS and not goes_on)


def _is_axis(first: list[str], below: list[list[str]], comma: bool) -> bool:
    """Whether the first line is an axis, as 400, 420, … nm, and no line below ascends.

    Distances from the end of a line begin with zero.
    """
    if len(first) < AXIS_COLUMNS or len(below) < AXIS_ROWS:
        return False
    lines = [first, *_even(below, len(first))]
    if not all(is_number(field, comma) for line in lines[:2] for field in line):
        return False
    parsed = (parse_numbers(line, comma) for line in lines)
    steps = [np.diff(line) for line in parsed if line is not None]
    start = parse_numbers(first[:1], comma)
    even = steps[0].min() > 0 and steps[0].max() <= 1.5 * steps[0].min()
    ascending = any(bool(np.all(step > 0)) for step in steps[1:])
    return bool(even and not ascending and start is not None and start[0] > 0)


def _count_from(start: int, count: int) -> list[str]:
    return [str(start + place) for place in range(count)]


def _even(records: list[list[str]], width: int) -> Iterator[list[str]]:
    """Leave out lines of another length, which the reader refuses."""
    return (record for record in records if len(record) == width)


def _kind(column: Iterable[str], comma: bool) -> str:
    texts = [text for text in column if text.strip() not in MISSING]
    if all(is_number(text, comma) for text in texts):
        return "decimal comma" if any("," in text for text in texts) else "number"
    return "text"
