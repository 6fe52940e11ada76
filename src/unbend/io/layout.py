"""How a file of text is laid out: encoding, separator, header."""

import codecs
import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import IO, Protocol

from unbend.io.files import LONGEST_LINE, File, endless_line
from unbend.io.numerals import MISSING, WHOLE, is_number

# As much is looked at to find the layout: bytes at least, and lines at most.
SAMPLE_BYTES, SAMPLE_LINES = 1 << 18, 200
DELIMITERS = (",", "\t", ";", "|", " ")
# A first line that counts so many columns is a header, whatever is below.
COUNTED_COLUMNS = 10
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


class Records(Protocol):
    """Lines split into fields, as Python's csv reader gives them."""

    @property
    def line_num(self) -> int:
        """Lines read so far."""

    def __iter__(self) -> Iterator[list[str]]: ...


@dataclass(frozen=True)
class Layout:
    """Encoding, separator (a space stands for any number of them), names and header lines."""

    encoding: str
    delimiter: str
    names: tuple[str, ...]
    header_lines: int
    # Of the columns in the sample: which hold nothing but numbers, and which have decimal commas.
    numeric: tuple[bool, ...]
    decimal_comma: bool

    @property
    def comma(self) -> bool:
        """Whether a comma may be a decimal mark."""
        return self.delimiter != ","

    def records(self, stream: IO[bytes]) -> Records:
        """Read lines of fields; a header is among them."""
        text = io.TextIOWrapper(stream, encoding=self.encoding, newline="")
        return fields(text, self.delimiter)


def fields(lines: Iterable[str], delimiter: str) -> Records:
    """Split lines into fields; quotation marks protect separators and line ends."""
    if delimiter != " ":
        return csv.reader(lines, delimiter=delimiter)
    stripped = (line.rstrip(" \r\n") + "\n" for line in lines)
    return csv.reader(stripped, delimiter=" ", skipinitialspace=True)


def layout_of(file: File, *, counted: bool = True) -> Layout:
    """Find the layout of a file of text from its beginning.

    With `counted`, a first line 0, 1, 2, … may be a header, as pandas numbers columns; among pairs
    and their distances it may also be a pair.
    """
    encoding, sample = _sample(file)
    try:
        return _layout(file, encoding, sample, counted)
    except csv.Error as error:
        raise ValueError(
            f"{file.name} cannot be split into fields ({error}): it is not a table of text, or a "
            "quotation mark is not closed"
        ) from error


def _layout(file: File, encoding: str, sample: str, counted: bool) -> Layout:
    lines = list(islice(io.StringIO(sample, newline=""), SAMPLE_LINES))
    tabs = file.suffix in (".tsv", ".tab")
    delimiter = "\t" if tabs and "\t" in sample else _delimiter(lines)
    reader = fields(lines, delimiter)
    found = [(record, reader.line_num) for record in reader if record]
    if not found:
        raise ValueError(f"{file.name} holds nothing but empty lines")
    (first, header_lines), below = found[0], [record for record, _ in found[1:]]
    comma = delimiter != ","
    header = _is_header(first, below, comma) or (counted and _is_counted(first, below))
    if not header:
        names = tuple(f"x{place}" for place in range(len(first)))
        header_lines, below = 0, [first, *below]
    else:
        names = _header_names(first, below)
    kinds = [_kind(column, comma) for column in zip(*_even(below, len(names)), strict=True)]
    kinds = kinds or ["number"] * len(names)
    return Layout(
        encoding,
        delimiter,
        names,
        header_lines,
        tuple(kind != "text" for kind in kinds),
        "decimal comma" in kinds,
    )


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


def _sample(file: File) -> tuple[str, str]:
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
    return encoding, text


def not_utf8(name: str, error: UnicodeDecodeError) -> str:
    """Say that a file is in another encoding."""
    byte = error.object[error.start]
    return f"{name} is not in UTF-8 (it holds the byte 0x{byte:02x}): save it as UTF-8"


def _delimiter(lines: list[str]) -> str:
    """Choose the separator that leaves the largest share of numbers, and lines of one length."""
    scores = {}
    for delimiter in DELIMITERS:
        records = [record for record in fields(lines, delimiter) if record]
        widths = [len(record) for record in records]
        if not widths or max(widths) < 2:
            continue
        usual = max(set(widths), key=widths.count)
        told = [is_number(field, delimiter != ",") for record in records for field in record]
        if usual > 1:
            scores[delimiter] = (sum(told) / len(told), widths.count(usual) / len(widths))
    return max(scores, key=lambda delimiter: scores[delimiter], default=",")


def _is_header(first: list[str], below: list[list[str]], comma: bool) -> bool:
    """Whether the first line names the columns.

    It does if it has a word over numbers, or no number at all, or words and then 0, 1, 2, … as
    pandas numbers columns. Numbers with a word over words (5.1, 3.5, setosa) are data.
    """
    told = [is_number(field, comma) for field in first]
    words = [
        not number and field.strip() not in MISSING
        for number, field in zip(told, first, strict=True)
    ]
    columns = list(zip(*_even(below, len(first)), strict=True))
    over_numbers = any(
        word and any(is_number(field, comma) for field in column)
        for word, column in zip(words, columns, strict=False)
    )
    if over_numbers or not any(told):
        return over_numbers or any(words)
    counted = [field.strip() for number, field in zip(told, first, strict=True) if number]
    return (any(words) or first[0] == "") and counted in (
        [str(number) for number in range(len(counted))],
        [str(number + 1) for number in range(len(counted))],
    )


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
