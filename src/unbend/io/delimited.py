"""Tables of text: CSV, TSV and their relatives, by pyarrow, else by Python's csv module."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from io import BytesIO
from itertools import islice
from typing import Any

import numpy as np

from unbend.io.dialect import Dialect, Records, has_plain_line_ends, undecodable
from unbend.io.numerals import MISSING, Array, find_overflow, infer_column, parse_numbers
from unbend.io.sampling import sample_records
from unbend.io.source import FIELD_BYTES, Source
from unbend.io.table import (
    TOO_LARGE,
    Frame,
    Roles,
    Table,
    frame_from_columns,
    table_from_columns,
)
from unbend.memory import reserve

# Lines that become arrays at a time where the whole file is read without pyarrow.
LINES = 50_000
# Fields that are held as text at a time.
FIELDS = 2_000_000
# From so many columns on pyarrow, which takes 7 kB for each, is not used.
MOST_COLUMNS = 50_000
# Bytes that pyarrow takes at a time: of a stream few, since it reads 32 blocks ahead.
BLOCK_BYTES, STREAM_BYTES = 1 << 22, 1 << 17
# A block must hold a row: bytes of a field, and how much longer rows may be than the first ones.
FIELD, LONGER_ROWS, LARGEST_BLOCK = 64, 4, 1 << 30
# Every column of a block costs some microseconds: blocks hold about so many rows of wide tables.
ROWS, WIDE_BYTES = 128, 1 << 26
# Most memory that a field of text takes: as one of Python's strings, and while it is parsed.
TEXT_BYTES = 128
# Name of the column behind the separator that ends every row; no header has it.
END = "\n"

Columns = dict[str, Array]


def import_pyarrow() -> Any:
    """Return pyarrow with its CSV reader, or None where it is not installed."""
    try:
        import_module("pyarrow.csv")
    except ImportError:
        return None
    return import_module("pyarrow")


@dataclass(frozen=True)
class TextReader:
    """Reads a table of text."""

    source: Source
    dialect: Dialect
    tabular = True

    @property
    def where(self) -> str:
        """Name for messages."""
        return self.source.name

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.dialect.names

    @property
    def memory_size(self) -> int:
        """Bytes that all rows take, about, if they are like the first; 0 if packed: not known."""
        if self.source.packed:
            return 0
        lines = self.source.size / max(self.dialect.mean_length, 1.0)
        numbers = sum(self.dialect.numeric)
        texts = len(self.names) - numbers
        return int(lines * (FIELD_BYTES * numbers + TEXT_BYTES * texts))

    def sample(self, rows: int, random_state: int) -> "tuple[TextReader, int] | None":
        """Return a reader of random rows, and about how many there are; None if not possible."""
        if self.source.packed or not has_plain_line_ends(self.dialect.encoding):
            return None
        records, total = sample_records(self.source, self.dialect, rows, random_state)
        drawn = Source(f"a sample of {self.where}", BytesIO(records))
        return TextReader(drawn, replace(self.dialect, header_lines=0)), total

    def tables(self, roles: Roles, rows: int | None) -> Iterator[Table]:
        """Yield tables of at most `rows` rows, or one table of all."""
        for start, columns in self._parts(roles, rows, text=False):
            yield table_from_columns(columns, roles, start, self.where)

    def frames(self, roles: Roles, rows: int | None) -> Iterator[Frame]:
        """Yield the same rows with columns of any kind."""
        aside = set(roles.aside)
        for start, columns in self._parts(roles, rows, text=True):
            parsed = {
                name: column
                if name in aside or column.dtype.kind == "f"
                else self._mixed(column, name)
                for name, column in columns.items()
            }
            yield frame_from_columns(parsed, roles, start, self.where)

    def _parts(self, roles: Roles, rows: int | None, text: bool) -> Iterator[tuple[int, Columns]]:
        """Yield the place of the first row and columns; `text`: what is text stays unparsed."""
        if rows is None:
            self.source.check_memory(self.dialect.separator)
            reserve(self.memory_size, f"the columns of {self.where}", TOO_LARGE)
        start = 0
        for columns in _join_blocks(self._blocks(roles, rows, text), rows):
            for name in roles.aside:
                columns[name] = infer_column(columns[name].tolist(), self.dialect.comma)
            yield start, columns
            start += _length(columns)
        if not start:
            raise ValueError(f"{self.where} has a header and no rows")

    def _numbers(self, texts: list[str], name: str) -> Array | None:
        """Parse a column of numbers; refuse one beyond the range of double precision."""
        numbers = parse_numbers(texts, self.dialect.comma)
        beyond = None if numbers is None else find_overflow(numbers, texts)
        if beyond is not None:
            raise ValueError(
                f"column {name!r} of {self.where} holds {beyond[:40]}, which is beyond the range "
                "of double precision (1.8e308): correct it, or write the column in another unit"
            )
        return numbers

    def _mixed(self, texts: Array, name: str) -> Array:
        """Return numbers if all are, otherwise text with None where missing."""
        items = texts.tolist()
        numbers = self._numbers(items, name)
        if numbers is not None:
            return numbers
        stripped = [text.strip() for text in items]
        return np.array([None if text in MISSING else text for text in stripped], dtype=object)

    def _blocks(self, roles: Roles, rows: int | None, text: bool) -> Iterator[Columns]:
        """Yield columns in blocks of rows: numbers, or unparsed text.

        What pyarrow cannot parse, as +1.5, the csv module reads from that row on, or says which
        line is wrong. pyarrow knows neither runs of spaces nor line ends of several bytes.
        """
        arrow, done = import_pyarrow(), 0
        plain = has_plain_line_ends(self.dialect.encoding)
        narrow = len(self.names) <= MOST_COLUMNS
        if arrow and self.dialect.separator != " " and plain and narrow:
            try:
                for block in self._arrow_blocks(arrow, roles, rows is None, text):
                    yield block
                    done += _length(block)
                return
            except (arrow.ArrowInvalid, UnicodeError):
                pass
        yield from self._csv_blocks(roles, rows, done, text)

    def _arrow_blocks(self, arrow: Any, roles: Roles, whole: bool, text: bool) -> Iterator[Columns]:
        dialect, names = self.dialect, roles.read_names(self.names, self.where)
        numeric = dict(zip(self.names, dialect.numeric, strict=True))
        aside = set(roles.aside)
        types = {
            name: arrow.float64() if numeric[name] and name not in aside else arrow.string()
            for name in names
        }
        end = [END] if dialect.trailing else []
        options = (
            arrow.csv.ReadOptions(
                column_names=[*self.names, *end],
                skip_rows=dialect.header_lines,
                block_size=self._block_bytes(whole),
                use_threads=whole,
                encoding="utf8" if dialect.encoding.startswith("utf-8") else dialect.encoding,
            ),
            arrow.csv.ParseOptions(delimiter=dialect.separator, newlines_in_values=True),
            arrow.csv.ConvertOptions(
                column_types={**types, END: arrow.string()},
                include_columns=[*names, *end],
                null_values=MISSING,
                strings_can_be_null=False,
                decimal_point="," if dialect.decimal_comma else ".",
            ),
        )
        # pyarrow itself holds no more than a block, and is not interrupted in a thread of its own.
        source = self.source
        with source.lines() if source.packed else source.stream() as stream:
            blocks = (
                [arrow.csv.read_csv(stream, *options)]
                if whole
                else arrow.csv.open_csv(stream, *options)
            )
            for block in blocks:
                if dialect.trailing and any(block.column(END).to_pylist()):
                    raise arrow.ArrowInvalid
                if not block.num_rows:
                    continue
                columns = {
                    name: self._column(block.column(name), name, text or name in aside)
                    for name in names
                }
                if any(c.dtype.kind == "f" and np.isinf(c).any() for c in columns.values()):
                    # The text shows whether infinity was meant.
                    raise arrow.ArrowInvalid
                yield columns

    def _block_bytes(self, whole: bool) -> int:
        """Bytes of a block: at least a row, and of wide rows many where all are read."""
        longest = self.dialect.longest
        usual = min(max(BLOCK_BYTES, ROWS * longest), WIDE_BYTES) if whole else STREAM_BYTES
        return min(max(usual, FIELD * len(self.names), LONGER_ROWS * longest), LARGEST_BLOCK)

    def _column(self, column: Any, name: str, aside: bool) -> Array:
        array: Array = column.to_numpy(zero_copy_only=False)
        return array if array.dtype.kind == "f" or aside else self._parse(array.tolist(), name)

    def _parse(self, texts: list[str], name: str) -> Array:
        numbers = self._numbers(texts, name)
        return np.array(texts, dtype=object) if numbers is None else numbers

    def _csv_blocks(
        self, roles: Roles, rows: int | None, done: int, text: bool
    ) -> Iterator[Columns]:
        """Read by the csv module, after the first `done` rows."""
        names = set(roles.read_names(self.names, self.where))
        with self.source.lines() as stream:
            records = self._records(self.dialect.records(stream))
            for _ in islice(records, done):
                pass
            count = max(1, min(rows or LINES, FIELDS // len(self.names)))
            while some := list(islice(records, count)):
                yield {
                    name: np.array(texts, dtype=object)
                    if text or name in roles.aside
                    else self._parse(list(texts), name)
                    for name, texts in zip(self.names, zip(*some, strict=True), strict=True)
                    if name in names
                }

    def _records(self, reader: Records) -> Iterator[list[str]]:
        """Give the lines below the header, all of one length."""
        above = self.dialect.header_lines
        width = len(self.names) + self.dialect.trailing
        try:
            for record in reader:
                if not record:
                    continue
                ended = not self.dialect.trailing or not record[-1].strip()
                if len(record) != width or not ended:
                    raise ValueError(self._wrong_width(len(record), above + reader.line_num))
                yield record[: len(self.names)]
        except UnicodeError as error:
            raise ValueError(undecodable(self.where, self.dialect.encoding, error)) from error
        except csv.Error as error:
            raise ValueError(
                f"line {above + reader.line_num} of {self.where} cannot be split into fields "
                f"({error}): look for a quotation mark that is not closed"
            ) from error

    def _wrong_width(self, width: int, line: int) -> str:
        count = f"{width} field" if width == 1 else f"{width} fields"
        return (
            f"line {line} of {self.where} has {count} where the first has {len(self.names)}: the "
            "file is cut off there, a separator is missing or one too many, or fields are not "
            f"separated by {self.dialect.separator!r}: correct the line, or pass separator="
        )


def _join_blocks(blocks: Iterator[Columns], rows: int | None) -> Iterator[Columns]:
    """Regroup blocks into `rows` rows, or join all of them."""
    held: list[Columns] = []
    count = 0
    for block in blocks:
        held.append(block)
        count += _length(block)
        while rows is not None and count >= rows:
            whole = _concatenate(held)
            yield {name: column[:rows] for name, column in whole.items()}
            held = [{name: column[rows:] for name, column in whole.items()}]
            count -= rows
    if count:
        yield _concatenate(held)


def _length(block: Columns) -> int:
    return len(next(iter(block.values())))


def _concatenate(blocks: list[Columns]) -> Columns:
    if len(blocks) == 1:
        return blocks[0]
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
