"""How a file of text is laid out: encoding, separator, header."""

import codecs
import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import IO

from unbend.io.files import LONGEST_LINE, File, endless_line
from unbend.io.numerals import MISSING, WHOLE, is_number
from unbend.io.separators import Records, check_separator, fields, separator_of

# As much is looked at to find the layout: bytes at least, and lines at most.
SAMPLE_BYTES, SAMPLE_LINES = 1 << 18, 200
# A first line that counts so many columns is a header, whatever is below.
COUNTED_COLUMNS = 10
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


@dataclass(frozen=True)
class Layout:
    """Encoding, separator (a space stands for any number of them), names and header lines.

    The header lines are all that come before the first row, comments among them.
    """

    encoding: str
    delimiter: str
    names: tuple[str, ...]
    header_lines: int
    # Whether every row ends with a separator, behind which there is nothing.
    trailing: bool
    # Characters of the longest line in the sample.
    longest: int
    # Of the columns in the sample: which hold nothing but numbers, and which have decimal commas.
    numeric: tuple[bool, ...]
    decimal_comma: bool

    @property
    def comma(self) -> bool:
        """Whether a comma may be a decimal mark."""
        return self.delimiter != ","

    def records(self, stream: IO[bytes]) -> Records:
        """Read lines of fields, from the first row on."""
        text = io.TextIOWrapper(stream, encoding=self.encoding, newline="")
        for _ in range(self.header_lines):
            text.readline()
        return fields(text, self.delimiter)


def layout_of(file: File, *, counted: bool = True, separator: str | None = None) -> Layout:
    """Find the layout of a file of text from its beginning.

    With `counted`, a first line 0, 1, 2, … may be a header, as pandas numbers columns; among pairs
    and their distances it may also be a pair. A `separator` that is given is not looked for.
    """
    check_separator(separator)
    sample = _sample(file)
    try:
        return _layout(sample, _lead(sample.lines), file, counted, separator)
    except csv.Error as error:
        raise ValueError(
            f"{file.name} cannot be split into fields ({error}): it is not a table of text, or a "
            "quotation mark is not closed"
        ) from error


@dataclass(frozen=True)
class _Sample:
    """The first lines; `cut` says that there are more, so that a quoted field may be open."""

    encoding: str
    lines: list[str]
    cut: bool


def _layout(sample: _Sample, lead: int, file: File, counted: bool, given: str | None) -> Layout:
    """Find the layout below so many lines of comments, or without them if they hold a row."""
    above, lines = sample.lines[:lead], sample.lines[lead:]
    tabs = file.suffix in (".tsv", ".tab") and any("\t" in line for line in lines)
    separator = given or ("\t" if tabs else separator_of(lines, sample.cut))
    reader = fields(lines, separator)
    found = [(record, reader.line_num) for record in reader if record]
    if sample.cut and len(found) > 2:
        found.pop()
    if not found:
        raise ValueError(f"{file.name} holds nothing but empty lines")
    (first, header_lines), below = found[0], [record for record, _ in found[1:]]
    comma = separator != ","
    commented = _commented_names(above, separator, len(first))
    if _names_numbers(first, below, comma):
        header = True
    elif _holds_row(above, separator, len(first)):
        return _layout(sample, 0, file, counted, given)
    else:
        header = commented is None and (
            _is_header(first, comma) or (counted and _is_counted(first, below))
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
    return Layout(
        sample.encoding,
        separator,
        names[:count],
        lead + header_lines,
        trailing,
        max(map(len, sample.lines)),
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
    count = next((place for place, told in enumerate(is_row) if told), 0)
    return count if any(line.startswith("#") for line in lines[:count]) else 0


def _holds_row(comments: list[str], separator: str, width: int) -> bool:
    """Whether a line that begins as a comment is a row whose first field does, as #ff0000,1,2."""
    return any(
        len(record) == width and any(is_number(field, separator != ",") for field in record)
        for record in fields(comments, separator)
    )


def _commented_names(comments: list[str], separator: str, width: int) -> tuple[str, ...] | None:
    """Names in the last line of comments, as NumPy writes them; None if these are no names."""
    told = [line for line in comments if line.startswith("#")]
    # Number signs before several names belong to them.
    for line in (told[-1], told[-1].lstrip("# ")) if told else ():
        names = tuple(name.strip() for name in next(iter(fields([line], separator)), []))
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


def _sample(file: File) -> _Sample:
    """Take whole lines from the beginning, two at least, and their encoding."""
    with file.open() as stream:
        head = stream.read(SAMPLE_BYTES)
        while head.count(b"\n") < 2 and (more := stream.read(len(head))):
            head += more
            if len(head) > LONGEST_LINE and b"\n" not in head:
                raise ValueError(endless_line(file.name))
        rest = stream.read(1)
    marks = (name for mark, name in BYTE_ORDER_MARKS.items() if head.startswith(mark))
    encoding = next(marks, "utf-8")
    if rest and encoding != "utf-16":
        head = head[: head.rfind(b"\n") + 1] or head
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head, not rest)
    except UnicodeDecodeError as error:
        raise ValueError(not_utf8(file.name, error)) from error
    if "\x00" in text:
        raise ValueError(f"{file.name} is not text: it holds bytes of zero")
    lines = list(islice(io.StringIO(text, newline=""), SAMPLE_LINES + 1))
    return _Sample(encoding, lines[:SAMPLE_LINES], bool(rest) or len(lines) > SAMPLE_LINES)


def not_utf8(name: str, error: UnicodeDecodeError) -> str:
    """Say that a file is in another encoding."""
    byte = error.object[error.start]
    return f"{name} is not in UTF-8 (it holds the byte 0x{byte:02x}): save it as UTF-8"


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
    told = [is_number(field, comma) for field in first]
    words = any(
        not number and field.strip() not in MISSING
        for number, field in zip(told, first, strict=True)
    )
    if not any(told):
        return words
    counted = [field.strip() for number, field in zip(told, first, strict=True) if number]
    count = len(counted)
    numbered = counted == _counted(0, count) or (count > 1 and counted == _counted(1, count))
    return not told[0] and (words or first[0] == "") and numbered


def _is_counted(first: list[str], below: list[list[str]]) -> bool:
    """Whether the first line is 0, 1, 2, … and no line below could stand in its place.

    Whole numbers below may go on as the first line begins, unless it counts further than data do.
    """
    count = len(first)
    if count < 2 or not below or [field.strip() for field in first] != _counted(0, count):
        return False
    fractions = all(any(not WHOLE.fullmatch(text.strip()) for text in line) for line in below)
    goes_on = [field.strip() for field in below[0]] == _counted(count, count)
    return fractions or (count >= COUNTED_COLUMNS and not goes_on)


def _counted(start: int, count: int) -> list[str]:
    return [str(start + place) for place in range(count)]


def _even(records: list[list[str]], width: int) -> Iterator[list[str]]:
    """Leave out lines of another length, which the reader will complain about."""
    return (record for record in records if len(record) == width)


def _kind(column: Iterable[str], comma: bool) -> str:
    texts = [text for text in column if text.strip() not in MISSING]
    if all(is_number(text, comma) for text in texts):
        return "decimal comma" if any("," in text for text in texts) else "number"
    return "text"
