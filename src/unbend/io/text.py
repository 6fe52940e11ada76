"""Tables of text: CSV, TSV and their relatives, by pyarrow where it is installed."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from unbend.io.dialect import Layout, not_utf8
from unbend.io.files import File
from unbend.io.numerals import MISSING, Array, inferred, numbers
from unbend.io.optional import available, needed
from unbend.io.separators import Records
from unbend.io.table import Roles, Table, table_of_columns

# Lines that become arrays at a time where the whole file is read without pyarrow.
LINES = 50_000
# Bytes that pyarrow takes at a time: of a stream few, since it reads 32 blocks ahead.
BLOCK_BYTES, STREAM_BYTES = 1 << 22, 1 << 17
# A block must hold a row: bytes of a field, and how much longer rows may be than the first ones.
FIELD, LONGER_ROWS, LARGEST_BLOCK = 64, 4, 1 << 30
# Every column of a block costs some microseconds: blocks hold so many rows, up to so many bytes.
ROWS, WIDE_BYTES = 128, 1 << 26
# What stands behind the separator that ends every row; no header has this name.
END = "\n"

Columns = dict[str, Array]


@dataclass(frozen=True)
class TextSource:
    """A table of text."""

    file: File
    layout: Layout

    @property
    def where(self) -> str:
        """Name for messages."""
        return self.file.name

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.layout.names

    def tables(self, roles: Roles, rows: int | None) -> Iterator[Table]:
        """Give tables of so many rows, or one of all."""
        if rows is None:
            self.file.check_fits(self.layout.delimiter)
        start = 0
        for columns in _joined(self._blocks(roles, rows), rows):
            for name in roles.aside:
                columns[name] = inferred(columns[name].tolist(), self.layout.comma)
            table = table_of_columns(columns, roles, start, self.where)
            start += len(table)
            yield table
        if not start:
            raise ValueError(f"{self.where} has a header and no rows")

    def _blocks(self, roles: Roles, rows: int | None) -> Iterator[Columns]:
        """Columns of some rows at a time: numbers, or text as it stands."""
        done = 0
        simple = self.layout.delimiter != " " and self.layout.encoding != "utf-16"
        if simple and available("pyarrow.csv"):
            pyarrow = needed("pyarrow", "reading CSV by pyarrow")
            try:
                for block in self._by_arrow(roles, rows is None):
                    yield block
                    done += _length(block)
                return
            except pyarrow.ArrowInvalid:
                # What pyarrow cannot read, as +1.5, the plain way can, or says what is wrong.
                pass
        yield from self._plain(roles, rows, done)

    def _by_arrow(self, roles: Roles, whole: bool) -> Iterator[Columns]:
        reader = needed("pyarrow.csv", "reading CSV by pyarrow")
        wanted = roles.wanted(self.names, self.where)
        options = self._arrow_options(reader, roles, wanted, whole)
        with self.file.open() as stream:
            if whole:
                batches = [reader.read_csv(stream, *options)]
            else:
                batches = reader.open_csv(stream, *options)
            for batch in batches:
                if self.layout.trailing and any(batch.column(END).to_pylist()):
                    # The plain way says where.
                    raise needed("pyarrow", "reading CSV by pyarrow").ArrowInvalid
                if batch.num_rows:
                    yield {
                        name: self._column(batch.column(name), name in roles.aside)
                        for name in wanted
                    }

    def _arrow_options(
        self, reader: Any, roles: Roles, wanted: tuple[str, ...], whole: bool
    ) -> list[Any]:
        arrow = needed("pyarrow", "reading CSV by pyarrow")
        numeric = dict(zip(self.names, self.layout.numeric, strict=True))
        types = {
            name: arrow.float64() if numeric[name] and name not in roles.aside else arrow.string()
            for name in wanted
        }
        end = [END] if self.layout.trailing else []
        return [
            reader.ReadOptions(
                column_names=[*self.names, *end],
                skip_rows=self.layout.header_lines,
                block_size=self._block_bytes(whole),
                use_threads=whole,
            ),
            reader.ParseOptions(delimiter=self.layout.delimiter, newlines_in_values=True),
            reader.ConvertOptions(
                column_types={**types, END: arrow.string()},
                include_columns=[*wanted, *end],
                null_values=MISSING,
                strings_can_be_null=False,
                decimal_point="," if self.layout.decimal_comma else ".",
            ),
        ]

    def _block_bytes(self, whole: bool) -> int:
        """Bytes of a block: at least a row, and of wide rows many where all are read."""
        longest = self.layout.longest
        usual = min(max(BLOCK_BYTES, ROWS * longest), WIDE_BYTES) if whole else STREAM_BYTES
        return min(max(usual, FIELD * len(self.names), LONGER_ROWS * longest), LARGEST_BLOCK)

    def _column(self, column: Any, aside: bool) -> Array:
        array: Array = column.to_numpy(zero_copy_only=False)
        if array.dtype.kind == "f" or aside:
            return array
        return self._parsed(array.tolist())

    def _parsed(self, texts: list[str]) -> Array:
        parsed = numbers(texts, self.layout.comma)
        return np.array(texts, dtype=object) if parsed is None else parsed

    def _plain(self, roles: Roles, rows: int | None, done: int) -> Iterator[Columns]:
        """Read by Python's own reader, after so many rows."""
        wanted = set(roles.wanted(self.names, self.where))
        with self.file.open() as stream:
            records = self._records(self.layout.records(stream))
            for _ in islice(records, done):
                pass
            while some := list(islice(records, rows or LINES)):
                yield {
                    name: np.array(texts, dtype=object)
                    if name in roles.aside
                    else self._parsed(list(texts))
                    for name, texts in zip(self.names, zip(*some, strict=True), strict=True)
                    if name in wanted
                }

    def _records(self, reader: Records) -> Iterator[list[str]]:
        """Give the lines below the header, all of one length."""
        above = self.layout.header_lines
        width = len(self.names) + self.layout.trailing
        try:
            for record in reader:
                if not record:
                    continue
                ended = not self.layout.trailing or not record[-1].strip()
                if len(record) != width or not ended:
                    raise ValueError(self._ragged(len(record), above + reader.line_num))
                yield record[: len(self.names)]
        except UnicodeDecodeError as error:
            raise ValueError(not_utf8(self.where, error)) from error
        except csv.Error as error:
            raise ValueError(
                f"line {above + reader.line_num} of {self.where} cannot be split into fields "
                f"({error}): look for a quotation mark that is not closed"
            ) from error

    def _ragged(self, width: int, line: int) -> str:
        usual = len(self.names)
        count = f"{width} field" if width == 1 else f"{width} fields"
        return (
            f"line {line} of {self.where} has {count} where the first has {usual}: the file is cut "
            "off there, a separator is missing or one too many, or fields are not separated by "
            f"{self.layout.delimiter!r}: mend the line, or pass separator="
        )


def _joined(blocks: Iterator[Columns], rows: int | None) -> Iterator[Columns]:
    """Put blocks together to so many rows, or all of them."""
    held: list[Columns] = []
    count = 0
    for block in blocks:
        held.append(block)
        count += _length(block)
        while rows is not None and count >= rows:
            whole = _concatenated(held)
            yield {name: column[:rows] for name, column in whole.items()}
            held = [{name: column[rows:] for name, column in whole.items()}]
            count -= rows
    if count:
        yield _concatenated(held)


def _length(block: Columns) -> int:
    return len(next(iter(block.values())))


def _concatenated(blocks: list[Columns]) -> Columns:
    if len(blocks) == 1:
        return blocks[0]
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
